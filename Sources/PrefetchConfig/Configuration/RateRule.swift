package import PrefetchCore
import PrefetchDocuments

/// How fast everything together may come: always the same, or by the time of the week.
package enum RateRule: Hashable, Sendable {
  case unlimited
  case steady(Int64)
  case timetable(RateTimetable)
}

extension ValueType where Value == RateRule {
  static var rateRule: Self {
    let steady = ValueType<RateLimit>.rateLimit
    return scalar(
      "a rate, `unlimited` or a timetable such as `08:00 2MB/s, 18:00 unlimited`",
      summary: "rate|unlimited|timetable",
      schema: .quantity
    ) { text throws(ValueComplaint) in
      guard text.contains(":") || text.contains(",") else {
        return try RateRule(Units.rateLimit(text))
      }
      let lines: [RateTimetable.Line]
      do throws(ClockWindow.Malformed) {
        lines = try RateTimetable.lines(text)
      } catch {
        throw ValueComplaint(error.message, hint: error.hint, code: "config.bad-clock")
      }
      var entries: [RateTimetable.Entry] = []
      for line in lines {
        var entry = line.entry
        entry.rate = try Units.rateLimit(line.rate).amount
        entries.append(entry)
      }
      return .timetable(RateTimetable(entries))
    } encode: {
      switch $0 {
      case .unlimited: steady.encode(.unlimited)
      case .steady(let rate): steady.encode(.of(rate))
      case .timetable(let timetable): .string(timetable.description)
      }
    }
  }
}

extension RateRule {
  init(_ limit: RateLimit) {
    self = limit.amount.map { .steady($0) } ?? .unlimited
  }
}
