/// Received bytes of one body that arrives over several connections, and who fetches the rest.
package struct RangeMap: Hashable, Sendable {
  package struct Span: Hashable, Sendable {
    /// First byte, which names the span.
    package let start: Int64
    /// End of the received bytes.
    package fileprivate(set) var end: Int64
    /// Whether a connection fetches the bytes behind `end`.
    package fileprivate(set) var isGrowing: Bool
  }

  package let size: Int64
  /// Spans in their order; none reaches into the next one.
  package private(set) var spans: [Span]

  /// A body whose first bytes came over the connection that fetches the rest.
  package init(size: Int64, received: Int64) {
    self.size = size
    spans = [Span(start: 0, end: received, isGrowing: true)]
  }

  /// A body of which a part was kept; no connection fetches it yet.
  package init(size: Int64, keeping part: PartialBody) {
    self.size = size
    spans = [Span(start: 0, end: part.offset, isGrowing: false)]
    spans += part.spans.map { Span(start: $0.lowerBound, end: $0.upperBound, isGrowing: false) }
  }

  // MARK: Reading

  package var receivedSize: Int64 {
    spans.reduce(0) { $0 + $1.end - $1.start }
  }

  package var isComplete: Bool {
    contiguousSize == size
  }

  /// Number of received bytes before the first gap.
  package var contiguousSize: Int64 {
    var end: Int64 = 0
    for span in spans {
      guard span.start == end else { return end }
      end = span.end
    }
    return end
  }

  package func end(of start: Int64) -> Int64 {
    index(of: start).map { spans[$0].end } ?? start
  }

  /// Returns the first byte behind a span that its connection must leave to others.
  package func limit(of start: Int64) -> Int64 {
    index(of: start).map(limit) ?? start
  }

  /// Returns whether the first span grows, so that its connection could bring all that follows.
  package func isLed(by start: Int64) -> Bool {
    spans.first?.start == start && spans.first?.isGrowing == true
  }

  /// Returns the range for a further connection: the first gap that no connection fetches, else
  /// the second half of the largest gap, unless that is smaller than `smallest`.
  package func nextRange(smallest: Int64) -> Range<Int64>? {
    var largest: Range<Int64>?
    for index in spans.indices {
      let gap = spans[index].end..<limit(index)
      if gap.isEmpty { continue }
      guard spans[index].isGrowing else { return gap }
      if gap.count > largest?.count ?? 0 { largest = gap }
    }
    guard let largest, spans.count < Self.mostSpans else { return nil }
    let half = largest.lowerBound + (largest.upperBound - largest.lowerBound) / 2
    guard largest.upperBound - half >= smallest else { return nil }
    return half..<largest.upperBound
  }

  /// Most spans, which keeps their record small.
  private static let mostSpans = 64

  // MARK: Changes

  package mutating func begin(at start: Int64) {
    let index = spans.firstIndex { $0.start >= start } ?? spans.count
    spans.insert(Span(start: start, end: start, isGrowing: true), at: index)
  }

  package mutating func receive(_ count: Int64, in start: Int64) {
    guard let index = index(of: start) else { return }
    spans[index].end += count
  }

  /// Records that a connection no longer fetches its span.
  package mutating func stop(_ start: Int64) {
    guard let index = index(of: start) else { return }
    spans[index].isGrowing = false
    if spans[index].end == spans[index].start { spans.remove(at: index) }
  }

  /// Forgets all spans but one, whose connection fetches the others' bytes again.
  package mutating func forget(except start: Int64) {
    spans.removeAll { $0.start != start }
  }

  private func limit(_ index: Int) -> Int64 {
    index + 1 < spans.count ? spans[index + 1].start : size
  }

  private func index(of start: Int64) -> Int? {
    spans.firstIndex { $0.start == start }
  }
}
