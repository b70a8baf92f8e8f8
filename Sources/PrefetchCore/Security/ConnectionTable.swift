/// Cache of connection rules by host and purpose; costs one comparison if nothing is configured.
package struct ConnectionTable: Sendable {
  private struct Key: Hashable, Sendable {
    var host: String
    var port: Int
    var scheme: WebURL.Scheme
    var purpose: RequestPurpose
    var provenance: Provenance
    var rule: Int?
  }

  private struct Known: Sendable {
    var key: Key
    var rules: Shared<ConnectionRules>?
  }

  private let shared: Shared<RunPolicy>
  private var policy: RunPolicy {
    _read { yield shared.value }
  }
  let dependsOnPurpose: Bool
  /// Whether TLS rules, pins, certificates and headers are all defaults, so that no host needs a look-up.
  private let hasOnlyDefaults: Bool
  let addsHeaders: Bool
  /// Whether plain http may be refused after it was allowed, or be read by a proxy.
  let rechecksPlainHTTP: Bool
  private var known: [Key: Shared<ConnectionRules>?] = [:]
  private var last: Known?
  private var until = Instant.distantFuture

  package init(_ policy: RunPolicy) {
    shared = Shared(policy)
    let security = policy.transportSecurity
    dependsOnPurpose = security.dependsOnPurpose
    addsHeaders = !policy.connections.rules.isEmpty || policy.connections.netrc != nil
    rechecksPlainHTTP =
      policy.connections.mayBeProxied
      || security.exceptions.all.contains { $0.exception.expires != nil }
    hasOnlyDefaults =
      security == TransportSecurity() && policy.connections.pins.isEmpty
      && policy.connections.clients.isEmpty && !addsHeaders
  }

  struct Terms: Sendable {
    var connection: Shared<ConnectionRules>?
    var headers: [HeaderField] = []
  }

  mutating func terms(
    for url: WebURL,
    method: TransferRequest.Method,
    purpose: RequestPurpose,
    named provenance: Provenance,
    isFirstOrigin: @autoclosure () -> Bool,
    at now: Instant
  ) -> Terms {
    if hasOnlyDefaults, provenance == .local { return Terms() }
    guard addsHeaders else {
      return Terms(
        connection: rules(for: url, purpose: purpose, named: provenance, rule: nil, at: now)
      )
    }
    let rule = policy.connections.rule(for: url, method: method)
    var terms = Terms(
      connection: rules(for: url, purpose: purpose, named: provenance, rule: rule, at: now)
    )
    terms.headers = policy.ruleFields(
      for: url,
      rule: rule,
      purpose: purpose,
      isFirstOrigin: isFirstOrigin(),
      at: now
    )
    return terms
  }

  /// Adds connection rules and headers to a request; returns whether these can authenticate us.
  package mutating func addTerms(
    to request: inout TransferRequest,
    for purpose: RequestPurpose,
    named provenance: Provenance,
    isFirstOrigin: Bool,
    at now: Instant
  ) -> Bool {
    let terms = terms(
      for: request.url,
      method: request.method,
      purpose: purpose,
      named: provenance,
      isFirstOrigin: isFirstOrigin,
      at: now
    )
    request.connection = terms.connection
    return Self.add(terms.headers, to: &request)
  }

  func isNamed(_ host: String) -> Bool {
    policy.configures(host: host)
  }

  /// Returns why an allowed URL may not be requested now; needed if ``rechecksPlainHTTP``.
  func objection(to exchange: Exchange, at now: Instant) -> Failure? {
    let url = exchange.hop
    guard url.scheme == .http else { return nil }
    if let refusal = policy.refusal(
      of: url,
      for: exchange.terms.purpose,
      named: exchange.chain.provenance,
      isRedirected: url != exchange.source,
      at: now
    ) {
      return refusal
    }
    guard exchange.isLicenseReadByProxy(policy.connections) else { return nil }
    return .licenseInClear(host: url.host)
  }

  static func add(_ headers: [HeaderField], to request: inout TransferRequest) -> Bool {
    let missing = RequestFields.missing(headers, in: request.headers)
    request.headers += missing
    return missing.contains { !RequestHeader.isHarmless($0.name) }
  }

  private mutating func rules(
    for url: WebURL,
    purpose: RequestPurpose,
    named provenance: Provenance,
    rule: Int?,
    at now: Instant
  ) -> Shared<ConnectionRules>? {
    if now >= until { forget() }
    if isLast(url, purpose, provenance, rule) { return last?.rules }
    let key = Key(
      host: url.host,
      port: url.port,
      scheme: url.scheme,
      purpose: purpose,
      provenance: provenance,
      rule: rule
    )
    let rules =
      known[key]
      ?? policy.connectionRules(
        for: url,
        purpose: purpose,
        named: provenance,
        rule: rule,
        at: now
      ).map { Shared($0) }
    if known.isEmpty { until = policy.nextExpiry(after: now) ?? .distantFuture }
    known[key] = .some(rules)
    last = Known(key: key, rules: rules)
    return rules
  }

  private func isLast(
    _ url: WebURL,
    _ purpose: RequestPurpose,
    _ provenance: Provenance,
    _ rule: Int?
  ) -> Bool {
    guard let key = last?.key else { return false }
    return key.provenance == provenance && key.purpose == purpose && key.rule == rule
      && key.port == url.port && key.scheme == url.scheme && key.host == url.host
  }

  private mutating func forget() {
    known = [:]
    last = nil
    until = .distantFuture
  }
}

extension RunPolicy {
  package func nextExpiry(after now: Instant) -> Instant? {
    let exceptions = transportSecurity.exceptions.all.compactMap(\.exception.expires)
    let pins = connections.pins.all.compactMap(\.expires)
    let plainHosts = transportSecurity.plainHosts.values.compactMap(\.expires)
    return (exceptions + plainHosts + pins).filter { now < $0 }.min()
  }
}

extension Failure {
  package static func licenseInClear(host: String) -> Failure {
    Failure(
      .transportSecurity,
      "plain http to `\(host)` goes through a proxy, which would see the license; "
        + "use https, or name the host in `no_proxy`"
    )
  }
}
