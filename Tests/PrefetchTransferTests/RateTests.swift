import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

@testable import PrefetchTransfer

@Suite("Transfers at a rate", .timeLimit(.minutes(1)))
struct RateTests {
  private let body = [UInt8](repeating: 7, count: 150_000)

  @Test(
    "A transfer in debt pauses, which is no stall, and then goes on to its end",
    arguments: ["run", "host", "group"]
  )
  func paused(limit: String) throws {
    let body = body
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let bench = try TransferBench { settings in
      settings.readTimeout = .milliseconds(100)
      if limit == "run" { settings.rate = 200_000 }
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
    "A transfer in debt for longer than anyone waits takes in the burst and what was read by then",
    arguments: ["run", "host", "group"]
  )
  func indebted(limit: String) throws {
    let body = [UInt8](repeating: 7, count: 5 << 20)
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let bench = try TransferBench { settings in
      settings.readTimeout = .milliseconds(100)
      if limit == "run" { settings.rate = 1 }
      if limit == "host" { settings.ratePerHost = 1 }
    }
    let request = bench.request(try server.url()) { request in
      if limit == "group" { request.rateGroup = .init(name: "a", rate: 1) }
    }
    // Progress is told only when the transfer is looked at, long after all of it could have come.
    let results = try bench.results(of: [request]) {
      if bench.progress[request.id] != nil { bench.transport.cancel(request.id) }
    }
    let result = try #require(results[request.id])
    #expect(throws: Failure.self) { try result.outcome.get() }
    if case .failure(let failure) = result.outcome { #expect(failure.code == .cancelled) }
    #expect((1...400_000).contains(bench.progress[request.id] ?? 0))
  }

  @Test("Nothing begins that would add to a debt, though there were connections for it")
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
    // The first goes beyond the burst of 16 KiB, and waits for hours before it ends.
    bench.transport.start(held[0])
    while bench.progress[held[0].id] == nil { try free() }
    for request in held.dropFirst() { bench.transport.start(request) }
    for _ in 0..<20 { try free() }
    #expect(server.requests.map(\.path) == ["/0"])
    for request in held { bench.transport.cancel(request.id) }
    let results = try bench.results(count: held.count)
    #expect(held.map { results[$0.id]?.wasNotSent } == [false, true, true, true])
  }

  @Test("Small bodies begin once the debts of others are paid")
  func paid() throws {
    let server = try LoopbackServer { _ in .respond(200, text: String(repeating: "x", count: 5_000))
    }
    let bench = try TransferBench { $0.rate = 100_000 }
    let url = try server.url()
    let results = try bench.results(of: (0..<16).map { _ in bench.request(url) })
    #expect(results.values.allSatisfy { (try? $0.outcome.get().body?.size) == 5_000 })
  }

  @Test("After a limited transfer its handle serves one without limit")
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
    settings.rate = 1_000_000
    settings.ratePerHost = 100_000
    var buckets = RateBuckets(settings, now: .zero)
    var request = TransferRequest(id: TransferID(1), url: try WebURL("http://a/"))
    #expect(buckets.take(225_000, for: request, at: .zero) == .seconds(2))
    request.url = try WebURL("http://b/")
    #expect(buckets.take(25_000, for: request, at: .zero) == .zero)
    request.rateGroup = .init(name: "g", rate: 20_000)
    #expect(buckets.take(36_384, for: request, at: .zero) == .seconds(1))
    request.url = try WebURL("http://c/")
    #expect(buckets.take(0, for: request, at: .zero) == .seconds(1))
    request.rateGroup = nil
    #expect(buckets.take(25_000, for: request, at: .zero) < .seconds(1))
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
}
