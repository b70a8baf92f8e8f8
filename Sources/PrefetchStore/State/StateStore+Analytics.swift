package import PrefetchCore

/// An event in the queue, and the number under which it is there.
package struct QueuedEvent: Hashable, Sendable {
  package var number: Int64
  package var event: AnalyticsEvent
}

/// How a queue stands besides what waits in it.
package struct QueueStanding: Hashable, Sendable {
  /// Events that went because there were too many, and because they were too old, of all times.
  package var dropped: Int64 = 0
  package var expired: Int64 = 0
  package var pause = SendingPause()

  package init() {}
}

/// The queue of events that wait to be sent: one for each identity, since what was recorded under a
/// configuration is for nobody but its own collector.
extension StateStore {
  /// When this returns, they outlast the end of the process and of the machine.
  package func queue(
    _ events: [AnalyticsEvent],
    of identity: String,
    within bounds: QueueBounds,
    at now: Instant
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try add(events, of: identity, within: bounds, at: now)
    }
  }

  /// The oldest first; of all identities where none is given.
  package func queued(of identity: String?, atMost count: Int) throws(Failure) -> [QueuedEvent] {
    let rows = try database.prepare(
      """
      SELECT event, id, kind, name, at, details FROM analytics_events \
      WHERE ?1 IS NULL OR identity=?1 ORDER BY event LIMIT ?2
      """
    )
    try rows.bind(1, identity)
    try rows.bind(2, count)
    var events: [QueuedEvent] = []
    while try rows.step() {
      guard let kind = AnalyticsEvent.Kind(rawValue: rows.text(2)) else { continue }
      events.append(
        QueuedEvent(
          number: rows.number(0),
          event: AnalyticsEvent(
            id: rows.text(1),
            kind: kind,
            name: rows.optionalText(3),
            at: Instant(milliseconds: rows.number(4)),
            details: rows.text(5)
          )
        )
      )
    }
    return events
  }

  package func queuedCount(of identity: String) throws(Failure) -> Int64 {
    let row = try database.prepare("SELECT count(*) FROM analytics_events WHERE identity=?1")
    try row.bind(1, identity)
    return try row.step() ? row.number(0) : 0
  }

  /// What was sent waits no more, and whoever took it may be sent the next at once.
  package func noteSent(_ events: [QueuedEvent], of identity: String) throws(Failure) {
    let database = database
    try database.transaction { () throws(Failure) in
      let deletion = try database.prepare("DELETE FROM analytics_events WHERE event=?1")
      for event in events {
        try deletion.bind(1, event.number)
        try deletion.run()
      }
      try setPause(SendingPause(), of: identity)
    }
  }

  package func noteUnsent(_ pause: SendingPause, of identity: String) throws(Failure) {
    try database.transaction { () throws(Failure) in try setPause(pause, of: identity) }
  }

  /// Lets go of what has waited for too long.
  package func expireQueued(
    of identity: String,
    within bounds: QueueBounds,
    at now: Instant
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try trim(identity, within: bounds, at: now)
    }
  }

  /// Of one identity, or the sums of all.
  package func queueStanding(of identity: String?) throws(Failure) -> QueueStanding {
    let row = try database.prepare(
      """
      SELECT coalesce(sum(dropped), 0), coalesce(sum(expired), 0), coalesce(max(failures), 0), \
      max(failed_at), max(not_before) FROM analytics_queues WHERE ?1 IS NULL OR identity=?1
      """
    )
    try row.bind(1, identity)
    guard try row.step() else { return QueueStanding() }
    var standing = QueueStanding()
    standing.dropped = row.number(0)
    standing.expired = row.number(1)
    standing.pause = SendingPause(
      failures: Int(row.number(2)),
      since: row.instant(3),
      until: row.instant(4)
    )
    return standing
  }

  // MARK: Within a transaction

  func add(
    _ events: [AnalyticsEvent],
    of identity: String,
    within bounds: QueueBounds,
    at now: Instant
  ) throws(Failure) {
    let insertion = try database.prepare(
      """
      INSERT INTO analytics_events (identity, id, kind, name, at, details) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """
    )
    for event in events {
      try insertion.bind(1, identity)
      try insertion.bind(2, event.id)
      try insertion.bind(3, event.kind.rawValue)
      try insertion.bind(4, event.name)
      try insertion.bind(5, event.at)
      try insertion.bind(6, event.details)
      try insertion.run()
    }
    try trim(identity, within: bounds, at: now)
  }

  private func trim(
    _ identity: String,
    within bounds: QueueBounds,
    at now: Instant
  ) throws(Failure) {
    let expiry = try database.prepare(
      "DELETE FROM analytics_events WHERE identity=?1 AND at<?2"
    )
    try expiry.bind(1, identity)
    try expiry.bind(2, now + (.zero - bounds.keep))
    try expiry.run()
    let expired = database.changeCount
    let excess = try database.prepare(
      """
      DELETE FROM analytics_events WHERE identity=?1 AND event <= coalesce((SELECT event \
      FROM analytics_events WHERE identity=?1 ORDER BY event DESC LIMIT 1 OFFSET ?2), -1)
      """
    )
    try excess.bind(1, identity)
    try excess.bind(2, max(0, bounds.count))
    try excess.run()
    let dropped = database.changeCount
    guard expired + dropped > 0 else { return }
    let counting = try database.prepare(
      """
      INSERT INTO analytics_queues (identity, dropped, expired) VALUES (?1, ?2, ?3) \
      ON CONFLICT (identity) DO UPDATE SET dropped=dropped+?2, expired=expired+?3
      """
    )
    try counting.bind(1, identity)
    try counting.bind(2, dropped)
    try counting.bind(3, expired)
    try counting.run()
  }

  private func setPause(_ pause: SendingPause, of identity: String) throws(Failure) {
    let update = try database.prepare(
      """
      INSERT INTO analytics_queues (identity, failures, failed_at, not_before) \
      VALUES (?1, ?2, ?3, ?4) ON CONFLICT (identity) DO UPDATE SET \
      failures=?2, failed_at=?3, not_before=?4
      """
    )
    try update.bind(1, identity)
    try update.bind(2, pause.failures)
    try update.bind(3, pause.since)
    try update.bind(4, pause.until)
    try update.run()
  }
}
