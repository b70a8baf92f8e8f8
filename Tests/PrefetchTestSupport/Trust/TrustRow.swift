package import PrefetchCore

/// A TLS server, the client's rules and the expected outcome.
package struct TrustRow: Sendable, CustomStringConvertible {
  package enum Outcome: Sendable {
    case accepted
    /// Refused with words of the message; no byte of the request may reach the server.
    case refused(ErrorCode, String)
    /// Failed after the request was sent.
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
    chains + names + strengths + handshakes + weakerRules + pinned + clients + earlyEnds
}
