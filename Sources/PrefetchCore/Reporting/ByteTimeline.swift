/// How many bytes came when, in at most so many equal spans however long the run is.
package struct ByteTimeline: Hashable, Sendable {
  package static let mostSpans = 240

  /// Of each span, the first begins with the run.
  package private(set) var counts: [Int64] = []
  private var microseconds: Int64 = 1000

  package init() {}

  /// How long each span is.
  package var span: Duration { .microseconds(microseconds) }

  /// Spreads bytes evenly over the time in which they came; what clocks that were set make of it
  /// is held within the run.
  package mutating func add(_ count: Int64, from start: Duration, to end: Duration) {
    guard count > 0 else { return }
    let first = max(0, start.microseconds)
    let end = max(first.addingSaturated(1), end.microseconds)
    while (end - 1) / microseconds >= Self.mostSpans { widen() }
    let spans = Int(first / microseconds)...Int((end - 1) / microseconds)
    if spans.upperBound >= counts.count {
      counts += [Int64](repeating: 0, count: spans.upperBound + 1 - counts.count)
    }
    var placed: Int64 = 0
    for index in spans {
      // What is placed so far is rounded, not each part, so that the sum is exact.
      let part = Double((Int64(index) + 1) * microseconds - first) / Double(end - first)
      let share = index == spans.upperBound ? count : Int64(Double(count) * part)
      counts[index] += share - placed
      placed = share
    }
  }

  /// Two spans become one.
  private mutating func widen() {
    counts = stride(from: 0, to: counts.count, by: 2).map { index in
      counts[index] + (index + 1 < counts.count ? counts[index + 1] : 0)
    }
    microseconds *= 2
  }
}
