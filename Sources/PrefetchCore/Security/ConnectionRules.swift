/// What a connection must prove and where it may lead before a request goes over it.
///
/// Requests under different rules never share a connection, nor anything that was agreed on one.
package struct ConnectionRules: Hashable, Sendable {
  /// As App Transport Security spells them.
  package enum MinimumTLS: String, Hashable, Comparable, Sendable, CaseIterable {
    case tls10 = "TLSv1.0"
    case tls11 = "TLSv1.1"
    case tls12 = "TLSv1.2"
    case tls13 = "TLSv1.3"

    /// `1.2`.
    package var number: String {
      String(rawValue.dropFirst(4))
    }

    package static func < (a: Self, b: Self) -> Bool {
      a.rawValue < b.rawValue
    }
  }

  /// Where the address that a name resolves to may be, judged when the connection is made.
  package enum Reach: Hashable, Sendable {
    case anywhere
    /// Not this machine and not its own networks.
    case publicOnly
    /// Nothing but these two: plain http is allowed there and nowhere else.
    case localOnly
  }

  /// A certificate of ours, by the paths of its PEM files.
  package struct ClientCertificate: Hashable, Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  package var minimumTLS = MinimumTLS.tls12
  /// Without it, key exchanges by RSA alone and short keys are accepted besides.
  package var requiresForwardSecrecy = true
  /// At most one that holds and one that only reports.
  package var pins: [PinRule] = []
  package var client: ClientCertificate?
  package var reach = Reach.anywhere
  /// Instead of the run's own.
  package var proxy: TransportSettings.Proxy?
  package var httpVersion: TransportSettings.HTTPVersion?

  package init() {}
}

/// The public keys that a host must prove to have: all entries that name it together.
package struct PinRule: Hashable, Sendable {
  /// SHA-256 of SubjectPublicKeyInfo; where both lists are given, both must match.
  package var leaf: Set<ContentDigest>?
  /// Any certificate above the leaf in the verified chain.
  package var authority: Set<ContentDigest>?
  /// A mismatch is told and nothing else.
  package var onlyReports = false
  /// Where the configuration says so, for the user who has to mend it.
  package var entries: [String]

  /// Whether a verified chain, given by the keys' digests from the leaf up, is the expected one.
  package func accepts(_ chain: [ContentDigest]) -> Bool {
    guard let first = chain.first else { return false }
    if let leaf, !leaf.contains(first) { return false }
    if let authority, !chain.dropFirst().contains(where: authority.contains) { return false }
    return true
  }
}
