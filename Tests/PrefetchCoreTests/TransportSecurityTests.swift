import PrefetchCore
import Testing

extension TransportSecurityTable.Row: CustomTestStringConvertible {
  var testDescription: String { "\(title): \(url) \(verdict)" }
}

@Suite struct TransportSecurityTests {
  typealias Table = TransportSecurityTable

  static func word(_ decision: TransportSecurity.Decision) -> String {
    let (sign, entry) =
      switch decision {
      case .allowed(let entry): ("+", entry)
      case .refused(let entry, _): ("-", entry)
      }
    let prefix = "NSExceptionDomains."
    let name = entry.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0 }
    return sign + (name ?? "")
  }

  @Test("A host may be used without TLS by the entry that says so", arguments: Table.all)
  func table(row: Table.Row) throws {
    let decision = row.rules.decide(try WebURL(row.url), for: row.purpose, at: Table.now)
    #expect(Self.word(decision) == row.verdict)
    if case .refused(_, let hint) = decision { #expect(!hint.isEmpty) }
  }

  @Test("The table has at least ninety rows")
  func length() {
    #expect(Table.all.count >= 90)
  }

  @Test("An expired entry is reported with its day")
  func expired() throws {
    let rules = Table.rules(["a.example": Table.Exception(expires: Table.now)])
    guard case .refused(_, let hint) = rules.decide(try WebURL("http://a.example/"), at: Table.now)
    else {
      Issue.record("allowed")
      return
    }
    #expect(hint.contains("expired on 2023-11-14"))
  }

  struct Demand: Sendable {
    var host: String
    var general: ConnectionRules.MinimumTLS = .tls12
    var minimum: ConnectionRules.MinimumTLS
    var hasForwardSecrecy: Bool
  }

  static let strict = Table.rules([
    "old.example": Table.Exception(minimumTLS: .tls10, requiresForwardSecrecy: false),
    "older.example": Table.Exception(minimumTLS: .tls11),
    "new.example": Table.Exception(minimumTLS: .tls13),
    "plain.example": Table.Exception(includesSubdomains: true),
    "static.example": Table.Exception(requiresForwardSecrecy: false),
    "over.example": Table.Exception(
      minimumTLS: .tls10,
      requiresForwardSecrecy: false,
      expires: Table.now
    ),
  ])

  @Test(
    "The demands on a connection come from the same entry",
    arguments: [
      Demand(host: "a.example", minimum: .tls12, hasForwardSecrecy: true),
      Demand(host: "a.example", general: .tls13, minimum: .tls13, hasForwardSecrecy: true),
      Demand(host: "old.example", minimum: .tls10, hasForwardSecrecy: false),
      Demand(host: "old.example", general: .tls13, minimum: .tls10, hasForwardSecrecy: false),
      Demand(host: "older.example", minimum: .tls11, hasForwardSecrecy: true),
      Demand(host: "new.example", minimum: .tls13, hasForwardSecrecy: true),
      Demand(host: "plain.example", minimum: .tls12, hasForwardSecrecy: true),
      Demand(host: "plain.example", general: .tls13, minimum: .tls13, hasForwardSecrecy: true),
      Demand(host: "b.plain.example", minimum: .tls12, hasForwardSecrecy: true),
      Demand(host: "static.example", minimum: .tls12, hasForwardSecrecy: false),
      Demand(host: "over.example", minimum: .tls12, hasForwardSecrecy: true),
    ]
  )
  func demands(row: Demand) throws {
    let basis = Self.strict.basis(of: try WebURL("https://\(row.host)/"), at: Table.now)
    #expect(basis.minimumTLS(forAll: row.general) == row.minimum)
    #expect(basis.requiresForwardSecrecy == row.hasForwardSecrecy)
  }

  @Test("A host that is exempt from the rules keeps the minimum version for all")
  func letOff() throws {
    let basis = Table.rules(arbitrary: true).basis(
      of: try WebURL("https://a.example/"),
      at: Table.now
    )
    #expect(basis.minimumTLS(forAll: .tls12) == .tls12)
    #expect(!basis.requiresForwardSecrecy)
  }

  @Test(
    "A host of `allow_http` is exempt for plain http only, by its exact name, until it expires"
  )
  func plainHosts() throws {
    var security = TransportSecurity()
    security.plainHosts = [
      "nas.lan": TransportSecurity.Exception(allowsInsecureHTTP: true),
      "old.lan": TransportSecurity.Exception(allowsInsecureHTTP: true, expires: Table.now),
    ]
    let insecure = try WebURL("http://nas.lan:8080/a")
    #expect(security.decide(insecure, at: Table.now) == .allowed(entry: "allow_http.nas.lan"))
    #expect(security.basis(of: try WebURL("https://nas.lan/a"), at: Table.now) == .rules)
    for host in ["x.nas.lan", "nas.lan.", "old.lan"] {
      let decision = security.decide(try WebURL("http://\(host)/a"), at: Table.now)
      guard case .refused = decision else {
        Issue.record("\(host): \(decision)")
        continue
      }
    }
    security.allowsArbitraryLoads = true
    let over = security.decide(try WebURL("http://old.lan/a"), at: Table.now)
    guard case .refused(entry: "allow_http.old.lan", _) = over else {
      Issue.record("\(over)")
      return
    }
  }

  @Test("Only a host of the configuration gets a hint about plain http")
  func hints() throws {
    let url = try WebURL("http://nas.lan/a")
    for isDeclared in [true, false] {
      let decision = TransportSecurity().decide(url, isDeclared: isDeclared, at: Table.now)
      guard case .refused(_, let hint) = decision else {
        Issue.record("\(decision)")
        continue
      }
      #expect(hint.contains("--set allow_http=nas.lan") == isDeclared)
      #expect(!hint.contains("NSAllows"))
    }
  }
}
