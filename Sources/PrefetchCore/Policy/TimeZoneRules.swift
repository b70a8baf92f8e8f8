/// UTC offsets of a time zone: a table of changes, and a rule for all years after it.
///
/// Times are whole seconds since 1970, in UTC or as a local clock shows them.
package struct TimeZoneRules: Hashable, Sendable {
  package struct Change: Hashable, Sendable {
    package var at: Int64
    /// Seconds east of UTC from then on.
    package var offset: Int64
  }

  private let initialOffset: Int64
  private let changes: [Change]
  /// Rule from the last change on; nil if the last offset stays.
  private let rule: YearlyClockRule?

  package static let utc = TimeZoneRules(initialOffset: 0)

  /// Whether a text names a zone, known or not, and no other path: `local`, `UTC`, `Area/City`.
  package static func isName(_ text: String) -> Bool {
    if text == "local" || text == "UTC" { return true }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return (1...3).contains(parts.count) && text.utf8.count <= 100
      && parts.allSatisfy { part in
        part.first?.isLetter == true
          && part.unicodeScalars.allSatisfy {
            $0.isASCII
              && ($0.properties.isAlphabetic || "0123456789_+-".unicodeScalars.contains($0))
          }
      }
  }

  package init(initialOffset: Int64, changes: [Change] = [], rule: YearlyClockRule? = nil) {
    self.initialOffset = initialOffset
    self.changes = changes
    self.rule = rule
  }

  package func offset(at second: Int64) -> Int64 {
    guard let last = changes.last else { return rule?.offset(at: second) ?? initialOffset }
    if second >= last.at { return rule?.offset(at: second) ?? last.offset }
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].at <= second { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? initialOffset : changes[low - 1].offset
  }

  package func local(at second: Int64) -> Int64 {
    second + offset(at: second)
  }

  /// Returns the moments of a local time: two if the clock was set back over it, none if forward.
  package func seconds(ofLocal local: Int64) -> [Int64] {
    let offsets = Set([-Self.day, 0, Self.day].map { offset(at: local + $0) })
    return offsets.map { local - $0 }.filter { self.local(at: $0) == local }.sorted()
  }

  package func changes(after start: Int64, upTo end: Int64) -> [Int64] {
    let last = changes.last?.at ?? .min
    let listed = changes.map(\.at).filter { start < $0 && $0 <= end }
    let ruled = rule?.changes(after: max(start, last), upTo: end) ?? []
    return listed + ruled
  }

  /// Returns the local day, counted from 1970-01-01.
  package func day(at second: Int64) -> Int64 {
    Self.floor(local(at: second), Self.day)
  }

  package func start(ofDay day: Int64, after second: Int64) -> Int64 {
    let midnight = day * Self.day
    if let start = seconds(ofLocal: midnight).first(where: { second < $0 }) { return start }
    // A clock that is set forward over midnight begins the day when it is set.
    let skipping = changes(after: midnight - 2 * Self.day, upTo: midnight + 2 * Self.day)
      .first { second < $0 && local(at: $0 - 1) < midnight && midnight <= local(at: $0) }
    return skipping ?? max(second + 1, midnight - offset(at: midnight))
  }

  static let day: Int64 = 86_400

  static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
