import PrefetchCrypto
import PrefetchTestSupport
import Testing

@testable import PrefetchCore
@testable import PrefetchTransfer

@Suite("Transfers at a rate", .timeLimit(.minutes(10)))
struct RateTests {
  private let body = [UInt8](repeating: 7, count: 150_000)

  @Test(
    "A transfer in debt pauses without a stall and then continues to its end",
    arguments: ["run", "host", "group"]
  )
  func paused(limit: String) throws {
    let body = body
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let bench = try TransferBench { settings in
      settings.readTimeout = .milliseconds(100)
      if limit == "run" { settings.rate = .steady(200_000) }
      if limit == "host" { settings.ratePerHost = 200_000 }
    }
    let url = try server.url()
    let requests = (0..<2).map { _ in
      bench.request(url) { request in
        if limit == "group" { request.rateGroup = .init(name: "a", rate: 200_000) }
      }
    }
    let results = try bench.results(of: requests)
    for result in results.values {
      #expect(try result.outcome.get().body?.digest == SHA256.digest(of: body))
    }
  }

  @Test(
    "A transfer in long debt receives its burst and what was read by then",
    arguments: ["run", "host", "group"]
  )
  func indebted(limit: String) throws {
    let body = [UInt8](repeating: 7, count: 5 << 20)
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let bench = try TransferBench { settings in
      settings.readTimeout = .milliseconds(100)
      if limit == "run" { settings.rate = .steady(1) }
      if limit == "host" { settings.ratePerHost = 1 }
    }
    let request = bench.request(try server.url()) { request in
      if limit == "group" { request.rateGroup = .init(name: "a", rate: 1) }
    }
    // Progress is reported only when the transfer is polled, long after all of it could have
    // arrived.
    let results = try bench.results(of: [request]) {
      if bench.progress[request.id] != nil { bench.transport.cancel(request.id) }
    }
    let result = try #require(results[request.id])
    #expect(throws: Failure.self) { try result.outcome.get() }
    if case .failure(let failure) = result.outcome { #expect(failure.code == .cancelled) }
    #expect((1...400_000).contains(bench.progress[request.id] ?? 0))
  }

  @Test("No transfer starts that would add to a debt, although connections are free")
  func debts() throws {
    let body = [UInt8](repeating: 7, count: 20_000)
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let other = try LoopbackServer(number: 2) { _ in .respond(200, text: "free") }
    let bench = try TransferBench { $0.workers = 1 }
    func free() throws {
      let request = bench.request(try other.url())
      #expect(try bench.text(of: try bench.response(to: request)) == "free")
    }
    let held = try (0..<4).map { number in
      bench.request(try server.url("/\(number)")) { $0.rateGroup = .init(name: "a", rate: 1) }
    }
    // The first transfer exceeds the burst of 16 KiB and would wait for hours.
    bench.transport.start(held[0])
    while bench.progress[held[0].id] == nil { try free() }
    for request in held.dropFirst() { bench.transport.start(request) }
    for _ in 0..<20 { try free() }
    #expect(server.requests.map(\.path) == ["/0"])
    for request in held { bench.transport.cancel(request.id) }
    let results = try bench.results(count: held.count)
    #expect(held.map { results[$0.id]?.wasNotSent } == [false, true, true, true])
  }

  @Test("Small bodies start once the debts of others are paid")
  func paid() throws {
    let server = try LoopbackServer { _ in .respond(200, text: String(repeating: "x", count: 5_000))
    }
    let bench = try TransferBench { $0.rate = .steady(100_000) }
    let url = try server.url()
    let results = try bench.results(of: (0..<16).map { _ in bench.request(url) })
    #expect(results.values.allSatisfy { (try? $0.outcome.get().body?.size) == 5_000 })
  }

  @Test("A handle of a limited transfer serves one without a limit afterwards")
  func afterwards() throws {
    let body = body
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let bench = try TransferBench()
    let url = try server.url()
    for rate in [100_000_000, nil] as [Int64?] {
      let request = bench.request(url) { $0.rateGroup = rate.map { .init(name: "a", rate: $0) } }
      #expect(try bench.response(to: request).body?.size == 150_000)
    }
  }

  @Test("Every limit counts, and the tightest decides")
  func tightest() throws {
    var settings = TransportSettings(userAgent: "test")
    settings.rate = .steady(1_000_000)
    settings.ratePerHost = 100_000
    var buckets = RateBuckets(settings, now: .zero)
    var request = TransferRequest(id: TransferID(1), url: try WebURL("http://a/"))
    #expect(buckets.consume(225_000, for: request, at: .zero) == .seconds(2))
    request.url = try WebURL("http://b/")
    #expect(buckets.consume(25_000, for: request, at: .zero) == .zero)
    request.rateGroup = .init(name: "g", rate: 20_000)
    #expect(buckets.consume(36_384, for: request, at: .zero) == .seconds(1))
    request.url = try WebURL("http://c/")
    #expect(buckets.consume(0, for: request, at: .zero) == .seconds(1))
    request.rateGroup = nil
    #expect(buckets.consume(25_000, for: request, at: .zero) < .seconds(1))
  }

  @Test("Without limits nothing is counted")
  func unlimited() throws {
    var settings = TransportSettings(userAgent: "test")
    let unlimited = RateControl(Locked(RateBuckets(settings, now: .zero)))
    var request = TransferRequest(id: TransferID(1), url: try WebURL("http://a/"))
    #expect(!unlimited.holds(request))
    request.rateGroup = .init(name: "g", rate: 1)
    #expect(unlimited.holds(request))
    request.rateGroup = nil
    settings.ratePerHost = 1
    #expect(RateControl(Locked(RateBuckets(settings, now: .zero))).holds(request))
  }

  /// 2026-11-20 is a Friday.
  private static func timetable(_ text: String) throws -> RateSchedule? {
    let entries = try RateTimetable.lines(text).map { line in
      RateTimetable.Change(
        days: line.entry.days,
        minute: line.entry.minute,
        rate: Int64(line.rate)
      )
    }
    return RateSchedule(RateTimetable(entries), zone: .utc)
  }

  @Test("A debt of one period of a timetable does not count in the next")
  func timetable() throws {
    let wall = Locked(Instant(seconds: 1_795_161_599))
    #expect(Timestamp.format(wall.withLock { $0 }) == "2026-11-20T07:59:59.000Z")
    var settings = TransportSettings(userAgent: "test")
    settings.rate = try Self.timetable("08:00 1, 18:00 unlimited")
    var buckets = RateBuckets(settings, now: .zero) { wall.withLock { $0 } }
    #expect(buckets.holdsAll)
    let request = TransferRequest(id: TransferID(1), url: try WebURL("http://a/"))
    #expect(buckets.consume(1_000_000, for: request, at: .zero) == .zero, "no limit in the night")
    wall.withLock { $0 = $0 + .seconds(1) }
    #expect(buckets.consume(1_000_000, for: request, at: .milliseconds(999)) <= .seconds(1))
    // A second later it is eight o'clock, and the new rate applies.
    #expect(buckets.consume(20_000, for: request, at: .seconds(1)) == .seconds(2), "it is in debt")
    #expect(buckets.consume(0, for: request, at: .seconds(2)) == .seconds(3), "and stays so")
    wall.withLock { $0 = $0 + .seconds(10 * 3600) }
    #expect(
      buckets.consume(0, for: request, at: .seconds(3)) == .seconds(3),
      "which evening forgives"
    )
  }

  @Test("A transfer that a timetable stops continues when its time has come")
  func evening() throws {
    let body = [UInt8](repeating: 7, count: 1 << 20)
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let wall = Locked(Instant(seconds: 1_795_161_600))
    let schedule = try Self.timetable("08:00 1, 18:00 unlimited")
    let bench = try TransferBench({ $0.rate = schedule }, wallTime: { wall.withLock { $0 } })
    let request = bench.request(try server.url())
    let results = try bench.results(of: [request]) {
      if bench.progress[request.id] != nil {
        wall.withLock { $0 = Instant(seconds: 1_795_161_600 + 10 * 3600) }
      }
    }
    #expect(try #require(results[request.id]).outcome.get().body?.size == 1 << 20)
  }
}
