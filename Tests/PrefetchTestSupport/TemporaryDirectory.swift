internal import Glibc

/// A directory for one test, removed with its content on release, however the test ended.
///
/// With `PREFETCH_KEEP=1` it stays, and standard error names its path.
package final class TemporaryDirectory: Sendable {
  package enum Fault: Error {
    case cannotCreate(errno: CInt)
  }

  /// Absolute path without a trailing slash.
  package let path: String

  /// Creates the directory in `base`, else in `TMPDIR`.
  package init(in base: String? = nil) throws {
    let base = base ?? Self.variable("TMPDIR") ?? "/tmp"
    var template = Array("\(base)/prefetch-test-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Fault.cannotCreate(errno: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    if Self.variable("PREFETCH_KEEP") == "1" {
      let line = Array("kept: \(path)\n".utf8)
      _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
    } else {
      Self.remove(Array(path.utf8CString))
    }
  }

  private static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Removes a path; names are bytes, since tests also create names that are not text.
  private static func remove(_ path: [CChar]) {
    guard unsafe rmdir(path) != 0, unsafe unlink(path) != 0 else { return }
    // A test may have removed the permissions.
    unsafe chmod(path, 0o700)
    for name in names(in: path) {
      remove(path.dropLast() + [CChar(UInt8(ascii: "/"))] + name)
    }
    unsafe rmdir(path)
  }

  /// Returns the names in a directory, each with its terminating zero.
  private static func names(in path: [CChar]) -> [[CChar]] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [[CChar]] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) }
      }
      let dot = CChar(UInt8(ascii: "."))
      if name != [dot], name != [dot, dot] { names.append(name + [0]) }
    }
    return names
  }

  /// Names directly inside the directory, sorted.
  package var names: [String] {
    Self.names(in: Array(path.utf8CString)).map { name in
      String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }.sorted()
  }

  /// Writes a small file inside the directory; returns false on failure.
  @discardableResult
  package func write(_ text: String, to name: String) -> Bool {
    guard let file = unsafe fopen(appending(name), "w") else { return false }
    defer { unsafe fclose(file) }
    return unsafe fputs(text, file) >= 0
  }

  package func appending(_ name: String) -> String {
    "\(path)/\(name)"
  }
}
