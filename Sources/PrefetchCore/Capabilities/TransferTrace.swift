/// What was said on the way of one transfer, for the user who finds out why a host fails.
///
/// An object, since figures are copied for every transfer and nearly none is looked into.
package final class TransferTrace: Sendable {
  /// Heads of requests as they went out, with all that proves who we are.
  package let sent: String
  /// Nil where no handshake was made for it.
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

/// The certificate that a server showed, good or not, and over which TLS.
package struct ShownCertificate: Hashable, Sendable {
  /// `TLSv1.3`.
  package var protocolVersion: String
  package var subject: String
  /// The hosts that it is for, as OpenSSL writes them.
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
