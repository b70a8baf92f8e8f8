/// Jobs that wait for a moment each, the earliest first: a binary heap, since thousands may wait.
struct WaitingLine: Sendable {
  private struct Entry: Comparable, Sendable {
    var due: Duration
    var job: Int

    static func < (a: Self, b: Self) -> Bool {
      (a.due, a.job) < (b.due, b.job)
    }
  }

  private var heap: [Entry] = []

  var isEmpty: Bool {
    heap.isEmpty
  }

  var earliest: Duration? {
    heap.first?.due
  }

  mutating func insert(_ job: Int, until due: Duration) {
    heap.append(Entry(due: due, job: job))
    var child = heap.count - 1
    while child > 0, heap[child] < heap[(child - 1) / 2] {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// The earliest job, if its moment has come.
  mutating func take(at now: Duration) -> Int? {
    guard let first = heap.first, first.due <= now else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first.job }
    heap[0] = last
    sink()
    return first.job
  }

  /// Everything that still waits, by number; the line is empty afterwards.
  mutating func drain() -> [Int] {
    defer { heap = [] }
    return heap.map(\.job).sorted()
  }

  mutating func remove(_ jobs: Set<Int>) {
    let kept = heap.filter { !jobs.contains($0.job) }
    guard kept.count < heap.count else { return }
    // Whatever is in order is a heap.
    heap = kept.sorted()
  }

  private mutating func sink() {
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < heap.count else { return }
      let right = left + 1
      let child = right < heap.count && heap[right] < heap[left] ? right : left
      guard heap[child] < heap[parent] else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }
}
