/// Windows with the clock that they are read by; open while any window is.
package struct OpeningHours: Hashable, Sendable {
  package var windows: [ClockWindow]
  package var zone: TimeZoneRules

  package init(windows: [ClockWindow], zone: TimeZoneRules) {
    self.windows = windows
    self.zone = zone
  }

  package func isOpen(at second: Int64) -> Bool {
    let local = zone.local(at: second)
    let day = TimeZoneRules.floor(local, TimeZoneRules.day)
    let time = local - day * TimeZoneRules.day
    return windows.contains { window in
      let start = Int64(window.start) * 60
      let end = Int64(window.end) * 60
      let isOfToday = window.holds(day) && start <= time && time < end
      return isOfToday || window.holds(day - 1) && time < end - TimeZoneRules.day
    }
  }

  /// Returns, unordered, the moments at which hours may open or close, clock changes included.
  fileprivate func changes(after second: Int64) -> [Int64] {
    let today = zone.day(at: second)
    var changes = zone.changes(after: second, upTo: second + Self.horizon * TimeZoneRules.day)
    for window in windows {
      for day in today - 1...today + Self.horizon where window.holds(day) {
        for minute in [window.start, window.end] {
          changes += zone.seconds(ofLocal: day * TimeZoneRules.day + Int64(minute) * 60)
        }
      }
    }
    return changes.filter { second < $0 }
  }

  /// Days to look ahead: a weekly window in a skipped hour opens a week later.
  private static let horizon: Int64 = 16
}

extension [OpeningHours] {
  package func areOpen(at now: Instant) -> Bool {
    allSatisfy { $0.isOpen(at: now.seconds) }
  }

  /// Returns the next moment at which all are open, perhaps now; nil for never.
  package func nextOpening(from now: Instant) -> Instant? {
    areOpen(at: now) ? now : nextChange(after: now, to: true)
  }

  /// Returns the next moment at which one closes; nil if they are closed or never close.
  package func nextClosing(after now: Instant) -> Instant? {
    areOpen(at: now) ? nextChange(after: now, to: false) : nil
  }

  private func nextChange(after now: Instant, to isOpen: Bool) -> Instant? {
    let changes = Set(flatMap { $0.changes(after: now.seconds) }).sorted()
    // A table per clock, since there may be hundreds of windows with dozens of turns each.
    let minutes = map(OpenMinutes.init)
    let change = changes.first { change in minutes.allSatisfy { $0.isOpen(at: change) } == isOpen }
    return change.map { Instant(seconds: $0) }
  }
}

extension ClockWindow {
  fileprivate func holds(_ day: Int64) -> Bool {
    let weekday = Self.weekday(of: day)
    return days.contains { $0.rawValue == weekday }
  }

  /// Returns the weekday from 0 for Monday; days count from 1970-01-01, a Thursday.
  static func weekday(of day: Int64) -> Int {
    Int(((day + 3) % 7 + 7) % 7)
  }
}
