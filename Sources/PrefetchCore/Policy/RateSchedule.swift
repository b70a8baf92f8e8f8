/// Rate at any moment: a constant, or a timetable with the clock that it is read by.
package struct RateSchedule: Hashable, Sendable {
  private struct Change: Hashable, Sendable {
    /// Minute of the local week, which begins on Monday.
    var minute: Int
    var rate: Int64?
  }

  /// Changes in order; before the first one, the last one of the week before holds.
  private let changes: [Change]
  private let zone: TimeZoneRules

  private static let minutesADay = 1440

  package var isSteady: Bool {
    changes.count == 1
  }

  private init(changes: [Change], zone: TimeZoneRules) {
    self.changes = changes
    self.zone = zone
  }

  package static func steady(_ rate: Int64) -> Self {
    Self(changes: [Change(minute: 0, rate: rate)], zone: .utc)
  }

  /// Creates a schedule; nil if it never limits anything.
  package init?(_ timetable: RateTimetable, zone: TimeZoneRules) {
    let changes = timetable.entries.flatMap { entry in
      entry.days.map {
        Change(minute: $0.rawValue * Self.minutesADay + entry.minute, rate: entry.rate)
      }
    }
    guard changes.contains(where: { $0.rate != nil }) else { return nil }
    self.init(changes: changes.sorted { $0.minute < $1.minute }, zone: zone)
  }

  package func rate(at now: Instant) -> Int64? {
    guard !isSteady else { return changes.first?.rate }
    let local = zone.local(at: now.seconds)
    let day = TimeZoneRules.floor(local, TimeZoneRules.day)
    let minute =
      ClockWindow.weekday(of: day) * Self.minutesADay
      + Int((local - day * TimeZoneRules.day) / 60)
    let change = changes.last { $0.minute <= minute } ?? changes.last
    return change?.rate
  }
}
