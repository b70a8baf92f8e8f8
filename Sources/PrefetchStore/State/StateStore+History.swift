package import PrefetchCore

package struct HistoryEntry: Hashable, Sendable {
  package var url: String
  package var at: Instant
  package var run: String
  package var action: ItemAction
  package var outcome: ItemOutcome
  package var reason: String?
  /// Whether the entry is the first for a newly stored item, which has few earlier entries.
  package var isFirst: Bool

  package init(
    url: String,
    at: Instant,
    run: String,
    action: ItemAction,
    outcome: ItemOutcome,
    reason: String? = nil,
    isFirst: Bool = false
  ) {
    self.isFirst = isFirst
    self.url = url
    self.at = at
    self.run = run
    self.action = action
    self.outcome = outcome
    self.reason = reason
  }

  fileprivate static func usualReason(_ outcome: ItemOutcome) -> String? {
    outcome == .added ? PlanReason.notStored.text : nil
  }
}

extension StateStore {
  /// Number of entries kept for each item, the newest.
  package static let changesPerItem = 20

  package func recordHistory(
    _ entries: [HistoryEntry],
    keeping limit: Int = changesPerItem
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      let insertion = RowBatch(database, "INSERT INTO item_history VALUES", columns: 6)
      var number = try database.number("SELECT max(next) FROM history_runs") ?? 0
      var run: (id: String, number: Int64) = ("", 0)
      for entry in entries {
        if run.id != entry.run { run = (entry.run, try self.number(ofRun: entry.run)) }
        insertion.add(RememberedURL.name(of: entry.url))
        insertion.add(number)
        insertion.add(entry.at.milliseconds)
        insertion.add(run.number)
        insertion.add(HistoryCoding.number(entry.action, entry.outcome))
        let isUsual = entry.reason == HistoryEntry.usualReason(entry.outcome)
        insertion.add(isUsual ? nil : entry.reason ?? "")
        number += 1
        if insertion.isFull { try insertion.run() }
      }
      try insertion.run()
      try database.execute("UPDATE history_runs SET next=\(number) WHERE run=\(run.number)")
      try shorten(entries, to: limit)
    }
  }

  private func number(ofRun id: String) throws(Failure) -> Int64 {
    if let known = try database.number("SELECT run FROM history_runs WHERE id=\(id)") {
      return known
    }
    try database.run("INSERT INTO history_runs (id, next) VALUES (\(id), 0)")
    let made = database.lastInsertedRow
    // Seldom, since the deletion scans all entries.
    if made.isMultiple(of: 1024) {
      try database.execute(
        "DELETE FROM history_runs WHERE run<>\(made) AND run NOT IN (SELECT run FROM item_history)"
      )
    }
    return made
  }

  private func shorten(_ entries: [HistoryEntry], to limit: Int) throws(Failure) {
    let excess = database.prepare(
      "SELECT entry FROM item_history WHERE url=?1 ORDER BY entry DESC LIMIT 1 OFFSET ?2"
    )
    let deletion = database.prepare("DELETE FROM item_history WHERE url=?1 AND entry<=?2")
    // A new item has at most its removal before, and that removal has checked the limit.
    for entry in entries where !entry.isFirst {
      let name = RememberedURL.name(of: entry.url)
      // A search costs less than a deletion without rows.
      guard let last = try excess.first(name, max(0, limit), read: { row in row.number(0) })
      else { continue }
      try deletion.run(name, last)
    }
  }

  /// Returns items removed since then and not stored again, by ``RememberedURL``.
  package func removals(since: Instant) throws(Failure) -> [String: Instant] {
    let rows = try database.rows(
      """
      SELECT url, at, what FROM item_history AS newest WHERE at>=\(since) AND entry= \
      (SELECT max(entry) FROM item_history WHERE url=newest.url)
      """
    )
    var removals: [String: Instant] = [:]
    while try rows.step() {
      guard HistoryCoding.meaning(of: rows.number(2))?.1 == .removed else { continue }
      removals[rows.text(0)] = rows.instant(1)
    }
    return removals
  }

  package func history(url: String) throws(Failure) -> [HistoryEntry] {
    let rows = try database.rows(
      """
      SELECT at, id, what, reason, url FROM item_history JOIN history_runs USING (run) \
      WHERE url=\(RememberedURL.name(of: url)) ORDER BY entry DESC
      """
    )
    return try rows.all(read: entry)
  }

  /// Passes what runs did since then to `sink`, oldest first; URLs are ``RememberedURL`` names.
  package func history(
    since: Instant,
    _ sink: (HistoryEntry) -> Void
  ) throws(Failure) {
    let rows = try database.rows(
      """
      SELECT at, id, what, reason, url FROM item_history JOIN history_runs USING (run) \
      WHERE at>=\(since) ORDER BY entry
      """
    )
    while try rows.step() { sink(try entry(rows)) }
  }

  private func entry(_ rows: borrowing Statement) throws(Failure) -> HistoryEntry {
    let url = rows.text(4)
    guard let (action, outcome) = HistoryCoding.meaning(of: rows.number(2)) else {
      throw Failure(.storeDamaged, "`\(database.name)` holds an impossible entry for `\(url)`")
    }
    let said = rows.optionalText(3) ?? HistoryEntry.usualReason(outcome)
    return HistoryEntry(
      url: url,
      at: Instant(milliseconds: rows.number(0)),
      run: rows.text(1),
      action: action,
      outcome: outcome,
      reason: said?.isEmpty == true ? nil : said
    )
  }
}

private enum HistoryCoding {
  static func number(_ action: ItemAction, _ outcome: ItemOutcome) -> Int64 {
    Int64(16 * (actions.firstIndex(of: action) ?? 0) + (outcomes.firstIndex(of: outcome) ?? 0))
  }

  static func meaning(of number: Int64) -> (ItemAction, ItemOutcome)? {
    guard number >= 0, number / 16 < actions.count, number % 16 < outcomes.count else {
      return nil
    }
    return (actions[Int(number / 16)], outcomes[Int(number % 16)])
  }

  /// Both are stored by position: only ever append.
  private static let actions: [ItemAction] = [
    .fetch, .update, .revalidate, .keep, .remove, .defer, .fail,
  ]
  private static let outcomes: [ItemOutcome] = [
    .added, .updated, .headers, .unchanged, .stale, .removed, .deferred, .failed, .redirected,
    .empty,
  ]
}
