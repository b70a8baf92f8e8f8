import PrefetchCore
import PrefetchTestSupport
import Testing

/// Connection settings of each request in a run.
@Suite struct ConnectionTests {
  typealias Reply = FakeTransport.Reply
  typealias ExitStatus = PrefetchCore.ExitStatus

  static func redirect(_ target: String) -> Reply {
    .response(status: 302, headers: [HeaderField("Location", target)], body: [])
  }

  static func body(_ text: String) -> Reply {
    .response(status: 200, headers: [], body: Array(text.utf8))
  }

  static func manifest(_ urls: [String]) -> Reply {
    let items = urls.map { "{\"url\": \"\($0)\"}" }.joined(separator: ", ")
    return .response(
      status: 200,
      headers: [HeaderField("Content-Type", "application/json")],
      body: Array(
        "{\"format\": \"prefetch-manifest\", \"version\": 1, \"items\": [\(items)]}".utf8
      )
    )
  }

  /// Runs the segments and returns the report with all requests in order.
  static func run(
    _ segments: [SegmentDeclaration],
    replies: [String: Reply],
    addresses: [String: String] = [:],
    policy: RunPolicy = RunPolicy()
  ) throws -> (report: Report, requests: [TransferRequest]) {
    let bench = Bench([:])
    bench.policy = policy
    let transport = FakeTransport(
      staging: bench.store.staging,
      replies: replies.mapValues { [$0] }
    )
    transport.address = { addresses[$0.host] }
    let report = try bench.run(segments, over: transport)
    return (report, transport.requests)
  }

  static func remote(_ url: String) throws -> SegmentDeclaration {
    SegmentDeclaration(name: "s", source: .remote(try WebURL(url)))
  }

  static func inline(_ urls: String..., type: String? = nil) throws -> SegmentDeclaration {
    let entries = try urls.map { url in
      var entry = Bench.entry(try WebURL(url))
      entry.type = type
      return entry
    }
    return SegmentDeclaration(name: "s", source: .inline(entries))
  }

  static func codes(_ report: Report) -> [String: ErrorCode] {
    Dictionary(
      report.items.compactMap { item in item.failure.map { (item.url, $0.code) } }
    ) { first, _ in first }
  }

  @Test("Requests of an empty configuration have no connection rules")
  func plain() throws {
    let (report, requests) = try Self.run(
      [try Self.remote("https://m.example/m.json")],
      replies: [
        "https://m.example/m.json": Self.manifest(["a"]), "https://m.example/a": Self.body("A"),
      ],
      addresses: ["m.example": "10.0.0.1"]
    )
    #expect(ExitStatus(report) == .ok)
    #expect(requests.count == 2)
    #expect(requests.allSatisfy { $0.connection == nil })
  }

  @Test(
    "An item of a manifest may be local only if the manifest's server is",
    arguments: [
      ("192.0.2.1", ConnectionRules.Reach.publicOnly), ("127.0.0.1", .anywhere),
      ("::1", .anywhere), (nil, .publicOnly),
    ] as [(String?, ConnectionRules.Reach)]
  )
  func manifestReach(address: String?, reach: ConnectionRules.Reach) throws {
    let (_, requests) = try Self.run(
      [try Self.remote("https://m.example/m.json")],
      replies: [
        "https://m.example/m.json": Self.manifest(["https://b.example/b"]),
        "https://b.example/b": Self.body("B"),
      ],
      addresses: address.map { ["m.example": $0] } ?? [:]
    )
    #expect(requests.count == 2)
    #expect(requests[0].connection == nil)
    #expect((requests[1].connection?.value.reach ?? .anywhere) == reach)
  }

  @Test("A private address that a public server names fails alone and without a request")
  func forbiddenEntry() throws {
    let replies = [
      "https://m.example/m.json": Self.manifest([
        "https://10.0.0.1/x", "https://[::1]/y", "https://10.0.0.2/named", "https://b.example/b",
      ]),
      "https://b.example/b": Self.body("B"), "https://10.0.0.2/named": Self.body("N"),
      "https://10.0.0.1/x": Self.body("X"), "https://[::1]/y": Self.body("Y"),
    ]
    var policy = RunPolicy()
    policy.connections.namedHosts = ["m.example", "10.0.0.2"]
    let segments = [try Self.remote("https://m.example/m.json")]
    let (report, requests) = try Self.run(
      segments,
      replies: replies,
      addresses: ["m.example": "192.0.2.1"],
      policy: policy
    )
    #expect(ExitStatus(report) == .trust)
    #expect(
      Self.codes(report) == [
        "https://10.0.0.1/x": .addressForbidden, "https://[::1]/y": .addressForbidden,
      ]
    )
    #expect(Set(requests.map(\.url.host)) == ["m.example", "b.example", "10.0.0.2"])
    policy.transportSecurity.allowsLocalNetworking = true
    let free = try Self.run(
      segments,
      replies: replies,
      addresses: ["m.example": "192.0.2.1"],
      policy: policy
    )
    #expect(ExitStatus(free.report) == .ok)
  }

  struct RedirectRow: Sendable {
    var from: String?
    var target = "https://10.0.0.1/x"
    var named: Set<String> = []
    var isProxied = false
    var code: ErrorCode?
  }

  @Test(
    "A redirect leads to a private address only from one, or by the configuration",
    arguments: [
      RedirectRow(from: "192.0.2.1", code: .addressForbidden),
      RedirectRow(from: nil, code: .addressForbidden),
      RedirectRow(from: "10.0.0.9"),
      RedirectRow(from: "::ffff:10.0.0.9"),
      RedirectRow(from: "10.0.0.9", isProxied: true, code: .addressForbidden),
      RedirectRow(from: "192.0.2.1", named: ["10.0.0.1"]),
      RedirectRow(from: "192.0.2.1", target: "https://192.0.2.9/x"),
      RedirectRow(
        from: "192.0.2.1",
        target: "https://[::ffff:10.0.0.1]/x",
        code: .addressForbidden
      ),
      RedirectRow(from: "192.0.2.1", target: "https://127.0.0.1:8443/x", code: .addressForbidden),
      RedirectRow(from: "192.0.2.1", target: "http://127.0.0.1/x", code: .redirectForbidden),
    ]
  )
  func redirectReach(row: RedirectRow) throws {
    var policy = RunPolicy()
    policy.connections.namedHosts = row.named
    policy.connections.mayBeProxied = row.isProxied
    let (report, requests) = try Self.run(
      [try Self.inline("https://a.example/a")],
      replies: ["https://a.example/a": Self.redirect(row.target), row.target: Self.body("X")],
      addresses: row.from.map { ["a.example": $0] } ?? [:],
      policy: policy
    )
    #expect(Self.codes(report)["https://a.example/a"] == row.code)
    #expect(requests.count == (row.code == nil ? 2 : 1))
    if row.code != nil { #expect(ExitStatus(report) == .trust) }
  }

  @Test("A redirect's targets are checked for private addresses, and the first hop is not")
  func redirectedNames() throws {
    let (_, requests) = try Self.run(
      [try Self.inline("https://a.example/a")],
      replies: [
        "https://a.example/a": Self.redirect("https://b.example/b"),
        "https://b.example/b": Self.redirect("https://a.example/c"),
        "https://a.example/c": Self.body("C"),
      ],
      addresses: ["a.example": "192.0.2.1", "b.example": "192.0.2.2"]
    )
    #expect(
      requests.map { $0.connection?.value.reach ?? .anywhere } == [
        .anywhere, .publicOnly, .publicOnly,
      ]
    )
  }

  @Test("Every hop is checked against the pins of its own host")
  func pins() throws {
    var policy = RunPolicy()
    let (one, two) = (Self.pin("a.example", 1), Self.pin("b.example", 2))
    policy.connections.pins = PinTable([one, two])
    let (_, requests) = try Self.run(
      [try Self.inline("https://a.example/a", "https://c.example/c")],
      replies: [
        "https://a.example/a": Self.redirect("https://b.example/b"),
        "https://b.example/b": Self.body("B"), "https://c.example/c": Self.body("C"),
      ],
      addresses: ["a.example": "10.0.0.1"],
      policy: policy
    )
    let pins = Dictionary(
      uniqueKeysWithValues: requests.map {
        ($0.url.host, $0.connection?.value.pins.flatMap(\.entries) ?? [])
      }
    )
    #expect(pins == ["a.example": ["a.example"], "b.example": ["b.example"], "c.example": []])
  }

  static func pin(_ host: String, _ byte: UInt64) -> PinTable.Rule {
    var entry = PinTable.Rule(host: host, location: host)
    entry.leaf = [ContentDigest(first: byte, second: 0, third: 0, fourth: 0)]
    return entry
  }

  @Test("An expired exception fails its hosts, and all others continue")
  func expired() throws {
    var policy = RunPolicy()
    policy.transportSecurity.exceptions = [
      "old.example": TransportSecurity.Exception(
        allowsInsecureHTTP: true,
        expires: Instant(milliseconds: 0)
      ),
      "new.example": TransportSecurity.Exception(allowsInsecureHTTP: true),
    ]
    let (report, requests) = try Self.run(
      [try Self.inline("http://old.example/a", "http://new.example/b", "https://old.example/c")],
      replies: [
        "http://old.example/a": Self.body("A"), "http://new.example/b": Self.body("B"),
        "https://old.example/c": Self.body("C"),
      ],
      policy: policy
    )
    #expect(ExitStatus(report) == .trust)
    #expect(Self.codes(report) == ["http://old.example/a": .transportSecurity])
    #expect(
      requests.map(\.url.string).sorted() == ["http://new.example/b", "https://old.example/c"]
    )
  }

  @Test("An exception for media applies to media only, on every hop")
  func media() throws {
    var policy = RunPolicy()
    policy.transportSecurity.allowsArbitraryLoadsForMedia = true
    let replies = [
      "http://a.example/a": Self.redirect("http://b.example/b"),
      "http://b.example/b": Self.body("B"),
    ]
    for (type, status) in [("video", ExitStatus.ok), ("audio", .ok), ("image", .trust)] {
      let (report, requests) = try Self.run(
        [try Self.inline("http://a.example/a", type: type)],
        replies: replies,
        addresses: ["a.example": "192.0.2.1"],
        policy: policy
      )
      #expect(ExitStatus(report) == status, "\(type)")
      #expect(requests.count == (status == .ok ? 2 : 0))
    }
    let (report, _) = try Self.run(
      [try Self.remote("http://a.example/m.json")],
      replies: ["http://a.example/m.json": Self.manifest([])],
      policy: policy
    )
    #expect(report.segments.first?.manifest.failure?.code == .transportSecurity)
  }

  // MARK: Transport rules

  static func headers(_ requests: [TransferRequest], _ name: String) -> [String: [String]] {
    Dictionary(requests.map { ($0.url.string, $0.headers.filter { $0.name == name }.map(\.value)) })
    { $0 + $1 }
  }

  @Test("The license is sent to the manifest's own origin only, whatever else its rule matches")
  func license() throws {
    var rule = TransportRule(url: URLPattern("**"))
    rule.headers = [HeaderField("X-Team", "news")]
    rule.manifestHeaders = [HeaderField("Authorization", "Bearer key")]
    var policy = RunPolicy()
    policy.connections.rules = [rule]
    let (_, requests) = try Self.run(
      [try Self.remote("https://m.example/m.json")],
      replies: [
        "https://m.example/m.json": Self.redirect("https://n.example/n.json"),
        "https://n.example/n.json": Self.manifest(["https://m.example/a"]),
        "https://m.example/a": Self.body("A"),
      ],
      policy: policy
    )
    #expect(
      Self.headers(requests, "Authorization") == [
        "https://m.example/m.json": ["Bearer key"], "https://n.example/n.json": [],
        "https://m.example/a": [],
      ]
    )
    // A pattern without hosts applies to the declared URL, not to redirect targets.
    #expect(
      Self.headers(requests, "X-Team") == [
        "https://m.example/m.json": ["news"], "https://n.example/n.json": [],
        "https://m.example/a": ["news"],
      ]
    )
  }

  @Test("A rule with hosts applies to them on every hop, and to no others")
  func ruleHeaders() throws {
    var rule = TransportRule(url: URLPattern("https://*.corp.example/**"))
    rule.headers = [HeaderField("Authorization", "Bearer corp")]
    rule.proxy = .url(Secret("http://proxy.example:3128"))
    var policy = RunPolicy()
    policy.connections.rules = [rule]
    let (report, requests) = try Self.run(
      [try Self.inline("https://a.example/a", "https://b.corp.example/b")],
      replies: [
        "https://a.example/a": Self.redirect("https://x.corp.example/x"),
        "https://x.corp.example/x": Self.body("X"),
        "https://b.corp.example/b": Self.redirect("https://evil.test/.corp.example/"),
        "https://evil.test/.corp.example/": .response(status: 403, headers: [], body: []),
      ],
      policy: policy
    )
    #expect(
      Self.headers(requests, "Authorization") == [
        "https://a.example/a": [], "https://x.corp.example/x": ["Bearer corp"],
        "https://b.corp.example/b": ["Bearer corp"], "https://evil.test/.corp.example/": [],
      ]
    )
    let proxied = requests.filter { $0.connection?.value.proxy != nil }.map(\.url.host)
    #expect(Set(proxied) == ["x.corp.example", "b.corp.example"])
    // No credentials were sent to that server, so the refusal is the server's own matter.
    #expect(Self.codes(report) == ["https://b.corp.example/b": .http])
  }

  @Test("A refusal of credentials from a rule is reported as such")
  func refusedCredentials() throws {
    var rule = TransportRule(url: URLPattern("https://a.example/**"))
    rule.headers = [HeaderField("Authorization", "Bearer wrong")]
    var policy = RunPolicy()
    policy.connections.rules = [rule]
    let (report, _) = try Self.run(
      [try Self.inline("https://a.example/a")],
      replies: ["https://a.example/a": .response(status: 403, headers: [], body: [])],
      policy: policy
    )
    #expect(Self.codes(report) == ["https://a.example/a": .credentialsRefused])
    #expect(ExitStatus(report) == .denied)
  }

  @Test("Headers of an item precede those of a rule")
  func ownHeaders() throws {
    var rule = TransportRule(url: URLPattern("https://a.example/**"))
    rule.headers = [HeaderField("x-who", "rule"), HeaderField("X-More", "rule")]
    var policy = RunPolicy()
    policy.connections.rules = [rule]
    var segment = try Self.inline("https://a.example/a")
    segment.headers = [HeaderField("X-Who", "segment")]
    let (_, requests) = try Self.run(
      [segment],
      replies: ["https://a.example/a": Self.body("A")],
      policy: policy
    )
    #expect(
      requests.map(\.headers) == [
        [HeaderField("X-Who", "segment"), HeaderField("X-More", "rule")]
      ]
    )
  }
}
