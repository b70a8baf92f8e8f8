/// Configuration of all connections, from which each request's rules are made.
package struct ConnectionPolicy: Hashable, Sendable {
  package var minimumTLS = ConnectionRules.MinimumTLS.tls12
  package var pins = PinTable()
  package var clients: [String: ConnectionRules.ClientCertificate] = [:]
  package var rules: [TransportRule] = []
  /// Hosts that the configuration names, which may have any address.
  package var namedHosts: Set<String> = []
  /// Patterns of the other hosts that lists may name; nil for any.
  package var listedHosts: [String]?
  package var netrc: Netrc?
  /// Whether requests may go through a proxy, so that a response's address has no meaning.
  package var mayBeProxied = false
  package var proxy = TransportSettings.Proxy.none

  package init() {}

  package func rule(for url: WebURL, method: TransferRequest.Method) -> Int? {
    rules.isEmpty ? nil : rules.firstIndex { $0.matches(url, method: method) }
  }

  /// Whether a proxy could read a request, which is so for plain http.
  package func isReadByProxy(_ url: WebURL, method: TransferRequest.Method) -> Bool {
    guard mayBeProxied, url.scheme == .http else { return false }
    let own = rule(for: url, method: method).flatMap { rules[$0].proxy }
    return (own ?? proxy).stands(before: url)
  }

  package func isNamed(_ host: String) -> Bool {
    namedHosts.contains(host)
  }

  package func mayBeListed(_ host: String) -> Bool {
    guard let listedHosts else { return true }
    return isNamed(host) || listedHosts.contains { Glob.matches($0, host) }
  }
}

extension RunPolicy {
  /// Returns the requirements of a request's connection; nil if the general settings suffice.
  package func connectionRules(
    for url: WebURL,
    purpose: RequestPurpose,
    named provenance: Provenance,
    rule: Int?,
    at now: Instant
  ) -> ConnectionRules? {
    var rules = ConnectionRules()
    rules.minimumTLS = connections.minimumTLS
    let general = rules
    let basis = transportSecurity.basis(of: url, for: purpose, at: now)
    switch url.scheme {
    case .https:
      rules.minimumTLS = basis.minimumTLS(forAll: connections.minimumTLS)
      rules.requiresForwardSecrecy = requiresForwardSecrecy(url, basis)
      rules.pins = connections.pins.rules(for: url.host, at: now)
      rules.client = connections.clients[url.authority]
    case .http:
      break
    }
    rules.reach = reach(of: url, basis, named: provenance)
    if let rule {
      rules.proxy = connections.rules[rule].proxy
      rules.httpVersion = connections.rules[rule].httpVersion
    }
    return rules == general ? nil : rules
  }

  /// Whether TLS needs forward secrecy; `NSAllowsLocalNetworking` waives it for addresses only,
  /// since a name could be any server's and over TLS its address is not checked.
  private func requiresForwardSecrecy(
    _ url: WebURL,
    _ basis: TransportSecurity.Basis
  ) -> Bool {
    if basis == .localNetworking, IPAddress(host: url.host) == nil { return true }
    return basis.requiresForwardSecrecy
  }

  /// Returns netrc's credentials for a host, in the clear only if an exception names the host.
  func netrcField(for url: WebURL, purpose: RequestPurpose, at now: Instant) -> HeaderField? {
    guard let field = connections.netrc?.field(for: url.host) else { return nil }
    guard url.scheme == .http else { return field }
    guard !connections.mayBeProxied,
      case .exception(_, let exception) =
        transportSecurity.basis(of: url, for: purpose, at: now),
      exception.allowsInsecureHTTP
    else { return nil }
    return field
  }

  private func reach(
    of url: WebURL,
    _ basis: TransportSecurity.Basis,
    named provenance: Provenance
  ) -> ConnectionRules.Reach {
    if basis == .localNetworking, url.scheme == .http {
      // A literal address shows its location, but a name could lead to any server.
      return IPAddress(host: url.host) == nil ? .localOnly : .anywhere
    }
    return mayReachLocal(url.host, named: provenance) ? .anywhere : .publicOnly
  }

  private func mayReachLocal(_ host: String, named provenance: Provenance) -> Bool {
    provenance == .local || transportSecurity.allowsLocalNetworking == true
      || configures(host: host)
  }

  func configures(host: String) -> Bool {
    connections.isNamed(host) || transportSecurity.exceptions.listsExactly(host: host)
  }

  /// Returns why a request's URL is refused; the resolved address is checked later.
  ///
  /// Redirects may lead to hosts that lists may not name; `redirects.cross_host` is for those.
  package func refusal(
    of url: WebURL,
    for purpose: RequestPurpose,
    named provenance: Provenance,
    isRedirected: Bool = false,
    at now: Instant
  ) -> Failure? {
    if !isRedirected, !connections.mayBeListed(url.host), url.host != tier.url?.host {
      return Failure(
        .hostForbidden,
        "`hosts` does not let a list name `\(url.host)`; no request was sent"
      )
    }
    if case .refused(_, let hint) = transportSecurity.decide(
      url,
      for: purpose,
      isDeclared: !isRedirected && connections.isNamed(url.host),
      at: now
    ) {
      return Failure(
        .transportSecurity,
        "plain http to `\(url.host)` is not allowed; \(hint)"
      )
    }
    guard provenance == .publicServer, let address = IPAddress(host: url.host), address.isLocal,
      !mayReachLocal(url.host, named: provenance)
    else { return nil }
    return Failure(
      .addressForbidden,
      "a public server names `\(url.host)`, an address of a local network; name it in "
        + "the configuration, or set `transport_security: { NSAllowsLocalNetworking: true }`"
    )
  }
}
