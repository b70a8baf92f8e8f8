internal import Glibc
internal import PrefetchCore

final class Upload {
  private let bytes: [UInt8]
  /// Descriptor of the file; negative for a body in memory.
  private let descriptor: CInt
  /// Position of the next byte; libcurl rewinds after a lost connection.
  var position: Int64 = 0

  init(_ body: UploadedBody) throws(Failure) {
    switch body {
    case .bytes(let bytes):
      self.bytes = bytes
      descriptor = -1
    case .file(let path, _):
      bytes = []
      descriptor = unsafe path.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC) }
      guard descriptor >= 0 else { throw Failure(.notFound, "the stored body has gone") }
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    guard let start = buffer.baseAddress else { return 0 }
    var count: Int
    if descriptor >= 0 {
      count = unsafe pread(descriptor, start, buffer.count, off_t(position))
      guard count >= 0 else { return nil }
    } else {
      count = min(buffer.count, bytes.count - Int(position))
      guard count > 0 else { return 0 }
      unsafe bytes.withUnsafeBytes { all in
        unsafe buffer.copyMemory(
          from: UnsafeRawBufferPointer(rebasing: all[Int(position)..<Int(position) + count])
        )
      }
    }
    position += Int64(count)
    return count
  }
}
