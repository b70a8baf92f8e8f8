/// Number of open jobs per rank: queued, in flight, or to be queued again.
struct OpenRanks: Sendable {
  private struct Level: Sendable {
    let rank: Rank
    var count = 0
    /// Whether the level is in the heap, where it may stay without open jobs.
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
  /// Levels of jobs that are in flight or will be queued again.
  private var jobs: [Int32: Int32] = [:]

  /// Returns the level of a rank; whether the item has begun makes no difference.
  mutating func level(of rank: Rank) -> Int32 {
    let rank = rank.ignoringBegun
    if let known = numbers[rank] { return known }
    levels.append(Level(rank: rank))
    numbers[rank] = Int32(levels.count - 1)
    return Int32(levels.count - 1)
  }

  mutating func add(_ count: Int, at level: Int32) {
    let index = Int(level)
    levels[index].count += count
    guard levels[index].count > 0, !levels[index].isListed else { return }
    levels[index].isListed = true
    listed.insert(Listed(rank: levels[index].rank, level: level))
  }

  mutating func follow(_ job: Int32, at level: Int32) {
    jobs[job] = level
  }

  mutating func expect(_ job: Int32, at level: Int32) {
    end(job)
    jobs[job] = level
    add(1, at: level)
  }

  mutating func end(_ job: Int32) {
    guard let level = jobs.removeValue(forKey: job) else { return }
    add(-1, at: level)
  }

  mutating func isFirst(_ level: Int32) -> Bool {
    while let top = listed.first {
      if levels[Int(top.level)].count > 0 { return levels[Int(level)].rank <= top.rank }
      levels[Int(top.level)].isListed = false
      _ = listed.removeFirst()
    }
    return true
  }
}
