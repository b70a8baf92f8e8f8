internal import PrefetchCore

extension StateStore {
  /// Copies readable queued events, with their numbers, from a damaged state; returns their count.
  ///
  /// A damaged page ends a scan: a second one starts at the other end, and lookups fill the gap.
  static func rescueEvents(from old: Database, to new: Database) throws(Failure) -> Int {
    let first = rows("ORDER BY event", in: old)
    var events = first.events
    if !first.isComplete {
      let last = rows("ORDER BY event DESC", in: old).events.reversed()
      let start = events.last?.number ?? 0
      events += between(start, last.first?.number ?? start + mostLookups, in: old)
      events += last.filter { $0.number > events.last?.number ?? 0 }
    }
    guard !events.isEmpty else { return 0 }
    return try new.transaction { () throws(Failure) in
      let insertion = new.prepare(
        """
        INSERT OR IGNORE INTO analytics_events (event, identity, id, kind, name, at, details) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """
      )
      for found in events {
        let event = found.event
        try insertion.run(
          found.number,
          found.identity,
          event.id,
          event.kind.rawValue,
          event.name,
          event.at,
          event.details
        )
      }
      return events.count
    }
  }

  private struct FoundEvent {
    var number: Int64
    var identity: String
    var event: AnalyticsEvent
  }

  private static let mostLookups: Int64 = 100_000

  /// Returns the events up to the first fault, and whether there was none.
  private static func rows(
    _ order: String,
    in old: Database
  ) -> (events: [FoundEvent], isComplete: Bool) {
    var events: [FoundEvent] = []
    do throws(Failure) {
      let statement = old.prepare("\(columns) \(order)")
      while try statement.step() {
        if let event = read(statement) { events.append(event) }
      }
      return (events, true)
    } catch {
      return (events, false)
    }
  }

  private static func between(_ start: Int64, _ end: Int64, in old: Database) -> [FoundEvent] {
    guard end - start > 1 else { return [] }
    let lookup = old.prepare("\(columns) WHERE event=?1")
    var events: [FoundEvent] = []
    for number in (start + 1)..<min(end, start + mostLookups) {
      let found = (try? lookup.first(number) { row in read(row) }) ?? nil
      if let found { events.append(found) }
    }
    return events
  }

  private static let columns =
    "SELECT event, identity, id, kind, name, at, details FROM analytics_events"

  private static func read(_ row: borrowing Statement) -> FoundEvent? {
    guard let kind = AnalyticsEvent.Kind(rawValue: row.text(3)) else { return nil }
    return FoundEvent(
      number: row.number(0),
      identity: row.text(1),
      event: AnalyticsEvent(
        id: row.text(2),
        kind: kind,
        name: row.optionalText(4),
        at: Instant(milliseconds: row.number(5)),
        details: row.text(6)
      )
    )
  }
}
