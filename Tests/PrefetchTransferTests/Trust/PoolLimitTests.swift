import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchTransfer

@Suite("Connections to a host over all pools", .timeLimit(.minutes(10)))
struct PoolLimitTests {
  private static let rules: [Shared<ConnectionRules>?] = [
    nil, reach(.localOnly), version(.http1), version(.http2),
  ]

  private static func reach(_ reach: ConnectionRules.Reach) -> Shared<ConnectionRules> {
    var rules = ConnectionRules()
    rules.reach = reach
    return Shared(rules)
  }

  private static func version(
    _ version: TransportSettings.HTTPVersion
  ) -> Shared<ConnectionRules> {
    var rules = ConnectionRules()
    rules.httpVersion = version
    return Shared(rules)
  }

  @Test("The connections to a host serve requests under all rules", arguments: [1, 2])
  func limit(workers: Int) throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    let bench = try TransferBench { settings in
      settings.workers = workers
      settings.connectionsPerHost = 2
    }
    let requests = try (0..<200).map { number in
      bench.request(try server.url("/\(number)")) {
        $0.connection = Self.rules[number % Self.rules.count]
      }
    }
    let results = try bench.results(of: requests)
    #expect(results.values.allSatisfy { (try? $0.outcome.get().status) == 200 })
    #expect(server.requests.count == 200)
    #expect(server.peakConnectionCount <= 2)
  }

  @Test("The connections to a host carry one request each, up to its limit")
  func line() throws {
    let shares = HostShares(workers: 1, connectionsPerHost: 3)
    var line = OriginLine(sharing: .unknown)
    line.recordResponse(isTextual: false)
    #expect(line.sharing == .multiplexed)
    var count = 0
    for number in 0..<20 {
      var copy = shares
      let url = try WebURL("https://example.com/\(number)")
      let request = TransferRequest(id: TransferID(number), url: url)
      line.enqueue(QueuedRequest(request, copy.assign(url)), pool: number % 2)
    }
    line.recordResponse(isTextual: false)
    while line.next({ _ in true }) != nil { count += 1 }
    #expect(count == 3)
  }

  @Test("Idle connections to a host yield to those of another pool")
  func idle() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    let bench = try TransferBench { settings in
      settings.workers = 1
      settings.connectionsPerHost = 1
    }
    for round in 0..<12 {
      let request = bench.request(try server.url()) {
        $0.connection = Self.rules[round % Self.rules.count]
      }
      #expect(try bench.response(to: request).status == 200)
    }
    #expect(server.peakConnectionCount == 1)
  }
}
