package import PrefetchCore
import PrefetchDocuments

extension ValueType where Value == Instant {
  /// A day, meaning its first moment in UTC, or an RFC 3339 time.
  static var date: Self {
    let schema: [(String, JSONValue)] = [("type", .string("string"))]
    return scalar(
      "a date such as `2027-06-30`",
      summary: "date",
      schema: schema,
      code: "config.bad-date"
    ) {
      text throws(ValueComplaint) in
      guard let instant = Timestamp.parse(text) else {
        throw ValueComplaint(
          "`\(text)` is no date",
          hint: "write `2027-06-30` or `2027-06-30T12:00:00Z`"
        )
      }
      return instant
    } encode: {
      .string(Timestamp.format($0))
    }
  }
}

/// Times as RFC 3339 writes them.
package enum Timestamp {
  static func parse(_ text: String) -> Instant? {
    var reader = Digits(text)
    guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2),
      reader.skip("-"),
      let day = reader.number(2), (1...12).contains(month),
      (1...days(in: month, of: year)).contains(day)
    else { return nil }
    let midnight = Int64(dayNumber(year, month, day)) * 86_400_000
    if reader.isAtEnd { return Instant(milliseconds: midnight) }
    guard reader.skip("T") || reader.skip("t") || reader.skip(" "), let hour = reader.number(2),
      hour < 24,
      reader.skip(":"), let minute = reader.number(2), minute < 60, reader.skip(":"),
      let second = reader.number(2), second <= 60
    else { return nil }
    guard let milliseconds = reader.fraction(), let offset = reader.offset(), reader.isAtEnd else {
      return nil
    }
    let time = (hour * 60 + minute - offset) * 60_000 + second * 1000 + milliseconds
    return Instant(milliseconds: midnight + Int64(time))
  }

  /// In UTC, with milliseconds.
  package static func format(_ instant: Instant) -> String {
    let milliseconds = Int(instant.milliseconds - instant.seconds * 1000)
    var dayCount = Int(instant.seconds) / 86_400
    var second = Int(instant.seconds) % 86_400
    if second < 0 {
      second += 86_400
      dayCount -= 1
    }
    let (year, month, day) = civil(dayCount)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    let time =
      "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    return "\(date)T\(time).\(padded(milliseconds, 3))Z"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func days(in month: Int, of year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return switch month {
    case 2: isLeap ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970-01-01 in the Gregorian calendar, years begun in March so that leap days come last.
  private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let marchYear = month <= 2 ? year - 1 : year
    let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }

  private struct Digits {
    private var rest: Substring

    init(_ text: String) {
      rest = text[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(_ count: Int) -> Int? {
      let digits = rest.prefix(count)
      guard digits.utf8.count == count, digits.utf8.allSatisfy(ASCII.isDigit) else { return nil }
      rest = rest.dropFirst(count)
      return Int(digits)
    }

    mutating func skip(_ character: Character) -> Bool {
      guard rest.first == character else { return false }
      rest = rest.dropFirst()
      return true
    }

    /// Milliseconds of `.25`; zero without a point.
    mutating func fraction() -> Int? {
      guard skip(".") else { return 0 }
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      guard !digits.isEmpty else { return nil }
      rest = rest.dropFirst(digits.count)
      return Int((digits + "00").prefix(3))
    }

    /// Minutes east of Greenwich.
    mutating func offset() -> Int? {
      if skip("Z") || skip("z") { return 0 }
      let sign = rest.first == "-" ? -1 : 1
      guard skip("+") || skip("-"), let hours = number(2), hours < 24, skip(":"),
        let minutes = number(2),
        minutes < 60
      else { return nil }
      return sign * (hours * 60 + minutes)
    }
  }
}
