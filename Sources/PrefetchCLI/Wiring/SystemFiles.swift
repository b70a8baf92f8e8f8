import PrefetchCore
import PrefetchSystem

final class SystemFiles: LocalFiles {
  static let standardInput = "/dev/stdin"
  private let held: (path: String, bytes: [UInt8])?

  init() {
    held = nil
  }

  init(holding bytes: [UInt8], of path: String) {
    held = (path, bytes)
  }

  /// Whether the bytes can be read only once: standard input, a pipe or a device.
  static func isStream(_ path: String) -> Bool {
    path == standardInput || FileReading.isStream(path)
  }

  func withBytes<Value>(
    of path: String,
    limit: Int64,
    _ read: (RawSpan) -> Value
  ) throws(Failure) -> Value {
    if let held, path == held.path { return unsafe read(held.bytes.span.bytes) }
    do throws(FileReading.Fault) {
      return try FileReading.withBytes(of: path, limit: Int(clamping: limit), read)
    } catch {
      let code: ErrorCode = if case .missing = error { .notFound } else { .permission }
      throw Failure(code, "`\(path)` \(error.reason)")
    }
  }
}
