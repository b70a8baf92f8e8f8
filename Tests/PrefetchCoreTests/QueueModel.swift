import PrefetchTestSupport

@testable import PrefetchCore

/// Drives a ``TransferQueue`` at random and compares it with a simple list.
struct QueueModel {
  private struct Waiting {
    var job: Int
    var host: HostID
    var rank: Rank
  }

  private struct Candidate: Hashable {
    var host: HostID
    var rank: Rank
  }

  private(set) var problems: [String] = []
  private(set) var addedCount = 0
  private(set) var dequeuedCount = 0
  private(set) var drainedCount = 0

  private var generator: SeededRandom
  private var queue: TransferQueue
  private var waiting: [Waiting] = []
  private var running: [(job: Int, host: HostID)] = []
  private var isMultiplexed: Set<HostID> = []
  private var restrictions: [HostID: Int] = [:]
  private var holds: [HostID: Duration] = [:]
  private var barriers: [StartBarrier] = []
  /// Number of times that jobs of equal rank started before a job whose host was free.
  private var passed: [Candidate: Int] = [:]
  private var now = Duration.zero
  private let hosts: [HostID]
  private let concurrency: Int
  private let perHost: Int

  init(seed: UInt64) {
    var generator = SeededRandom(seed: seed)
    concurrency = Int.random(in: 1...8, using: &generator)
    perHost = Int.random(in: 1...3, using: &generator)
    var queue = TransferQueue(concurrency: concurrency, perHost: perHost)
    hosts = ["a", "b", "c", "d", "e"].map { queue.table.host($0) }
    self.queue = queue
    self.generator = generator
  }

  mutating func step(mayAdd: Bool) {
    let host = hosts.randomElement(using: &generator) ?? hosts[0]
    switch Int.random(in: 0..<100, using: &generator) {
    case ..<35 where mayAdd: add(to: host)
    case ..<60: finishOne()
    case ..<64:
      let due = now + .seconds(Int.random(in: 1..<10, using: &generator))
      queue.hold(host, until: due)
      holds[host] = max(holds[host] ?? due, due)
    case ..<68:
      let limit = generator.happens(60) ? nil : Int.random(in: 1...2, using: &generator)
      queue.restrict(host, to: limit)
      restrictions[host] = limit
    case ..<72: now += .seconds(2)
    case ..<73: removeAll(of: host)
    case ..<75: addBarrier(host)
    case ..<77: removeBarrier()
    case ..<80: withdraw()
    default: dequeue()
    }
    // A host that had to leave the ring returns at its end.
    passed = passed.filter { candidate, _ in
      isEligible(candidate.host) && !isBarred(candidate.rank, candidate.host)
    }
    if queue.count != waiting.count { problems.append("it counts \(queue.count)") }
    if queue.inFlight != running.count { problems.append("\(queue.inFlight) in flight") }
  }

  mutating func finish() {
    let rest = queue.drain()
    drainedCount += rest.count
    if Set(rest) != Set(waiting.map(\.job)) { problems.append("drained others than waited") }
  }

  /// Completes all jobs until the queue is empty.
  mutating func runDry() {
    for host in hosts { queue.restrict(host, to: nil) }
    restrictions = [:]
    while !barriers.isEmpty { removeBarrier() }
    now += .seconds(60)
    while !waiting.isEmpty, problems.isEmpty {
      let before = dequeuedCount
      dequeue()
      if dequeuedCount == before, running.isEmpty { return problems.append("stuck") }
      if dequeuedCount == before { finishOne() }
    }
  }

  private mutating func add(to host: HostID) {
    let rank = Rank(
      itemOf: Int.random(in: 0...2, using: &generator),
      priority: Int.random(in: 1...3, using: &generator),
      own: generator.happens(50) ? Int.random(in: 1...2, using: &generator) : nil,
      hasBegun: generator.happens(30)
    )
    let jobs = addedCount..<(addedCount + Int.random(in: 1...4, using: &generator))
    queue.append(jobs, to: host, rank: rank)
    waiting += jobs.map { Waiting(job: $0, host: host, rank: rank) }
    addedCount = jobs.upperBound
  }

  private mutating func finishOne() {
    guard let index = running.indices.randomElement(using: &generator) else { return }
    let (job, host) = running.remove(at: index)
    let version = [nil, "1.1", "1.1", "2", "3"].randomElement(using: &generator) ?? nil
    queue.finished(job, on: host, httpVersion: version)
    guard let version else { return }
    if version == "1.1" {
      isMultiplexed.remove(host)
    } else {
      isMultiplexed.insert(host)
    }
  }

  private mutating func removeAll(of host: HostID) {
    let removed = queue.removeAll(of: host)
    drainedCount += removed.count
    if Set(removed) != Set(waiting.filter { $0.host == host }.map(\.job)) {
      problems.append("removed others than waited")
    }
    waiting.removeAll { $0.host == host }
  }

  private func isEligible(_ host: HostID) -> Bool {
    let cap = min(
      perHost * (isMultiplexed.contains(host) ? 8 : 1),
      restrictions[host] ?? .max
    )
    return (holds[host] ?? .zero) <= now && running.count { $0.host == host } < cap
  }

  private mutating func addBarrier(_ host: HostID) {
    let last = Rank.last(ofPriority: Int.random(in: 1...2, using: &generator))
    let barrier = StartBarrier(
      last: last,
      ground: generator.happens(70) ? .hosts([host]) : .everywhere
    )
    queue.addBarrier(barrier)
    barriers.append(barrier)
  }

  private mutating func removeBarrier() {
    guard let index = barriers.indices.randomElement(using: &generator) else { return }
    queue.removeBarrier(barriers.remove(at: index))
  }

  private mutating func withdraw() {
    guard let index = waiting.indices.randomElement(using: &generator) else { return }
    let removed = waiting.remove(at: index)
    queue.withdraw(removed.job, from: removed.host, rank: removed.rank)
    drainedCount += 1
  }

  private func isBarred(_ rank: Rank, _ host: HostID) -> Bool {
    barriers.contains { barrier in
      switch barrier.ground {
      case .everywhere: barrier.last < rank
      case .hosts(let hosts): barrier.last < rank && hosts.contains(host)
      }
    }
  }

  private mutating func dequeue() {
    let eligible = Set(hosts.filter(isEligible))
    let candidates =
      running.count < concurrency
      ? waiting.filter { eligible.contains($0.host) && !isBarred($0.rank, $0.host) } : []
    let rank = candidates.map(\.rank).min()
    guard let (job, host) = queue.dequeue(at: now) else {
      if rank != nil { problems.append("nothing came though something could") }
      return
    }
    dequeuedCount += 1
    let first = candidates.filter { $0.host == host && $0.rank == rank }.first
    if first?.job != job { problems.append("\(job) came, not \(first?.job ?? -1)") }
    waiting.removeAll { $0.job == job }
    if let rank {
      countPassedOver(
        dequeued: host,
        rank,
        candidates.map { Candidate(host: $0.host, rank: $0.rank) }
      )
    }
    running.append((job, host))
  }

  private mutating func countPassedOver(dequeued host: HostID, _ rank: Rank, _ could: [Candidate]) {
    let others = Set(could).filter { $0.rank == rank && $0.host != host }
    passed = passed.filter { candidate, _ in candidate.rank != rank || others.contains(candidate) }
    for candidate in others {
      passed[candidate, default: 0] += 1
      if passed[candidate, default: 0] >= hosts.count { problems.append("\(candidate) starves") }
    }
  }
}
