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
    var jobs: [Int]
    var head = 0

    var isEmpty: Bool { head == jobs.count }
  }

  private struct Level: Sendable {
    var rank: Rank
    /// One lane a host, so that a host at its cap does not hold up the others.
    var lanes: [String: Lane] = [:]
    /// The hosts that have a lane, in the order in which they take turns.
    var ring: [String] = []
    var next = 0

    mutating func append(_ job: Int, host: String) {
      if lanes[host]?.jobs.append(job) != nil { return }
      lanes[host] = Lane(jobs: [job])
      ring.append(host)
    }

    /// The first job of a host whose lane is not empty; empty lanes leave the ring.
    mutating func takeFirst(at turn: Int) -> Int? {
      let host = ring[turn]
      guard let lane = lanes[host], !lane.isEmpty else { return nil }
      lanes[host]?.head += 1
      next = turn + 1
      if lane.head + 1 == lane.jobs.count {
        lanes[host] = nil
        ring.remove(at: turn)
        next = turn
      }
      if next >= ring.count { next = 0 }
      return lane.jobs[lane.head]
    }
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
    let level = firstLevel(notBefore: rank)
    if level == levels.count || levels[level].rank != rank {
      levels.insert(Level(rank: rank), at: level)
    }
    levels[level].append(job, host: host)
  }

  private func firstLevel(notBefore rank: Rank) -> Int {
    var low = 0
    var high = levels.count
    while low < high {
      let middle = (low + high) / 2
      if levels[middle].rank < rank {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  /// The next job that may start now; it counts as in flight from here on.
  package mutating func take() -> (job: Int, host: String)? {
    guard inFlight < concurrency else { return nil }
    for level in levels.indices {
      let turns = levels[level].ring.count
      for step in 0..<turns {
        let turn = (levels[level].next + step) % turns
        let host = levels[level].ring[turn]
        guard hasRoom(host), let job = levels[level].takeFirst(at: turn) else { continue }
        if levels[level].ring.isEmpty { levels.remove(at: level) }
        inFlight += 1
        hosts[host, default: Host()].inFlight += 1
        count -= 1
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
    let waiting = levels.flatMap { level in
      level.ring.flatMap { host in level.lanes[host].map { $0.jobs[$0.head...] } ?? [] }
    }
    levels = []
    count = 0
    return waiting
  }

  private func hasRoom(_ host: String) -> Bool {
    guard let state = hosts[host] else { return true }
    return state.inFlight < (state.isMultiplexed ? perHost * 8 : perHost)
  }
}
