import PrefetchCore
import PrefetchTestSupport
import Testing

/// Plain http that was permitted at planning, checked again when the request is sent.
@Suite struct PlainHTTPTests {
  typealias Row = ConnectionTests
  typealias Exception = TransportSecurity.Exception

  static func open(_ hosts: String..., until expires: Instant? = nil) -> RunPolicy {
    var policy = RunPolicy()
    for host in hosts {
      policy.transportSecurity.exceptions[host] = Exception(
        allowsInsecureHTTP: true,
        expires: expires
      )
    }
    return policy
  }

  // MARK: The license and proxies

  struct ProxyRow: Sendable {
    var url = "http://m.example/m.json"
    var proxy = TransportSettings.Proxy.none
    var ofRule: TransportSettings.Proxy?
    var isRefused = false
  }

  static let server = TransportSettings.Proxy.url(Secret("http://proxy.example:3128"))

  static let rows = [
    ProxyRow(proxy: server, isRefused: true),
    ProxyRow(url: "https://m.example/m.json", proxy: server),
    ProxyRow(),
    ProxyRow(ofRule: server, isRefused: true),
    ProxyRow(proxy: server, ofRule: TransportSettings.Proxy.none),
    ProxyRow(
      proxy: .environment(http: "http://p.example", https: nil, exceptions: "m.example"),
      ofRule: nil
    ),
    ProxyRow(
      proxy: .environment(http: "http://p.example", https: nil, exceptions: "other.example, *"),
      isRefused: true
    ),
    ProxyRow(proxy: .environment(http: nil, https: "http://p.example", exceptions: nil)),
  ]

  private static func policy(_ row: ProxyRow) -> RunPolicy {
    var policy = open("m.example")
    policy.connections.proxy = row.proxy
    policy.connections.mayBeProxied = row.proxy != .none || row.ofRule != nil
    if row.ofRule != nil {
      var rule = TransportRule(url: URLPattern("**/m.json"))
      rule.proxy = row.ofRule
      policy.connections.rules = [rule]
    }
    return policy
  }

  @Test("A segment's license is not readable for a proxy over plain http", arguments: rows)
  func segmentLicense(row: ProxyRow) throws {
    var segment = try Row.remote(row.url)
    segment.manifestHeaders = [HeaderField("Authorization", "Bearer key")]
    let (report, requests) = try Row.run(
      [segment],
      replies: [row.url: Row.manifest(["a"])],
      policy: Self.policy(row)
    )
    let code = report.segments.first?.manifest.failure?.code
    #expect(code == (row.isRefused ? .transportSecurity : nil))
    #expect(requests.map(\.url.path) == (row.isRefused ? [] : ["/m.json", "/a"]))
  }

  @Test("A license added by a rule is not readable for a proxy over plain http")
  func ruleLicense() throws {
    var policy = Self.open("m.example")
    var rule = TransportRule(url: URLPattern("**"))
    rule.manifestHeaders = [HeaderField("Authorization", "Bearer key")]
    rule.proxy = Self.server
    policy.connections.rules = [rule]
    policy.connections.mayBeProxied = true
    let (report, requests) = try Row.run(
      [try Row.remote("http://m.example/m.json")],
      replies: ["http://m.example/m.json": Row.manifest(["a"])],
      policy: policy
    )
    #expect(report.segments.first?.manifest.failure?.code == .transportSecurity)
    #expect(requests.isEmpty)
  }

  @Test("A token is not readable for a proxy over plain http, and requests without one continue")
  func token() throws {
    var policy = Self.open("m.example", "o.example")
    var rule = TransportRule(url: URLPattern("**/proxied/**"))
    rule.proxy = Self.server
    policy.connections.rules = [rule]
    policy.connections.mayBeProxied = true
    let origin = try WebURL("http://m.example/").origin
    let credentials = Shared(OriginCredentials(bearer: Secret("token"), to: origin))
    let urls = [
      "http://m.example/a", "http://m.example/proxied/b", "http://o.example/proxied/c",
      "http://o.example/moved",
    ]
    let bench = Bench([:])
    bench.policy = policy
    bench.credentials = credentials
    let transport = FakeTransport(staging: bench.store.staging) { request in
      request.url.path == "/moved"
        ? Row.redirect("http://m.example/proxied/d") : Row.body(request.url.path)
    }
    let entries = try urls.map { Bench.entry(try WebURL($0)) }
    let segment = SegmentDeclaration(name: "s", source: .inline(entries))
    let report = try bench.run([segment], over: transport)
    #expect(
      Row.codes(report) == [
        "http://m.example/proxied/b": .transportSecurity,
        "http://o.example/moved": .transportSecurity,
      ]
    )
    #expect(
      transport.requests.map(\.url.string).sorted() == [
        "http://m.example/a", "http://o.example/moved", "http://o.example/proxied/c",
      ]
    )
  }

  // MARK: Leave that runs out

  @Test("No request uses an exception after its expiry, also within a run")
  func expiry() throws {
    let bench = Bench([:])
    let end = bench.clock.now().wall + .seconds(60)
    bench.policy = Self.open("a.example", until: end)
    bench.policy.concurrency = 1
    let transport = FakeTransport(staging: bench.store.staging) { [clock = bench.clock] request in
      if request.url.path == "/b" { clock.advance(by: .seconds(61)) }
      return Row.body(request.url.path)
    }
    let urls = ["http://a.example/a", "http://a.example/b", "http://a.example/c"]
    let entries = try (urls + ["https://a.example/d"]).map { Bench.entry(try WebURL($0)) }
    let segment = SegmentDeclaration(name: "s", source: .inline(entries))
    let report = try bench.run([segment], over: transport)
    #expect(Row.codes(report) == ["http://a.example/c": .transportSecurity])
    #expect(
      transport.requests.map(\.url.string).sorted() == [
        "http://a.example/a", "http://a.example/b", "https://a.example/d",
      ]
    )
  }

  @Test("A retry does not use an exception after its expiry")
  func retry() throws {
    let bench = Bench([:])
    let end = bench.clock.now().wall + .seconds(60)
    bench.policy = Self.open("a.example", until: end)
    let transport = FakeTransport(staging: bench.store.staging) { [clock = bench.clock] _ in
      clock.advance(by: .seconds(61))
      return .failure(Failure(.reset, "reset", isTransient: true))
    }
    for segment in [
      try Row.remote("http://a.example/m.json"), try Row.inline("http://a.example/a"),
    ] {
      bench.policy.transportSecurity.exceptions["a.example"] = Exception(
        allowsInsecureHTTP: true,
        expires: bench.clock.now().wall + .seconds(60)
      )
      let count = transport.requests.count
      let report = try bench.run([segment], over: transport)
      let code = report.segments.first?.manifest.failure?.code
      #expect((code ?? Row.codes(report).values.first) == .transportSecurity)
      #expect(transport.requests.count == count + 1)
    }
  }

  @Test("A revalidation does not use an exception after its expiry")
  func confirming() throws {
    let bench = Bench([:])
    let end = bench.clock.now().wall + .seconds(600)
    bench.policy = Self.open("a.example", until: end)
    bench.policy.concurrency = 1
    let transport = FakeTransport(staging: bench.store.staging) { [clock = bench.clock] request in
      guard request.headers.contains(where: { $0.name == "If-None-Match" }) else {
        return .response(
          status: 200,
          headers: [HeaderField("ETag", "\"1\""), HeaderField("Cache-Control", "no-cache")],
          body: Array("x".utf8)
        )
      }
      clock.advance(by: .seconds(601))
      return .response(status: 304, headers: [HeaderField("ETag", "\"1\"")], body: [])
    }
    let segment = try Row.inline("http://a.example/a", "http://a.example/b", "http://a.example/c")
    _ = try bench.run([segment], over: transport)
    #expect(transport.requests.count == 3)
    let report = try bench.run([segment], over: transport)
    #expect(transport.requests.count == 4)
    #expect(Row.codes(report).count == 2)
    #expect(Set(Row.codes(report).values) == [.transportSecurity])
  }
}
