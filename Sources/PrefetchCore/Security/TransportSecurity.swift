/// Which servers may be spoken to without TLS: App Transport Security's rules over a host name.
package struct TransportSecurity: Hashable, Sendable {
  package struct Exception: Hashable, Sendable {
    package var includesSubdomains: Bool
    package var allowsInsecureHTTP: Bool
    package var reason: String?
    /// Past it the entry no longer applies.
    package var expires: Instant?

    package init(
      includesSubdomains: Bool = false,
      allowsInsecureHTTP: Bool = false,
      reason: String? = nil,
      expires: Instant? = nil
    ) {
      self.includesSubdomains = includesSubdomains
      self.allowsInsecureHTTP = allowsInsecureHTTP
      self.reason = reason
      self.expires = expires
    }
  }

  package enum Decision: Hashable, Sendable {
    /// `entry` is the exception or key that decided; nil for plain https.
    case allowed(entry: String?)
    case refused(entry: String?, hint: String)
  }

  package var allowsArbitraryLoads = false
  /// Three-valued: its mere presence voids `allowsArbitraryLoads`.
  package var allowsLocalNetworking: Bool?
  /// Presence of the media or web-content key, which voids `allowsArbitraryLoads` too.
  package var hasNarrowerKeys = false
  package var exceptions: [String: Exception] = [:]

  package init() {}

  /// Whether a request may go out to that URL; nothing is sent before this has said yes.
  package func decide(_ url: WebURL, at now: Instant) -> Decision {
    guard url.scheme == .http else { return .allowed(entry: nil) }
    if let (name, exception) = exception(for: url.host, at: now) {
      let entry = "NSExceptionDomains.\(name)"
      return exception.allowsInsecureHTTP
        ? .allowed(entry: entry)
        : .refused(
          entry: entry,
          hint: "`\(entry)` does not set `NSExceptionAllowsInsecureHTTPLoads`"
        )
    }
    if Self.isLocal(url.host) {
      if allowsLocalNetworking == true { return .allowed(entry: "NSAllowsLocalNetworking") }
      return .refused(
        entry: nil,
        hint:
          "use https, or set `transport_security: { NSAllowsLocalNetworking: true }` for hosts on this network"
      )
    }
    if allowsArbitraryLoads, allowsLocalNetworking == nil, !hasNarrowerKeys {
      return .allowed(entry: "NSAllowsArbitraryLoads")
    }
    return .refused(
      entry: nil,
      hint: "use https, or name the host under `transport_security.NSExceptionDomains` with "
        + "`NSExceptionAllowsInsecureHTTPLoads: true`"
    )
  }

  /// The exact name, else the nearest ancestor that includes its subdomains; nothing is inherited.
  private func exception(for host: String, at now: Instant) -> (name: String, Exception)? {
    let isCurrent: (Exception) -> Bool = { $0.expires.map { now < $0 } ?? true }
    let key = IPAddress(Self.unbracketed(host)) == nil ? host : Self.unbracketed(host)
    if let exact = exceptions[key], isCurrent(exact) { return (key, exact) }
    guard IPAddress(key) == nil else { return nil }
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      if let parent = exceptions[String(rest)], parent.includesSubdomains, isCurrent(parent) {
        return (String(rest), parent)
      }
    }
    return nil
  }

  /// Unqualified names, `.local`, and addresses of this network.
  private static func isLocal(_ host: String) -> Bool {
    if let address = IPAddress(unbracketed(host)) { return address.isLocal }
    return !host.contains(".") || host.hasSuffix(".local") || host.hasSuffix(".localhost")
  }

  private static func unbracketed(_ host: String) -> String {
    host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
  }
}
