/// Requirements on a request's connection: what it must prove and where it may lead.
///
/// Requests with different rules never share a connection or anything negotiated on it.
package struct ConnectionRules: Hashable, Sendable {
  package enum MinimumTLS: String, Hashable, Comparable, Sendable, CaseIterable {
    case tls10 = "TLSv1.0"
    case tls11 = "TLSv1.1"
    case tls12 = "TLSv1.2"
    case tls13 = "TLSv1.3"

    package var number: String {
      String(rawValue.dropFirst(4))
    }

    package static func < (a: Self, b: Self) -> Bool {
      a.rawValue < b.rawValue
    }
  }

  /// Allowed location of the resolved address, checked when connecting.
  package enum Reach: Hashable, Sendable {
    case anywhere
    /// Neither this machine nor its own networks.
    case publicOnly
    /// Only this machine and its own networks, where plain http is allowed.
    case localOnly
  }

  package struct ClientCertificate: Hashable, Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  package var minimumTLS = MinimumTLS.tls12
  /// Whether to refuse RSA key exchange and short keys.
  package var requiresForwardSecrecy = true
  /// At most one enforced and one report-only rule.
  package var pins: [PinRule] = []
  package var client: ClientCertificate?
  package var reach = Reach.anywhere
  package var proxy: TransportSettings.Proxy?
  package var httpVersion: TransportSettings.HTTPVersion?

  package init() {}
}

/// Public keys pinned for a host, merged from all entries that name it.
package struct PinRule: Hashable, Sendable {
  /// SHA-256 digests of SubjectPublicKeyInfo; if both sets are given, both must match.
  package var leaf: Set<ContentDigest>?
  /// Digests of which a certificate above the leaf in the verified chain must have one.
  package var authority: Set<ContentDigest>?
  package var onlyReports = false
  package var entries: [String]

  /// Whether a verified chain of key digests, leaf first, matches the pins.
  package func accepts(_ chain: [ContentDigest]) -> Bool {
    guard let first = chain.first else { return false }
    if let leaf, !leaf.contains(first) { return false }
    if let authority, !chain.dropFirst().contains(where: authority.contains) { return false }
    return true
  }
}
