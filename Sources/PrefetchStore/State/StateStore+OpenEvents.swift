package import PrefetchCore

/// An event that was begun and not ended.
package struct OpenEvent: Hashable, Sendable {
  package var name: String
  package var id: String
  package var started: Instant

  package init(name: String, id: String, started: Instant) {
    self.name = name
    self.id = id
    self.started = started
  }
}

/// Events that last: one of each name is open at a time, for each identity.
extension StateStore {
  /// Gives back since when one of this name was open already, which counts no more.
  package func open(
    _ event: OpenEvent,
    of identity: String,
    within bounds: QueueBounds
  ) throws(Failure) -> Instant? {
    let database = database
    return try database.transaction { () throws(Failure) -> Instant? in
      let before = try openEvent(named: event.name, of: identity)
      let insertion = try database.prepare(
        "INSERT OR REPLACE INTO analytics_open VALUES (?1, ?2, ?3, ?4)"
      )
      try insertion.bind(1, identity)
      try insertion.bind(2, event.name)
      try insertion.bind(3, event.id)
      try insertion.bind(4, event.started)
      try insertion.run()
      let deletion = try database.prepare(
        """
        DELETE FROM analytics_open WHERE identity=?1 AND (started<?2 OR name IN \
        (SELECT name FROM analytics_open WHERE identity=?1 ORDER BY started DESC LIMIT -1 OFFSET ?3))
        """
      )
      try deletion.bind(1, identity)
      try deletion.bind(2, event.started + (.zero - bounds.keep))
      try deletion.bind(3, Self.mostOpen)
      try deletion.run()
      return before?.started
    }
  }

  /// Nil where none of this name is open.
  package func end(
    _ name: String,
    of identity: String,
    within bounds: QueueBounds,
    at now: Instant,
    as event: (OpenEvent) -> AnalyticsEvent
  ) throws(Failure) -> AnalyticsEvent? {
    let database = database
    return try database.transaction { () throws(Failure) -> AnalyticsEvent? in
      guard let open = try openEvent(named: name, of: identity) else { return nil }
      let deletion = try database.prepare(
        "DELETE FROM analytics_open WHERE identity=?1 AND name=?2"
      )
      try deletion.bind(1, identity)
      try deletion.bind(2, name)
      try deletion.run()
      let event = event(open)
      try add([event], of: identity, within: bounds, at: now)
      return event
    }
  }

  /// The oldest first; of all identities where none is given.
  package func openEvents(of identity: String?) throws(Failure) -> [OpenEvent] {
    let rows = try database.prepare(
      """
      SELECT name, id, started FROM analytics_open WHERE ?1 IS NULL OR identity=?1 \
      ORDER BY started, name
      """
    )
    try rows.bind(1, identity)
    var events: [OpenEvent] = []
    while try rows.step() {
      events.append(
        OpenEvent(
          name: rows.text(0),
          id: rows.text(1),
          started: Instant(milliseconds: rows.number(2))
        )
      )
    }
    return events
  }

  private static let mostOpen = 1000

  private func openEvent(
    named name: String,
    of identity: String
  ) throws(Failure) -> OpenEvent? {
    let row = try database.prepare(
      "SELECT id, started FROM analytics_open WHERE identity=?1 AND name=?2"
    )
    try row.bind(1, identity)
    try row.bind(2, name)
    guard try row.step() else { return nil }
    return OpenEvent(
      name: name,
      id: row.text(0),
      started: Instant(milliseconds: row.number(1))
    )
  }
}
