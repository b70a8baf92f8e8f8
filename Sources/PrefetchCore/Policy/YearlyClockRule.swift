/// Rule for the years after a time zone file's table (RFC 9636): `CET-1CEST,M3.5.0,M10.5.0/3`.
package struct YearlyClockRule: Hashable, Sendable {
  private struct Moment: Hashable, Sendable {
    enum Day: Hashable, Sendable {
      /// Day from 1; 29 February is never counted.
      case julian(Int)
      /// Day from 0; 29 February is counted.
      case ofYear(Int)
      /// Weekday from 0 for Sunday; `week` 5 is the last.
      case weekday(month: Int, week: Int, weekday: Int)
    }

    var day: Day
    /// Seconds on the local clock before the change; from -167 to 167 hours.
    var second: Int64
  }

  private struct Summer: Hashable, Sendable {
    var offset: Int64
    var start: Moment
    var end: Moment
  }

  private let offset: Int64
  private let summer: Summer?

  package init?(_ text: some StringProtocol) {
    var scanner = Scanner(Array(text.utf8))
    guard scanner.name(), let west = scanner.time() else { return nil }
    offset = -west
    guard !scanner.isAtEnd else {
      summer = nil
      return
    }
    guard scanner.name() else { return nil }
    var summerOffset = offset + 3600
    if scanner.next != UInt8(ascii: ","), !scanner.isAtEnd {
      guard let west = scanner.time() else { return nil }
      summerOffset = -west
    }
    // Without dates each system would choose them; no such rule occurs in practice.
    guard scanner.accept(","), let start = scanner.moment(), scanner.accept(","),
      let end = scanner.moment(), scanner.isAtEnd
    else { return nil }
    summer = Summer(offset: summerOffset, start: start, end: end)
  }

  package func offset(at second: Int64) -> Int64 {
    guard summer != nil else { return offset }
    let year = Self.year(of: second + offset)
    let last = (year - 1...year + 1).flatMap(changes(in:)).last { $0.at <= second }
    return last?.offset ?? offset
  }

  package func changes(after start: Int64, upTo end: Int64) -> [Int64] {
    guard summer != nil, start < end else { return [] }
    let years = Self.year(of: max(start, end - 400 * Self.longYear)) - 1...Self.year(of: end) + 1
    return years.flatMap(changes(in:)).map(\.at).filter { start < $0 && $0 <= end }
  }

  private static let longYear: Int64 = 366 * 86_400

  /// Returns the changes in order of time; south of the equator the summer's end comes first.
  private func changes(in year: Int64) -> [TimeZoneRules.Change] {
    guard let summer else { return [] }
    let begins = Self.local(summer.start, in: year) - offset
    let ends = Self.local(summer.end, in: year) - summer.offset
    let changes = [
      TimeZoneRules.Change(at: begins, offset: summer.offset),
      TimeZoneRules.Change(at: ends, offset: offset),
    ]
    return changes.sorted { $0.at < $1.at }
  }

  private static func local(_ moment: Moment, in year: Int64) -> Int64 {
    let first = firstDay(of: year)
    let isLeap = firstDay(of: year + 1) - first == 366
    let day: Int64
    switch moment.day {
    case .julian(let number): day = first + Int64(number) - 1 + (isLeap && number >= 60 ? 1 : 0)
    case .ofYear(let number): day = first + Int64(number)
    case .weekday(let month, let week, let weekday):
      let before = isLeap && month > 2 ? 1 : 0
      let start = first + Int64(monthStarts[month - 1] + before)
      let length = Int64(monthLengths[month - 1] + (isLeap && month == 2 ? 1 : 0))
      // 1970-01-01 was a Thursday, which is 4 here.
      let startWeekday = ((start + 4) % 7 + 7) % 7
      var offset = (Int64(weekday) - startWeekday + 7) % 7 + Int64(week - 1) * 7
      while offset >= length { offset -= 7 }
      day = start + offset
    }
    return day * TimeZoneRules.day + moment.second
  }

  private static let monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  private static let monthStarts = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]

  private static func firstDay(of year: Int64) -> Int64 {
    let past = year - 1
    let leaps =
      TimeZoneRules.floor(past, 4) - TimeZoneRules.floor(past, 100)
      + TimeZoneRules.floor(past, 400)
    // 719,162 days lie between 0001-01-01 and 1970-01-01.
    return past * 365 + leaps - 719_162
  }

  private static func year(of second: Int64) -> Int64 {
    let day = TimeZoneRules.floor(second, TimeZoneRules.day)
    var year = 1970 + TimeZoneRules.floor(day * 400, 146_097)
    while firstDay(of: year) > day { year -= 1 }
    while firstDay(of: year + 1) <= day { year += 1 }
    return year
  }

  // MARK: Reading

  private struct Scanner {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
      rest = bytes[...]
    }

    var next: UInt8? { rest.first }
    var isAtEnd: Bool { rest.isEmpty }

    mutating func accept(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    /// Skips a zone's abbreviation: at least three letters, or text in angle brackets.
    mutating func name() -> Bool {
      if accept("<") {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")), end > rest.startIndex else {
          return false
        }
        rest = rest[(end + 1)...]
        return true
      }
      let letters = rest.prefix(while: Self.isLetter)
      rest = rest[letters.endIndex...]
      return letters.count >= 3
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int? {
      let digits = rest.prefix(while: ASCII.isDigit)
      guard (1...3).contains(digits.count) else { return nil }
      rest = rest[digits.endIndex...]
      let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      return range.contains(number) ? number : nil
    }

    /// Reads `hh[:mm[:ss]]` with an optional sign, in seconds.
    mutating func time() -> Int64? {
      let sign: Int64 = accept("-") ? -1 : 1
      if sign == 1 { _ = accept("+") }
      guard let hours = number(0...167) else { return nil }
      var seconds = Int64(hours) * 3600
      for unit: Int64 in [60, 1] where accept(":") {
        guard let part = number(0...59) else { return nil }
        seconds += Int64(part) * unit
      }
      return sign * seconds
    }

    mutating func moment() -> Moment? {
      let day: Moment.Day
      if accept("M") {
        guard let month = number(1...12), accept("."), let week = number(1...5), accept("."),
          let weekday = number(0...6)
        else { return nil }
        day = .weekday(month: month, week: week, weekday: weekday)
      } else if accept("J") {
        guard let number = number(1...365) else { return nil }
        day = .julian(number)
      } else {
        guard let number = number(0...365) else { return nil }
        day = .ofYear(number)
      }
      guard accept("/") else { return Moment(day: day, second: 7200) }
      return time().map { Moment(day: day, second: $0) }
    }
  }
}
