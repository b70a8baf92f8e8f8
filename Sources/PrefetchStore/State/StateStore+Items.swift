package import PrefetchCore

/// What one run did with one item.
package struct HistoryEntry: Hashable, Sendable {
  package var url: String
  package var at: Instant
  package var run: String
  package var action: String
  package var outcome: String
  package var reason: String?
  /// Whether it begins what is stored of the item, so that little can be known before.
  package var isFirst: Bool

  package init(
    url: String,
    at: Instant,
    run: String,
    action: String,
    outcome: String,
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
}

extension StateStore {
  // MARK: Use

  package func markUsed(_ urls: some Sequence<String>, at instant: Instant) throws(Failure) {
    let database = database
    try database.transaction { () throws(Failure) in
      let statement = try database.prepare(
        """
        INSERT INTO item_use (url, used_at) VALUES (?1, ?2) \
        ON CONFLICT (url) DO UPDATE SET used_at=max(used_at, ?2)
        """
      )
      for url in urls {
        try statement.bind(1, url)
        try statement.bind(2, instant)
        try statement.run()
      }
    }
  }

  /// When each item was last used, as far as that was noted.
  package func uses() throws(Failure) -> [String: Instant] {
    let rows = try database.prepare("SELECT url, used_at FROM item_use")
    var uses: [String: Instant] = [:]
    while try rows.step() {
      uses[rows.text(0)] = Instant(milliseconds: rows.number(1))
    }
    return uses
  }

  package func lastUse(of url: String) throws(Failure) -> Instant? {
    let row = try database.prepare("SELECT used_at FROM item_use WHERE url=?1")
    try row.bind(1, url)
    return try row.step() ? row.instant(0) : nil
  }

  // MARK: History

  /// Notes what a run did, in one go; of each URL the last `limit` entries stay.
  package func recordHistory(
    _ entries: [HistoryEntry],
    keeping limit: Int = 20
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      let insertion = try database.prepare(
        """
        INSERT INTO item_history (url, at, run, action, outcome, reason) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
      )
      let excess = try database.prepare(
        "SELECT entry FROM item_history WHERE url=?1 ORDER BY entry DESC LIMIT 1 OFFSET ?2"
      )
      let deletion = try database.prepare("DELETE FROM item_history WHERE url=?1 AND entry<=?2")
      for entry in entries {
        let url = Self.hash(of: entry.url)
        try insertion.bind(1, url)
        try insertion.bind(2, entry.at)
        try insertion.bind(3, entry.run)
        try insertion.bind(4, entry.action)
        try insertion.bind(5, entry.outcome)
        try insertion.bind(6, entry.reason)
        try insertion.run()
        // What is new follows at most its own removal, which looked.
        if entry.isFirst { continue }
        try excess.bind(1, url)
        try excess.bind(2, max(0, limit))
        defer { excess.reset() }
        // Most items have no long history, and a search costs less than a deletion of nothing.
        guard try excess.step() else { continue }
        try deletion.bind(1, url)
        try deletion.bind(2, excess.number(0))
        try deletion.run()
      }
    }
  }

  /// What past runs did with a URL, newest first.
  package func history(url: String) throws(Failure) -> [HistoryEntry] {
    let rows = try database.prepare(
      """
      SELECT at, run, action, outcome, reason FROM item_history WHERE url=?1 ORDER BY entry DESC
      """
    )
    try rows.bind(1, Self.hash(of: url))
    var entries: [HistoryEntry] = []
    while try rows.step() {
      entries.append(
        HistoryEntry(
          url: url,
          at: Instant(milliseconds: rows.number(0)),
          run: rows.text(1),
          action: rows.text(2),
          outcome: rows.text(3),
          reason: rows.optionalText(4)
        )
      )
    }
    return entries
  }

  private static func hash(of url: String) -> Int64 {
    var hash = StableHash()
    hash.combine(url)
    return Int64(bitPattern: hash.value)
  }
}
