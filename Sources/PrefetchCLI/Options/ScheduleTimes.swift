import PrefetchCore

/// Checks the times of a schedule, as far as possible without the scheduler.
enum ScheduleTimes {
  /// Returns what is wrong with five fields of cron; nil if nothing is.
  static func objection(toCron text: String) -> String? {
    if text.hasPrefix("@") {
      return nicknames.contains(text) ? nil : "`\(text)` is none of \(Wording.list(nicknames))"
    }
    if nicknames.contains("@\(text)") { return "cron writes `@\(text)`" }
    let fields = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard fields.count == cronFields.count else {
      return "cron takes five fields (minute, hour, day, month, weekday), not \(fields.count)"
    }
    for (field, rule) in zip(fields, cronFields) {
      let parts = field.split(separator: ",", omittingEmptySubsequences: false)
      guard parts.allSatisfy({ isCronRange($0, rule) }) else {
        return "`\(field)` is not a \(rule.name) of cron"
      }
    }
    return nil
  }

  private struct CronField {
    var name: String
    var range: ClosedRange<Int>
    var words: [String] = []
  }

  private static let nicknames = [
    "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@reboot",
  ]
  private static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
  private static let cronFields = [
    CronField(name: "minute", range: 0...59), CronField(name: "hour", range: 0...23),
    CronField(name: "day", range: 1...31),
    CronField(
      name: "month",
      range: 1...12,
      words: [
        "", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
      ]
    ),
    CronField(name: "weekday", range: 0...7, words: weekdays),
  ]

  /// Whether a field is `*`, a value or `A-B`, with an optional step.
  private static func isCronRange(_ text: Substring, _ rule: CronField) -> Bool {
    let halves = text.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count <= 2, halves.count == 1 || (Int(halves[1]) ?? 0) > 0 else { return false }
    if halves[0] == "*" { return true }
    let ends = halves[0].split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "~" }.map {
      end in
      Int(end) ?? rule.words.firstIndex(of: end.lowercased())
    }
    let values = ends.compactMap(\.self)
    guard values.count == ends.count, (1...2).contains(values.count),
      values.allSatisfy(rule.range.contains)
    else { return false }
    return values.count == 1 || values[0] <= values[1]
  }

  static func objection(toCalendar text: String) -> String? {
    let words = text.split(separator: " ")
    let isKnown = words.allSatisfy { word in
      let small = word.lowercased()
      return calendarWords.contains(small) || isWeekdays(small) || isDateOrTime(word)
        || small == "utc" || word == words.last && word.first?.isUppercase == true
        || word.hasPrefix("@") && Int(word.dropFirst()) != nil
    }
    guard !words.isEmpty, isKnown else {
      return "`\(text)` is not a time of systemd, such as `daily` or `Mon *-*-* 03:00`"
    }
    return nil
  }

  private static let calendarWords = [
    "minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "semiannually", "yearly",
    "annually", "biannually", "bi-annually", "semi-annually",
  ]

  private static func isWeekdays(_ word: String) -> Bool {
    let days = word.replacing("..", with: ",").replacing("-", with: ",").split(separator: ",")
    return !days.isEmpty
      && days.allSatisfy { day in
        day.utf8.count >= 3 && weekdays.contains(String(day.prefix(3)))
          && day.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
      }
  }

  private static func isDateOrTime(_ word: Substring) -> Bool {
    (word.contains(":") || word.contains("-"))
      && word.utf8.allSatisfy { ASCII.isDigit($0) || "*-:/.,~".utf8.contains($0) }
      && (!word.contains(":") || isTime(word))
  }

  private static func isTime(_ word: Substring) -> Bool {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    return (2...3).contains(parts.count)
      && zip(parts, [23, 59, 59]).allSatisfy { part, most in
        part.split { !ASCII.isDigit($0.utf8.first ?? 0) }.allSatisfy { Int($0) ?? 60 <= most }
      }
  }
}
