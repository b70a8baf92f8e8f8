internal import Glibc
internal import PrefetchCore

enum FileBytes {
  /// Largest file that is read, not mapped: reading is cheaper, and truncation cannot hurt a copy.
  private static let largestCopy: Int64 = 64 * 1024

  private static let pieceSize = 1 << 20

  /// Reads a file from its beginning to the end that it had at the start.
  static func eachPiece(
    of file: OpenFile,
    _ use: (RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    let size = try file.status().size
    var piece = [UInt8](repeating: 0, count: Int(min(size, Int64(pieceSize))))
    var offset: Int64 = 0
    while offset < size {
      let count = try file.read(into: &piece, at: offset)
      guard count > 0 else {
        throw Failure(.storeDamaged, "`\(file.path)` was shortened meanwhile")
      }
      unsafe try use(piece.span.bytes.extracting(0..<min(count, Int(size - offset))))
      offset += Int64(count)
    }
  }

  static func withBytes<Value>(
    of file: OpenFile,
    _ read: (RawSpan) throws -> Value
  ) throws -> Value {
    let size = try file.status().size
    if size > largestCopy {
      let mapping = try Mapping(file, size: Int(size))
      return try mapping.withBytes(read)
    }
    let bytes = try copy(of: file, size: size)
    return try unsafe bytes.withUnsafeBytes { try unsafe read($0.bytes) }
  }

  private static func copy(of file: OpenFile, size: Int64) throws(Failure) -> [UInt8] {
    guard size > 0 else { return [] }
    var bytes: [UInt8] = []
    var rest = [UInt8](repeating: 0, count: Int(size))
    while !rest.isEmpty {
      let count = try file.read(into: &rest, at: Int64(bytes.count))
      guard count > 0 else { break }
      bytes += rest[..<count]
      rest.removeFirst(count)
    }
    return bytes
  }
}

@safe private struct Mapping: ~Copyable {
  private let bytes: UnsafeRawBufferPointer

  init(_ file: OpenFile, size: Int) throws(Failure) {
    let address = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, file.number, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else {
      throw .system(errno, "map", file.path)
    }
    unsafe bytes = UnsafeRawBufferPointer(start: address, count: size)
  }

  deinit {
    unsafe munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
  }

  borrowing func withBytes<Value>(_ read: (RawSpan) throws -> Value) throws -> Value {
    try unsafe read(bytes.bytes)
  }
}
