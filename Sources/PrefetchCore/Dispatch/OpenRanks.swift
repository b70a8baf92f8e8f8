/// How much of each rank is not over yet: what waits, what is under way, and what will come back.
struct OpenRanks: Sendable {
  private struct Level: Sendable {
    let rank: Rank
    var count = 0
    /// Whether it stands in the heap, with or without anything open.
    var isListed = false
  }

  private struct Listed: Comparable, Sendable {
    var rank: Rank
    var level: Int32

    static func < (a: Self, b: Self) -> Bool {
      a.rank < b.rank
    }
  }

  private var levels: [Level] = []
  private var numbers: [Rank: Int32] = [:]
  private var listed = Heap<Listed>()
  /// The levels of jobs that are under way or will come back.
  private var jobs: [Int32: Int32] = [:]

  /// The number by which a rank is known here; whether something has begun makes no difference.
  mutating func level(of rank: Rank) -> Int32 {
    let rank = rank.standing
    if let known = numbers[rank] { return known }
    levels.append(Level(rank: rank))
    numbers[rank] = Int32(levels.count - 1)
    return Int32(levels.count - 1)
  }

  mutating func add(_ count: Int, at level: Int32) {
    let place = Int(level)
    levels[place].count += count
    guard levels[place].count > 0, !levels[place].isListed else { return }
    levels[place].isListed = true
    listed.insert(Listed(rank: levels[place].rank, level: level))
  }

  /// From here on the job counts by its number.
  mutating func follow(_ job: Int32, at level: Int32) {
    jobs[job] = level
  }

  /// A job that is in no line and will come back.
  mutating func expect(_ job: Int32, at level: Int32) {
    end(job)
    jobs[job] = level
    add(1, at: level)
  }

  mutating func end(_ job: Int32) {
    guard let level = jobs.removeValue(forKey: job) else { return }
    add(-1, at: level)
  }

  /// Whether nothing that ranks before the level is open.
  mutating func isFirst(_ level: Int32) -> Bool {
    while let top = listed.first {
      if levels[Int(top.level)].count > 0 { return levels[Int(level)].rank <= top.rank }
      levels[Int(top.level)].isListed = false
      _ = listed.removeFirst()
    }
    return true
  }
}
