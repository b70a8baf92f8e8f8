/// Quarters of a medium that were played to their ends.
package struct Quartiles: OptionSet, Hashable, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  private static let all: [(quarter: Quartiles, percent: Int)] = (1...4).map {
    (Quartiles(rawValue: 1 << ($0 - 1)), 25 * $0)
  }

  /// Returns the quarters passed by playing from `start` to `end`, by default the medium's end.
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
      // Without a length only the end can be recognised, and the whole if played from the start.
      return end == nil && (start <= .zero || percent == 100)
    }
    let mark = length * percent / 100
    guard start <= mark else { return false }
    guard let end else { return true }
    // Players stop a little before the end.
    let slack: Duration = percent == 100 ? min(.seconds(1), length / 100) : .zero
    return mark <= end + slack
  }

  package var percents: [Int] {
    Self.all.filter { contains($0.quarter) }.map(\.percent)
  }
}
