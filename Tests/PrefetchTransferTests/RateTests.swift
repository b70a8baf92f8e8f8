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
    let begin = bench.clock.now().uptime
    let results = try bench.results(of: requests)
    for result in results.values {
      #expect(try result.outcome.get().body?.digest == SHA256.digest(of: body))
    }
    // All but the burst, and what each had read already, had to be waited for.
    #expect(bench.clock.now().uptime - begin >= .milliseconds(200))
  }

  @Test("Small bodies wait for each other's debts before they begin")
  func small() throws {
    let server = try LoopbackServer { _ in .respond(200, text: String(repeating: "x", count: 5_000))
    }
    let bench = try TransferBench { $0.rate = 100_000 }
    let url = try server.url()
    let begin = bench.clock.now().uptime
    let results = try bench.results(of: (0..<16).map { _ in bench.request(url) })
    #expect(results.values.allSatisfy { (try? $0.outcome.get().body?.size) == 5_000 })
    // Eighty thousand bytes, less the burst and what the first ones took at once.
    #expect(bench.clock.now().uptime - begin >= .milliseconds(200))
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
    let buckets = RateBuckets(TransportSettings(userAgent: "test"), now: .zero)
    var request = TransferRequest(id: TransferID(1), url: try WebURL("http://a/"))
    #expect(!buckets.holds(request))
    request.rateGroup = .init(name: "g", rate: 1)
    #expect(buckets.holds(request))
  }
}
