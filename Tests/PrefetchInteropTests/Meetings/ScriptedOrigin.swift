import PrefetchCore
import PrefetchTestSupport
import Synchronization

/// A server that plays acts; each act changes the responses of some paths.
final class ScriptedOrigin: Sendable {
  private struct State {
    var replies: [String: Reply]
    var acts: ArraySlice<[String: Reply]>
    var log: [String] = []
  }

  let server: LoopbackServer
  private let stage: Stage

  init(_ acts: [[String: Reply]]) throws {
    let stage = Stage(acts)
    self.stage = stage
    server = try LoopbackServer { stage.respond($0) }
  }

  /// Begins the next act, if there is one.
  func beginNextAct() {
    stage.state.withLock { state in
      guard let act = state.acts.popFirst() else { return }
      state.replies.merge(act) { _, new in new }
    }
  }

  /// Returns the requests since the last call, one per line: method, path, status and validators.
  func drainLog() -> [String] {
    stage.state.withLock { state in
      defer { state.log = [] }
      return state.log
    }
  }

  private final class Stage: Sendable {
    let state: Mutex<State>

    init(_ acts: [[String: Reply]]) {
      state = Mutex(State(replies: acts.first ?? [:], acts: acts.dropFirst()))
    }

    func respond(_ request: LoopbackRequest) -> Script {
      state.withLock { state in
        let reply = state.replies[request.path] ?? .refusal(404)
        let (status, script) = reply.respond(to: request)
        state.log.append(Self.line(request, status))
        return script
      }
    }

    private static func line(_ request: LoopbackRequest, _ status: Int) -> String {
      var words = ["\(request.method) \(request.path) \(status)"]
      if let language = request.headers["Accept-Language"] { words.append(language) }
      if let tag = request.bytes(of: "If-None-Match") { words.append("if \(tag)") }
      if let date = request.headers["If-Modified-Since"] { words.append("since \(word(date))") }
      if request.headers["Range"] != nil { words.append("range") }
      if let condition = request.headers["If-Range"] { words.append("unless \(word(condition))") }
      if request.headers["Cache-Control"] == "no-cache" { words.append("anew") }
      return words.joined(separator: " ")
    }

    private static func word(_ date: String) -> String {
      date == Reply.longAgo ? "long ago" : date
    }
  }
}
