/// What waits for a place on the wire: by rank first, then in order, never beyond a host's cap.
package struct TransferQueue: Sendable {
  /// Lower goes first: manifests before items, segments by priority and then as declared.
  package struct Rank: Hashable, Comparable, Sendable {
    package var priority: Int
    package var order: Int

    package init(priority: Int, order: Int) {
      self.priority = priority
      self.order = order
    }

    package static func < (a: Self, b: Self) -> Bool {
      (a.priority, a.order) < (b.priority, b.order)
    }
  }

  private struct Lane: Sendable {
    var host: String
    var jobs: [Int]
    var head = 0

    var isEmpty: Bool { head == jobs.count }
  }

  private struct Level: Sendable {
    var rank: Rank
    /// One lane a host, so that a host at its cap does not hold up the others.
    var lanes: [Lane] = []
    var next = 0
  }

  private struct Host: Sendable {
    var inFlight = 0
    var isMultiplexed = false
  }

  private var levels: [Level] = []
  private var hosts: [String: Host] = [:]
  private var inFlight = 0
  private let concurrency: Int
  private let perHost: Int
  package private(set) var count = 0

  package init(concurrency: Int, perHost: Int) {
    self.concurrency = max(1, concurrency)
    self.perHost = max(1, perHost)
  }

  package mutating func append(_ job: Int, host: String, rank: Rank) {
    count += 1
    let level = levels.firstIndex { $0.rank >= rank } ?? levels.count
    if level == levels.count || levels[level].rank != rank {
      levels.insert(Level(rank: rank), at: level)
    }
    if let lane = levels[level].lanes.firstIndex(where: { $0.host == host }) {
      levels[level].lanes[lane].jobs.append(job)
    } else {
      levels[level].lanes.append(Lane(host: host, jobs: [job]))
    }
  }

  /// The next job that may start now; it counts as in flight from here on.
  package mutating func take() -> (job: Int, host: String)? {
    guard inFlight < concurrency else { return nil }
    for level in levels.indices {
      let lanes = levels[level].lanes.count
      for step in 0..<lanes {
        let lane = (levels[level].next + step) % lanes
        let host = levels[level].lanes[lane].host
        guard !levels[level].lanes[lane].isEmpty, hasRoom(host) else { continue }
        let job = levels[level].lanes[lane].jobs[levels[level].lanes[lane].head]
        levels[level].lanes[lane].head += 1
        levels[level].next = (lane + 1) % lanes
        inFlight += 1
        hosts[host, default: Host()].inFlight += 1
        count -= 1
        compact(level, lane)
        return (job, host)
      }
    }
    return nil
  }

  package mutating func finished(on host: String, httpVersion: String?) {
    inFlight -= 1
    hosts[host, default: Host()].inFlight -= 1
    if let httpVersion { hosts[host]?.isMultiplexed = httpVersion != "1.1" && httpVersion != "1.0" }
  }

  /// Everything that has not started, in order; the queue is empty afterwards.
  package mutating func drain() -> [Int] {
    let waiting = levels.flatMap { $0.lanes.flatMap { $0.jobs[$0.head...] } }
    levels = []
    count = 0
    return waiting
  }

  private func hasRoom(_ host: String) -> Bool {
    guard let state = hosts[host] else { return true }
    return state.inFlight < (state.isMultiplexed ? perHost * 8 : perHost)
  }

  private mutating func compact(_ level: Int, _ lane: Int) {
    guard levels[level].lanes[lane].isEmpty else { return }
    levels[level].lanes.remove(at: lane)
    if levels[level].lanes.isEmpty {
      levels.remove(at: level)
    } else {
      levels[level].next %= levels[level].lanes.count
    }
  }
}
