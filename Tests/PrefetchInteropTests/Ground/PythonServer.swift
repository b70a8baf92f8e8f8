@unsafe @preconcurrency import Glibc
import PrefetchTestSupport

/// Python's own web server, as `python3 -m http.server` starts it.
final class PythonServer {
  static let isInstalled = Tool.isInstalled("python3")

  let port: Int
  private let folder: TemporaryDirectory
  private let process: RunningProgram

  init() throws {
    guard let program = Tool("python3") else { throw Nginx.Fault.notInstalled }
    let folder = try TemporaryDirectory()
    self.folder = folder
    FileTree.makeFolder(folder.appending("files"))
    var started: (port: Int, process: RunningProgram)?
    // Another process may take the free port first.
    for _ in 0..<5 where started == nil {
      let port = LoopbackPort.free()
      let command =
        "exec \(program.path) -m http.server --bind 127.0.0.1 --directory \(folder.path)/files"
        + " \(port) >/dev/null 2>\(folder.path)/log"
      let process = try RunningProgram(
        "/bin/sh",
        ["-c", command],
        environment: ["PATH": "/usr/bin:/bin"],
        folder: folder.path
      )
      if LoopbackPort.waitUntilOpen(port) { started = (port, process) }
    }
    guard let started else { throw Nginx.Fault.doesNotStart("python3 -m http.server") }
    port = started.port
    process = started.process
  }

  func url(_ name: String) -> String {
    "http://127.0.0.1:\(port)/\(name)"
  }

  /// Writes a file with an older date, since a file changed within this second has no usable
  /// validator.
  func write(_ text: String, to name: String) {
    let path = "\(folder.path)/files/\(name)"
    FileTree.write(Array(text.utf8), to: path)
    let time = timespec(tv_sec: 1_700_000_000, tv_nsec: 0)
    unsafe utimensat(AT_FDCWD, path, [time, time], 0)
  }

  /// Target and status of every request since the last call.
  func drainRequests() -> [(target: String, status: Int)] {
    let path = folder.appending("log")
    let text = String(decoding: FileTree.read(path) ?? [], as: UTF8.self)
    let count = text.utf8.count
    defer { readCount = count }
    return text.utf8.dropFirst(readCount).split(separator: UInt8(ascii: "\n")).compactMap { line in
      let parts = String(decoding: line, as: UTF8.self).split(separator: " ")
      guard let method = parts.firstIndex(where: { $0.hasPrefix("\"") }), parts.count > method + 3
      else { return nil }
      return (String(parts[method + 1]), Int(parts[method + 3]) ?? -1)
    }
  }

  private var readCount = 0
}
