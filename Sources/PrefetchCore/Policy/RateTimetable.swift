/// Rates by time of the week; each holds until the next begins, the last into the next week.
package struct RateTimetable: Hashable, Sendable {
  package struct Change: Hashable, Sendable {
    package var days: [ClockWindow.Day]
    package var minute: Int
    /// Bytes a second; nil for no limit.
    package var rate: Int64?
  }

  package var entries: [Change]

  package init(_ entries: [Change]) {
    self.entries = entries
  }
}

extension RateTimetable {
  package struct WrittenChange: Hashable, Sendable {
    package var entry: Change
    package var rate: String
  }

  /// Parses `08:00 2MB/s, 18:00 unlimited`, `mon-fri 08:00 1MB/s, sat,sun 00:00 10MB/s`.
  package static func lines(_ text: String) throws(ClockWindow.Malformed) -> [WrittenChange] {
    var lines: [WrittenChange] = []
    var seen: Set<[Int]> = []
    for entry in entries(text) {
      let line = try line(entry)
      for day in line.entry.days
      where !seen.insert([day.rawValue, line.entry.minute]).inserted {
        throw ClockWindow.Malformed(
          message:
            "two rates begin on \(day.abbreviation) at \(ClockWindow.clock(line.entry.minute))",
          hint: "give each time one rate"
        )
      }
      lines.append(line)
    }
    return lines
  }

  private static func line(_ entry: String) throws(ClockWindow.Malformed) -> WrittenChange {
    let words = entry.split(separator: " ")
    guard let index = words.firstIndex(where: { $0.contains(":") }), index < words.count - 1,
      index <= 1, let minute = try ClockWindow.minutes(words[index]),
      let days = index == 1 ? try ClockWindow.days(words[0]) : ClockWindow.Day.allCases
    else {
      throw ClockWindow.Malformed(
        message: "`\(entry)` is not a time and rate",
        hint: "write `08:00 2MB/s, 18:00 unlimited` or `mon-fri 08:00 2MB/s, 18:00 unlimited`"
      )
    }
    guard minute < 1440 else {
      throw ClockWindow.Malformed(message: "a rate cannot begin at `24:00`", hint: "write `00:00`")
    }
    return WrittenChange(
      entry: Change(days: days, minute: minute, rate: nil),
      rate: words[(index + 1)...].joined(separator: " ")
    )
  }

  /// Splits a text into entries; commas also separate the days within an entry.
  private static func entries(_ text: String) -> [String] {
    var entries: [String] = []
    var days = ""
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let entry = part.split(separator: " ").joined(separator: " ")
      let isOnlyDays = !entry.isEmpty && !entry.contains(" ") && !entry.contains(":")
      if isOnlyDays {
        days += entry + ","
      } else {
        entries.append(days + entry)
        days = ""
      }
    }
    return days.isEmpty ? entries : entries + [days]
  }
}

extension RateTimetable: CustomStringConvertible {
  package var description: String {
    entries.map { entry in
      let days =
        entry.days.count < ClockWindow.Day.allCases.count
        ? entry.days.map(\.abbreviation).joined(separator: ",") + " " : ""
      return
        "\(days)\(ClockWindow.clock(entry.minute)) \(entry.rate.map { "\($0)" } ?? "unlimited")"
    }
    .joined(separator: ", ")
  }
}
