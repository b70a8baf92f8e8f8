/// Start barriers of one host, or of all hosts; the first of them counts.
struct StartBarriers: Sendable {
  private var counts: [Rank: Int] = [:]
  private(set) var last: Rank?

  mutating func add(_ rank: Rank) {
    counts[rank, default: 0] += 1
    last = min(last ?? rank, rank)
  }

  mutating func remove(_ rank: Rank) {
    guard let count = counts[rank] else { return }
    counts[rank] = count > 1 ? count - 1 : nil
    if count == 1, rank == last { last = counts.keys.min() }
  }

  func bars(_ rank: Rank) -> Bool {
    last.map { $0 < rank } ?? false
  }
}

/// Start barrier: on the given hosts, jobs ranked after `last` wait.
struct StartBarrier: Hashable, Sendable {
  enum Ground: Hashable, Sendable {
    case hosts(Set<HostID>)
    case everywhere
  }

  var last: Rank
  var ground: Ground
}
