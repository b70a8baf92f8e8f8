import PrefetchCore
import PrefetchEngine
import PrefetchTestSupport
import Testing

/// Network rules from manifests that arrive after the network was read.
@Suite struct NetworkManifestTests {
  private let bench = Bench([
    "/a": Site.Page("alpha"), "/b": Site.Page("beta"), "/c": Site.Page("gamma"),
  ])
  private let ethernet = FakeCircumstances(.ethernet)

  init() throws {
    bench.circumstances = ethernet
    let east = TimeZoneRules(posix: "IST-5:30")
    bench.policy.zone = { $0 == "Asia/Kolkata" ? east : $0 == nil ? .utc : nil }
  }

  private func page(_ network: String, items: String) -> Site.Page {
    let members = network.isEmpty ? "" : "\"network\": {\(network)},"
    return Site.Page(
      "{\"format\": \"prefetch-manifest\", \"version\": 1, \(members) \"items\": [\(items)]}",
      headers: [HeaderField("Content-Type", "application/json")]
    )
  }

  @Test(
    "Concurrent manifests each get the facts that their rules need",
    arguments: ["\"battery_floor\": 10", "\"metered\": \"defer\""]
  )
  func together(rule: String) throws {
    ethernet.readings[0].isMetered = true
    ethernet.readings[0].power.isOnMains = true
    bench.site["/first.json"] = page(rule, items: "\"a\"")
    bench.site["/second.json"] = page("\"metered\": \"defer\"", items: "\"b\"")
    let report = try bench.run([("first", ["first.json"]), ("second", ["second.json"])])
    #expect(report.segments[1].deferral == Deferral(rule: .metered))
    #expect(bench.requests.contains("GET /a") == rule.contains("battery"))
    #expect(!bench.requests.contains("GET /b"))
    #expect(ethernet.requestedAspects.last?.contains(.metered) == true)
  }

  @Test("An item's windows use the time zone that it names")
  func itemZone() throws {
    let item = { (name: String, zone: String) in
      let rules = "{\"windows\": \"22:00-23:00\", \"timezone\": \"\(zone)\"}"
      return "{\"url\": \"\(name)\", \"network\": \(rules)}"
    }
    // The bench's clock stands at 22:13:20 UTC, which is 03:43:20 in India.
    let items = [item("a", "Asia/Kolkata"), item("b", "Europe/Nowhere"), "\"c\""]
    bench.site["/list.json"] = page("", items: items.joined(separator: ","))
    let report = try bench.run([("s", ["list.json"])])
    #expect(bench.requests == ["GET /c", "GET /list.json"])
    let opening = try #require(Timestamp.parse("2023-11-15T16:30:00Z"))
    #expect(
      report.items.compactMap(\.deferral) == [
        Deferral(rule: .window, until: opening), Deferral(rule: .window),
      ]
    )
  }

  @Test("A manifest with an unknown time zone is refused")
  func unknownZone() throws {
    bench.site["/list.json"] = page(
      "\"windows\": \"22:00-23:00\", \"timezone\": \"Europe/Nowhere\"",
      items: "\"a\""
    )
    let report = try bench.run([("s", ["list.json"])])
    #expect(report.segments[0].manifest.failure?.code == .manifestInvalid)
    #expect(bench.requests == ["GET /list.json"])
  }

  @Test("Equal rules of many items are computed once")
  func once() throws {
    final class Count: @unchecked Sendable { var value = 0 }
    let count = Count()
    bench.policy.zone = { name in
      if name != nil { count.value += 1 }
      return .utc
    }
    let rules = "{\"windows\": \"22:00-23:00\", \"timezone\": \"Europe/Berlin\"}"
    let items = (0..<500).map { number in
      bench.site["/\(number)"] = Site.Page("text")
      return "{\"url\": \"\(number)\", \"network\": \(rules)}"
    }
    bench.site["/list.json"] = page("", items: items.joined(separator: ","))
    let report = try bench.run([("s", ["list.json"])])
    #expect(report.totals.fetched == 500)
    #expect(count.value == 1)
  }

  @Test("An item's window that closes while the item waits defers it")
  func itemWindowCloses() throws {
    bench.policy.concurrency = 1
    let item = "{\"url\": \"b\", \"network\": {\"windows\": \"22:00-22:14\"}}"
    bench.site["/list.json"] = page("", items: "\"a\", \(item)")
    let (site, clock) = (bench.site, bench.clock)
    let transport = FakeTransport(staging: bench.store) { request in
      if request.url.path == "/a" { clock.advance(by: .seconds(60)) }
      let page = site.page(for: LoopbackRequest(method: "GET", target: request.url.path))
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
    let manifest = SegmentDeclaration.Source.remote(try WebURL("https://a.example/list.json"))
    let report = try bench.run([SegmentDeclaration(name: "s", source: manifest)], over: transport)
    #expect(transport.requests.map(\.url.path) == ["/list.json", "/a"])
    #expect(report.totals.fetched == 1 && report.totals.deferred == 1)
  }

  @Test("Bytes that other processes receive count as well")
  func otherProcesses() throws {
    bench.policy.concurrency = 1
    bench.policy.network.budgets = [ByteBudget(period: .day, limit: 1000)]
    let (site, clock, machine) = (bench.site, bench.clock, ethernet)
    let key = TransferUsage.Key(
      day: "2023-11-14",
      type: .ethernet,
      segment: SegmentKey(identity: "me", name: "other")
    )
    let transport = FakeTransport(staging: bench.store) { request in
      clock.advance(by: .seconds(6))
      machine.remembered.usage.add(1000, key)
      let page = site.page(for: LoopbackRequest(method: "GET", target: request.url.path))
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
    let entries = try ["a", "b", "c"].map { Bench.entry(try WebURL("https://a.example/\($0)")) }
    let segment = SegmentDeclaration(name: "s", source: .inline(entries))
    let report = try bench.run([segment], over: transport)
    // The second request was in flight when its budget ran out, and was cancelled.
    #expect(transport.requests.count == 2 && transport.cancelled.count == 1)
    #expect(report.totals.fetched == 1 && report.totals.deferred == 2)
    #expect(report.segments[0].deferral?.rule == .dailyLimit)
    let own = machine.remembered.usage.bytes.filter { $0.key != key }
    #expect(own.values.reduce(0, +) == 5)
  }
}
