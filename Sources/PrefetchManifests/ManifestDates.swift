internal import PrefetchCore

/// Dates of sitemaps: W3C's profile of ISO 8601, from a year alone to fractions of a second.
enum WebDate {
  static func parse(_ text: String) -> Instant? {
    switch text.utf8.count {
    case 4: Timestamp.parse(text + "-01-01")
    case 7: Timestamp.parse(text + "-01")
    case 10: Timestamp.parse(text)
    default: Timestamp.parse(text) ?? withoutSeconds(text)
    }
  }

  /// Parses `2026-11-19T05:00Z`.
  private static func withoutSeconds(_ text: String) -> Instant? {
    guard text.utf8.count >= 17 else { return nil }
    let index = text.utf8.index(text.utf8.startIndex, offsetBy: 16)
    guard !ASCII.isDigit(text.utf8[index]), text.utf8[index] != UInt8(ascii: ":") else {
      return nil
    }
    return Timestamp.parse(text[..<index] + ":00" + text[index...])
  }
}

/// Dates of mail and RSS (RFC 5322), including obsolete zone names.
enum MailDate {
  static func parse(_ text: String) -> Instant? {
    var words = text.split(whereSeparator: { " ,\t\n\r-".contains($0) }).map(String.init)
    // Splitting at `-` has removed the sign of a western zone.
    let isWest = text.contains(" -")
    if let first = words.first?.utf8.first, !ASCII.isDigit(first) { words.removeFirst() }
    guard words.count >= 4, words.count <= 5 else { return nil }
    let time = words[3].split(separator: ":", omittingEmptySubsequences: false)
    guard let day = padded(words[0]), let year = year(words[2]), time.count == 2 || time.count == 3,
      let hour = padded(String(time[0])),
      let offset = zone(words.dropFirst(4).first, isWest: isWest)
    else { return nil }
    let seconds = time.count == 3 ? String(time[2]) : "00"
    let date = "Sun, \(day) \(words[1].capitalized) \(year) \(hour):\(time[1]):\(seconds) GMT"
    return HTTPDate.parse(date).map { $0 + .seconds(-60 * offset) }
  }

  private static func padded(_ text: String) -> String? {
    text.utf8.count <= 2 ? String(repeating: "0", count: 2 - text.utf8.count) + text : nil
  }

  private static func year(_ text: String) -> String? {
    switch text.utf8.count {
    case 4: text
    case 2: Int(text).map { ($0 < 50 ? "20" : "19") + text }
    default: nil
    }
  }

  private static func zone(_ text: String?, isWest: Bool) -> Int? {
    guard let text else { return 0 }
    let hours = [
      "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
      "PDT": -7,
    ]
    if let hours = hours[text] { return hours * 60 }
    let digits = text.drop { $0 == "+" }
    guard digits.utf8.allSatisfy(ASCII.isDigit) else {
      return ["GMT", "UT", "UTC", "Z"].contains(text) ? 0 : nil
    }
    guard digits.utf8.count == 4, let hour = Int(digits.prefix(2)),
      let minute = Int(digits.dropFirst(2)),
      hour < 24, minute < 60
    else { return nil }
    return (hour * 60 + minute) * (isWest ? -1 : 1)
  }
}

extension String {
  fileprivate var capitalized: String {
    prefix(1).uppercased() + dropFirst().lowercased()
  }
}
