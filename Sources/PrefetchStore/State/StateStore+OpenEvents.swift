package import PrefetchCore

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

/// Events with a duration: one of each name is open per identity.
extension StateStore {
  /// Opens an event; returns the start of an open event of the same name, which is discarded.
  package func open(
    _ event: OpenEvent,
    of identity: String,
    within bounds: QueueBounds
  ) throws(Failure) -> Instant? {
    let database = database
    return try database.transaction { () throws(Failure) -> Instant? in
      let before = try openEvent(named: event.name, of: identity)
      try database.run(
        """
        INSERT OR REPLACE INTO analytics_open VALUES (\(identity), \(event.name), \(event.id), \
        \(event.started))
        """
      )
      try database.run(
        """
        DELETE FROM analytics_open WHERE identity=\(identity) AND \
        (started<\(event.started + (.zero - bounds.keep)) OR name IN \
        (SELECT name FROM analytics_open WHERE identity=\(identity) ORDER BY started DESC LIMIT -1 \
        OFFSET \(Self.mostOpen)))
        """
      )
      return before?.started
    }
  }

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
      try database.run("DELETE FROM analytics_open WHERE identity=\(identity) AND name=\(name)")
      let event = event(open)
      try add([event], of: identity, within: bounds, at: now)
      return event
    }
  }

  /// Returns open events, oldest first, of one identity or, with nil, of all.
  package func openEvents(of identity: String?) throws(Failure) -> [OpenEvent] {
    try database.rows(
      """
      SELECT name, id, started FROM analytics_open WHERE \(identity) IS NULL OR \
      identity=\(identity) \
      ORDER BY started, name
      """
    ).all { row in
      OpenEvent(
        name: row.text(0),
        id: row.text(1),
        started: Instant(milliseconds: row.number(2))
      )
    }
  }

  private static let mostOpen = 1000

  private func openEvent(
    named name: String,
    of identity: String
  ) throws(Failure) -> OpenEvent? {
    let row = try database.rows(
      "SELECT id, started FROM analytics_open WHERE identity=\(identity) AND name=\(name)"
    )
    guard try row.step() else { return nil }
    return OpenEvent(
      name: name,
      id: row.text(0),
      started: Instant(milliseconds: row.number(1))
    )
  }
}
