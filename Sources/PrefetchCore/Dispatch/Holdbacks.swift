/// Behind whom nothing may start, since what ranks higher is about to be known.
struct Holdbacks: Sendable {
  /// How often each rank is the last that may start.
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

  func holdsBack(_ rank: Rank) -> Bool {
    last.map { $0 < rank } ?? false
  }
}

/// Nothing behind a rank starts on some hosts.
struct Holdback: Hashable, Sendable {
  enum Ground: Hashable, Sendable {
    case hosts(Set<HostID>)
    case everywhere
  }

  /// The last that may start there.
  var last: Rank
  var ground: Ground
}
