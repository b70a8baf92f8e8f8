import PrefetchTestSupport
import Synchronization
import Testing

@Suite("Concurrent transfers", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ConcurrencyTests {
  /// Opens a gate once a number of requests wait at each of several servers.
  private final class Barrier: Sendable {
    let gate = Gate()
    private let waiting: Mutex<[Int]>
    private let wanted: Int

    init(servers: Int, wanted: Int) {
      waiting = Mutex(Array(repeating: 0, count: servers))
      self.wanted = wanted
    }

    func arrive(at server: Int) {
      let isFull = waiting.withLock { waiting in
        waiting[server] += 1
        return waiting.allSatisfy { $0 >= wanted }
      }
      if isFull { gate.open() }
    }
  }

  private static let itemCount = 20
  private let home: Home

  init() throws {
    home = try Home()
  }

  /// Responses wait at the barrier, and long enough afterwards for an excessive request to arrive.
  private func server(_ number: UInt8, _ barrier: Barrier) throws -> LoopbackServer {
    try LoopbackServer(number: number) { request in
      barrier.arrive(at: Int(number) - 1)
      let response = Script.respond(200, text: "\(number) \(request.path)")
      return Script([.pause(barrier.gate), .wait(.milliseconds(60))] + response.steps)
    }
  }

  private func declare(_ servers: [LoopbackServer], _ limits: String) {
    let urls = servers.flatMap { server in
      (0..<Self.itemCount).map { "\"\(server.address("/\($0)"))\"" }
    }
    home.configure(
      """
      segments: [{ name: basics, urls: [\(urls.joined(separator: ", "))] }]
      cache: { min_free: 0 }
      network: { \(limits), retries: { items: 0, lookups: 0 }, timeouts: { read: 10s } }
      """
    )
  }

  @Test("Transfers to each host reach `per_host` and never exceed it")
  func perHost() throws {
    let barrier = Barrier(servers: 3, wanted: 4)
    let servers = try (1...3).map { try server($0, barrier) }
    declare(servers, "per_host: 4, concurrency: 64")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(servers.map(\.peakRequestCount) == [4, 4, 4])
    #expect(servers.map(\.requests.count) == [Self.itemCount, Self.itemCount, Self.itemCount])
    #expect(servers.allSatisfy { $0.peakConnectionCount <= 4 })
  }

  @Test("Every host gets transfers even where `concurrency` is low")
  func fair() throws {
    let barrier = Barrier(servers: 3, wanted: 2)
    let servers = try (1...3).map { try server($0, barrier) }
    declare(servers, "per_host: 4, concurrency: 6")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(servers.allSatisfy { $0.peakRequestCount <= 4 })
    #expect(servers.allSatisfy { $0.requests.count == Self.itemCount })
  }

  @Test("Transfers in flight never exceed `concurrency`", arguments: [1, 3])
  func inAll(_ limit: Int) throws {
    let barrier = Barrier(servers: 1, wanted: limit)
    let server = try server(1, barrier)
    declare([server], "per_host: 16, concurrency: \(limit)")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(server.peakRequestCount == limit)
    #expect(try home.run("verify").status == 0)
  }
}
