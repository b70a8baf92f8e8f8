import PrefetchCore

/// Assertions about single hosts for each set of rules.
///
/// `+` permits plain http, `-` refuses it; the deciding key or entry follows.
enum TransportSecurityTable {
  typealias Exception = TransportSecurity.Exception

  struct Row: Sendable {
    var title: String
    var rules: TransportSecurity
    var purpose: RequestPurpose
    var url: String
    var verdict: String
  }

  static let now = Instant(seconds: 1_700_000_000)
  static let open = Exception(allowsInsecureHTTP: true)
  static let openBelow = Exception(includesSubdomains: true, allowsInsecureHTTP: true)
  static let closed = Exception()
  static let closedBelow = Exception(includesSubdomains: true)

  static func rules(
    _ exceptions: [String: Exception] = [:],
    arbitrary: Bool = false,
    local: Bool? = nil,
    media: Bool? = nil,
    web: Bool? = nil
  ) -> TransportSecurity {
    var rules = TransportSecurity()
    rules.allowsArbitraryLoads = arbitrary
    rules.allowsLocalNetworking = local
    rules.allowsArbitraryLoadsForMedia = media
    rules.allowsArbitraryLoadsInWebContent = web
    rules.exceptions = ExceptionTable(exceptions)
    return rules
  }

  static func rows(
    _ title: String,
    _ rules: TransportSecurity,
    for purpose: RequestPurpose = .other,
    _ verdicts: KeyValuePairs<String, String>
  ) -> [Row] {
    verdicts.map { url, verdict in
      Row(title: title, rules: rules, purpose: purpose, url: url, verdict: verdict)
    }
  }

  static let all = defaults + names + addresses + switches + purposes + times + spellings

  private static let defaults =
    rows(
      "without a key https and nothing else",
      rules(),
      [
        "https://a.example/": "+", "https://printer.local/": "+", "https://10.0.0.1/": "+",
        "http://a.example/": "-", "http://a.example:8080/x": "-", "http://example/": "-",
        "http://printer.local/": "-", "http://localhost/": "-", "http://127.0.0.1/": "-",
        "http://192.0.2.1/": "-", "http://[::1]/": "-", "http://[2001:db8::1]/": "-",
      ]
    )

  private static let names =
    rows(
      "names",
      rules([
        "example.com": openBelow, "subhostname.example.com": open,
        "another.subhostname.example.com": closed, "secure.example.com": closedBelow,
        "open.secure.example.com": open, "example.net": open, "example.org": closedBelow,
        "myhost.local": closed, "myotherhost.local": open,
      ]),
      [
        "http://example.com/": "+example.com",
        "http://example.com:81/": "+example.com",
        "http://www.example.com/": "+example.com",
        "http://d.c.b.a.example.com/": "+example.com",
        "http://myexample.com/": "-",
        "http://com/": "-",
        "http://subhostname.example.com/": "+subhostname.example.com",
        "http://sub.subhostname.example.com/": "+example.com",
        "http://another.subhostname.example.com/": "-another.subhostname.example.com",
        "http://test.another.subhostname.example.com/": "+example.com",
        "http://secure.example.com/": "-secure.example.com",
        "http://a.secure.example.com/": "-secure.example.com",
        "http://b.a.secure.example.com/": "-secure.example.com",
        "http://open.secure.example.com/": "+open.secure.example.com",
        "http://a.open.secure.example.com/": "-secure.example.com",
        "https://secure.example.com/": "+",
        "http://example.net/": "+example.net",
        "http://www.example.net/": "-",
        "http://example.org/": "-example.org",
        "http://www.example.org/": "-example.org",
        "http://myhost.local/": "-myhost.local",
        "http://myotherhost.local/": "+myotherhost.local",
        "http://a.myotherhost.local/": "-",
      ]
    )

  private static let addresses =
    rows(
      "addresses and ranges",
      rules([
        "192.0.2.1": open, "198.51.100.0/24": open, "198.51.100.128/25": closed,
        "198.51.100.200": open, "203.0.113.7": closed, "0.2.1": openBelow, "2001:db8::1": open,
        "2001:db8:1::/48": open, "2001:db8:1:2::/64": closed, "0.0.0.0/0": closed,
        "example": openBelow,
      ]),
      [
        "http://192.0.2.1/": "+192.0.2.1",
        "http://192.0.2.1:8080/": "+192.0.2.1",
        "http://192.0.2.2/": "-0.0.0.0/0",
        "http://198.51.100.1/": "+198.51.100.0/24",
        "http://198.51.100.127/": "+198.51.100.0/24",
        "http://198.51.100.128/": "-198.51.100.128/25",
        "http://198.51.100.200/": "+198.51.100.200",
        "http://198.51.101.1/": "-0.0.0.0/0",
        "http://203.0.113.7/": "-203.0.113.7",
        "http://127.0.0.1/": "-0.0.0.0/0",
        "http://[2001:db8::1]/": "+2001:db8::1",
        "http://[2001:0db8:0:0:0::1]/": "+2001:db8::1",
        "http://[2001:DB8::1]/": "+2001:db8::1",
        "http://[2001:db8::2]/": "-",
        "http://[2001:db8:1::9]/": "+2001:db8:1::/48",
        "http://[2001:db8:1:2::9]/": "-2001:db8:1:2::/64",
        "http://[::ffff:192.0.2.1]/": "+192.0.2.1",
        "http://[::ffff:c000:201]/": "+192.0.2.1",
        "http://[::ffff:198.51.100.9]/": "+198.51.100.0/24",
        "http://[::1]/": "-",
        "http://host.example/": "+example",
      ]
    )

  private static let switches =
    rows(
      "arbitrary loads, for hosts without an entry",
      rules(
        ["a.example": closedBelow, "b.example": open, "192.0.2.0/24": closed],
        arbitrary: true
      ),
      [
        "http://c.example/": "+NSAllowsArbitraryLoads",
        "http://a.example/": "-a.example",
        "http://x.a.example/": "-a.example",
        "http://b.example/": "+b.example",
        "http://x.b.example/": "+NSAllowsArbitraryLoads",
        "http://192.0.2.9/": "-192.0.2.0/24",
        "http://192.0.3.9/": "+NSAllowsArbitraryLoads",
        "http://localhost/": "+NSAllowsArbitraryLoads",
        "http://10.0.0.1/": "+NSAllowsArbitraryLoads",
      ]
    )
    + rows(
      "local networking",
      rules(["p.local": closed, "q.local": open, "10.1.0.0/16": closed], local: true),
      [
        "http://printer/": "+NSAllowsLocalNetworking",
        "http://localhost/": "+NSAllowsLocalNetworking",
        "http://printer.local/": "+NSAllowsLocalNetworking",
        "http://a.printer.local/": "+NSAllowsLocalNetworking",
        "http://p.local/": "-p.local",
        "http://q.local/": "+q.local",
        "http://127.0.0.1/": "+NSAllowsLocalNetworking",
        "http://10.0.0.1/": "+NSAllowsLocalNetworking",
        "http://10.1.0.1/": "-10.1.0.0/16",
        "http://172.16.0.1/": "+NSAllowsLocalNetworking",
        "http://172.32.0.1/": "-",
        "http://192.168.0.9/": "+NSAllowsLocalNetworking",
        "http://169.254.1.1/": "+NSAllowsLocalNetworking",
        "http://[::1]:81/": "+NSAllowsLocalNetworking",
        "http://[fe80::1]/": "+NSAllowsLocalNetworking",
        "http://[fd00::1]/": "+NSAllowsLocalNetworking",
        "http://[::ffff:10.0.0.1]/": "+NSAllowsLocalNetworking",
        "http://8.8.8.8/": "-",
        "http://[2001:db8::1]/": "-",
        "http://a.example/": "-",
        "http://local/": "+NSAllowsLocalNetworking",
        "http://mylocal.example/": "-",
      ]
    )
    + rows(
      "local networking refused",
      rules(local: false),
      [
        "http://localhost/": "-", "http://printer.local/": "-", "http://10.0.0.1/": "-",
        "http://a.example/": "-",
      ]
    )
    + rows(
      "presence of local networking voids arbitrary loads",
      rules(arbitrary: true, local: false),
      ["http://a.example/": "-", "http://localhost/": "-"]
    )
    + rows(
      "also when it is allowed",
      rules(arbitrary: true, local: true),
      ["http://a.example/": "-", "http://localhost/": "+NSAllowsLocalNetworking"]
    )

  private static let purposes =
    rows(
      "presence of the media key voids arbitrary loads",
      rules(arbitrary: true, media: false),
      ["http://a.example/": "-", "http://10.0.0.1/": "-"]
    )
    + rows(
      "presence of the web key voids arbitrary loads",
      rules(arbitrary: true, web: false),
      ["http://a.example/": "-"]
    )
    + rows(
      "media",
      rules(["a.example": closed], media: true),
      for: .media,
      [
        "http://b.example/": "+NSAllowsArbitraryLoadsForMedia", "http://a.example/": "-a.example",
        "http://10.0.0.1/": "+NSAllowsArbitraryLoadsForMedia",
      ]
    )
    + rows("media alone", rules(media: true), ["http://b.example/": "-"])
    + rows("no pages", rules(media: true), for: .page, ["http://b.example/": "-"])
    + rows("no manifests", rules(media: true), for: .manifest, ["http://b.example/": "-"])
    + rows(
      "pages",
      rules(["a.example": closed], web: true),
      for: .page,
      [
        "http://b.example/": "+NSAllowsArbitraryLoadsInWebContent",
        "http://a.example/": "-a.example",
      ]
    )
    + rows("pages alone", rules(web: true), for: .media, ["http://b.example/": "-"])
    + rows(
      "local before media",
      rules(local: true, media: true),
      for: .media,
      [
        "http://tv.local/": "+NSAllowsLocalNetworking",
        "http://b.example/": "+NSAllowsArbitraryLoadsForMedia",
      ]
    )
    + rows(
      "local refused, media allowed",
      rules(local: false, media: true),
      for: .media,
      ["http://tv.local/": "+NSAllowsArbitraryLoadsForMedia"]
    )

  private static func until(_ expires: Instant, below: Bool = false) -> Exception {
    Exception(includesSubdomains: below, allowsInsecureHTTP: true, expires: expires)
  }

  /// An expired entry permits nothing, and its hosts do not fall back to a wider entry.
  private static let times =
    rows(
      "expired entries",
      rules([
        "over.example": until(now), "under.example": until(now, below: true),
        "soon.example": until(now + .milliseconds(1)), "wide.example": openBelow,
        "over.wide.example": until(now), "192.0.2.0/24": open, "192.0.2.1": until(now),
      ]),
      [
        "http://over.example/": "-over.example",
        "http://a.under.example/": "-under.example",
        "http://soon.example/": "+soon.example",
        "http://over.wide.example/": "-over.wide.example",
        "http://a.over.wide.example/": "+wide.example",
        "http://192.0.2.1/": "-192.0.2.1",
        "http://192.0.2.2/": "+192.0.2.0/24",
        "https://over.example/": "+",
      ]
    )
    + rows(
      "expired entries under arbitrary loads",
      rules(["over.example": until(now)], arbitrary: true),
      [
        "http://over.example/": "-over.example",
        "http://other.example/": "+NSAllowsArbitraryLoads",
      ]
    )
    + rows(
      "expired entries of local names",
      rules(["over.local": until(now)], local: true),
      ["http://over.local/": "-over.local"]
    )

  private static let spellings =
    rows(
      "final dots are other names",
      rules(["a.example": openBelow, "localhost": open], local: true),
      [
        "http://a.example/": "+a.example", "http://a.example./": "-", "http://b.a.example./": "-",
        "http://localhost./": "-", "http://printer.local./": "-",
      ]
    )
    + rows(
      "case",
      rules(["a.example": openBelow]),
      [
        "http://A.EXAMPLE/": "+a.example", "HTTP://b.A.example/": "+a.example",
        "http://B.a.eXample:8080/": "+a.example",
      ]
    )
    + rows(
      "names beyond ASCII",
      rules(["xn--bcher-kva.example": openBelow, "xn--fiqs8s": open]),
      [
        "http://bücher.example/": "+xn--bcher-kva.example",
        "http://BÜCHER.example/": "+xn--bcher-kva.example",
        "http://bu\u{308}cher.example/": "+xn--bcher-kva.example",
        "http://xn--bcher-kva.example/": "+xn--bcher-kva.example",
        "http://XN--BCHER-KVA.example/": "+xn--bcher-kva.example",
        "http://a.bücher。example/": "+xn--bcher-kva.example",
        "http://bucher.example/": "-",
        "http://中国/": "+xn--fiqs8s",
      ]
    )
}
