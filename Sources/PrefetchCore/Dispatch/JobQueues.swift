/// Queues of job numbers in one flat store, since a million may wait; neighbors share an entry.
struct JobQueues: Sendable {
  /// Single queue, in order of arrival.
  struct JobQueue: Sendable {
    fileprivate var first = JobQueues.none
    fileprivate var last = JobQueues.none
  }

  private struct Span: Sendable {
    var lower: Int32
    var upper: Int32
    var next: Int32
  }

  private static let none: Int32 = -1

  private var spans: [Span] = []
  private var free = Self.none

  mutating func append(_ jobs: Range<Int32>, to queue: inout JobQueue) {
    guard !jobs.isEmpty else { return }
    if queue.last != Self.none, spans[Int(queue.last)].upper == jobs.lowerBound {
      spans[Int(queue.last)].upper = jobs.upperBound
      return
    }
    let added = makeSpan(jobs)
    if queue.last == Self.none {
      queue.first = added
    } else {
      spans[Int(queue.last)].next = added
    }
    queue.last = added
  }

  mutating func removeFirst(of queue: inout JobQueue) -> Int32? {
    guard queue.first != Self.none else { return nil }
    let head = Int(queue.first)
    let job = spans[head].lower
    spans[head].lower += 1
    guard spans[head].lower == spans[head].upper else { return job }
    let next = spans[head].next
    spans[head].next = free
    free = queue.first
    queue.first = next
    if next == Self.none { queue.last = Self.none }
    return job
  }

  private mutating func makeSpan(_ jobs: Range<Int32>) -> Int32 {
    let span = Span(lower: jobs.lowerBound, upper: jobs.upperBound, next: Self.none)
    guard free != Self.none else {
      spans.append(span)
      return Int32(spans.count - 1)
    }
    let reused = free
    free = spans[Int(reused)].next
    spans[Int(reused)] = span
    return reused
  }
}
