package import PrefetchCore

package struct QueuedEvent: Hashable, Sendable {
  package var number: Int64
  package var event: AnalyticsEvent
}

/// Counters and pause of an event queue.
package struct QueueStatus: Hashable, Sendable {
  /// Events dropped from a full queue and events that expired, since the beginning.
  package var dropped: Int64 = 0
  package var expired: Int64 = 0
  package var pause = SendingPause()

  package init() {}
}

/// Queues of unsent events, one per identity: events go to the configuration's own collector.
extension StateStore {
  /// Queues events; they are durable when this returns.
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

  /// Returns the oldest events, of one identity or, with nil, of all.
  package func queued(of identity: String?, atMost count: Int) throws(Failure) -> [QueuedEvent] {
    try database.rows(
      """
      SELECT event, id, kind, name, at, details FROM analytics_events \
      WHERE \(identity) IS NULL OR identity=\(identity) ORDER BY event LIMIT \(count)
      """
    ).all { row in
      guard let kind = AnalyticsEvent.Kind(rawValue: row.text(2)) else { return nil }
      return QueuedEvent(
        number: row.number(0),
        event: AnalyticsEvent(
          id: row.text(1),
          kind: kind,
          name: row.optionalText(3),
          at: Instant(milliseconds: row.number(4)),
          details: row.text(5)
        )
      )
    }
  }

  package func queuedCount(of identity: String) throws(Failure) -> Int64 {
    try database.number("SELECT count(*) FROM analytics_events WHERE identity=\(identity)") ?? 0
  }

  package func removeSent(_ events: [QueuedEvent], of identity: String) throws(Failure) {
    let database = database
    try database.transaction { () throws(Failure) in
      let deletion = database.prepare("DELETE FROM analytics_events WHERE event=?1")
      for event in events {
        try deletion.run(event.number)
      }
      try setPause(SendingPause(), of: identity)
    }
  }

  package func expireQueued(
    of identity: String,
    within bounds: QueueBounds,
    at now: Instant
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try trim(identity, within: bounds, at: now)
    }
  }

  /// Returns the counters of one identity, or with nil the sums of all.
  package func queueStatus(of identity: String?) throws(Failure) -> QueueStatus {
    let row = try database.rows(
      """
      SELECT coalesce(sum(dropped), 0), coalesce(sum(expired), 0), coalesce(max(failures), 0), \
      max(failed_at), max(not_before) FROM analytics_queues WHERE \(identity) IS NULL OR \
      identity=\(identity)
      """
    )
    guard try row.step() else { return QueueStatus() }
    var status = QueueStatus()
    status.dropped = row.number(0)
    status.expired = row.number(1)
    status.pause = SendingPause(
      failures: Int(row.number(2)),
      since: row.instant(3),
      until: row.instant(4)
    )
    return status
  }

  // MARK: Within a transaction

  func add(
    _ events: [AnalyticsEvent],
    of identity: String,
    within bounds: QueueBounds,
    at now: Instant
  ) throws(Failure) {
    let insertion = database.prepare(
      """
      INSERT INTO analytics_events (identity, id, kind, name, at, details) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """
    )
    for event in events {
      try insertion.run(
        identity,
        event.id,
        event.kind.rawValue,
        event.name,
        event.at,
        event.details
      )
    }
    try trim(identity, within: bounds, at: now)
  }

  private func expire(_ identity: String, before end: Instant) throws(Failure) -> Int {
    let old = try database.number(
      "SELECT count(*) FROM analytics_events WHERE identity=\(identity) AND at<\(end)"
    )
    guard let old, old > 0, believesClock() else { return 0 }
    try database.run("DELETE FROM analytics_events WHERE identity=\(identity) AND at<\(end)")
    return Int(old)
  }

  private func trim(
    _ identity: String,
    within bounds: QueueBounds,
    at now: Instant
  ) throws(Failure) {
    let expired = try expire(identity, before: now + (.zero - bounds.keep))
    try database.run(
      """
      DELETE FROM analytics_events WHERE identity=\(identity) AND event <= coalesce((SELECT event \
      FROM analytics_events WHERE identity=\(identity) ORDER BY event DESC LIMIT 1 OFFSET \
      \(max(0, bounds.count))), -1)
      """
    )
    let dropped = database.changeCount
    guard expired + dropped > 0 else { return }
    try database.run(
      """
      INSERT INTO analytics_queues (identity, dropped, expired) VALUES (\(identity), \(dropped), \
      \(expired)) \
      ON CONFLICT (identity) DO UPDATE SET dropped=dropped+\(dropped), expired=expired+\(expired)
      """
    )
  }

  package func setPause(_ pause: SendingPause, of identity: String) throws(Failure) {
    try database.run(
      """
      INSERT INTO analytics_queues (identity, failures, failed_at, not_before) \
      VALUES (\(identity), \(pause.failures), \(pause.since), \(pause.until)) ON CONFLICT \
      (identity) DO UPDATE SET \
      failures=\(pause.failures), failed_at=\(pause.since), not_before=\(pause.until)
      """
    )
  }
}
