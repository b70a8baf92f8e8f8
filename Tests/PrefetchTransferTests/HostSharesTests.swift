import PrefetchCore
import Testing

@testable import PrefetchTransfer

@Suite("Shares of hosts among workers")
struct HostSharesTests {
  private func url(_ host: String) throws -> WebURL {
    try WebURL("http://\(host)/")
  }

  @Test(
    "The connections of all workers together are those that a host may have",
    arguments: [(1, 4), (2, 4), (3, 4), (4, 3), (2, 1), (4, 16), (3, 7)]
  )
  func connections(workers: Int, perHost: Int) throws {
    var shares = HostShares(workers: workers, connectionsPerHost: perHost)
    for host in ["a", "b", "c", "d", "e"] {
      var connections: [Int: Int] = [:]
      var streams: [Int: Int] = [:]
      for _ in 0..<64 {
        let assignment = shares.assign(try url(host))
        connections[assignment.worker] = assignment.connections
        streams[assignment.worker] = assignment.streams
      }
      #expect(connections.values.reduce(0, +) == perHost)
      #expect(streams.values.reduce(0, +) == 8 * perHost)
      #expect(connections.values.allSatisfy { $0 > 0 })
    }
  }

  @Test("Requests go to the worker with the least work for its share")
  func spread() throws {
    var shares = HostShares(workers: 2, connectionsPerHost: 3)
    let assignments = try (0..<6).map { _ in shares.assign(try url("a")) }
    #expect(assignments.map(\.worker) == [0, 1, 0, 1, 0, 0])
    #expect(assignments.first?.connections == 2)
    shares.release(origin: 0, worker: 1)
    shares.release(origin: 0, worker: 1)
    #expect(shares.assign(try url("a")).worker == 1)
  }

  @Test("Hosts with one connection have one worker each, spread over all workers")
  func singles() throws {
    var shares = HostShares(workers: 2, connectionsPerHost: 1)
    for _ in 0..<3 {
      #expect(shares.assign(try url("a")).worker == 0)
      #expect(shares.assign(try url("b")).worker == 1)
    }
  }

  @Test("Consecutive requests stay with one worker, and so with one connection")
  func sequence() throws {
    var shares = HostShares(workers: 3, connectionsPerHost: 8)
    for _ in 0..<5 {
      let assignment = shares.assign(try url("a"))
      #expect(assignment.worker == 0)
      shares.release(origin: assignment.origin, worker: assignment.worker)
    }
  }
}
