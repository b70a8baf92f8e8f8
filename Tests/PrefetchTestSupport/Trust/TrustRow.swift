package import PrefetchCore

/// A TLS server, what is asked of it, and what must come of it.
package struct TrustRow: Sendable, CustomStringConvertible {
  package enum Outcome: Sendable {
    case accepted
    /// With words of the message; nothing of the request may reach the server.
    case refused(ErrorCode, String)
    /// After the request was sent.
    case failed(ErrorCode)
  }

  package let name: String
  package var host = "127.0.0.1"
  package var rules: @Sendable (TrustGround, inout ConnectionRules) -> Void = { _, _ in }
  package var outcome: Outcome
  package var server: @Sendable (TrustGround) throws -> TLSServer.Options

  package var description: String { name }

  package init(
    _ name: String,
    _ outcome: Outcome,
    host: String = "127.0.0.1",
    rules: @escaping @Sendable (TrustGround, inout ConnectionRules) -> Void = { _, _ in },
    server: @escaping @Sendable (TrustGround) throws -> TLSServer.Options
  ) {
    self.name = name
    self.host = host
    self.rules = rules
    self.outcome = outcome
    self.server = server
  }

  package static let all =
    chains + names + strengths + handshakes + weakerRules + pinned + clients + endings
}
