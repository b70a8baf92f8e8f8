import PrefetchCore
import PrefetchTestSupport
import Testing

/// A `serve` process that runs until it is stopped or released.
final class Serving {
  let client: RawClient
  let address: String
  private let program: RunningProgram

  convenience init(_ home: Home, _ arguments: String...) throws {
    try self.init(home, arguments)
  }

  init(_ home: Home, _ arguments: [String]) throws {
    program = try home.start(["serve", "--listen", "127.0.0.1:0"] + arguments)
    address = try #require(program.firstLine(), "it says where it is")
    client = try RawClient(address)
  }

  var processID: Int32 { program.processID }

  /// Sends SIGTERM or another signal; returns the program's output.
  func stop(_ signal: Int32 = 15) -> ProgramRun {
    program.signal(signal)
    return program.finish(within: 30)
  }
}

extension ProgramRun {
  /// Lines of standard error without the warnings of origins that give no answer.
  var errorsOfServer: [Substring] {
    var lines = errors.split(separator: "\n")[...]
    var others: [Substring] = []
    while let line = lines.popFirst() {
      guard line.hasPrefix("warning: clients get no new answer of `127.0.0.1:") else {
        others.append(line)
        continue
      }
      if lines.first?.hasPrefix("hint: ") == true { lines.removeFirst() }
    }
    return others
  }
}

extension LoopbackServer {
  /// Returns the path of a URL on a cache server.
  func servedPath(_ path: String) -> String {
    "/\(host):\(port)\(path)"
  }

  func requests(of path: String) -> [LoopbackRequest] {
    requests.filter { $0.path == path }
  }
}
