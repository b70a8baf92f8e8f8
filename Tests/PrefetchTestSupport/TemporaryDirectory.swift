internal import Glibc

/// A directory of its own for one test, removed with everything in it when it is released.
package final class TemporaryDirectory: Sendable {
  package enum Fault: Error {
    case cannotCreate(errno: CInt)
  }

  /// Absolute, without a slash at the end.
  package let path: String

  /// `base` is the folder to make it in, else what `TMPDIR` names.
  package init(in base: String? = nil) throws {
    let usual = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    let base = base ?? usual
    var template = Array("\(base)/prefetch-test-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Fault.cannotCreate(errno: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    Self.remove(path)
  }

  private static func remove(_ path: String) {
    guard unsafe rmdir(path) != 0, unsafe unlink(path) != 0 else { return }
    // A test may have taken the permissions away.
    unsafe chmod(path, 0o700)
    for name in names(in: path) {
      remove("\(path)/\(name)")
    }
    unsafe rmdir(path)
  }

  private static func names(in path: String) -> [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." {
        names.append(name)
      }
    }
    return names
  }

  /// Writes a small file inside; false where the system refuses.
  @discardableResult
  package func write(_ text: String, to name: String) -> Bool {
    guard let file = unsafe fopen(appending(name), "w") else { return false }
    defer { unsafe fclose(file) }
    return unsafe fputs(text, file) >= 0
  }

  /// The path of something inside.
  package func appending(_ name: String) -> String {
    "\(path)/\(name)"
  }
}
