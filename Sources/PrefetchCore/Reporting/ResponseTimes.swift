/// Histogram of a host's response times.
///
/// Classes are an eighth of an octave wide, so percentiles are accurate to an eighth, size is
/// bounded, and histograms of several runs can be added.
package struct ResponseTimes: Hashable, Sendable {
  /// Counts by class, without trailing zeros; updated for each response of a run.
  private var classes: [Int64] = []

  package init(counts: [Int: Int64] = [:]) {
    for (index, count) in counts where (0..<Self.classCount).contains(index) && count > 0 {
      add(count, to: index)
    }
  }

  package var counts: [Int: Int64] {
    let pairs = classes.enumerated().filter { $0.element > 0 }.map { ($0.offset, $0.element) }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  package var responses: Int64 {
    classes.reduce(0) { $0.addingSaturated($1) }
  }

  package var isEmpty: Bool {
    classes.isEmpty
  }

  package mutating func record(_ time: Duration) {
    add(1, to: Self.class(of: time))
  }

  package mutating func add(_ others: ResponseTimes) {
    for (index, count) in others.classes.enumerated() where count > 0 { add(count, to: index) }
  }

  private mutating func add(_ count: Int64, to index: Int) {
    while classes.count <= index { classes.append(0) }
    classes[index] = classes[index].addingSaturated(count)
  }

  package func percentile(_ percent: Int) -> Duration? {
    let all = responses
    guard all > 0 else { return nil }
    let wanted = max(1, (Double(all) * Double(percent) / 100).rounded(.up))
    var seen: Double = 0
    for (index, count) in classes.enumerated() {
      seen += Double(count)
      if seen >= wanted { return Self.end(of: index) }
    }
    return nil
  }

  // MARK: Classes

  private static let steps = 8
  /// Number of classes; the last one has all times above a day.
  private static let classCount = 38 * steps

  /// Returns a time's class: a microsecond each below eight, then by three bits after the first.
  private static func `class`(of time: Duration) -> Int {
    let (seconds, attoseconds) = time.components
    guard seconds < 86_400 else { return classCount - 1 }
    let microseconds = Int(max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    guard microseconds >= steps else { return microseconds }
    let octave = Int.bitWidth - 1 - microseconds.leadingZeroBitCount
    return (octave - 2) * steps + (microseconds >> (octave - 3)) - steps
  }

  private static func end(of index: Int) -> Duration {
    guard index >= steps else { return .microseconds(index) }
    let shift = index / steps - 1
    return .microseconds(((index % steps + steps + 1) << shift) - 1)
  }
}

extension TransferFigures {
  /// Time from the end of the request to the response's first byte.
  package var responseTime: Duration? {
    firstByte.map { max(.zero, $0 - (requested ?? .zero)) }
  }
}
