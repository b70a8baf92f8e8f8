/// Minutes of a local week in which windows are open, for a caller with many moments.
struct OpenMinutes {
  private static let day = 1440
  private static let week = 7 * day

  private let zone: TimeZoneRules
  private let isOpen: [Bool]

  init(_ hours: OpeningHours) {
    zone = hours.zone
    // Differences in the number of open windows from minute to minute.
    var changes = [Int](repeating: 0, count: Self.week + 1)
    for window in hours.windows where window.start < window.end {
      for day in window.days {
        let midnight = day.rawValue * Self.day
        let (start, end) = (midnight + window.start, midnight + window.end)
        changes[start] += 1
        changes[min(end, Self.week)] -= 1
        guard end > Self.week else { continue }
        changes[0] += 1
        changes[end - Self.week] -= 1
      }
    }
    var open = 0
    isOpen = changes.dropLast().map { change in
      open += change
      return open > 0
    }
  }

  func isOpen(at second: Int64) -> Bool {
    let local = zone.local(at: second)
    let day = TimeZoneRules.floor(local, TimeZoneRules.day)
    let minute = Int((local - day * TimeZoneRules.day) / 60)
    return isOpen[ClockWindow.weekday(of: day) * Self.day + minute]
  }
}
