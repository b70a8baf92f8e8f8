/// The quarters of something that is played, as far as their ends were passed.
package struct Quartiles: OptionSet, Hashable, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  private static let all: [(quarter: Quartiles, percent: Int)] = (1...4).map {
    (Quartiles(rawValue: 1 << ($0 - 1)), 25 * $0)
  }

  /// What is passed by who plays from one place to another; without `end` to the end, however long
  /// that takes.
  package static func passed(
    from start: Duration,
    to end: Duration?,
    of length: Duration?
  ) -> Quartiles {
    var passed: Quartiles = []
    for (quarter, percent) in all where passes(percent, from: start, to: end, of: length) {
      passed.insert(quarter)
    }
    return passed
  }

  private static func passes(
    _ percent: Int,
    from start: Duration,
    to end: Duration?,
    of length: Duration?
  ) -> Bool {
    guard let length else {
      // Where the length is not known the whole is all of it, and the end is the end.
      return end == nil && (start <= .zero || percent == 100)
    }
    let place = length * percent / 100
    guard start <= place else { return false }
    guard let end else { return true }
    // Players stop a little before the end.
    let slack: Duration = percent == 100 ? min(.seconds(1), length / 100) : .zero
    return place <= end + slack
  }

  /// 25, 50, 75 and 100.
  package var percents: [Int] {
    Self.all.filter { contains($0.quarter) }.map(\.percent)
  }
}
