import PrefetchCore
import Testing

/// Proofs that every hop needs, and permitted redirect targets.
@Suite struct ConnectionPolicyTests {
  static let now = Instant(seconds: 1_700_000_000)

  static func digest(_ byte: UInt8) -> ContentDigest {
    ContentDigest(first: UInt64(byte), second: 0, third: 0, fourth: 0)
  }

  static func pin(
    _ host: String,
    leaf: [UInt8]? = nil,
    ca: [UInt8]? = nil,
    below: Bool = false,
    reports: Bool = false,
    expires: Instant? = nil
  ) -> PinTable.Rule {
    var entry = PinTable.Rule(host: host, location: "tls.pins.\(host)")
    entry.leaf = leaf.map { $0.map(digest) }
    entry.authority = ca.map { $0.map(digest) }
    entry.includesSubdomains = below
    entry.onlyReports = reports
    entry.expires = expires
    return entry
  }

  static func rules(
    _ url: String,
    _ policy: RunPolicy,
    named provenance: Provenance = .local,
    purpose: RequestPurpose = .other
  ) throws -> ConnectionRules? {
    let url = try WebURL(url)
    return policy.connectionRules(
      for: url,
      purpose: purpose,
      named: provenance,
      rule: policy.connections.rule(for: url, method: .get),
      at: now
    )
  }

  // MARK: Pins

  static let pins = PinTable([
    pin("a.example", leaf: [1], below: true), pin("b.a.example", leaf: [2]),
    pin("c.example", ca: [3], below: true), pin("d.c.example", leaf: [4], below: true),
    pin("over.example", leaf: [5], expires: now), pin("192.0.2.1", leaf: [6]),
    pin("2001:db8::1", leaf: [7]), pin("r.example", leaf: [8], below: true, reports: true),
    pin("s.r.example", leaf: [9]),
  ])

  struct PinRow: Sendable {
    var host: String
    var leaf: [UInt8]?
    var ca: [UInt8]?
    var entries: [String]
  }

  @Test(
    "All pins that apply to a host are combined",
    arguments: [
      PinRow(host: "a.example", leaf: [1], entries: ["a.example"]),
      PinRow(host: "a.example.", leaf: [1], entries: ["a.example"]),
      PinRow(host: "x.a.example", leaf: [1], entries: ["a.example"]),
      PinRow(host: "x.a.example.", leaf: [1], entries: ["a.example"]),
      PinRow(host: "y.x.a.example", entries: []),
      PinRow(host: "b.a.example", leaf: [1, 2], entries: ["b.a.example", "a.example"]),
      PinRow(host: "x.b.a.example", entries: []),
      PinRow(host: "d.c.example", leaf: [4], ca: [3], entries: ["d.c.example", "c.example"]),
      PinRow(host: "e.d.c.example", leaf: [4], entries: ["d.c.example"]),
      PinRow(host: "over.example", entries: []),
      PinRow(host: "example", entries: []),
      PinRow(host: "192.0.2.1", leaf: [6], entries: ["192.0.2.1"]),
      PinRow(host: "[::ffff:192.0.2.1]", leaf: [6], entries: ["192.0.2.1"]),
      PinRow(host: "[2001:db8:0::1]", leaf: [7], entries: ["2001:db8::1"]),
      PinRow(host: "192.0.2.2", entries: []),
    ]
  )
  func pins(row: PinRow) throws {
    let rules = Self.pins.rules(for: row.host, at: Self.now)
    guard !row.entries.isEmpty else {
      #expect(rules == [])
      return
    }
    let rule = try #require(rules.first)
    #expect(rules.count == 1)
    #expect(rule.leaf == row.leaf.map { Set($0.map(Self.digest)) })
    #expect(rule.authority == row.ca.map { Set($0.map(Self.digest)) })
    #expect(rule.entries == row.entries.map { "tls.pins.\($0)" })
    #expect(!rule.onlyReports)
  }

  @Test("Report-only pins are separate from enforced ones")
  func reports() {
    let rules = Self.pins.rules(for: "s.r.example", at: Self.now)
    #expect(rules.map(\.onlyReports) == [false, true])
    #expect(rules.map(\.leaf) == [[Self.digest(9)], [Self.digest(8)]])
  }

  // MARK: Rules

  @Test("A policy without entries for a host has no connection rules")
  func nothing() throws {
    var policy = RunPolicy()
    policy.connections.minimumTLS = .tls13
    #expect(try Self.rules("https://a.example/", policy) == nil)
    #expect(try Self.rules("http://127.0.0.1/", policy) == nil)
  }

  @Test("Pins, client certificates and versions apply to hosts with TLS only")
  func parts() throws {
    var policy = RunPolicy()
    policy.connections.pins = Self.pins
    policy.connections.minimumTLS = .tls13
    let certificate = ConnectionRules.ClientCertificate(certificate: "/c", key: "/k")
    policy.connections.clients = ["a.example": certificate, "a.example:444": certificate]
    policy.transportSecurity.exceptions = [
      "a.example": TransportSecurity.Exception(
        allowsInsecureHTTP: true,
        minimumTLS: .tls10,
        requiresForwardSecrecy: false
      )
    ]
    let rules = try #require(try Self.rules("https://a.example/", policy))
    #expect(rules.minimumTLS == .tls10)
    #expect(!rules.requiresForwardSecrecy)
    #expect(rules.pins.count == 1)
    #expect(rules.client == certificate)
    #expect(try Self.rules("https://a.example:444/", policy)?.client == certificate)
    #expect(try Self.rules("https://a.example:445/", policy)?.client == nil)
    #expect(try Self.rules("http://a.example/", policy) == nil)
  }

  struct ReachRow: Sendable {
    var url: String
    var provenance = Provenance.publicServer
    var local: Bool?
    var reach: ConnectionRules.Reach
  }

  @Test(
    "A host that an outside server names must be public, unless the configuration names it",
    arguments: [
      ReachRow(url: "https://b.example/", reach: .publicOnly),
      ReachRow(url: "https://b.example/", provenance: .local, reach: .anywhere),
      ReachRow(url: "https://b.example/", local: false, reach: .publicOnly),
      ReachRow(url: "https://b.example/", local: true, reach: .anywhere),
      ReachRow(url: "https://named.example/", reach: .anywhere),
      ReachRow(url: "https://excepted.example/", reach: .anywhere),
      ReachRow(url: "https://x.excepted.example/", reach: .publicOnly),
      ReachRow(url: "https://10.0.0.1/", reach: .anywhere),
      ReachRow(url: "https://localhost/", reach: .publicOnly),
      ReachRow(url: "http://printer.local/", local: true, reach: .localOnly),
      ReachRow(url: "http://printer/", provenance: .local, local: true, reach: .localOnly),
      ReachRow(url: "https://printer.local/", local: true, reach: .anywhere),
      ReachRow(url: "http://192.168.0.1/", local: true, reach: .anywhere),
    ]
  )
  func reach(row: ReachRow) throws {
    var policy = RunPolicy()
    policy.connections.namedHosts = ["named.example"]
    policy.transportSecurity.allowsLocalNetworking = row.local
    policy.transportSecurity.exceptions = [
      "excepted.example": TransportSecurity.Exception(includesSubdomains: true),
      "10.0.0.0/8": TransportSecurity.Exception(),
    ]
    let rules = try Self.rules(row.url, policy, named: row.provenance)
    #expect((rules?.reach ?? .anywhere) == row.reach)
  }

  @Test(
    "An exception for the local network lifts demands on TLS only for local addresses",
    arguments: [
      ("https://printer/", true), ("https://printer.local/", true), ("https://localhost/", true),
      ("https://b.example/", true), ("https://192.168.0.1/", false), ("https://[::1]/", false),
      ("https://192.0.2.1/", true),
    ]
  )
  func localSecrecy(url: String, isRequired: Bool) throws {
    var policy = RunPolicy()
    policy.transportSecurity.allowsLocalNetworking = true
    let rules = try Self.rules(url, policy) ?? policy.defaultRules
    #expect(rules.requiresForwardSecrecy == isRequired)
  }

  @Test(
    "A private address that an outside server names is refused by its own form",
    arguments: [
      ("https://127.0.0.1/", false), ("https://10.1.2.3/", false),
      ("https://169.254.169.254/", false),
      ("https://[::1]/", false), ("https://[::ffff:127.0.0.1]/", false),
      ("https://[fd00::1]/", false),
      ("https://[fe80::1]/", false), ("https://[64:ff9b::a00:1]/", false),
      ("https://0.0.0.0/", false),
      ("https://100.64.0.1/", false), ("https://192.0.2.1/", true),
      ("https://[2001:db8::1]/", true),
      ("https://localhost/", true), ("https://10.9.9.9/", true),
    ]
  )
  func literals(url: String, isAllowed: Bool) throws {
    var policy = RunPolicy()
    policy.connections.namedHosts = ["10.9.9.9"]
    let url = try WebURL(url)
    let refusal = policy.refusal(of: url, for: .other, named: .publicServer, at: Self.now)
    #expect(refusal?.code == (isAllowed ? nil : .addressForbidden))
    #expect(policy.refusal(of: url, for: .other, named: .local, at: Self.now) == nil)
    policy.transportSecurity.allowsLocalNetworking = true
    #expect(policy.refusal(of: url, for: .other, named: .publicServer, at: Self.now) == nil)
  }

  @Test(
    "A server is local only by a local address that was seen without a proxy",
    arguments: [
      ("127.0.0.1", false, Provenance.local), ("10.0.0.1", false, .local), ("::1", false, .local),
      ("8.8.8.8", false, .publicServer), ("127.0.0.1", true, .publicServer),
      (nil, false, .publicServer), ("nonsense", false, .publicServer),
    ] as [(String?, Bool, Provenance)]
  )
  func provenance(address: String?, isProxied: Bool, expected: Provenance) {
    #expect(Provenance(remoteAddress: address, throughProxy: isProxied) == expected)
  }

  // MARK: Transport rules

  @Test("Only the first matching rule applies")
  func firstRule() throws {
    var policy = RunPolicy()
    var proxied = TransportRule(url: URLPattern("https://a.example/x/**"))
    proxied.proxy = .url(Secret("http://proxy.example:3128"))
    var old = TransportRule(url: URLPattern("https://*.example/**"), method: .get)
    old.httpVersion = .http1
    policy.connections.rules = [proxied, old]
    let first = try #require(try Self.rules("https://a.example/x/y", policy))
    #expect(first.proxy == .url(Secret("http://proxy.example:3128")))
    #expect(first.httpVersion == nil)
    let second = try #require(try Self.rules("https://a.example/y", policy))
    #expect(second.proxy == nil)
    #expect(second.httpVersion == .http1)
    #expect(try Self.rules("https://other.test/", policy) == nil)
    #expect(policy.connections.rule(for: try WebURL("https://a.example/y"), method: .head) == nil)
  }
}
