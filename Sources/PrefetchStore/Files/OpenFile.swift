internal import CLinux
internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// An open descriptor, closed with its last owner.
final class OpenFile: Sendable {
  let path: String
  private let descriptor: Atomic<Int32>

  init(owning number: Int32, path: String) {
    self.path = path
    descriptor = Atomic(number)
  }

  deinit {
    let number = descriptor.load(ordering: .relaxed)
    if number >= 0 {
      Glibc.close(number)
    }
  }

  var number: Int32 {
    descriptor.load(ordering: .relaxed)
  }

  func close() throws(Failure) {
    let number = descriptor.exchange(-1, ordering: .relaxed)
    guard number >= 0 else { return }
    // Linux frees the descriptor even after EINTR; a second close would hit another file.
    guard Glibc.close(number) != 0, errno != EINTR else { return }
    throw .system(errno, "close", path)
  }

  func release() -> Int32 {
    descriptor.exchange(-1, ordering: .relaxed)
  }

  func status() throws(Failure) -> FileStatus {
    var status = stat()
    try SystemCall.require("examine", path) { unsafe fstat(number, &status) }
    return FileStatus(status)
  }

  var birth: Int64 {
    unsafe prefetch_birth(number, "")
  }

  func write(_ bytes: RawSpan, deed: String = "write") throws(Failure) {
    let error = unsafe bytes.withUnsafeBytes { buffer in
      unsafe Self.write(buffer, to: number)
    }
    guard error == 0 else { throw .system(error, deed, path) }
  }

  func write(_ bytes: RawSpan, at offset: Int64, deed: String) throws(Failure) {
    lseek(number, off_t(offset), SEEK_SET)
    try write(bytes, deed: deed)
  }

  /// Writes all bytes, or truncates the file again so that a part takes no room.
  func append(_ bytes: RawSpan, after size: Int64, deed: String) throws(Failure) {
    do throws(Failure) {
      try write(bytes, deed: deed)
    } catch {
      try? cut(to: size)
      throw error
    }
  }

  func cut(to size: Int64) throws(Failure) {
    try SystemCall.require("shorten", path) { ftruncate(number, off_t(size)) }
    lseek(number, off_t(size), SEEK_SET)
  }

  func read(into buffer: inout [UInt8], at offset: Int64) throws(Failure) -> Int {
    let count = SystemCall.count {
      unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe pread(number, bytes.baseAddress, bytes.count, off_t(offset))
      }
    }
    guard count >= 0 else { throw .system(Int32(-count), "read", path) }
    return count
  }

  enum RereadResult {
    case complete
    case mediumError
    case otherError
  }

  func reread() -> RereadResult {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    var offset: Int64 = 0
    while true {
      let count = SystemCall.count {
        unsafe buffer.withUnsafeMutableBytes { bytes in
          unsafe pread(number, bytes.baseAddress, bytes.count, off_t(offset))
        }
      }
      guard count >= 0 else { return count == -Int(EIO) ? .mediumError : .otherError }
      guard count > 0 else { return .complete }
      offset += Int64(count)
    }
  }

  func copy(
    to target: OpenFile,
    isCancelled: () -> Bool = { false }
  ) throws(Failure) {
    var buffer = try buffer
    var offset: Int64 = 0
    while true {
      let count = try read(into: &buffer, at: offset)
      guard count > 0 else { return }
      guard !isCancelled() else { throw Failure(.cancelled, "stopped while copying `\(path)`") }
      try target.write(unsafe buffer.span.extracting(first: count).bytes)
      offset += Int64(count)
    }
  }

  /// Buffer for reading, no larger than the file: clearing unused bytes takes longer than reading.
  var buffer: [UInt8] {
    get throws(Failure) {
      [UInt8](repeating: 0, count: Int(max(1, min(try status().size, 256 * 1024))))
    }
  }

  /// Flushes the file; after an error never retry, since the kernel forgets the lost bytes.
  func synchronize() throws(Failure) {
    try SystemCall.require("write to disk", path) { fsync(number) }
  }

  /// Begins to write the file to the disk, so that the flush at its end has little left to do.
  func beginWriteback() {
    _ = prefetch_begin_writeback(number)
  }

  private static func write(_ buffer: UnsafeRawBufferPointer, to number: Int32) -> Int32 {
    var rest = unsafe buffer
    while let start = rest.baseAddress, unsafe !rest.isEmpty {
      let count = SystemCall.count { unsafe Glibc.write(number, start, rest.count) }
      guard count >= 0 else { return Int32(-count) }
      unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
    return 0
  }
}
