/// Everything the configuration says about connections, from which each request's rules are made.
package struct ConnectionPolicy: Hashable, Sendable {
  /// For all hosts.
  package var minimumTLS = ConnectionRules.MinimumTLS.tls12
  package var pins = PinTable()
  /// By ``WebURL/authority``.
  package var clients: [String: ConnectionRules.ClientCertificate] = [:]
  package var rules: [TransportRule] = []
  /// Hosts that the configuration names, which may be anywhere.
  package var namedHosts: Set<String> = []
  /// Patterns of the only hosts that lists may name besides; nil for any.
  package var listedHosts: [String]?
  /// Who we are to hosts that want to know.
  package var netrc: Netrc?
  /// Whether requests may go through a proxy, so that an answer's address says nothing.
  package var mayBeProxied = false
  /// The run's own, for whatever no rule has another one for.
  package var proxy = TransportSettings.Proxy.none

  package init() {}

  /// The first of the rules that matches a request.
  package func rule(for url: WebURL, method: TransferRequest.Method) -> Int? {
    rules.isEmpty ? nil : rules.firstIndex { $0.matches(url, method: method) }
  }

  /// Whether a proxy would read a request and what it carries.
  package func isReadByProxy(_ url: WebURL, method: TransferRequest.Method) -> Bool {
    guard mayBeProxied, url.scheme == .http else { return false }
    let own = rule(for: url, method: method).flatMap { rules[$0].proxy }
    return (own ?? proxy).stands(before: url)
  }

  package func isNamed(_ host: String) -> Bool {
    namedHosts.contains(host)
  }

  /// Whether a list may name a host.
  package func mayBeListed(_ host: String) -> Bool {
    guard let listedHosts else { return true }
    return isNamed(host) || listedHosts.contains { Glob.matches($0, host) }
  }
}

extension RunPolicy {
  /// What the connection of a request must prove, nil where that is what the settings say anyway.
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

  /// Leave for this network holds for what is on it: an address says so itself, a name could be
  /// any server's, and over TLS it is not looked at where it leads.
  private func requiresForwardSecrecy(
    _ url: WebURL,
    _ basis: TransportSecurity.Basis
  ) -> Bool {
    if basis == .localNetworking, IPAddress(host: url.host) == nil { return true }
    return basis.requiresForwardSecrecy
  }

  /// What proves to a host who we are; in the clear only where an exception names the host.
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
      // An address says itself where it is; a name could say so of any server.
      return IPAddress(host: url.host) == nil ? .localOnly : .anywhere
    }
    return mayReachLocal(url.host, named: provenance) ? .anywhere : .publicOnly
  }

  private func mayReachLocal(_ host: String, named provenance: Provenance) -> Bool {
    provenance == .local || transportSecurity.allowsLocalNetworking == true || names(host)
  }

  /// Whether the configuration names a host, as a place to ask or by an exception of its own.
  func names(_ host: String) -> Bool {
    connections.isNamed(host) || transportSecurity.exceptions.names(host)
  }

  /// Why a request may not go out, as far as its URL tells; where a name leads is seen later.
  ///
  /// A redirect may lead to hosts that no list may name: `redirects.cross_host` is for those.
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
