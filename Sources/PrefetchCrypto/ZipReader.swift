internal import CZlib

/// Reads a zip archive by its central directory.
///
/// Sizes are checked as declared, then enforced while reading; nothing is extracted to disk.
package struct ZipReader {
  package enum Fault: Error, Hashable, Sendable {
    case noDirectory
    case damaged
    case badName
    case twoFilesOfOneName
    /// An archive with a method other than stored or deflated, encryption, several disks or ZIP64.
    case unsupported
    case tooLarge(Int64)
    case outOfMemory
  }

  package struct Member: Hashable, Sendable {
    package var name: [UInt8]
    package var size: Int64
    fileprivate var packedSize: Int
    fileprivate var isDeflated: Bool
    fileprivate var header: Int
  }

  /// Largest compression ratio of honest data.
  private static let maximumRatio: Int64 = 1_000

  package let entries: [Member]

  package init(_ bytes: RawSpan, maximumBytes: Int64) throws(Fault) {
    let directory = try Self.directory(of: bytes)
    var entries: [Member] = []
    var names: Set<[UInt8]> = []
    var offset = directory.offset
    var total: Int64 = 0
    let bound = min(maximumBytes, Int64(bytes.byteCount) * Self.maximumRatio)
    for _ in 0..<directory.count {
      guard let (entry, next) = try Self.entry(at: offset, of: bytes) else { throw .damaged }
      guard names.insert(entry.name).inserted else { throw .twoFilesOfOneName }
      total += entry.size
      guard total <= bound else { throw .tooLarge(bound) }
      entries.append(entry)
      offset = next
    }
    self.entries = entries
  }

  private static func directory(of file: RawSpan) throws(Fault) -> (offset: Int, count: Int) {
    let earliest = max(0, file.byteCount - endLength - 0xFFFF)
    var end = file.byteCount - endLength
    while end >= earliest, end >= 0 {
      // Comments may contain the mark; the real record ends with a comment up to the file's end.
      if file.number32(end) == 0x0605_4B50,
        file.number16(end + 20).map({ end + endLength + $0 == file.byteCount }) == true
      {
        break
      }
      end -= 1
    }
    guard end >= earliest, end >= 0, let disk = file.number16(end + 4),
      let count = file.number16(end + 10), let onDisk = file.number16(end + 8),
      let offset = file.number32(end + 16)
    else { throw .noDirectory }
    guard disk == 0, count == onDisk, count != 0xFFFF, offset != 0xFFFF_FFFF else {
      throw .unsupported
    }
    return (offset, count)
  }

  private static let endLength = 22

  private static func entry(
    at offset: Int,
    of file: RawSpan
  ) throws(Fault) -> (entry: Member, next: Int)? {
    guard file.number32(offset) == 0x0201_4B50, let flags = file.number16(offset + 8),
      let method = file.number16(offset + 10), let packed = file.number32(offset + 20),
      let size = file.number32(offset + 24), let nameLength = file.number16(offset + 28),
      let extraLength = file.number16(offset + 30), let commentLength = file.number16(offset + 32),
      let header = file.number32(offset + 42),
      let name = file.bytes(offset + 46, nameLength)
    else { return nil }
    guard flags & 1 == 0, method == 0 || method == 8, packed != 0xFFFF_FFFF,
      size != 0xFFFF_FFFF, header != 0xFFFF_FFFF
    else { throw .unsupported }
    let entry = Member(
      name: name,
      size: Int64(size),
      packedSize: packed,
      isDeflated: method == 8,
      header: header
    )
    return (entry, offset + 46 + nameLength + extraLength + commentLength)
  }

  /// Passes a file's content on in pieces; throws unless it has exactly the declared size.
  package func read(
    _ entry: Member,
    of bytes: RawSpan,
    _ sink: (RawSpan) -> Void
  ) throws(Fault) {
    guard bytes.number32(entry.header) == 0x0403_4B50,
      let nameLength = bytes.number16(entry.header + 26),
      let extraLength = bytes.number16(entry.header + 28)
    else { throw .damaged }
    let start = entry.header + 30 + nameLength + extraLength
    guard start <= bytes.byteCount, entry.packedSize <= bytes.byteCount - start else {
      throw .damaged
    }
    let packed = bytes.extracting(start..<start + entry.packedSize)
    guard entry.isDeflated else {
      guard Int64(entry.packedSize) == entry.size else { throw .damaged }
      return sink(packed)
    }
    let inflater = try Inflater()
    guard try inflater.read(packed, limit: entry.size, sink) == entry.size else { throw .damaged }
  }
}

extension ZipReader.Fault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noDirectory: "it has no list of files at its end"
    case .damaged: "it is damaged"
    case .badName: "it holds a file whose name has a line feed in it"
    case .twoFilesOfOneName: "it holds two files of one name"
    case .unsupported: "it is packed in a way that Go does not use"
    case .tooLarge(let limit): "its files have more than \(limit) bytes"
    case .outOfMemory: "there is no memory to unpack it"
    }
  }
}

/// Returns little-endian numbers; nil past the end.
extension RawSpan {
  fileprivate func number16(_ offset: Int) -> Int? {
    guard offset >= 0, offset <= byteCount - 2 else { return nil }
    let number = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
    return Int(UInt16(littleEndian: number))
  }

  fileprivate func number32(_ offset: Int) -> Int? {
    guard offset >= 0, offset <= byteCount - 4 else { return nil }
    let number = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return Int(UInt32(littleEndian: number))
  }

  fileprivate func bytes(_ offset: Int, _ length: Int) -> [UInt8]? {
    guard offset >= 0, length >= 0, offset <= byteCount - length else { return nil }
    return unsafe extracting(offset..<offset + length).withUnsafeBytes { unsafe Array($0) }
  }
}

@safe private final class Inflater {
  private static let chunkSize = 65_536

  /// Heap allocation, since zlib keeps the structure's address.
  private let stream: UnsafeMutablePointer<z_stream>
  private let chunk: UnsafeMutableRawBufferPointer

  init() throws(ZipReader.Fault) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    unsafe chunk = .allocate(byteCount: Self.chunkSize, alignment: 16)
    guard unsafe prefetch_inflate_raw(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
    unsafe chunk.deallocate()
  }

  /// Returns the number of bytes; stops once it exceeds the limit.
  func read(
    _ packed: RawSpan,
    limit: Int64,
    _ sink: (RawSpan) -> Void
  ) throws(ZipReader.Fault) -> Int64 {
    var total: Int64 = 0
    let status = unsafe packed.withUnsafeBytes { input in
      let start = unsafe UnsafeMutableRawPointer(mutating: input.baseAddress)
      unsafe stream.pointee.next_in = start?.assumingMemoryBound(to: UInt8.self)
      unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
      var status = Z_OK
      while status == Z_OK, total <= limit {
        unsafe stream.pointee.next_out = chunk.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(Self.chunkSize)
        status = unsafe inflate(stream, Z_NO_FLUSH)
        let made = unsafe Self.chunkSize - Int(stream.pointee.avail_out)
        total += Int64(made)
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: chunk[..<made])
        if made > 0 { unsafe sink(bytes.bytes) }
      }
      return status
    }
    guard status != Z_MEM_ERROR else { throw .outOfMemory }
    guard status == Z_STREAM_END else { throw .damaged }
    return total
  }
}
