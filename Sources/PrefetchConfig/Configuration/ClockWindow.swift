import PrefetchCore
import PrefetchDocuments

/// A part of the week in which transfers may run.
///
/// One that goes past midnight belongs to the day it begins on.
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

  /// In the order of the week, never empty.
  package var days: [Day]
  /// Minutes from midnight, 0…1439.
  package var start: Int
  /// Minutes from the midnight that begins the window's day; beyond 1440 on the day after.
  package var end: Int
}

extension ClockWindow {
  /// `22:00-06:00`, `sat,sun 00:00-24:00`, `mon-fri 09:00-17:30`.
  init(_ text: String) throws(ValueComplaint) {
    let parts = text.split(separator: " ")
    guard let times = parts.last, parts.count <= 2 else { throw Self.malformed(text) }
    let bounds = times.split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { throw Self.malformed(text) }
    start = try Self.minutes(bounds[0], in: text)
    end = try Self.minutes(bounds[1], in: text)
    guard start < 1440 else {
      throw ValueComplaint("a window cannot begin at `24:00`", hint: "write `00:00`")
    }
    guard start != end else {
      throw ValueComplaint("the window `\(text)` is empty", hint: "the whole day is `00:00-24:00`")
    }
    if end < start { end += 1440 }
    days = parts.count == 2 ? try Self.days(parts[0], in: text) : Day.allCases
  }

  private static func days(_ list: Substring, in text: String) throws(ValueComplaint) -> [Day] {
    var days: Set<Day> = []
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      guard let first = ends.first, let last = ends.last, ends.count <= 2 else {
        throw malformed(text)
      }
      let start = try day(first)
      let end = try day(last)
      let length = (end.rawValue - start.rawValue + 7) % 7
      for offset in 0...length {
        days.formUnion(Day.allCases.filter { $0.rawValue == (start.rawValue + offset) % 7 })
      }
    }
    return days.sorted { $0.rawValue < $1.rawValue }
  }

  private static func day(_ name: Substring) throws(ValueComplaint) -> Day {
    guard let day = Day.allCases.first(where: { $0.abbreviation == name.lowercased() }) else {
      throw ValueComplaint(
        "`\(name)` is no day of the week",
        hint: "days are `mon` to `sun`",
        code: "config.bad-clock"
      )
    }
    return day
  }

  private static func minutes(_ time: Substring, in text: String) throws(ValueComplaint) -> Int {
    let parts = time.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = UInt8(parts[0]),
      let minute = UInt8(parts[1])
    else { throw malformed(text) }
    guard hour < 24 && minute < 60 || hour == 24 && minute == 0 else {
      throw ValueComplaint("`\(time)` is no time of day", code: "config.bad-clock")
    }
    return Int(hour) * 60 + Int(minute)
  }

  private static func malformed(_ text: String) -> ValueComplaint {
    ValueComplaint(
      "`\(text)` is no window",
      hint: "write `22:00-06:00` or `sat,sun 00:00-24:00`",
      code: "config.bad-clock"
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

  private static func clock(_ minutes: Int) -> String {
    let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }
}

extension ValueType where Value == ClockWindow {
  static var window: Self {
    scalar("a window such as `22:00-06:00`", summary: "window", code: "config.bad-clock") {
      text throws(ValueComplaint) in
      try ClockWindow(text)
    } encode: {
      .string($0.description)
    }
  }
}

extension ValueType where Value == String {
  /// The name of a time zone; whether the machine knows it is seen later.
  static var timeZone: Self {
    scalar("a time zone such as `Europe/Berlin`", summary: "time zone", code: "config.bad-clock") {
      text throws(ValueComplaint) in
      if text == "local" || text == "UTC" { return text }
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      let isName =
        (1...3).contains(parts.count)
        && parts.allSatisfy { part in
          part.first?.isLetter == true
            && part.unicodeScalars.allSatisfy {
              $0.isASCII
                && ($0.properties.isAlphabetic || "0123456789_+-".unicodeScalars.contains($0))
            }
        }
      guard isName else {
        throw ValueComplaint(
          "`\(text)` is no time zone",
          hint: "write `local`, `UTC` or `Area/City`"
        )
      }
      return text
    } encode: {
      .string($0)
    }
  }
}
