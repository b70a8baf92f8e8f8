/// How long a host took to answer, as counts of answers by classes of time.
///
/// Classes are an eighth of an octave wide: a percentile is right to an eighth, a host takes little
/// room however often it was asked, and those of several runs can be added up.
package struct ResponseTimes: Hashable, Sendable {
  /// Answers of each class that has any.
  package private(set) var counts: [Int: Int64]

  package init(counts: [Int: Int64] = [:]) {
    self.counts = counts.filter { (0..<Self.classCount).contains($0.key) && $0.value > 0 }
  }

  package var answers: Int64 {
    counts.values.reduce(0) { $0.addingSaturated($1) }
  }

  package mutating func note(_ time: Duration) {
    counts[Self.class(of: time), default: 0] += 1
  }

  package mutating func add(_ others: ResponseTimes) {
    for (place, count) in others.counts {
      counts[place] = (counts[place] ?? 0).addingSaturated(count)
    }
  }

  /// What so many percent of the answers took at most; nil where there was none.
  package func percentile(_ percent: Int) -> Duration? {
    let all = answers
    guard all > 0 else { return nil }
    let wanted = max(1, (Double(all) * Double(percent) / 100).rounded(.up))
    var seen: Double = 0
    for (place, count) in counts.sorted(by: { $0.key < $1.key }) {
      seen += Double(count)
      if seen >= wanted { return Self.end(of: place) }
    }
    return nil
  }

  // MARK: Classes

  private static let steps = 8
  /// The last one is whatever takes longer than a day.
  private static let classCount = 38 * steps

  /// Below eight microseconds each has its own; above, the three bits after the first one count.
  private static func `class`(of time: Duration) -> Int {
    let (seconds, attoseconds) = time.components
    guard seconds < 86_400 else { return classCount - 1 }
    let microseconds = Int(max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    guard microseconds >= steps else { return microseconds }
    let octave = Int.bitWidth - 1 - microseconds.leadingZeroBitCount
    return (octave - 2) * steps + (microseconds >> (octave - 3)) - steps
  }

  /// The longest time of a class.
  private static func end(of place: Int) -> Duration {
    guard place >= steps else { return .microseconds(place) }
    let shift = place / steps - 1
    return .microseconds(((place % steps + steps + 1) << shift) - 1)
  }
}

extension TransferFigures {
  /// From the request's going out to the first byte of its answer: the server's time and the way's.
  package var responseTime: Duration? {
    firstByte.map { max(.zero, $0 - (requested ?? .zero)) }
  }
}
