/// Dates of HTTP in the proleptic Gregorian calendar, in UTC and without locale.
package enum HTTPDate {
  /// Parses the three forms of RFC 9110 §5.6.7; returns nil for anything else.
  package static func parse(_ text: some StringProtocol) -> Instant? {
    if let instant = fixed(text) { return instant }
    let bytes = text.utf8.map(ASCII.lowercased)
    switch bytes.count {
    case 29: return Form.fixed.read(bytes[...])
    case 24: return Form.ofC.read(bytes[...])
    default:
      // The full name of the weekday is the only part of variable length.
      let weekday = bytes.prefix { $0 != UInt8(ascii: ",") }
      guard weekdayNames.contains(where: { $0.utf8.elementsEqual(weekday) }) else { return nil }
      return Form.old.read(bytes.dropFirst(weekday.count))
    }
  }

  /// Date form: capital letters are fields of the date, other characters are literals.
  private enum Form: String {
    case fixed = "WWW, DD NNN YYYY HH:II:SS gmt"
    case old = ", DD-NNN-YY HH:II:SS gmt"
    case ofC = "WWW NNN DD HH:II:SS YYYY"

    func read(_ text: ArraySlice<UInt8>) -> Instant? {
      guard rawValue.utf8.count == text.count else { return nil }
      var parts: [UInt8: [UInt8]] = [:]
      for (mark, byte) in zip(rawValue.utf8, text) {
        if mark >= UInt8(ascii: "A"), mark <= UInt8(ascii: "Z") {
          parts[mark, default: []].append(byte)
        } else if mark != byte {
          return nil
        }
      }
      func number(_ mark: Unicode.Scalar) -> Int? {
        var digits = (parts[UInt8(ascii: mark)] ?? [])[...]
        // C's `asctime` pads a one-digit day with a blank.
        if self == .ofC, mark == "D", digits.first == 0x20 { digits = digits.dropFirst() }
        return HTTPDate.number(String(decoding: digits, as: UTF8.self))
      }
      if let weekday = parts[UInt8(ascii: "W")] {
        guard weekdayNames.contains(where: { $0.utf8.prefix(3).elementsEqual(weekday) }) else {
          return nil
        }
      }
      let name = (parts[UInt8(ascii: "N")] ?? [])
      guard let month = months.firstIndex(where: { $0.lowercased().utf8.elementsEqual(name) }),
        let day = number("D"), let year = number("Y"), let hour = number("H"),
        let minute = number("I"), let second = number("S")
      else { return nil }
      let century = self == .old ? (year < 70 ? 2000 : 1900) : 0
      return CalendarDate(
        year: century + year,
        month: month + 1,
        day: day,
        hour: hour,
        minute: minute,
        second: second
      )?.instant
    }
  }

  private static let weekdayNames = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]

  /// Parses the usual form of a date without copying; nil for other forms.
  private static func fixed(_ text: some StringProtocol) -> Instant? {
    let read = text.utf8.withContiguousStorageIfAvailable { bytes -> Instant? in
      guard bytes.count == 29, unsafe bytes[3] == UInt8(ascii: ","),
        unsafe bytes[19] == UInt8(ascii: ":"), unsafe bytes[22] == UInt8(ascii: ":"),
        unsafe bytes[25] == UInt8(ascii: " "), unsafe bytes[26] == UInt8(ascii: "G"),
        unsafe bytes[27] == UInt8(ascii: "M"), unsafe bytes[28] == UInt8(ascii: "T"),
        unsafe bytes[4] == UInt8(ascii: " "), unsafe bytes[7] == UInt8(ascii: " "),
        unsafe bytes[11] == UInt8(ascii: " "), unsafe bytes[16] == UInt8(ascii: " ")
      else { return nil }
      func digits(_ range: Range<Int>) -> Int? {
        var value = 0
        for index in range {
          let byte = unsafe bytes[index]
          guard ASCII.isDigit(byte) else { return nil }
          value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
      }
      let name = unsafe UInt32(bytes[8]) << 16 | UInt32(bytes[9]) << 8 | UInt32(bytes[10])
      guard let month = monthNames.firstIndex(of: name), let day = digits(5..<7),
        let year = digits(12..<16), let hour = digits(17..<19), let minute = digits(20..<22),
        let second = digits(23..<25)
      else { return nil }
      return CalendarDate(
        year: year,
        month: month + 1,
        day: day,
        hour: hour,
        minute: minute,
        second: second
      )?.instant
    }
    return read ?? nil
  }

  private static let monthNames = months.map { name in
    name.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }

  package static func format(_ instant: Instant) -> String {
    let date = CalendarDate(instant)
    let weekday = weekdays[(date.daysSinceEpoch % 7 + 7) % 7]
    return "\(weekday), \(padded(date.day)) \(months[date.month - 1]) \(padded(date.year, 4)) "
      + "\(padded(date.hour)):\(padded(date.minute)):\(padded(date.second)) GMT"
  }

  private static func number(_ text: some StringProtocol) -> Int? {
    !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit) ? Int(text) : nil
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
}

/// RFC 3339 date-times of configuration, manifests and reports.
package enum Timestamp {
  /// Formats as `2026-11-20T05:00:00.123Z`: UTC with milliseconds.
  package static func format(_ instant: Instant) -> String {
    let date = CalendarDate(instant)
    let milliseconds = Int((instant.milliseconds % 1000 + 1000) % 1000)
    return "\(padded(date.year, 4))-\(padded(date.month))-\(padded(date.day))"
      + "T\(padded(date.hour)):\(padded(date.minute)):\(padded(date.second)).\(padded(milliseconds, 3))Z"
  }

  /// Formats as `2026-11-20 05:00:01 UTC` for sentences, rounded up to a whole second.
  package static func readable(_ instant: Instant) -> String {
    let date = CalendarDate(instant + .milliseconds(999))
    return "\(padded(date.year, 4))-\(padded(date.month))-\(padded(date.day))"
      + " \(padded(date.hour)):\(padded(date.minute)):\(padded(date.second)) UTC"
  }

  /// Parses a time with `Z` or an offset, or a date alone, which means its midnight in UTC.
  package static func parse(_ text: some StringProtocol) -> Instant? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
      let day = number(bytes[8..<10])
    else { return nil }
    guard bytes.count > 10 else {
      return CalendarDate(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)?
        .instant
    }
    guard bytes.count >= 20, "Tt ".utf8.contains(bytes[10]), bytes[13] == UInt8(ascii: ":"),
      bytes[16] == UInt8(ascii: ":"), let hour = number(bytes[11..<13]),
      let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      let base = CalendarDate(
        year: year,
        month: month,
        day: day,
        hour: hour,
        minute: minute,
        second: second
      )?.instant
    else { return nil }
    var rest = bytes[19...]
    var milliseconds = 0
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix(while: ASCII.isDigit)
      guard !digits.isEmpty else { return nil }
      milliseconds = number((Array(digits) + Array("00".utf8))[0..<3]) ?? 0
      rest = rest[digits.endIndex...]
    }
    guard let offset = offsetSeconds(rest) else { return nil }
    return Instant(milliseconds: base.milliseconds + Int64(milliseconds) - Int64(offset) * 1000)
  }

  private static func offsetSeconds(_ zone: ArraySlice<UInt8>) -> Int? {
    if zone.count == 1, zone.first.map({ $0 | 0x20 }) == UInt8(ascii: "z") { return 0 }
    let bytes = Array(zone)
    guard bytes.count == 6, "+-".utf8.contains(bytes[0]), bytes[3] == UInt8(ascii: ":"),
      let hours = number(bytes[1..<3]), let minutes = number(bytes[4..<6]), hours < 24, minutes < 60
    else { return nil }
    return (hours * 60 + minutes) * (bytes[0] == UInt8(ascii: "-") ? -60 : 60)
  }

  private static func number(_ digits: some Collection<UInt8>) -> Int? {
    guard digits.allSatisfy(ASCII.isDigit) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }
}

private struct CalendarDate {
  var year: Int
  var month: Int
  var day: Int
  var hour: Int
  var minute: Int
  var second: Int
  var daysSinceEpoch: Int

  init(_ instant: Instant) {
    let seconds = Int(instant.seconds)
    daysSinceEpoch = seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400)
    let secondOfDay = seconds - daysSinceEpoch * 86_400
    hour = secondOfDay / 3600
    minute = secondOfDay % 3600 / 60
    second = secondOfDay % 60
    // Civil date from a day count: years begin in March, so that leap days come last.
    let shifted = daysSinceEpoch + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let shiftedMonth = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    daysSinceEpoch = era * 146_097 + dayOfEra - 719_468
    (self.year, self.month, self.day) = (year, month, day)
    (self.hour, self.minute, self.second) = (hour, minute, second)
    guard day > 28 else { return }
    // The 31st of a short month would become a day of the next one. The check uses midnight, since
    // a leap second belongs to the next day.
    let check = CalendarDate(Instant(seconds: Int64(daysSinceEpoch) * 86_400))
    guard check.month == month, check.day == day else { return nil }
  }

  var instant: Instant {
    Instant(seconds: Int64(daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second))
  }
}

private func padded(_ number: Int, _ width: Int = 2) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
