import PrefetchCore
import PrefetchEngine
import PrefetchTestSupport
import Testing

@Suite struct NetworkTests {
  private let bench = Bench([
    "/list.json": Bench.manifest(["a", "b"]),
    "/a": Site.Page("alpha"), "/b": Site.Page("beta"), "/c": Site.Page("gamma"),
  ])
  private let ethernet = FakeCircumstances(.ethernet)

  private func page(_ members: String, items: String) -> Site.Page {
    Site.Page(
      "{\"format\": \"prefetch-manifest\", \"version\": 1, \(members) \"items\": [\(items)]}",
      headers: [HeaderField("Content-Type", "application/json")]
    )
  }

  @Test("The network is not read when no rule depends on it")
  func notRead() throws {
    bench.circumstances = ethernet
    let report = try bench.run([("s", ["list.json"])])
    #expect(report.totals.fetched == 2)
    #expect(ethernet.requestedAspects.isEmpty && ethernet.recorded.isEmpty)
    #expect(report.network == nil)
  }

  @Test(
    "A machine without a network requests only its own servers",
    arguments: [ErrorCode.dns, .connect, .noNetwork],
    [true, false]
  )
  func noNetwork(code: ErrorCode, isCutOff: Bool) throws {
    ethernet.isConnected = !isCutOff
    bench.circumstances = ethernet
    bench.policy.concurrency = 2
    let transport = FakeTransport(staging: bench.store) { request in
      request.url.host == "127.0.0.1"
        ? .response(status: 200, headers: [], body: [65])
        : .failure(Failure(code, "no server", isTransient: true))
    }
    let urls = try (0..<6).map { try WebURL("https://h\($0).example/x") }
    let here = try WebURL("https://127.0.0.1/x")
    let segment = SegmentDeclaration(name: "s", source: .inline((urls + [here]).map(Bench.entry)))
    let report = try bench.run([segment], over: transport)
    let away = transport.requests.filter { $0.url != here }
    #expect(report.totals.fetched == 1)
    #expect(report.totals.failed == 6)
    let failures = report.items.compactMap(\.failure)
    if isCutOff {
      #expect(away.count == 2)
      #expect(failures == Array(repeating: .noRoute, count: 6))
    } else {
      #expect(away.count > 6)
      #expect(failures.allSatisfy { $0.message.hasPrefix("no server") })
    }
  }

  @Test("A deferred segment sends no request, and another continues")
  func oneSegment() throws {
    bench.circumstances = ethernet
    var first = SegmentDeclaration(
      name: "first",
      source: .remote(try WebURL("https://a.example/list.json"))
    )
    first.network = NetworkPolicy()
    first.network?.allowed = [.wifi]
    let entry = Bench.entry(try WebURL("https://a.example/c"))
    let report = try bench.run(
      segments: [first, SegmentDeclaration(name: "second", source: .inline([entry]))]
    )
    #expect(bench.requests == ["GET /c"])
    #expect(report.segments.map(\.state) == [.deferred, .current])
    #expect(report.segments[0].deferral == Deferral(rule: .networkType))
    #expect(ExitStatus(report) == .deferred)
    #expect(ethernet.requestedAspects == [[.type]])
    #expect(report.network?.type == .ethernet)
  }

  @Test("A manifest narrows the rules for its own items")
  func manifestRules() throws {
    bench.circumstances = ethernet
    let rules = ["\"policy\": {\"allow\": [\"wifi\"]},", "\"network\": {\"allow\": [\"wifi\"]},"]
    for rule in rules {
      bench.site["/list.json"] = page(rule, items: "\"a\", \"b\"")
      let report = try bench.run([("s", ["list.json"])])
      #expect(bench.requests == ["GET /list.json"])
      #expect(report.totals.deferred == 2)
      #expect(report.items.allSatisfy { $0.deferral?.rule == .networkType })
    }
    // A manifest's rules cannot widen the configuration's.
    bench.policy.network.allowed = [.wifi]
    bench.site["/list.json"] = page("\"network\": {\"allow\": [\"any\"]},", items: "\"a\"")
    _ = try bench.run([("s", ["list.json"])])
    #expect(bench.requests == [])
  }

  @Test("An item narrows the rules for itself")
  func itemRules() throws {
    bench.circumstances = ethernet
    bench.site["/list.json"] = page(
      "",
      items: "{\"url\": \"a\", \"network\": {\"allow\": [\"wifi\"]}}, \"b\""
    )
    let report = try bench.run([("s", ["list.json"])])
    #expect(bench.requests == ["GET /b", "GET /list.json"])
    #expect(report.items.compactMap(\.deferral) == [Deferral(rule: .networkType)])
    #expect(ethernet.requestedAspects == [[.type]])
  }

  @Test("A manifest's windows use the time zone of the configuration")
  func manifestWindows() throws {
    bench.circumstances = ethernet
    // The bench's clock stands at 22:13:20 UTC, which is 03:43:20 in India.
    bench.policy.zone = { _ in TimeZoneRules(posix: "IST-5:30") }
    bench.site["/list.json"] = page(
      "\"network\": {\"windows\": [\"22:00-23:00\"]},",
      items: "\"a\""
    )
    let closed = try bench.run([("s", ["list.json"])])
    #expect(closed.totals.deferred == 1)
    let opening = try #require(Timestamp.parse("2023-11-15T16:30:00Z"))
    #expect(closed.items.first?.deferral == Deferral(rule: .window, until: opening))
    bench.site["/list.json"] = page(
      "\"network\": {\"windows\": [\"03:00-04:00\"]},",
      items: "\"a\""
    )
    #expect(try bench.run([("s", ["list.json"])]).totals.fetched == 1)
  }

  @Test("A closing window ends the transfers in flight and starts no others")
  func closing() throws {
    let circumstances = FakeCircumstances(.ethernet)
    bench.circumstances = circumstances
    bench.policy.concurrency = 1
    bench.policy.network.hours = [
      OpeningHours(windows: [try ClockWindow("22:00-22:14")], zone: .utc)
    ]
    let entries = try ["a", "b", "c"].map { Bench.entry(try WebURL("https://a.example/\($0)")) }
    let site = bench.site
    let clock = bench.clock
    // The window closes while the first body is in flight.
    let transport = FakeTransport(staging: bench.store) { request in
      clock.advance(by: .seconds(60))
      let page = site.page(for: LoopbackRequest(method: "GET", target: request.url.path))
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
    let report = try bench.run(
      [SegmentDeclaration(name: "s", source: .inline(entries))],
      over: transport
    )
    #expect(transport.requests.count == 1)
    #expect(report.totals.fetched == 1 && report.totals.deferred == 2)
    let opening = try #require(Timestamp.parse("2023-11-15T22:00:00Z"))
    #expect(report.segments[0].deferral == Deferral(rule: .window, until: opening))
  }

  @Test("A changed network between two transfers defers the rest")
  func changedNetwork() throws {
    let circumstances = FakeCircumstances(.wifi, .cellular)
    bench.circumstances = circumstances
    bench.policy.concurrency = 1
    bench.policy.network.allowed = [.wifi]
    let entries = try ["a", "b", "c"].map { Bench.entry(try WebURL("https://a.example/\($0)")) }
    let site = bench.site
    let clock = bench.clock
    let transport = FakeTransport(staging: bench.store) { request in
      clock.advance(by: .seconds(3))
      let page = site.page(for: LoopbackRequest(method: "GET", target: request.url.path))
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
    let report = try bench.run(
      [SegmentDeclaration(name: "s", source: .inline(entries))],
      over: transport
    )
    #expect(report.totals.fetched == 2 && report.totals.deferred == 1)
    #expect(circumstances.requestedAspects.count == 2)
    #expect(report.network?.type == .cellular)
  }

  @Test("Received bytes are recorded except by a dry run, and a used budget stops requests")
  func usageRecorded() throws {
    bench.circumstances = ethernet
    bench.policy.concurrency = 1
    bench.policy.network.budgets = [ByteBudget(period: .day, limit: 9)]
    _ = try bench.run([("s", ["a", "b"])], mode: .plan)
    #expect(ethernet.recorded.isEmpty)
    let report = try bench.run([("s", ["a", "b", "c"])])
    #expect(report.totals.fetched == 2 && report.totals.deferred == 1)
    let key = TransferUsage.Key(
      day: "2023-11-14",
      type: .ethernet,
      segment: SegmentKey(identity: "me", name: "s")
    )
    #expect(ethernet.remembered.usage == TransferUsage([key: 9]))
    let next = try bench.run([("s", ["a", "b", "c"])])
    #expect(bench.requests == [] && next.totals.deferred > 0)
    let midnight = try #require(Timestamp.parse("2023-11-15"))
    #expect(next.segments[0].deferral == Deferral(rule: .dailyLimit, until: midnight))
    bench.clock.advance(by: midnight - bench.clock.now().wall)
    #expect(try bench.run([("s", ["c"])]).totals.fetched == 1)
  }

  @Test("A limit whose usage cannot be read stops all requests")
  func unreadableUsage() throws {
    ethernet.failure = Failure(.disk, "no state")
    bench.circumstances = ethernet
    bench.policy.network.budgets = [ByteBudget(period: .day, limit: 9)]
    let report = try bench.run([("s", ["a"]), ("t", ["list.json"])])
    #expect(bench.requests == [])
    #expect(ExitStatus(report) == .io)
  }

  @Test("A poor network gets two transfers at a time, or none")
  func throttled() throws {
    let now = bench.clock.now().wall
    let sample = TransferSamples.Sample(
      type: .ethernet,
      began: now + .seconds(-2),
      ended: now + .seconds(-1),
      bytes: 100_000,
      firstByte: nil
    )
    ethernet.remembered.samples.add(sample)
    bench.circumstances = ethernet
    bench.policy.network.quality.good = 1_000_000
    bench.policy.network.quality.reactions = [.poor: .throttle]
    let paths = (0..<8).map { "p\($0)" }
    for path in paths { bench.site["/\(path)"] = Site.Page(path) }
    let slow = try bench.run([("s", paths)])
    #expect(slow.totals.fetched == 8 && bench.transport?.peakCount == 2)
    #expect(slow.quality == .poor)
    bench.policy.network.quality.reactions = [.poor: .stop]
    let stopped = try bench.run([("s", paths)])
    #expect(bench.requests == [] && stopped.totals.deferred == 8)
    #expect(
      stopped.segments[0].deferral == Deferral(rule: .quality, until: sample.ended + .seconds(900))
    )
  }
}
