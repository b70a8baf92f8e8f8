/// Security that servers must offer: the rules of App Transport Security for all hosts.
package struct TransportSecurity: Hashable, Sendable {
  package struct Exception: Hashable, Sendable {
    package var includesSubdomains: Bool
    package var allowsInsecureHTTP: Bool
    package var minimumTLS: ConnectionRules.MinimumTLS
    package var requiresForwardSecrecy: Bool
    package var reason: String?
    package var expires: Instant?

    package init(
      includesSubdomains: Bool = false,
      allowsInsecureHTTP: Bool = false,
      minimumTLS: ConnectionRules.MinimumTLS = .tls12,
      requiresForwardSecrecy: Bool = true,
      reason: String? = nil,
      expires: Instant? = nil
    ) {
      self.includesSubdomains = includesSubdomains
      self.allowsInsecureHTTP = allowsInsecureHTTP
      self.minimumTLS = minimumTLS
      self.requiresForwardSecrecy = requiresForwardSecrecy
      self.reason = reason
      self.expires = expires
    }
  }

  package enum Decision: Hashable, Sendable {
    /// Decision by an exception or key; `entry` is nil for plain https.
    case allowed(entry: String?)
    case refused(entry: String?, hint: String)
  }

  package var allowsArbitraryLoads = false
  /// Keys that override `allowsArbitraryLoads` if they are present with any value.
  package var allowsArbitraryLoadsForMedia: Bool?
  package var allowsArbitraryLoadsInWebContent: Bool?
  package var allowsLocalNetworking: Bool?
  package var exceptions = ExceptionTable()
  /// Exact hosts with plain http allowed and no other exception; disjoint from ``exceptions``.
  package var plainHosts: [String: Exception] = [:]

  package init() {}

  /// Decides whether a URL may be requested, before each request.
  ///
  /// Hints offer an exception only if `isDeclared`: the configuration names the host.
  package func decide(
    _ url: WebURL,
    for purpose: RequestPurpose = .other,
    isDeclared: Bool = true,
    at now: Instant
  ) -> Decision {
    guard url.scheme == .http else { return .allowed(entry: nil) }
    let basis = basis(of: url, for: purpose, at: now)
    guard basis.allowsInsecureHTTP else {
      return .refused(entry: basis.entry, hint: hint(for: basis, url.host, isDeclared: isDeclared))
    }
    return .allowed(entry: basis.entry)
  }

  /// Returns the key or entry that applies to a host.
  ///
  /// A host's own entry comes first and inherits nothing; after its expiry the general rules apply,
  /// not wider keys. ``plainHosts`` do not affect https.
  package func basis(
    of url: WebURL,
    for purpose: RequestPurpose = .other,
    at now: Instant
  ) -> Basis {
    let host = url.host
    if url.scheme == .http, let exception = plainHosts[host] {
      if let expires = exception.expires, expires <= now {
        return .plainHTTPExpired(host, exception)
      }
      return .plainHTTP(host, exception)
    }
    if let (name, exception) = exceptions.entry(for: host) {
      if let expires = exception.expires, expires <= now { return .expired(name, exception) }
      return .exception(name, exception)
    }
    if allowsLocalNetworking == true, Self.isLocal(host) { return .localNetworking }
    switch purpose {
    case .media where allowsArbitraryLoadsForMedia == true: return .media
    case .page where allowsArbitraryLoadsInWebContent == true: return .webContent
    case .media, .page, .manifest, .other: break
    }
    return allowsArbitraryLoads && !hasNarrowerKeys ? .arbitraryLoads : .rules
  }

  package var dependsOnPurpose: Bool {
    allowsArbitraryLoadsForMedia == true || allowsArbitraryLoadsInWebContent == true
  }

  private var hasNarrowerKeys: Bool {
    allowsLocalNetworking != nil || allowsArbitraryLoadsForMedia != nil
      || allowsArbitraryLoadsInWebContent != nil
  }

  /// Whether a host is local by its text; a name's resolved address is checked when connecting.
  package static func isLocal(_ host: String) -> Bool {
    if let address = IPAddress(host: host) { return address.isLocal }
    return !host.contains(".") || host.hasSuffix(".local")
  }

  private func hint(for basis: Basis, _ host: String, isDeclared: Bool) -> String {
    switch basis {
    case .exception(let name, _):
      return "`\(Basis.path(name))` does not set `NSExceptionAllowsInsecureHTTPLoads`"
    case .expired(_, let exception), .plainHTTPExpired(_, let exception):
      let day = exception.expires.map { Timestamp.format($0).prefix(10) } ?? ""
      return "its exception `\(basis.entry ?? "")` expired on \(day)"
    case .rules, .localNetworking, .media, .webContent, .arbitraryLoads, .plainHTTP:
      return isDeclared
        ? "use https, or allow this one host: `--set allow_http=\(PlainHostName.exception(for: host))`"
        : "use https; the configuration does not name this host"
    }
  }
}

// MARK: - What decided

extension TransportSecurity {
  /// Key or entry that applies to a host.
  package enum Basis: Hashable, Sendable {
    case rules
    case exception(String, Exception)
    case expired(String, Exception)
    case plainHTTP(String, Exception)
    case plainHTTPExpired(String, Exception)
    case localNetworking
    case media
    case webContent
    case arbitraryLoads

    package var allowsInsecureHTTP: Bool {
      switch self {
      case .rules, .expired, .plainHTTPExpired: false
      case .exception(_, let exception): exception.allowsInsecureHTTP
      case .plainHTTP, .localNetworking, .media, .webContent, .arbitraryLoads: true
      }
    }

    /// Whether forward secrecy is required; hosts exempt from the rules may do without it.
    package var requiresForwardSecrecy: Bool {
      switch self {
      case .rules, .expired, .plainHTTP, .plainHTTPExpired: true
      case .exception(_, let exception): exception.requiresForwardSecrecy
      case .localNetworking, .media, .webContent, .arbitraryLoads: false
      }
    }

    /// Returns the minimum version: below 1.2 only by an exception, otherwise the higher one.
    package func minimumTLS(
      forAll general: ConnectionRules.MinimumTLS
    ) -> ConnectionRules.MinimumTLS {
      guard case .exception(_, let exception) = self else { return general }
      return exception.minimumTLS < .tls12
        ? exception.minimumTLS : max(exception.minimumTLS, general)
    }

    package var entry: String? {
      switch self {
      case .rules: nil
      case .exception(let name, _), .expired(let name, _): Self.path(name)
      case .plainHTTP(let host, _), .plainHTTPExpired(let host, _): "allow_http.\(host)"
      case .localNetworking: "NSAllowsLocalNetworking"
      case .media: "NSAllowsArbitraryLoadsForMedia"
      case .webContent: "NSAllowsArbitraryLoadsInWebContent"
      case .arbitraryLoads: "NSAllowsArbitraryLoads"
      }
    }

    static func path(_ name: String) -> String {
      "NSExceptionDomains.\(name)"
    }
  }
}
