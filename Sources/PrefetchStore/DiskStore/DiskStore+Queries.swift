package import PrefetchCore

extension DiskStore {
  package func inventory() throws(Failure) -> RecordInventory {
    try answering { () throws(Failure) in try readInventory() }
  }

  package func segments() throws(Failure) -> [SegmentRecord] {
    try answering { () throws(Failure) in
      let rows = try database().prepare(
        "SELECT \(SegmentRow.columns) FROM segments ORDER BY identity, name"
      )
      var segments: [SegmentRecord] = []
      while try rows.step() {
        segments.append(try SegmentRow.read(rows))
      }
      return segments
    }
  }

  package func record(url: String) throws(Failure) -> ContentRecord? {
    try records(where: "url=?1", url).first
  }

  /// By URL, or by id, which several items of different providers may share.
  package func records(idOrURL name: String) throws(Failure) -> [ContentRecord] {
    let exact = try records(where: "url=?1", name)
    return exact.isEmpty ? try records(where: Self.hasID, name) : exact
  }

  /// The records of a segment in the order in which they came to be.
  package func members(of key: SegmentKey) throws(Failure) -> [ContentRecord] {
    try answering { () throws(Failure) in
      let rows = try database().prepare(
        """
        SELECT \(RecordRow.columns) FROM \(RecordRow.source) WHERE holders IN \
        (SELECT holders FROM holder_sets WHERE segment=\
        (SELECT segment FROM segments WHERE identity=?1 AND name=?2)) ORDER BY item
        """
      )
      try rows.bind(1, key.identity)
      try rows.bind(2, key.name)
      return try Self.records(rows)
    }
  }

  package func segmentsHolding(url: String) throws(Failure) -> [SegmentKey] {
    try answering { () throws(Failure) in
      let rows = try database().prepare(
        """
        SELECT identity, name FROM segments JOIN holder_sets USING (segment) \
        WHERE holders=(SELECT holders FROM items WHERE url=?1) ORDER BY identity, name
        """
      )
      try rows.bind(1, url)
      var keys: [SegmentKey] = []
      while try rows.step() {
        keys.append(SegmentKey(identity: rows.text(0), name: rows.text(1)))
      }
      return keys
    }
  }

  /// What the index names: each object counts once, however many items share it.
  package func totals() throws(Failure) -> StoreTotals {
    try answering { () throws(Failure) in
      let row = try database().prepare(
        """
        SELECT (SELECT count(*) FROM items), count(*), coalesce(sum(size), 0) FROM \
        (SELECT max(size) AS size FROM items WHERE digest IS NOT NULL GROUP BY digest)
        """
      )
      guard try row.step() else { return StoreTotals() }
      return StoreTotals(
        items: Int(row.number(0)),
        objects: Int(row.number(1)),
        bytes: row.number(2)
      )
    }
  }

  private static let hasID = "item IN (SELECT item FROM item_details WHERE id=?1)"

  private func records(where condition: String, _ name: String) throws(Failure) -> [ContentRecord] {
    try answering { () throws(Failure) in
      let rows = try database().prepare(
        "SELECT \(RecordRow.columns) FROM \(RecordRow.source) WHERE \(condition) ORDER BY url"
      )
      try rows.bind(1, name)
      return try Self.records(rows)
    }
  }

  private static func records(_ rows: borrowing Statement) throws(Failure) -> [ContentRecord] {
    var records: [ContentRecord] = []
    while try rows.step() {
      records.append(try RecordRow.read(rows))
    }
    return records
  }

  // MARK: RecordInventory

  private func readInventory() throws(Failure) -> RecordInventory {
    let database = try database()
    // One transaction, so that both questions are answered from the same state.
    try database.execute("BEGIN")
    defer { try? database.execute("COMMIT") }
    var holders = try HolderLists(database)
    let count = Int(try database.number("SELECT count(*) FROM items") ?? 0)
    let rows = try database.prepare(
      """
      SELECT \(RecordRow.columns), locked, locked_until, locked_process, holders \
      FROM \(RecordRow.source) ORDER BY url
      """
    )
    let locks = LockRule(now: clockStart)
    var records: [ContentRecord] = []
    var lists: [[Int]] = []
    var locked: Set<String> = []
    records.reserveCapacity(count)
    lists.reserveCapacity(count)
    while try rows.step() {
      records.append(try RecordRow.read(rows))
      let set = holders.position(of: rows.number(RecordRow.columnCount + 3))
      lists.append(holders.sets[Int(set)])
      if locks.isLocked(rows, from: RecordRow.columnCount) {
        locked.insert(records[records.count - 1].url)
      }
    }
    return RecordInventory(
      records: records,
      holders: lists,
      segmentKeys: holders.keys,
      locked: locked
    )
  }
}

/// What the cache holds in all.
package struct StoreTotals: Hashable, Sendable {
  package var items: Int
  package var objects: Int
  package var bytes: Int64

  package init(items: Int = 0, objects: Int = 0, bytes: Int64 = 0) {
    self.items = items
    self.objects = objects
    self.bytes = bytes
  }
}
