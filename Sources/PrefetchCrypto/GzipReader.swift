internal import CZlib
package import PrefetchCore

/// Decompresses gzip piece by piece; checksums and sizes are verified (RFC 1952).
@safe package final class GzipReader {
  package enum Fault: Error, Hashable, Sendable {
    case damaged
    case outOfMemory
  }

  private enum Position {
    case betweenMembers
    case withinMember
  }

  private static let chunkSize = 32_768

  /// Heap allocation, since zlib keeps the structure's address.
  private let stream: UnsafeMutablePointer<z_stream>
  private let chunk: UnsafeMutableRawBufferPointer
  private var position = Position.betweenMembers

  package init() throws(Fault) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    unsafe chunk = .allocate(byteCount: Self.chunkSize, alignment: 16)
    guard unsafe prefetch_inflate_gzip(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
    unsafe chunk.deallocate()
  }

  package func restart() -> Bool {
    position = .betweenMembers
    return unsafe inflateReset(stream) == Z_OK
  }

  /// Whether the stream may end here; an empty stream is complete.
  package var isWhole: Bool {
    position == .betweenMembers
  }

  /// Passes decompressed bytes to `sink`; returns faults so that `sink`'s failures keep their type.
  package func read(
    _ bytes: RawSpan,
    _ sink: (RawSpan) throws(Failure) -> Void
  ) throws(Failure) -> Fault? {
    var consumed = 0
    while consumed < bytes.byteCount {
      let rest = bytes.extracting(droppingFirst: consumed)
      let step = unsafe rest.withUnsafeBytes { unsafe inflateOnce($0) }
      consumed += step.consumed
      let made = unsafe UnsafeRawBufferPointer(rebasing: chunk[..<step.made])
      if step.made > 0 { try unsafe sink(made.bytes) }
      switch step.status {
      case Z_OK:
        position = .withinMember
      case Z_STREAM_END:
        position = .betweenMembers
        guard unsafe inflateReset(stream) == Z_OK else { return .damaged }
      case Z_MEM_ERROR:
        return .outOfMemory
      default:
        return .damaged
      }
    }
    return try drain(sink)
  }

  /// zlib may retain output that did not fit into the buffer even after consuming all input.
  private func drain(_ sink: (RawSpan) throws(Failure) -> Void) throws(Failure) -> Fault? {
    while position == .withinMember {
      let step = unsafe inflateOnce(UnsafeRawBufferPointer(start: nil, count: 0))
      let made = unsafe UnsafeRawBufferPointer(rebasing: chunk[..<step.made])
      if step.made > 0 { try unsafe sink(made.bytes) }
      switch step.status {
      case Z_OK:
        continue
      case Z_STREAM_END:
        position = .betweenMembers
        guard unsafe inflateReset(stream) == Z_OK else { return .damaged }
      case Z_BUF_ERROR:
        return nil
      default:
        return .damaged
      }
    }
    return nil
  }

  private func inflateOnce(
    _ input: UnsafeRawBufferPointer
  ) -> (status: CInt, consumed: Int, made: Int) {
    let start = unsafe UnsafeMutableRawPointer(mutating: input.baseAddress)
    unsafe stream.pointee.next_in = start?.assumingMemoryBound(to: UInt8.self)
    unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
    unsafe stream.pointee.next_out = chunk.baseAddress?.assumingMemoryBound(to: UInt8.self)
    unsafe stream.pointee.avail_out = UInt32(Self.chunkSize)
    let offered = unsafe Int(stream.pointee.avail_in)
    let status = unsafe inflate(stream, Z_NO_FLUSH)
    let left = unsafe Int(stream.pointee.avail_in)
    let made = unsafe Self.chunkSize - Int(stream.pointee.avail_out)
    return (status, offered - left, made)
  }
}
