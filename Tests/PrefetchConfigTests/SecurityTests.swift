import PrefetchConfig
import PrefetchCore
import Testing

/// Trust is the last thing to be guessed at: whatever cannot be meant is an error.
struct SecurityKeyTests {
  static let key = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

  struct Row: Sendable {
    var text: String
    var code: String?
  }

  /// Below `NSExceptionDomains`.
  static let exceptions = [
    Row(text: "a.example: {}"), Row(text: "a.example: {reason: old, legacy_tls: true}"),
    Row(text: "192.0.2.1: {}"), Row(text: "192.0.2.0/24: {}"), Row(text: "'2001:db8::/32': {}"),
    Row(text: "xn--bcher-kva.example: {}"), Row(text: "bücher.example: {}"),
    Row(text: "A.example: {}", code: "config.bad-host"),
    Row(text: "BÜCHER.example: {}", code: "config.bad-host"),
    Row(text: "'2001:DB8::1': {}", code: "config.bad-host"),
    Row(text: "'2001:DB8::/32': {}", code: "config.bad-host"),
    Row(text: "a.example.: {}", code: "config.bad-host"),
    Row(text: "'*.a.example': {}", code: "config.bad-host"),
    Row(text: "'a.example:80': {}", code: "config.bad-host"),
    Row(text: "'[2001:db8::1]': {}", code: "config.bad-host"),
    Row(text: "'http://a.example': {}", code: "config.bad-host"),
    Row(text: "a.example/x: {}", code: "config.bad-host"),
    Row(text: "192.0.2.0/33: {}", code: "config.bad-host"),
    Row(text: "192.0.2.0/: {}", code: "config.bad-host"),
    Row(text: "192.0.2.0/-1: {}", code: "config.bad-host"),
    Row(text: "'2001:db8::/129': {}", code: "config.bad-host"),
    Row(text: "'ab--ü.example': {}", code: "config.bad-host"),
    Row(text: "'': {}", code: "config.bad-host"),
    Row(text: "a..example: {}", code: "config.bad-host"),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: TLSv1.2}"),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: TLSv1.3}"),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: TLSv1.0, legacy_tls: true}"),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: TLSv1.0}", code: "config.legacy-tls"),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: TLSv1.1}", code: "config.legacy-tls"),
    Row(
      text: "a.example: {NSExceptionMinimumTLSVersion: TLSv1.1, legacy_tls: false}",
      code: "config.legacy-tls"
    ),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: TLSV1.3}", code: "config.unknown-value"),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: TLSv1.00}", code: "config.unknown-value"),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: TLSv1.4}", code: "config.unknown-value"),
    Row(text: "a.example: {NSExceptionMinimumTLSVersion: 1.0}", code: "config.unknown-value"),
    Row(text: "a.example: {NSIncludesSubdomains: 'YES'}", code: "config.wrong-type"),
    Row(text: "a.example: {NSIncludesSubdomains: 1}", code: "config.wrong-type"),
    Row(text: "a.example: {NSIncludesSubdomains: 2}", code: "config.wrong-type"),
    Row(
      text: "a.example: {NSExceptionRequiresForwardSecrecy: nein}",
      code: "config.wrong-type"
    ),
    Row(text: "a.example: {NSIncludeSubdomains: true}", code: "config.unknown-key"),
    Row(text: "a.example: {NSRequiresCertificateTransparency: false}"),
    Row(
      text: "a.example: {NSRequiresCertificateTransparency: true}",
      code: "config.unenforceable"
    ),
    Row(text: "a.example: {expires: soon}", code: "config.bad-date"),
    Row(text: "a.example: yes", code: "config.wrong-type"),
    Row(text: "[a.example]", code: "config.wrong-type"),
    Row(
      text: "{192.0.2.1: {}, '::ffff:192.0.2.1': {}}",
      code: "config.duplicate-key"
    ),
    Row(text: "{'2001:db8::1': {}, '2001:db8:0::1': {}}", code: "config.duplicate-key"),
    Row(text: "{bücher.example: {}, xn--bcher-kva.example: {}}", code: "config.duplicate-key"),
    Row(text: "{192.0.2.0/24: {}, 192.0.2.9/24: {}}", code: "config.duplicate-key"),
  ]

  @Test("Names, versions and flags of exceptions are checked one by one", arguments: exceptions)
  func exception(row: Row) {
    let yaml =
      "segments: []\ntransport_security:\n  NSExceptionDomains:\n    \(row.text)\n"
    #expect(load(yaml: yaml).codes == [row.code].compactMap(\.self))
  }

  /// Below `tls.pins`.
  static let pins = [
    Row(text: "a.example: {leaf: ['\(key)']}"), Row(text: "bücher.example: {ca: ['\(key)']}"),
    Row(text: "192.0.2.1: {leaf: ['sha256//\(key)']}"),
    Row(text: "a.example: {leaf: []}", code: "config.bad-value"),
    Row(text: "a.example: {ca: []}", code: "config.bad-value"),
    Row(text: "a.example: {leaf: ['\(key)'], ca: []}", code: "config.bad-value"),
    Row(text: "a.example: {}", code: "config.bad-pin"),
    Row(text: "a.example: {subdomains: true}", code: "config.bad-pin"),
    Row(text: "a.example: {leaf: ['\(key)', 'c2hvcnQ=']}", code: "config.bad-pin"),
    Row(text: "a.example: {leaf: ['\(key)', '?']}", code: "config.bad-pin"),
    Row(text: "a.example: {leaf: '\(key)'}", code: "config.wrong-type"),
    Row(text: "a.example.: {leaf: ['\(key)']}", code: "config.bad-host"),
    Row(text: "'*.example': {leaf: ['\(key)']}", code: "config.bad-host"),
    Row(text: "A.example: {leaf: ['\(key)']}", code: "config.bad-host"),
    Row(text: "192.0.2.0/24: {leaf: ['\(key)']}", code: "config.bad-host"),
    Row(text: "a.example: {leaf: ['\(key)'], expire: 2027-01-01}", code: "config.unknown-key"),
  ]

  @Test("A pin that can never match or never applies is an error", arguments: pins)
  func pin(row: Row) {
    let yaml = "segments: []\ntls:\n  pins:\n    \(row.text)\n"
    #expect(load(yaml: yaml).codes == [row.code].compactMap(\.self))
  }

  @Test(
    "Client certificates are for a host and a port",
    arguments: [
      ("a.example", "a.example"), ("a.example:443", "a.example"),
      ("a.example:444", "a.example:444"),
      ("bücher.example:444", "xn--bcher-kva.example:444"), ("192.0.2.1:444", "192.0.2.1:444"),
      ("2001:db8::1", "[2001:db8::1]"), ("[2001:db8:0::1]:444", "[2001:db8::1]:444"),
    ]
  )
  func clients(key: String, authority: String) {
    let yaml = "segments: []\ntls:\n  client:\n    '\(key)': {certificate: c.pem, key: k.pem}\n"
    let loaded = load(yaml: yaml)
    #expect(loaded.codes == [])
    let certificates = loaded.configuration.policy.connections.clients
    #expect(certificates.keys.sorted() == [authority])
    #expect(certificates[authority]?.certificate == "/work/c.pem")
  }

  @Test("Numbers count as booleans in an Info.plist")
  func numbers() {
    func loaded(_ value: String) -> LoadedConfiguration {
      let plist = """
        <plist version="1.0"><dict>
        <key>CFBundleName</key><string>x</string>
        <key>NSAppTransportSecurity</key><dict>
        <key>NSAllowsArbitraryLoads</key>\(value)
        </dict></dict></plist>
        """
      return TestWorld(["Info.plist": plist]).load("Info.plist")
    }
    #expect(
      loaded("<integer>1</integer>").configuration.transportSecurity.effective.allowsArbitraryLoads
    )
    #expect(loaded("<true/>").configuration.transportSecurity.effective.allowsArbitraryLoads)
    #expect(
      !loaded("<integer>0</integer>").configuration.transportSecurity.effective.allowsArbitraryLoads
    )
    #expect(loaded("<integer>2</integer>").codes.contains("config.wrong-type"))
    #expect(loaded("<string>YES</string>").codes.contains("config.wrong-type"))
  }
}

/// From keys to the values that decide.
struct EffectiveSecurityTests {
  private static let key = SecurityKeyTests.key

  @Test("Pins remember their position, in either spelling")
  func locations() throws {
    let loaded = load(
      yaml: """
        segments: []
        tls:
          pins:
            a.example: {leaf: ['\(Self.key)']}
        transport_security:
          NSPinnedDomains:
            b.example:
              NSPinnedCAIdentities: [{SPKI-SHA256-BASE64: '\(Self.key)'}]
        """
    )
    #expect(loaded.codes == [])
    let entries = loaded.configuration.pinTable.all
    #expect(
      entries.map(\.location) == [
        "tls.pins[\"a.example\"] (prefetch.yaml:4)",
        "transport_security.NSPinnedDomains[\"b.example\"] (prefetch.yaml:8)",
      ]
    )
    #expect(entries.map { $0.leaf?.count } == [1, nil])
    #expect(entries.map { $0.authority?.count } == [nil, 1])
  }

  @Test("The same pin in both spellings is one, and a different one is an error")
  func conflict() {
    func codes(_ other: String) -> [String] {
      let identity = "{SPKI-SHA256-BASE64: '\(other)'}"
      return load(
        yaml: """
          segments: []
          tls: {pins: {a.example: {leaf: ['\(Self.key)']}}}
          transport_security:
            NSPinnedDomains: {a.example: {NSPinnedLeafIdentities: [\(identity)]}}
          """
      ).codes
    }
    #expect(codes(Self.key) == [])
    #expect(codes("r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=") == ["config.conflict"])
  }

  @Test("Every URL of the configuration names its host")
  func namedHosts() {
    let loaded = load(
      yaml: """
        registration: {url: 'https://license.example/r'}
        analytics: {endpoint: 'https://stats.example/'}
        segments:
          - {name: a, manifest: 'https://m.example/a.json', alternates: ['https://alt.example/']}
          - {name: b, base: 'https://base.example/', urls: [x, 'https://item.example/y']}
        tls: {pins: {p.example: {leaf: ['\(Self.key)']}, '2001:db8::1': {ca: ['\(Self.key)']}}}
        transport:
          rules:
            - match: 'https://rule.example/**'
              http: '1.1'
            - match: 'https://*.wide.example/**'
              http: '1.1'
        """
    )
    #expect(loaded.codes == [])
    #expect(
      loaded.configuration.namedHosts == [
        "license.example", "stats.example", "m.example", "alt.example", "base.example",
        "item.example", "p.example", "[2001:db8::1]", "rule.example",
      ]
    )
  }

  @Test("Suspicious but valid settings are reported")
  func lints() {
    let loaded = load(
      yaml: """
        segments:
          - {name: a, manifest: 'https://c.b.a.example/a.json'}
          - {name: b, urls: ['https://b.a.example/', 'https://z.y.p.example/']}
        transport_security:
          NSExceptionDomains:
            a.example: {NSIncludesSubdomains: true}
        tls:
          pins:
            p.example: {leaf: ['\(Self.key)'], subdomains: true}
            q.p.example: {leaf: ['\(Self.key)']}
            r.p.example: {leaf: ['\(Self.key)'], report_only: true}
        """
    )
    #expect(loaded.codes == [])
    let lints = loaded.securityLints
    #expect(lints.allSatisfy { $0.severity == .warning })
    #expect(
      lints.map(\.code.description) == [
        "config.pin-union", "config.deep-subdomain", "config.pin-too-high",
      ]
    )
    #expect(lints.map { $0.location?.line } == [10, 6, 9])
    #expect(lints[1].message.contains("`c.b.a.example`"))
  }
}

/// Exceptions and pins that end.
struct ExpiryTests {
  private static let key = SecurityKeyTests.key
  private let yaml = """
    segments: []
    transport_security:
      NSExceptionDomains:
        old.example.com: {NSExceptionAllowsInsecureHTTPLoads: true, expires: 2026-11-01}
        soon.example.com: {NSExceptionAllowsInsecureHTTPLoads: true, expires: 2026-11-30}
        far.example.com: {NSExceptionAllowsInsecureHTTPLoads: true, expires: 2027-11-30}
    tls:
      pins:
        old.example.com: {leaf: ['\(key)'], expires: 2026-11-01}
        soon.example.com: {leaf: ['\(key)'], expires: 2026-12-20}
        far.example.com: {leaf: ['\(key)'], expires: 2026-12-22}
    """
  // 2026-11-21T00:00:00Z
  private let now = Instant(seconds: 1_795_219_200)

  @Test("Expired exceptions are reported as requested, and soon expiring ones as a warning")
  func reports() throws {
    let loaded = load(yaml: yaml)
    let found = loaded.expiryDiagnostics(at: now, expired: .error)
    #expect(found.map(\.severity) == [.error, .warning, .error, .warning])
    #expect(
      found[0].message == "the exception for `old.example.com` expired on 2026-11-01; "
        + "its hosts are held to the rules for all"
    )
    #expect(found[0].location?.line == 4)
    #expect(found[1].message == "the exception for `soon.example.com` expires on 2026-11-30")
    #expect(
      found[2].message == "the pin for `old.example.com` expired on 2026-11-01; it is ignored"
    )
    #expect(found[3].message == "the pin for `soon.example.com` expires on 2026-12-20")
    #expect(found[3].location?.line == 10)
  }

  @Test("Expired exceptions are warnings in a run")
  func warns() {
    let found = load(yaml: yaml).expiryDiagnostics(at: now, expired: .warning)
    #expect(found.map(\.severity) == [.warning, .warning, .warning, .warning])
  }

  @Test("An exception is not reported more than fourteen days before its end")
  func boundary() {
    let loaded = load(yaml: yaml)
    let end = Instant(seconds: 1_795_219_200 + 9 * 86_400)
    let hosts = { (now: Instant) in
      loaded.expiryDiagnostics(at: now, expired: .error).map(\.message)
        .filter { $0.contains("exception for `soon") }
    }
    #expect(hosts(end + .seconds(-14 * 86_400)) == [])
    #expect(hosts(end + .seconds(-14 * 86_400 + 1)).count == 1)
  }
}
