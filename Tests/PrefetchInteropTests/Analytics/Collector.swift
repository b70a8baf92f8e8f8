import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

/// A server that receives events and behaves as the test says.
final class Collector: Sendable {
  enum ReplyMode: Sendable {
    case accepting
    /// Receives the batch and never responds.
    case silent
    case responding(Int, [(String, String)] = [])
    /// Closes the connection within the request.
    case closing
  }

  private final class Behavior: Sendable {
    let replyMode = Mutex(ReplyMode.accepting)
  }

  private let behavior: Behavior
  let server: LoopbackServer

  init() throws {
    let behavior = Behavior()
    self.behavior = behavior
    server = try LoopbackServer { request in
      guard request.method == "POST" else {
        return .respond(200, [("Cache-Control", "no-cache")], text: "body of \(request.path)")
      }
      return switch behavior.replyMode.withLock({ $0 }) {
      case .accepting: .respond(204)
      case .silent: Script([.silence])
      case .responding(let status, let headers): .respond(status, headers, text: "no")
      case .closing: Script([.close])
      }
    }
  }

  func behave(_ replyMode: ReplyMode) {
    behavior.replyMode.withLock { $0 = replyMode }
  }

  var endpoint: String { server.address("/v1/events") }

  /// All requests that were sent, whatever the response.
  var posts: [LoopbackRequest] {
    server.requests.filter { $0.method == "POST" }
  }

  func batches() throws -> [Node] {
    try posts.map { try Node(json: String(decoding: $0.body, as: UTF8.self)) }
  }

  func events() throws -> [Node] {
    try batches().flatMap { $0.list("events") }
  }

  func names() throws -> [String?] {
    try events().map { $0.text("name") }
  }
}
