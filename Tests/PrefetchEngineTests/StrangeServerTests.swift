import PrefetchCore
import PrefetchTestSupport
import Testing

/// Requests to servers that only a manifest named.
@Suite struct StrangeServerTests {
  typealias Row = ConnectionTests

  private static func rule(_ url: String?, method: TransportRule.Method? = nil) -> RunPolicy {
    var rule = TransportRule(url: url.map { URLPattern($0) }, method: method)
    rule.headers = [HeaderField("X-Api-Key", "key")]
    var policy = RunPolicy()
    policy.connections.rules = [rule]
    return policy
  }

  private static let replies = [
    "https://m.example/m.json": Row.manifest(["https://m.example/a", "https://evil.test/b"]),
    "https://m.example/a": Row.body("A"), "https://evil.test/b": Row.body("B"),
  ]

  @Test(
    "A server that a manifest chose gets headers of a rule only where that names its hosts",
    arguments: [
      (nil, TransportRule.Method.get, false), ("**", nil, false), ("https://*/**", nil, false),
      ("https://evil.test/**", nil, true),
    ] as [(String?, TransportRule.Method?, Bool)]
  )
  func headers(url: String?, method: TransportRule.Method?, isNamed: Bool) throws {
    let (_, requests) = try Row.run(
      [try Row.remote("https://m.example/m.json")],
      replies: Self.replies,
      policy: Self.rule(url, method: method)
    )
    let key = isNamed ? [] : ["key"]
    #expect(
      Row.headers(requests, "X-Api-Key") == [
        "https://m.example/m.json": key, "https://m.example/a": key,
        "https://evil.test/b": isNamed ? ["key"] : [],
      ]
    )
  }

  @Test("An item from a manifest has the same trust as its manifest")
  func excerpt() throws {
    let urls = ["https://m.example/a", "https://evil.test/b"]
    var segment = SegmentDeclaration(
      name: "s",
      source: .inline(try urls.map { Bench.entry(try WebURL($0)) })
    )
    for (manifest, keys) in [(nil, ["key"]), ("https://m.example/m.json", [])] {
      segment.excerptOf = try manifest.map { try WebURL($0) }
      let (_, requests) = try Row.run(
        [segment],
        replies: Self.replies,
        policy: Self.rule("**")
      )
      #expect(
        Row.headers(requests, "X-Api-Key") == [
          "https://m.example/a": ["key"], "https://evil.test/b": keys,
        ]
      )
    }
  }

  @Test(
    "A manifest leads to a private address only from a local server",
    arguments: [
      (nil, true), ("https://m.example/m.json", false), ("https://8.8.8.8/m.json", false),
      ("https://10.0.0.9/m.json", true), ("https://[::1]/m.json", true),
      ("https://localhost/m.json", true), ("https://printer.local/m.json", false),
    ] as [(String?, Bool)]
  )
  func addresses(manifest: String?, isAllowed: Bool) throws {
    var segment = try Row.inline("https://10.0.0.1/x")
    segment.excerptOf = try manifest.map { try WebURL($0) }
    let (report, requests) = try Row.run(
      [segment],
      replies: ["https://10.0.0.1/x": Row.body("X")]
    )
    #expect(Row.codes(report)["https://10.0.0.1/x"] == (isAllowed ? nil : .addressForbidden))
    #expect(requests.count == (isAllowed ? 1 : 0))
  }
}
