/// Part of the week for transfers, by the local clock; past midnight it belongs to its first day.
package struct ClockWindow: Hashable, Sendable {
  package enum Day: Int, Hashable, Sendable, CaseIterable {
    case monday
    case tuesday
    case wednesday
    case thursday
    case friday
    case saturday
    case sunday

    var abbreviation: String {
      switch self {
      case .monday: "mon"
      case .tuesday: "tue"
      case .wednesday: "wed"
      case .thursday: "thu"
      case .friday: "fri"
      case .saturday: "sat"
      case .sunday: "sun"
      }
    }
  }

  package struct Malformed: Error, Hashable, Sendable {
    package var message: String
    package var hint: String?
  }

  /// Days in the order of the week; never empty.
  package var days: [Day]
  /// Minutes from midnight, 0…1439.
  package var start: Int
  /// Minutes from the midnight that begins the window's day; beyond 1440 on the day after.
  package var end: Int
}

extension ClockWindow {
  /// Parses `22:00-06:00`, `sat,sun 00:00-24:00`, `mon-fri 09:00-17:30`.
  package init(_ text: String) throws(Malformed) {
    let parts = text.split(separator: " ")
    guard let times = parts.last, parts.count <= 2 else { throw Self.malformed(text) }
    let bounds = times.split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { throw Self.malformed(text) }
    guard let start = try Self.minutes(bounds[0]), let end = try Self.minutes(bounds[1]),
      let days = parts.count == 2 ? try Self.days(parts[0]) : Day.allCases
    else { throw Self.malformed(text) }
    (self.start, self.end, self.days) = (start, end, days)
    guard start < 1440 else {
      throw Malformed(message: "a window cannot begin at `24:00`", hint: "write `00:00`")
    }
    guard start != end else {
      throw Malformed(
        message: "the window `\(text)` is empty",
        hint: "the whole day is `00:00-24:00`"
      )
    }
    if end < start { self.end += 1440 }
  }

  static func days(_ list: Substring) throws(Malformed) -> [Day]? {
    var days: Set<Day> = []
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      guard let first = ends.first, let last = ends.last, ends.count <= 2 else { return nil }
      let start = try day(first)
      let end = try day(last)
      let length = (end.rawValue - start.rawValue + 7) % 7
      for offset in 0...length {
        days.formUnion(Day.allCases.filter { $0.rawValue == (start.rawValue + offset) % 7 })
      }
    }
    return days.sorted { $0.rawValue < $1.rawValue }
  }

  private static func day(_ name: Substring) throws(Malformed) -> Day {
    guard let day = Day.allCases.first(where: { $0.abbreviation == name.lowercased() }) else {
      throw Malformed(
        message: "`\(name)` is not a day of the week",
        hint: "days are `mon` to `sun`"
      )
    }
    return day
  }

  static func minutes(_ time: Substring) throws(Malformed) -> Int? {
    let parts = time.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2,
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(ASCII.isDigit) }),
      let hour = UInt8(parts[0]),
      let minute = UInt8(parts[1])
    else { return nil }
    guard hour < 24 && minute < 60 || hour == 24 && minute == 0 else {
      throw Malformed(message: "`\(time)` is not a time of day")
    }
    return Int(hour) * 60 + Int(minute)
  }

  private static func malformed(_ text: String) -> Malformed {
    Malformed(
      message: "`\(text)` is not a window",
      hint: "write `22:00-06:00` or `sat,sun 00:00-24:00`"
    )
  }
}

extension ClockWindow: CustomStringConvertible {
  package var description: String {
    let endOfDay = end > 1440 ? end - 1440 : end
    let times = "\(Self.clock(start))-\(Self.clock(endOfDay))"
    guard days.count < Day.allCases.count else { return times }
    return "\(days.map(\.abbreviation).joined(separator: ",")) \(times)"
  }

  static func clock(_ minutes: Int) -> String {
    let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }
}
