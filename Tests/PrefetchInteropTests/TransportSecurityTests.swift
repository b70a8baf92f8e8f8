import PrefetchCore
import PrefetchDocuments
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite("Transport security", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TransportSecurityTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/two": Site.Page("two")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
  }

  private static let rules = """
    segments: []
    transport_security:
      NSAllowsLocalNetworking: true
      NSExceptionDomains:
        example.com:
          NSIncludesSubdomains: true
          NSExceptionAllowsInsecureHTTPLoads: true
          reason: the old camera cannot do TLS
        secure.example.com: { NSIncludesSubdomains: true }
        single.example.com: {}
        bücher.example: { NSExceptionAllowsInsecureHTTPLoads: true }
        192.0.2.0/24: { NSExceptionAllowsInsecureHTTPLoads: true }
        over.example:
          NSExceptionAllowsInsecureHTTPLoads: true
          expires: 2020-01-31
        tls.example:
          NSExceptionMinimumTLSVersion: TLSv1.3
          NSExceptionRequiresForwardSecrecy: false
    """

  struct Made: Sendable {
    var url: String
    var entry: String?
    var isAllowed: Bool
    /// Words of the reason.
    var reason: String
  }

  static let made = [
    Made(
      url: "http://example.com/a",
      entry: "NSExceptionDomains.example.com",
      isAllowed: true,
      reason: "the old camera cannot do TLS"
    ),
    Made(
      url: "http://d.c.example.com/a",
      entry: "NSExceptionDomains.example.com",
      isAllowed: true,
      reason: "`NSExceptionDomains.example.com` holds"
    ),
    Made(
      url: "http://x.secure.example.com/a",
      entry: "NSExceptionDomains.secure.example.com",
      isAllowed: false,
      reason: "does not set `NSExceptionAllowsInsecureHTTPLoads`"
    ),
    Made(
      url: "http://single.example.com/a",
      entry: "NSExceptionDomains.single.example.com",
      isAllowed: false,
      reason: "does not set `NSExceptionAllowsInsecureHTTPLoads`"
    ),
    Made(
      url: "http://below.single.example.com/a",
      entry: "NSExceptionDomains.example.com",
      isAllowed: true,
      reason: "the old camera"
    ),
    Made(
      url: "http://BÜCHER.example/a",
      entry: "NSExceptionDomains.xn--bcher-kva.example",
      isAllowed: true,
      reason: "holds"
    ),
    Made(
      url: "http://192.0.2.77/a",
      entry: "NSExceptionDomains.192.0.2.0/24",
      isAllowed: true,
      reason: "holds"
    ),
    Made(
      url: "http://over.example/a",
      entry: "NSExceptionDomains.over.example",
      isAllowed: false,
      reason: "expired on 2020-01-31"
    ),
    Made(
      url: "http://printer.local/a",
      entry: "NSAllowsLocalNetworking",
      isAllowed: true,
      reason: "`NSAllowsLocalNetworking` lifts the rules"
    ),
    Made(url: "http://example.com./a", isAllowed: false, reason: "does not name this host"),
    Made(url: "http://other.example/a", isAllowed: false, reason: "is not allowed"),
    Made(url: "https://other.example/a", isAllowed: true, reason: "the rules for all hosts apply"),
  ]

  @Test(
    "A verdict on transport security is explained for an unknown URL, as text and as JSON",
    arguments: made
  )
  func explains(made: Made) throws {
    home.write(Self.rules)
    let verdict = made.isAllowed ? "allowed" : "refused"
    let json = try home.run("explain", made.url, "--json")
    #expect(json.status == 0, "\(json)")
    let document = try json.json()
    #expect(document.text("schema") == "prefetch-explain/1")
    #expect(document.text("security.decision") == verdict)
    #expect(document.text("security.entry") == made.entry)
    #expect(document.text("security.reason")?.contains(made.reason) == true)
    #expect(document.text("decision") == (made.isAllowed ? "fetch" : "fail"))
    #expect(document.text("rules.0.rule") == "transport_security")
    #expect(document.text("rules.0.verdict") == verdict)
    #expect(document.list("rules").allSatisfy { $0.text("reason")?.isEmpty == false })

    let text = try home.run("explain", made.url)
    #expect(text.status == 0)
    let line = try #require(text.lines.first { $0.hasPrefix("security ") })
    #expect(line.contains(verdict))
    #expect(line.contains(made.reason))
    if let entry = made.entry { #expect(line.contains(entry)) }
  }

  @Test("A verdict on transport security lists everything that a connection must prove")
  func explainsDemands() throws {
    let key = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    home.write(
      """
      \(Self.rules)
      tls:
        pins:
          tls.example: { leaf: ["\(key)"], subdomains: true }
          a.tls.example: { ca: ["\(key)"], expires: 2020-01-31 }
      transport:
        rules:
          - match: "https://elsewhere.example/**"
            http: "1.1"
          - match: { url: "https://tls.example/**" }
            headers: { X-Team: canary-team-value }
      redirects: { max: 2, cross_host: false }
      """
    )
    let run = try home.run("explain", "https://tls.example/a", "--json")
    #expect(!run.output.contains("canary-team-value"))
    let document = try run.json()
    #expect(document.text("security.entry") == "NSExceptionDomains.tls.example")
    #expect(document.text("security.minimum_tls") == "1.3")
    #expect(document.text("security.forward_secrecy") == "false")
    #expect(document.list("pins").count == 1)
    #expect(document.text("pins.0.leaf.0") == key)
    #expect(document.text("pins.0.entry")?.contains("prefetch.yaml:") == true)
    let rules = Dictionary(
      uniqueKeysWithValues: document.list("rules").map { ($0.text("rule") ?? "", $0) }
    )
    #expect(rules["tls"]?.text("reason") == "TLS 1.3 or newer, forward secrecy not required")
    #expect(rules["tls.pins"]?.text("verdict") == "applies")
    #expect(rules["transport.rules[1]"]?.text("reason")?.contains("`X-Team`") == true)
    #expect(rules["redirects"]?.text("reason")?.contains("up to 2") == true)

    let below = try home.run("explain", "https://a.tls.example/a", "--json").json()
    #expect(below.text("security.entry") == nil)
    #expect(below.list("pins").map { $0.text("host") } == ["a.tls.example", "tls.example"])
    #expect(below.list("pins").map { $0.text("expired") } == ["true", "false"])
    let text = try home.run("explain", "https://a.tls.example/a").output
    #expect(text.contains("over since 2020-01-31, ignored"))
  }

  private func expiring(_ expires: String) -> String {
    """
    segments:
      - name: basics
        urls: ["http://127.0.0.1:\(server.port)/one", "http://localhost:\(server.port)/two"]
    transport_security:
      NSExceptionDomains:
        127.0.0.1: { NSExceptionAllowsInsecureHTTPLoads: true }
        localhost: { NSExceptionAllowsInsecureHTTPLoads: true, expires: \(expires) }
    """
  }

  @Test("An expired exception fails the requests to its hosts, and no others")
  func expired() throws {
    home.write(expiring("2020-01-31"))
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 5, "\(run)")
    let report = try run.json()
    let items = Dictionary(
      uniqueKeysWithValues: report.list("items").map { ($0.text("url") ?? "", $0) }
    )
    #expect(items[server.address("/one")]?.text("outcome") == "added")
    let other = try #require(items["http://localhost:\(server.port)/two"])
    #expect(other.text("error.code") == "transport_security")
    #expect(other.text("error.message")?.contains("expired on 2020-01-31") == true)
    #expect(site.requests.map(\.target) == ["/one"])
    #expect(run.errors.contains("the exception for `localhost` expired on 2020-01-31"))
  }

  @Test("An exception is reported before it expires, and `check` ends with 78 after that")
  func checks() throws {
    let now = SystemClock().now().wall
    home.write(expiring("2020-01-31"))
    let over = try home.run("check", "--json")
    #expect(over.status == 78)
    #expect(try over.json().text("valid") == "false")
    #expect(try over.json().text("diagnostics.0.code") == "config.expired")
    #expect(try over.json().number("diagnostics.0.line") == 7)

    home.write(expiring(Timestamp.format(now + .seconds(13 * 86_400))))
    let soon = try home.run("check", "--json")
    #expect(soon.status == 0)
    #expect(try soon.json().text("diagnostics.0.severity") == "warning")
    #expect(try home.run().status == 0)

    home.write(expiring(Timestamp.format(now + .seconds(15 * 86_400))))
    #expect(try home.run("check", "--json").json().list("diagnostics").isEmpty)
  }

  @Test("Headers and versions of transport rules apply where they match, and nowhere else")
  func transportRules() throws {
    home.write(
      """
      license: canary-license-4711
      segments:
        - { name: listed, manifest: "\(server.address("/m.json"))" }
        - { name: basics, urls: ["\(server.address("/two"))"] }
      transport_security: { NSAllowsLocalNetworking: true }
      transport:
        rules:
          - match: "http://127.0.0.1:*/**"
            headers: { X-License: "${license}", X-Team: news }
      """
    )
    site["/m.json"] = Site.Page(
      #"{"format": "prefetch-manifest", "version": 1, "items": [{"url": "one"}]}"#,
      headers: [HeaderField("Content-Type", "application/json")]
    )
    let run = try home.run("-vv")
    #expect(run.status == 0, "\(run)")
    #expect(!run.output.contains("canary-license") && !run.errors.contains("canary-license"))
    let sent = Dictionary(
      uniqueKeysWithValues: site.requests.map { ($0.target, $0.headers) }
    )
    #expect(sent["/m.json"]?["X-License"] == "canary-license-4711")
    #expect(sent["/one"]?["X-License"] == nil)
    #expect(sent["/two"]?["X-License"] == nil)
    #expect(sent.values.allSatisfy { $0["X-Team"] == "news" })
  }
}
