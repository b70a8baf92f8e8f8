package import PrefetchCore

extension DiskStore {
  package func inventory() throws(Failure) -> RecordInventory {
    do throws(Failure) {
      return try readInventory()
    } catch {
      // Nothing has been changed yet, so an index that cannot be read can still be begun anew.
      try beginAnew(because: error)
      return try readInventory()
    }
  }

  package func segments() throws(Failure) -> [SegmentRecord] {
    let rows = try database().prepare(
      "SELECT \(SegmentRow.columns) FROM segments ORDER BY identity, name"
    )
    var segments: [SegmentRecord] = []
    while try rows.step() {
      segments.append(try SegmentRow.read(rows))
    }
    return segments
  }

  package func record(url: String) throws(Failure) -> ContentRecord? {
    try records(where: "url=?1", url).first
  }

  /// By URL, or by id, which several items of different providers may share.
  package func records(idOrURL name: String) throws(Failure) -> [ContentRecord] {
    let exact = try records(where: "url=?1", name)
    return exact.isEmpty ? try records(where: "id=?1", name) : exact
  }

  /// The records of a segment in the order in which they joined.
  package func members(of key: SegmentKey) throws(Failure) -> [ContentRecord] {
    let rows = try database().prepare(
      """
      SELECT \(RecordRow.columns) FROM items JOIN \
      (SELECT item AS member, position FROM members WHERE segment=\
      (SELECT segment FROM segments WHERE identity=?1 AND name=?2)) \
      ON item=member ORDER BY position
      """
    )
    try rows.bind(1, key.identity)
    try rows.bind(2, key.name)
    return try Self.records(rows)
  }

  package func segmentsHolding(url: String) throws(Failure) -> [SegmentKey] {
    let rows = try database().prepare(
      """
      SELECT identity, name FROM segments JOIN members USING (segment) \
      WHERE item=(SELECT item FROM items WHERE url=?1) ORDER BY identity, name
      """
    )
    try rows.bind(1, url)
    var keys: [SegmentKey] = []
    while try rows.step() {
      keys.append(SegmentKey(identity: rows.text(0), name: rows.text(1)))
    }
    return keys
  }

  /// What the index names: each object counts once, however many items share it.
  package func totals() throws(Failure) -> StoreTotals {
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

  private func records(where condition: String, _ name: String) throws(Failure) -> [ContentRecord] {
    let rows = try database().prepare(
      "SELECT \(RecordRow.columns) FROM items WHERE \(condition) ORDER BY url"
    )
    try rows.bind(1, name)
    return try Self.records(rows)
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
    let (segments, holders) = try holders(database)
    let count = Int(try database.number("SELECT count(*) FROM items") ?? 0)
    let rows = try database.prepare(
      """
      SELECT \(RecordRow.columns), locked, locked_until, locked_process FROM items ORDER BY url
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
      lists.append(holders.list(of: rows.number(0)))
      if locks.isLocked(rows, from: 21) {
        locked.insert(records[records.count - 1].url)
      }
    }
    return RecordInventory(records: records, holders: lists, segmentKeys: segments, locked: locked)
  }

  private func holders(_ database: Database) throws(Failure) -> ([SegmentKey], HolderLists) {
    var keys: [SegmentKey] = []
    var positions: [Int64: Int] = [:]
    let segments = try database.prepare(
      "SELECT segment, identity, name FROM segments ORDER BY identity, name"
    )
    while try segments.step() {
      positions[segments.number(0)] = keys.count
      keys.append(SegmentKey(identity: segments.text(1), name: segments.text(2)))
    }
    var lists = HolderLists()
    let members = try database.prepare("SELECT segment, item FROM members")
    while try members.step() {
      guard let position = positions[members.number(0)] else { continue }
      lists.add(position, to: members.number(1))
    }
    return (keys, lists)
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

/// Which segments hold which item; items with the same segments share one list.
private struct HolderLists {
  private var lists: [[Int]] = [[]]
  private var listOfItem: [Int64: Int] = [:]
  private var extended: [Extension: Int] = [:]

  private struct Extension: Hashable {
    var list: Int
    var segment: Int
  }

  mutating func add(_ segment: Int, to item: Int64) {
    let old = listOfItem[item] ?? 0
    let key = Extension(list: old, segment: segment)
    if let known = extended[key] {
      listOfItem[item] = known
      return
    }
    lists.append((lists[old] + [segment]).sorted())
    extended[key] = lists.count - 1
    listOfItem[item] = lists.count - 1
  }

  func list(of item: Int64) -> [Int] {
    lists[listOfItem[item] ?? 0]
  }
}
