/// Rate at any moment: a constant, or a timetable with the clock that it is read by.
package struct RateSchedule: Hashable, Sendable {
  private struct Turn: Hashable, Sendable {
    /// Minute of the local week, which begins on Monday.
    var minute: Int
    var rate: Int64?
  }

  /// Turns in order; before the first one, the last one of the week before holds.
  private let turns: [Turn]
  private let zone: TimeZoneRules

  private static let minutesADay = 1440

  package var isSteady: Bool {
    turns.count == 1
  }

  private init(turns: [Turn], zone: TimeZoneRules) {
    self.turns = turns
    self.zone = zone
  }

  package static func steady(_ rate: Int64) -> Self {
    Self(turns: [Turn(minute: 0, rate: rate)], zone: .utc)
  }

  /// Creates a schedule; nil if it never limits anything.
  package init?(_ timetable: RateTimetable, zone: TimeZoneRules) {
    let turns = timetable.entries.flatMap { entry in
      entry.days.map {
        Turn(minute: $0.rawValue * Self.minutesADay + entry.minute, rate: entry.rate)
      }
    }
    guard turns.contains(where: { $0.rate != nil }) else { return nil }
    self.init(turns: turns.sorted { $0.minute < $1.minute }, zone: zone)
  }

  package func rate(at now: Instant) -> Int64? {
    guard !isSteady else { return turns.first?.rate }
    let local = zone.local(at: now.seconds)
    let day = TimeZoneRules.floor(local, TimeZoneRules.day)
    let minute =
      ClockWindow.weekday(of: day) * Self.minutesADay
      + Int((local - day * TimeZoneRules.day) / 60)
    let turn = turns.last { $0.minute <= minute } ?? turns.last
    return turn?.rate
  }
}
