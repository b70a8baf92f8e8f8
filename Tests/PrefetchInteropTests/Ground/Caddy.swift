@unsafe @preconcurrency import Glibc
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// A real Caddy server for one test, with HTTP/3 on request.
final class Caddy {
  enum Fault: Error {
    case notInstalled
    case doesNotStart(String)
  }

  static let isInstalled = Tool.isInstalled("caddy")

  let port: Int
  /// The folder that is served.
  let files: String
  private let folder: TemporaryDirectory
  private let process: RunningProgram

  /// Starts the server; `versions` are `h1`, `h2` and `h3`, all on one port number.
  init(_ certificate: Certificate, versions: [String]) throws {
    guard let program = Tool("caddy") else { throw Fault.notInstalled }
    let folder = try TemporaryDirectory()
    files = folder.appending("files")
    FileTree.makeFolder(files)
    self.folder = folder
    var started: (port: Int, process: RunningProgram)?
    // Another process may take the free port first.
    for _ in 0..<5 where started == nil {
      let port = LoopbackPort.free()
      FileTree.remove(folder.appending("server.log"))
      FileTree.write(
        Array(Self.configuration(port, folder.path, certificate, versions).utf8),
        to: folder.appending("caddy.json")
      )
      let process = try RunningProgram(
        program.path,
        ["run", "--config", "caddy.json"],
        environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path],
        folder: folder.path
      )
      if Self.waitUntilServing(folder.appending("server.log")) { started = (port, process) }
    }
    guard let started else {
      let log = FileTree.read(folder.appending("server.log")) ?? []
      throw Fault.doesNotStart(String(decoding: log, as: UTF8.self))
    }
    port = started.port
    process = started.process
  }

  func url(_ name: String) -> String {
    "https://127.0.0.1:\(port)/\(name)"
  }

  func write(_ text: String, to name: String) {
    FileTree.write(Array(text.utf8), to: "\(files)/\(name)")
  }

  /// Stops the server, which flushes its log; returns the HTTP version of each response.
  func stop() -> [String] {
    process.signal(15)
    _ = process.finish(within: 30)
    let log = FileTree.read(folder.appending("access.log")) ?? []
    return String(decoding: log, as: UTF8.self).split(separator: "\n").compactMap { line in
      try? Node(json: String(line)).text("request.proto")
    }
  }

  /// Waits for the server's own log line, since TCP may be open before UDP.
  private static func waitUntilServing(_ log: String) -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      let text = String(decoding: FileTree.read(log) ?? [], as: UTF8.self)
      if text.contains("serving initial configuration") { return true }
      poll(nil, 0, 5)
    }
    return false
  }

  private static func configuration(
    _ port: Int,
    _ folder: String,
    _ certificate: Certificate,
    _ versions: [String]
  ) -> String {
    let protocols = versions.map { "\"\($0)\"" }.joined(separator: ", ")
    func log(_ name: String) -> String {
      #""writer": {"output": "file", "filename": "\#(folder)/\#(name).log", "roll": false}"#
    }
    return """
      {
        "admin": {"disabled": true, "config": {"persist": false}},
        "logging": {"logs": {
          "default": {"exclude": ["http.log.access"], \(log("server"))},
          "access": {"include": ["http.log.access"], \(log("access"))}
        }},
        "apps": {
          "http": {"grace_period": "5s", "servers": {"files": {
            "listen": ["127.0.0.1:\(port)"],
            "protocols": [\(protocols)],
            "automatic_https": {"disable": true},
            "tls_connection_policies": [{}],
            "logs": {},
            "routes": [{"handle": [{"handler": "file_server", "root": "\(folder)/files"}]}]
          }}},
          "tls": {"certificates": {"load_files": [
            {"certificate": "\(certificate.path)", "key": "\(certificate.key)"}
          ]}}
        }
      }

      """
  }
}
