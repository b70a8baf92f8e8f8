/// Dates of property lists: seconds since 2001-01-01T00:00:00Z.
enum PlistDate {
  /// Returns RFC 3339 text, with nonzero milliseconds only; nil outside the years 1 to 9999.
  static func text(secondsSince2001 seconds: Double) -> String? {
    guard seconds.isFinite, seconds.magnitude < 400_000_000_000 else { return nil }
    let milliseconds = Int64(seconds * 1000 + (seconds < 0 ? -0.5 : 0.5))
    let dayLength: Int64 = 86_400_000
    let day = (milliseconds - milliseconds.flooredRemainder(by: dayLength)) / dayLength
    let rest = Int(milliseconds.flooredRemainder(by: dayLength))
    guard let (year, month, dayOfMonth) = civil(daysSince2001: Int(day)) else { return nil }
    let (second, fraction) = (rest / 1000, rest % 1000)
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(dayOfMonth, 2)
      + "T" + padded(second / 3600, 2) + ":" + padded(second / 60 % 60, 2)
      + ":" + padded(second % 60, 2) + (fraction == 0 ? "" : "." + padded(fraction, 3)) + "Z"
  }

  static func daysInMonth(_ month: Int, ofYear year: Int) -> Int? {
    guard (1...12).contains(month) else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 && isLeap ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// 2001 begins a 400-year cycle, so that leap days come at the end of each subdivision.
  private static func civil(daysSince2001: Int) -> (year: Int, month: Int, day: Int)? {
    var day = daysSince2001.flooredRemainder(by: 146_097)
    var year = 2001 + (daysSince2001 - day) / 146_097 * 400
    let century = min(day / 36_524, 3)
    day -= century * 36_524
    let fourYears = day / 1461
    day -= fourYears * 1461
    let single = min(day / 365, 3)
    day -= single * 365
    year += century * 100 + fourYears * 4 + single
    guard (1...9999).contains(year) else { return nil }
    for month in 1...12 {
      guard let length = daysInMonth(month, ofYear: year) else { return nil }
      if day < length { return (year, month, day + 1) }
      day -= length
    }
    return nil
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

extension BinaryInteger {
  fileprivate func flooredRemainder(by divisor: Self) -> Self {
    let remainder = self % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }
}
