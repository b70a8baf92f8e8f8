/// Jobs that wait for a time each, the earliest first.
struct BackoffQueue: Sendable {
  private struct Wait: Comparable, Sendable {
    var due: Duration
    var job: Int

    static func < (a: Self, b: Self) -> Bool {
      (a.due, a.job) < (b.due, b.job)
    }
  }

  private var entries = Heap<Wait>()

  var isEmpty: Bool {
    entries.isEmpty
  }

  var earliest: Duration? {
    entries.first?.due
  }

  mutating func insert(_ job: Int, until due: Duration) {
    entries.insert(Wait(due: due, job: job))
  }

  mutating func dequeue(at now: Duration) -> Int? {
    guard let first = entries.first, first.due <= now else { return nil }
    return entries.removeFirst()?.job
  }

  mutating func drain() -> [Int] {
    entries.drain().map(\.job).sorted()
  }

  func contains(_ job: Int) -> Bool {
    entries.contains { $0.job == job }
  }

  mutating func remove(_ jobs: Set<Int>) {
    entries.removeAll { jobs.contains($0.job) }
  }
}
