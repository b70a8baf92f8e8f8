import PrefetchCore
import Testing

@testable import PrefetchTransfer

@Suite("Number of connections to one host that finds itself")
struct ConnectionWindowTests {
  /// A host of which each connection carries `perConnection` bytes a second, all at most `whole`.
  private struct Host {
    var latency: Duration
    var perConnection: Int64
    var whole = Int64.max

    func rate(_ connections: Int) -> Int64 {
      min(Int64(connections) * perConnection, whole)
    }
  }

  /// Plays a busy queue in steps of 10 ms; returns the limits in the order in which they came.
  private func play(
    _ host: Host,
    ceiling: Int = 16,
    seconds: Int = 4,
    trouble: Duration? = nil
  ) -> [Int] {
    var window = ConnectionWindow(ceiling: ceiling, isFixed: false)
    var limits = [window.limit]
    // New connections carry nothing before a round trip more.
    var carrying = window.limit
    var growsAt: Duration?
    for tick in 1...(seconds * 100) {
      let now = Duration.milliseconds(tick * 10)
      if let due = growsAt, due <= now {
        carrying = window.limit
        growsAt = nil
      }
      carrying = min(carrying, window.limit)
      if now >= host.latency * 2 {
        window.record(bytes: host.rate(carrying) / 100, latency: host.latency, at: now)
      }
      if trouble == now { window.recordTrouble(at: now) }
      guard window.limit != limits.last else { continue }
      growsAt = now + host.latency * 2
      limits.append(window.limit)
    }
    return limits
  }

  @Test("A far host of which each connection is slow gets all connections")
  func far() {
    for latency in [25, 100, 400] {
      let host = Host(latency: .milliseconds(latency), perConnection: 2_500_000)
      #expect(play(host, seconds: 8) == [4, 8, 16])
    }
  }

  @Test("A far host gets eight with its first response, a host nearby at most six")
  func firstResponse() {
    var window = ConnectionWindow(ceiling: 16, isFixed: false)
    window.record(bytes: 8_192, responses: 1, latency: .milliseconds(80), at: .seconds(1))
    #expect(window.limit == 8)
    // The first response took long for another reason than the distance.
    for tick in 1...100 {
      let now = Duration.milliseconds(1_000 + tick * 10)
      window.record(bytes: 8_192, responses: 1, latency: .milliseconds(2), at: now)
    }
    #expect(window.limit == 6)
  }

  @Test("Connections that do not raise the sum are taken back")
  func shared() {
    let host = Host(
      latency: .milliseconds(100),
      perConnection: 2_500_000,
      whole: 10_000_000
    )
    // Trials follow each other after longer rests.
    #expect(play(host, seconds: 4) == [4, 8, 4, 8, 4])
    let larger = Host(latency: .milliseconds(100), perConnection: 2_500_000, whole: 20_000_000)
    #expect(play(larger, seconds: 2) == [4, 8, 16, 8])
  }

  @Test("A host nearby gets six, or the ceiling")
  func near() {
    let host = Host(latency: .milliseconds(1), perConnection: 100_000_000)
    #expect(play(host) == [4, 6])
    #expect(play(host, ceiling: 5) == [4, 5])
    #expect(play(host, ceiling: 2) == [2])
  }

  @Test("A refusal takes half of the connections back for a while")
  func trouble() {
    let host = Host(latency: .milliseconds(100), perConnection: 1_000_000)
    #expect(play(host, seconds: 3, trouble: .seconds(2)) == [4, 8, 16, 8])
    #expect(play(host, seconds: 6, trouble: .seconds(2)) == [4, 8, 16, 8, 16])
    let near = Host(latency: .milliseconds(1), perConnection: 1_000_000)
    #expect(play(near, seconds: 2, trouble: .seconds(1) + .milliseconds(500)) == [4, 6, 3])
    #expect(play(near, seconds: 4, trouble: .seconds(1)) == [4, 6, 3, 6])
  }

  @Test("Nothing is added while connections are idle")
  func idle() {
    var window = ConnectionWindow(ceiling: 16, isFixed: false)
    for tick in 1...1_000 {
      window.record(
        bytes: 10_000,
        responses: 1,
        latency: .milliseconds(50),
        isFull: false,
        at: .milliseconds(tick * 10)
      )
    }
    #expect(window.limit == 4)
  }

  @Test("A fixed limit stays")
  func fixed() {
    var window = ConnectionWindow(ceiling: 12, isFixed: true)
    #expect(window.limit == 12)
    window.recordTrouble(at: .seconds(1))
    window.record(bytes: 1, responses: 1, latency: .milliseconds(1), at: .seconds(2))
    #expect(window.limit == 12)
  }

  @Test("A window never falls below one connection a worker")
  func least() {
    var window = ConnectionWindow(ceiling: 16, isFixed: false, least: 2)
    for second in 1...5 { window.recordTrouble(at: .seconds(second)) }
    #expect(window.limit == 2)
  }
}
