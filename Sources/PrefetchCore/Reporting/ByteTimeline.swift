/// Received bytes over time, in a bounded number of equal spans.
package struct ByteTimeline: Hashable, Sendable {
  package static let mostSpans = 240

  /// Bytes of each span; the first span begins with the run.
  package private(set) var counts: [Int64] = []
  private var microseconds: Int64 = 1000

  package init() {}

  package var span: Duration { .microseconds(microseconds) }

  /// Spreads bytes evenly over their time of arrival, clamped to the run in case a clock was set.
  package mutating func add(_ count: Int64, from start: Duration, to end: Duration) {
    guard count > 0 else { return }
    let first = max(0, start.microseconds)
    let end = max(first.addingSaturated(1), end.microseconds)
    while (end - 1) / microseconds >= Self.mostSpans { widen() }
    let spans = Int(first / microseconds)...Int((end - 1) / microseconds)
    if spans.upperBound >= counts.count {
      counts += [Int64](repeating: 0, count: spans.upperBound + 1 - counts.count)
    }
    var assigned: Int64 = 0
    for index in spans {
      // Rounds the running sum and not each part, so that the total is exact.
      let part = Double((Int64(index) + 1) * microseconds - first) / Double(end - first)
      let share = index == spans.upperBound ? count : Int64(Double(count) * part)
      counts[index] += share - assigned
      assigned = share
    }
  }

  private mutating func widen() {
    counts = stride(from: 0, to: counts.count, by: 2).map { index in
      counts[index] + (index + 1 < counts.count ? counts[index + 1] : 0)
    }
    microseconds *= 2
  }
}
