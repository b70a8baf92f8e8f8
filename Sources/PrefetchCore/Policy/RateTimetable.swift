/// Rates by time of the week; each holds until the next begins, the last into the next week.
package struct RateTimetable: Hashable, Sendable {
  package struct Change: Hashable, Sendable {
    /// Days in the order of the week; never empty.
    package var days: [ClockWindow.Day]
    /// Minutes from midnight, 0…1439.
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
    for piece in pieces(text) {
      let line = try line(piece)
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

  private static func line(_ piece: String) throws(ClockWindow.Malformed) -> WrittenChange {
    let words = piece.split(separator: " ")
    guard let place = words.firstIndex(where: { $0.contains(":") }), place < words.count - 1,
      place <= 1, let minute = try ClockWindow.minutes(words[place]),
      let days = place == 1 ? try ClockWindow.days(words[0]) : ClockWindow.Day.allCases
    else {
      throw ClockWindow.Malformed(
        message: "`\(piece)` is not a time and rate",
        hint: "write `08:00 2MB/s, 18:00 unlimited` or `mon-fri 08:00 2MB/s, 18:00 unlimited`"
      )
    }
    guard minute < 1440 else {
      throw ClockWindow.Malformed(message: "a rate cannot begin at `24:00`", hint: "write `00:00`")
    }
    return WrittenChange(
      entry: Change(days: days, minute: minute, rate: nil),
      rate: words[(place + 1)...].joined(separator: " ")
    )
  }

  /// Splits a text into entries; commas also separate the days within an entry.
  private static func pieces(_ text: String) -> [String] {
    var pieces: [String] = []
    var days = ""
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let piece = part.split(separator: " ").joined(separator: " ")
      let isOnlyDays = !piece.isEmpty && !piece.contains(" ") && !piece.contains(":")
      if isOnlyDays {
        days += piece + ","
      } else {
        pieces.append(days + piece)
        days = ""
      }
    }
    return days.isEmpty ? pieces : pieces + [days]
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
