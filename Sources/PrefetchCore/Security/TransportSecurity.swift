/// What servers must offer before anything is asked of them: App Transport Security's rules over a host.
package struct TransportSecurity: Hashable, Sendable {
  package struct Exception: Hashable, Sendable {
    package var includesSubdomains: Bool
    package var allowsInsecureHTTP: Bool
    package var minimumTLS: ConnectionRules.MinimumTLS
    package var requiresForwardSecrecy: Bool
    package var reason: String?
    /// Past it the entry no longer applies, and its hosts are held to the rules for all.
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
    /// `entry` is the exception or key that decided; nil for plain https.
    case allowed(entry: String?)
    case refused(entry: String?, hint: String)
  }

  package var allowsArbitraryLoads = false
  /// Present with any value, these three take the effect from the one above.
  package var allowsArbitraryLoadsForMedia: Bool?
  package var allowsArbitraryLoadsInWebContent: Bool?
  package var allowsLocalNetworking: Bool?
  package var exceptions = ExceptionTable()
  /// Hosts that plain http is allowed to, and nothing else, by their exact names; none of them is in ``exceptions``.
  package var plainHosts: [String: Exception] = [:]

  package init() {}

  /// Whether a request may go out to that URL; nothing is sent before this has said yes.
  ///
  /// `isDeclared`: whether the configuration names the host. No hint offers a way for one that a
  /// server names, since the user never chose it.
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

  /// Which of all the keys says what holds for a host.
  ///
  /// An entry of its own comes before everything and inherits nothing. One that has expired makes no
  /// room for wider leave: its hosts are then held to the rules for all. An entry of ``plainHosts``
  /// says nothing of https.
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

  /// Whether the type of an item weighs anywhere.
  package var asksForPurpose: Bool {
    allowsArbitraryLoadsForMedia == true || allowsArbitraryLoadsInWebContent == true
  }

  private var hasNarrowerKeys: Bool {
    allowsLocalNetworking != nil || allowsArbitraryLoadsForMedia != nil
      || allowsArbitraryLoadsInWebContent != nil
  }

  /// Unqualified names, `.local`, and addresses of this network.
  ///
  /// Of names this is only half of it: where they lead is seen when the connection is made.
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
  /// The one key or entry that says what holds for a host.
  package enum Basis: Hashable, Sendable {
    /// None: https, with everything that is asked of it.
    case rules
    case exception(String, Exception)
    /// An entry past its time.
    case expired(String, Exception)
    /// An entry of `allow_http`, for a URL with `http`.
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

    /// A host that is let off the rules may still agree on keys without forward secrecy.
    package var requiresForwardSecrecy: Bool {
      switch self {
      case .rules, .expired, .plainHTTP, .plainHTTPExpired: true
      case .exception(_, let exception): exception.requiresForwardSecrecy
      case .localNetworking, .media, .webContent, .arbitraryLoads: false
      }
    }

    /// Versions older than 1.2 only by an entry that admits them, whatever holds for all; else
    /// whichever asks for more.
    package func minimumTLS(
      forAll general: ConnectionRules.MinimumTLS
    ) -> ConnectionRules.MinimumTLS {
      guard case .exception(_, let exception) = self else { return general }
      return exception.minimumTLS < .tls12
        ? exception.minimumTLS : max(exception.minimumTLS, general)
    }

    /// As the configuration names it.
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
