package import PrefetchCore

/// An item as a list shows it; `item` identifies the whole record.
package struct StoredItem: Hashable, Sendable {
  package var item: Int64
  package var url: String
  package var state: ItemState
  /// Bytes of all files; nil until a body was complete.
  package var size: Int64?
  package var segments: [String]
  package var isLocked: Bool
  /// URL for display: the row's URL, or the tag of an ad space.
  package var shownURL: String

  package init(
    item: Int64 = 0,
    url: String,
    state: ItemState,
    size: Int64? = nil,
    segments: [String] = [],
    isLocked: Bool = false
  ) {
    self.item = item
    self.url = url
    shownURL = url
    self.state = state
    self.size = size
    self.segments = segments
    self.isLocked = isLocked
  }
}

package enum ItemOrder: String, Hashable, Sendable, CaseIterable {
  case name
  case url
  case id
  case provider
  case segment
  case state
  case type
  case size
  case fetched
  case validated
  case expires
  case used
}

/// A sort key and its direction; it decides ties of the sorting before it.
package struct ItemSorting: Hashable, Sendable {
  package var order: ItemOrder
  package var isDescending: Bool

  package init(_ order: ItemOrder, isDescending: Bool = false) {
    self.order = order
    self.isDescending = isDescending
  }
}

extension DiskStore {
  /// Visits all items until `visit` returns false, holding only sort keys; URLs decide ties.
  package func forEachItem(
    sorted sorting: [ItemSorting] = [],
    uses: [String: Instant] = [:],
    _ visit: (StoredItem) throws(Failure) -> Bool
  ) throws(Failure) {
    guard sorting.isEmpty else {
      return try withBackup { () throws(Failure) in try visitSorted(sorting, uses, visit) }
    }
    // After a damaged index, its copy continues behind the last visited URL.
    var last = ""
    try withBackup { () throws(Failure) in
      try visitOrdered(after: last) { item throws(Failure) in
        defer { last = item.url }
        return try visit(item)
      }
    }
  }

  private func visitOrdered(
    after last: String,
    _ visit: (StoredItem) throws(Failure) -> Bool
  ) throws(Failure) {
    let database = try database()
    try database.execute("BEGIN")
    defer { try? database.execute("COMMIT") }
    var reader = try StoredItemReader(database, locks: LockRule(database, now: clockStart))
    let rows = try database.rows(
      "\(raw: StoredItemReader.selection) WHERE url>\(last) ORDER BY url"
    )
    while try rows.step() {
      guard try visit(reader.read(rows)) else { return }
    }
  }

  private func visitSorted(
    _ sorting: [ItemSorting],
    _ uses: [String: Instant],
    _ visit: (StoredItem) throws(Failure) -> Bool
  ) throws(Failure) {
    let database = try database()
    try database.execute("BEGIN")
    defer { try? database.execute("COMMIT") }
    var reader = try StoredItemReader(database, locks: LockRule(database, now: clockStart))
    if sorting.contains(where: { $0.order == .used }) {
      try fill(uses, in: database)
    }
    try StatementFunction.registerAll(in: database)
    // Only keys are sorted: sorting whole rows would hold all of them in memory.
    let keys = sorting.map { "\($0.order.expression)\($0.isDescending ? " DESC" : "")" }
    let order = database.prepare(
      """
      SELECT item FROM \(RecordRow.source) ORDER BY \(keys.joined(separator: ", ")), url
      """
    )
    let row = database.prepare("\(StoredItemReader.selection) WHERE item=?1")
    while try order.step() {
      try row.set(order.number(0))
      defer { row.reset() }
      guard try row.step() else { continue }
      guard try visit(reader.read(row)) else { return }
    }
  }

  private func fill(_ uses: [String: Instant], in database: Database) throws(Failure) {
    try database.execute(
      "DROP TABLE IF EXISTS temp.item_uses; "
        + "CREATE TEMP TABLE item_uses (url TEXT PRIMARY KEY, used_at INTEGER) WITHOUT ROWID"
    )
    let insertion = database.prepare("INSERT INTO temp.item_uses VALUES (?1, ?2)")
    for (url, instant) in uses {
      try insertion.run(url, instant)
    }
  }
}

private struct StoredItemReader {
  static let selection =
    """
    SELECT item, url, facts, holders FROM items
    """

  private var holders: HolderLists
  private let names: [[String]]
  private let locks: LockRule
  /// Bytes of the further files, by item number; most items have none.
  private var otherBytes: [Int64: Int64] = [:]

  init(_ database: Database, locks: LockRule) throws(Failure) {
    let files = database.prepare("SELECT item, sum(size) FROM item_files GROUP BY item")
    while try files.step() { otherBytes[files.number(0)] = files.number(1) }
    let holders = try HolderLists(database)
    names = holders.sets.map { set in set.map { holders.keys[$0].name } }
    self.holders = holders
    self.locks = locks
  }

  mutating func read(_ row: borrowing Statement) throws(Failure) -> StoredItem {
    let url = row.text(1)
    let head = try row.head(2, of: url)
    var item = StoredItem(
      item: row.number(0),
      url: url,
      state: head.state,
      size: head.digest.isNone ? nil : head.size + (otherBytes[row.number(0)] ?? 0),
      segments: names[Int(holders.position(of: row.number(3)))],
      isLocked: locks.isLocked(row.number(0))
    )
    if url.hasPrefix(AdSpace.scheme) {
      var record = ContentRecord(url: url, id: "")
      let isRead = unsafe row.withBytes(2) { unsafe RecordRow.read($0.bytes, into: &record) }
      if isRead { item.shownURL = record.shownURL }
    }
    return item
  }
}

extension ItemOrder {
  /// SQL expression of the sort key; absent values come first, as NULL does.
  fileprivate var expression: String {
    switch self {
    case .name:
      // Trimming everything but slashes from the end leaves the part before the name.
      "substr(\(Self.path), length(rtrim(\(Self.path), replace(\(Self.path), '/', ''))) + 1)"
    case .url: "url"
    case .id: "coalesce(id, \(StatementFunction.name)(url))"
    case .provider: Self.fact("provider")
    case .segment:
      """
      coalesce((SELECT name FROM holder_sets JOIN segments USING (segment) \
      WHERE holder_sets.holders=items.holders ORDER BY identity, name LIMIT 1), '')
      """
    case .state: Self.fact("state")
    case .type: Self.fact("type")
    case .size: Self.fact("size")
    case .fetched: Self.fact("fetched")
    case .validated: "coalesce(validated_at, \(Self.fact("validated")))"
    case .expires: "CASE WHEN freshness IS NULL THEN \(Self.fact("expires")) ELSE fresh_until END"
    case .used: "(SELECT used_at FROM temp.item_uses WHERE item_uses.url=items.url)"
    }
  }

  private static func fact(_ name: String) -> String {
    "\(StatementFunction.fact)(facts, '\(name)')"
  }

  private static let path = "substr(url, 1, instr(url || '?', '?') - 1)"
}
