import PrefetchCore
import Testing

@Suite struct TransportSecurityTests {
  typealias Exception = TransportSecurity.Exception

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var url: String
    var entry: String?
    var isAllowed: Bool
    var rules: TransportSecurity

    var testDescription: String { name }
  }

  static let now = Instant(seconds: 1_700_000_000)

  static func rules(
    arbitrary: Bool = false,
    local: Bool? = nil,
    narrower: Bool = false,
    _ exceptions: [String: Exception] = [:]
  ) -> TransportSecurity {
    var rules = TransportSecurity()
    rules.allowsArbitraryLoads = arbitrary
    rules.allowsLocalNetworking = local
    rules.hasNarrowerKeys = narrower
    rules.exceptions = exceptions
    return rules
  }

  static let open = Exception(allowsInsecureHTTP: true)
  static let openBelow = Exception(includesSubdomains: true, allowsInsecureHTTP: true)
  static let closedBelow = Exception(includesSubdomains: true)

  static func row(
    _ name: String,
    _ url: String,
    _ entry: String?,
    _ isAllowed: Bool,
    _ rules: TransportSecurity
  ) -> Row {
    Row(name: name, url: url, entry: entry, isAllowed: isAllowed, rules: rules)
  }

  static let rows: [Row] = [
    row("https needs nothing", "https://a.example/", nil, true, rules()),
    row(
      "https needs nothing of an exception",
      "https://a.example/",
      nil,
      true,
      rules(["a.example": Exception()])
    ),
    row("http is refused", "http://a.example/", nil, false, rules()),
    row("loopback is refused", "http://127.0.0.1/", nil, false, rules()),
    row("localhost is refused", "http://localhost/", nil, false, rules()),
    row("arbitrary", "http://a.example/", "NSAllowsArbitraryLoads", true, rules(arbitrary: true)),
    row("arbitrary leaves the network out", "http://10.0.0.1/", nil, false, rules(arbitrary: true)),
    row(
      "arbitrary is void with local true",
      "http://a.example/",
      nil,
      false,
      rules(arbitrary: true, local: true)
    ),
    row(
      "arbitrary is void with local false",
      "http://a.example/",
      nil,
      false,
      rules(arbitrary: true, local: false)
    ),
    row(
      "arbitrary is void with narrower keys",
      "http://a.example/",
      nil,
      false,
      rules(arbitrary: true, narrower: true)
    ),
    row("local name", "http://printer/", "NSAllowsLocalNetworking", true, rules(local: true)),
    row("local mDNS", "http://printer.local/", "NSAllowsLocalNetworking", true, rules(local: true)),
    row(
      "local address",
      "http://192.168.0.9/",
      "NSAllowsLocalNetworking",
      true,
      rules(local: true)
    ),
    row("local IPv6", "http://[::1]:81/", "NSAllowsLocalNetworking", true, rules(local: true)),
    row("local is not the world", "http://a.example/", nil, false, rules(local: true)),
    row("local false", "http://localhost/", nil, false, rules(local: false)),
    row(
      "exact",
      "http://a.example/",
      "NSExceptionDomains.a.example",
      true,
      rules(["a.example": open])
    ),
    row(
      "case of the URL",
      "http://A.Example/",
      "NSExceptionDomains.a.example",
      true,
      rules(["a.example": open])
    ),
    row(
      "exact without the key",
      "http://a.example/",
      "NSExceptionDomains.a.example",
      false,
      rules(["a.example": Exception()])
    ),
    row(
      "an empty entry beats arbitrary",
      "http://a.example/",
      "NSExceptionDomains.a.example",
      false,
      rules(arbitrary: true, ["a.example": Exception()])
    ),
    row(
      "an empty entry beats local",
      "http://p.local/",
      "NSExceptionDomains.p.local",
      false,
      rules(local: true, ["p.local": Exception()])
    ),
    row("no subdomains", "http://b.a.example/", nil, false, rules(["a.example": open])),
    row(
      "subdomain",
      "http://b.a.example/",
      "NSExceptionDomains.a.example",
      true,
      rules(["a.example": openBelow])
    ),
    row(
      "any depth",
      "http://d.c.b.a.example/",
      "NSExceptionDomains.a.example",
      true,
      rules(["a.example": openBelow])
    ),
    row("no suffix of a name", "http://ba.example/", nil, false, rules(["a.example": openBelow])),
    row(
      "the nearest ancestor decides",
      "http://c.b.a.example/",
      "NSExceptionDomains.b.a.example",
      false,
      rules(["a.example": openBelow, "b.a.example": closedBelow])
    ),
    row(
      "an entry without subdomains is skipped",
      "http://c.b.a.example/",
      "NSExceptionDomains.a.example",
      true,
      rules(["a.example": openBelow, "b.a.example": Exception()])
    ),
    row(
      "exact before ancestor",
      "http://b.a.example/",
      "NSExceptionDomains.b.a.example",
      false,
      rules(["a.example": openBelow, "b.a.example": Exception()])
    ),
    row(
      "expired",
      "http://a.example/",
      nil,
      false,
      rules(["a.example": Exception(allowsInsecureHTTP: true, expires: now)])
    ),
    row(
      "not yet expired",
      "http://a.example/",
      "NSExceptionDomains.a.example",
      true,
      rules(["a.example": Exception(allowsInsecureHTTP: true, expires: now + .milliseconds(1))])
    ),
    row(
      "an expired entry uncovers its ancestor",
      "http://b.a.example/",
      "NSExceptionDomains.a.example",
      true,
      rules(["a.example": openBelow, "b.a.example": Exception(expires: now)])
    ),
    row("trailing dot", "http://a.example./", nil, false, rules(["a.example": open])),
    row("trailing dot below", "http://b.a.example./", nil, false, rules(["a.example": openBelow])),
    row(
      "address",
      "http://192.0.2.1/",
      "NSExceptionDomains.192.0.2.1",
      true,
      rules(["192.0.2.1": open])
    ),
    row("no parents of an address", "http://192.0.2.1/", nil, false, rules(["0.2.1": openBelow])),
    row(
      "IPv6",
      "http://[2001:db8::1]/",
      "NSExceptionDomains.2001:db8::1",
      true,
      rules(["2001:db8::1": open])
    ),
  ]

  static func rules(_ exceptions: [String: Exception]) -> TransportSecurity {
    rules(arbitrary: false, exceptions)
  }

  @Test("Who may be spoken to without TLS", arguments: rows)
  func table(row: Row) throws {
    switch row.rules.decide(try WebURL(row.url), at: Self.now) {
    case .allowed(let entry):
      #expect(row.isAllowed)
      #expect(entry == row.entry)
    case .refused(let entry, let hint):
      #expect(!row.isAllowed)
      #expect(entry == row.entry)
      #expect(!hint.isEmpty)
    }
  }
}
