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
    guard exact.isEmpty else { return exact }
    var found = try records(where: Self.hasID, name)
    for item in try items(madeName: name) {
      guard let record = try recordQuery().record(item) else { continue }
      found.append(record)
    }
    return found.sorted { $0.url.utf8.lexicographicallyPrecedes($1.url.utf8) }
  }

  /// Those whose URL gives this id, where it was not stored.
  private func items(madeName name: String) throws(Failure) -> [Int64] {
    guard ItemName.couldBeMade(name) else { return [] }
    let rows = try database().prepare(
      "SELECT item, url FROM items JOIN item_details USING (item) WHERE id IS NULL"
    )
    var items: [Int64] = []
    while try rows.step() {
      guard ItemName.made(from: rows.text(1)) == name else { continue }
      items.append(rows.number(0))
    }
    return items
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
