/// Bytes a second at every moment: one rate, or a timetable with the clock that it is read from.
package struct RateSchedule: Hashable, Sendable {
  private struct Turn: Hashable, Sendable {
    /// Of the local week, which begins on Monday.
    var minute: Int
    var rate: Int64?
  }

  /// In order; the last one before a moment holds, that of the week before where there is none.
  private let turns: [Turn]
  private let zone: TimeZoneRules

  private static let minutesADay = 1440

  /// Whether it never changes.
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

  /// Nil where it never limits anything.
  package init?(_ timetable: RateTimetable, zone: TimeZoneRules) {
    let turns = timetable.entries.flatMap { entry in
      entry.days.map {
        Turn(minute: $0.rawValue * Self.minutesADay + entry.minute, rate: entry.rate)
      }
    }
    guard turns.contains(where: { $0.rate != nil }) else { return nil }
    self.init(turns: turns.sorted { $0.minute < $1.minute }, zone: zone)
  }

  /// Nil is without limit.
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
