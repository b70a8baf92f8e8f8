/// Queued jobs, in one lane per host and rank; the lanes of a host are linked in order of rank.
struct HostLanes: Sendable {
  private struct Lane: Sendable {
    let host: Int32
    let rank: Rank
    let level: Int32
    var jobs = JobQueues.JobQueue()
    var count: Int32 = 0
    /// Next lane of the host, or next free lane.
    var next: Int32
  }

  /// A withdrawn job that is still in its lane's queue.
  private struct Withdrawn: Hashable, Sendable {
    var lane: Int32
    var job: Int32
  }

  private static let none: Int32 = -1

  private var lanes: [Lane] = []
  private var free = Self.none
  /// First lane of each host; a lane without jobs is unlinked.
  private var firsts: [Int32] = []
  /// Lane of each host that last got a job: the next job mostly belongs there or after it.
  private var latest: [Int32] = []
  private var queues = JobQueues()
  private var withdrawn: Set<Withdrawn> = []
  private(set) var count = 0

  mutating func append(_ jobs: Range<Int32>, to host: Int32, rank: Rank, level: Int32) {
    let number = Int(lane(of: host, rank: rank, level: level))
    queues.append(jobs, to: &lanes[number].jobs)
    lanes[number].count += Int32(jobs.count)
    count += jobs.count
  }

  func first(of host: Int32) -> (rank: Rank, level: Int32)? {
    guard host < firsts.count, firsts[Int(host)] != Self.none else { return nil }
    let lane = lanes[Int(firsts[Int(host)])]
    return (lane.rank, lane.level)
  }

  mutating func removeFirst(of host: Int32) -> Int32? {
    guard host < firsts.count, firsts[Int(host)] != Self.none else { return nil }
    let number = firsts[Int(host)]
    while let job = queues.removeFirst(of: &lanes[Int(number)].jobs) {
      if !withdrawn.isEmpty, withdrawn.remove(Withdrawn(lane: number, job: job)) != nil { continue }
      countRemoval(number)
      return job
    }
    return nil
  }

  /// Withdraws a job that need not be the first; returns the level of its lane.
  mutating func withdraw(_ job: Int32, from host: Int32, rank: Rank) -> Int32? {
    guard host < firsts.count else { return nil }
    var number = firsts[Int(host)]
    while number != Self.none, lanes[Int(number)].rank < rank { number = lanes[Int(number)].next }
    guard number != Self.none, lanes[Int(number)].rank == rank else { return nil }
    withdrawn.insert(Withdrawn(lane: number, job: job))
    let level = lanes[Int(number)].level
    countRemoval(number)
    return level
  }

  /// Removes and returns all jobs, by rank, then by host.
  mutating func drain() -> [(job: Int32, level: Int32)] {
    let numbers = firsts.indices.flatMap { self.numbers(of: Int32($0)) }
    let ordered = numbers.sorted { a, b in
      (lanes[Int(a)].rank, lanes[Int(a)].host) < (lanes[Int(b)].rank, lanes[Int(b)].host)
    }
    return ordered.flatMap { empty($0) }
  }

  mutating func drain(_ host: Int32) -> [(job: Int32, level: Int32)] {
    numbers(of: host).flatMap { empty($0) }
  }

  private func numbers(of host: Int32) -> [Int32] {
    guard host < firsts.count else { return [] }
    var numbers: [Int32] = []
    var number = firsts[Int(host)]
    while number != Self.none {
      numbers.append(number)
      number = lanes[Int(number)].next
    }
    return numbers
  }

  private mutating func empty(_ number: Int32) -> [(job: Int32, level: Int32)] {
    let level = lanes[Int(number)].level
    var jobs: [(job: Int32, level: Int32)] = []
    while lanes[Int(number)].count > 0,
      let job = queues.removeFirst(of: &lanes[Int(number)].jobs)
    {
      if withdrawn.remove(Withdrawn(lane: number, job: job)) != nil { continue }
      jobs.append((job, level))
      countRemoval(number)
    }
    return jobs
  }

  private mutating func countRemoval(_ number: Int32) {
    count -= 1
    lanes[Int(number)].count -= 1
    guard lanes[Int(number)].count == 0 else { return }
    while let rest = queues.removeFirst(of: &lanes[Int(number)].jobs) {
      withdrawn.remove(Withdrawn(lane: number, job: rest))
    }
    unlink(number)
  }

  // MARK: Lanes

  private mutating func lane(of host: Int32, rank: Rank, level: Int32) -> Int32 {
    while firsts.count <= host {
      firsts.append(Self.none)
      latest.append(Self.none)
    }
    var before = Self.none
    var next = firsts[Int(host)]
    let hint = latest[Int(host)]
    if hint != Self.none, lanes[Int(hint)].rank <= rank {
      if lanes[Int(hint)].rank == rank { return hint }
      (before, next) = (hint, lanes[Int(hint)].next)
    }
    while next != Self.none, lanes[Int(next)].rank < rank {
      (before, next) = (next, lanes[Int(next)].next)
    }
    if next == Self.none || lanes[Int(next)].rank != rank {
      next = make(Lane(host: host, rank: rank, level: level, next: next))
      if before == Self.none {
        firsts[Int(host)] = next
      } else {
        lanes[Int(before)].next = next
      }
    }
    latest[Int(host)] = next
    return next
  }

  private mutating func make(_ lane: Lane) -> Int32 {
    guard free != Self.none else {
      lanes.append(lane)
      return Int32(lanes.count - 1)
    }
    let number = free
    free = lanes[Int(number)].next
    lanes[Int(number)] = lane
    return number
  }

  private mutating func unlink(_ number: Int32) {
    let host = Int(lanes[Int(number)].host)
    let next = lanes[Int(number)].next
    if firsts[host] == number {
      firsts[host] = next
    } else {
      var before = firsts[host]
      while lanes[Int(before)].next != number { before = lanes[Int(before)].next }
      lanes[Int(before)].next = next
    }
    if latest[host] == number { latest[host] = Self.none }
    lanes[Int(number)].next = free
    free = number
  }
}
