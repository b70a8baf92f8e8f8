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

  package init() {}

  /// Whether a request may go out to that URL; nothing is sent before this has said yes.
  package func decide(
    _ url: WebURL,
    for purpose: RequestPurpose = .other,
    at now: Instant
  ) -> Decision {
    guard url.scheme == .http else { return .allowed(entry: nil) }
    let basis = basis(of: url.host, for: purpose, at: now)
    guard basis.allowsInsecureHTTP else {
      return .refused(entry: basis.entry, hint: hint(for: basis, host: url.host))
    }
    return .allowed(entry: basis.entry)
  }

  /// Which of all the keys says what holds for a host.
  ///
  /// An entry of its own comes before everything and inherits nothing. One that has expired makes no
  /// room for wider leave: its hosts are then held to the rules for all.
  package func basis(
    of host: String,
    for purpose: RequestPurpose = .other,
    at now: Instant
  ) -> Basis {
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

  private func hint(for basis: Basis, host: String) -> String {
    switch basis {
    case .exception(let name, _):
      return "`\(Basis.path(name))` does not set `NSExceptionAllowsInsecureHTTPLoads`"
    case .expired(let name, let exception):
      let day = exception.expires.map { Timestamp.format($0).prefix(10) } ?? ""
      return "its exception `\(Basis.path(name))` expired on \(day)"
    case .rules, .localNetworking, .media, .webContent, .arbitraryLoads:
      guard !Self.isLocal(host) else {
        return "use https, or set `transport_security: { NSAllowsLocalNetworking: true }` "
          + "for hosts on this network"
      }
      return "use https, or name the host under `transport_security.NSExceptionDomains` with "
        + "`NSExceptionAllowsInsecureHTTPLoads: true`"
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
    case localNetworking
    case media
    case webContent
    case arbitraryLoads

    package var allowsInsecureHTTP: Bool {
      switch self {
      case .rules, .expired: false
      case .exception(_, let exception): exception.allowsInsecureHTTP
      case .localNetworking, .media, .webContent, .arbitraryLoads: true
      }
    }

    /// A host that is let off the rules may still agree on keys without forward secrecy.
    package var requiresForwardSecrecy: Bool {
      switch self {
      case .rules, .expired: true
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
