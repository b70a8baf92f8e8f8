import PrefetchCore
import PrefetchTestSupport
import Synchronization

/// A server that validates licenses and serves a manifest to valid ones.
final class LicenseServer: Sendable {
  static let endpoint = "/license"
  static let token = "canary-tok/en+4d11"

  private let reply: ReplyBox
  let server: LoopbackServer

  private final class ReplyBox: Sendable {
    let script = Mutex(LicenseServer.granting())
  }

  /// `redirects` are further paths that lead elsewhere.
  init(redirects: [String: String] = [:]) throws {
    let reply = ReplyBox()
    self.reply = reply
    server = try LoopbackServer { request in
      if request.method == "POST" { return reply.script.withLock { $0 } }
      if let target = redirects[request.path] {
        return .respond(302, [("Location", target)])
      }
      guard request.path == "/manifest.json" else {
        return .respond(200, [("Cache-Control", "no-cache")], text: "body of \(request.path)")
      }
      let urls = ["one"] + redirects.keys.filter { $0 != Self.endpoint }.sorted()
      return .respond(200, [("Content-Type", "application/json")], text: Manifest.text(urls))
    }
  }

  /// Sets the endpoint's response.
  func setReply(_ script: Script) {
    reply.script.withLock { $0 = script }
  }

  static func granting(_ members: String = #""token": "\#(token)""#) -> Script {
    .respond(200, [("Content-Type", "application/json")], text: "{\(members)}")
  }

  /// The license key that each registration showed.
  var keys: [String] {
    server.requests.filter { $0.method == "POST" }.map { $0.headers["Authorization"] ?? "none" }
  }

  /// Authorization headers of the other requests.
  var shown: [String] {
    server.requests.filter { $0.method == "GET" }.map { $0.headers["Authorization"] ?? "none" }
  }

  var endpoint: String {
    server.address(Self.endpoint)
  }
}
