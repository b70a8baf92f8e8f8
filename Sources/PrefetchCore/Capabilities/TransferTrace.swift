/// Trace of one transfer, for a user who finds out why a host fails.
///
/// A class, because figures are copied for each transfer and very few have a trace.
package final class TransferTrace: Sendable {
  /// Sent request heads, including credentials.
  package let sent: String
  /// Certificate of the server; nil if the transfer made no handshake.
  package let shown: ShownCertificate?

  package init(sent: String, shown: ShownCertificate? = nil) {
    self.sent = sent
    self.shown = shown
  }
}

extension TransferTrace: Hashable {
  package static func == (a: TransferTrace, b: TransferTrace) -> Bool {
    a.sent == b.sent && a.shown == b.shown
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(sent)
    hasher.combine(shown)
  }
}

/// Certificate that a server showed, valid or not, and the TLS version.
package struct ShownCertificate: Hashable, Sendable {
  package var protocolVersion: String
  package var subject: String
  package var names: String
  package var issuer: String
  package var expires: Instant?

  package init(
    protocolVersion: String,
    subject: String,
    names: String,
    issuer: String,
    expires: Instant?
  ) {
    self.protocolVersion = protocolVersion
    self.subject = subject
    self.names = names
    self.issuer = issuer
    self.expires = expires
  }
}
