package import PrefetchCore

extension DiskStore {
  package func readInventory(of urls: [String]?) throws(Failure) -> Inventory {
    try withBackup { () throws(Failure) in
      let database = try database()
      // A single transaction makes all statements read the same state.
      return try database.reading { () throws(Failure) in
        guard let urls else { return try readRows(database, of: nil) }
        return try readRows(database, of: numbers(of: urls, database))
      }
    }
  }

  private func numbers(
    of urls: [String],
    _ database: Database
  ) throws(Failure) -> [Int64] {
    let find = database.prepare("SELECT item FROM items WHERE url=?1")
    var numbers: [Int64] = []
    for url in urls {
      try find.set(url)
      if try find.step() { numbers.append(find.number(0)) }
      find.reset()
    }
    return numbers.sorted()
  }

  package func stored(_ items: [Int64]) throws(Failure) -> [(any StoredResponse)?] {
    try withBackup { () throws(Failure) in
      let query = try recordQuery()
      // A single transaction takes the locks once instead of for every statement.
      return try database().reading { () throws(Failure) in try query.rows(items) }
    }
  }

  private func readRows(_ database: Database, of items: [Int64]?) throws(Failure) -> Inventory {
    var holders = try HolderLists(database)
    let reader = try InventoryReader(
      database,
      of: items,
      locks: LockRule(database, now: clockStart)
    )
    var rows: [Inventory.Row] = []
    if let items {
      rows.reserveCapacity(items.count)
    } else {
      rows.reserveCapacity(Int(try database.number("SELECT count(*) FROM items") ?? 0))
    }
    while let row = try reader.next(&holders) {
      rows.append(row)
    }
    var itemFiles: [Inventory.File] = []
    let files = try InventoryReader.rows(
      "item, digest, size FROM item_files",
      of: items,
      database
    )
    var position = 0
    while try files.step() {
      let item = files.number(0)
      while position < rows.count, rows[position].item < item { position += 1 }
      let digest = try files.digest(1, of: "item \(item)")
      guard position < rows.count, rows[position].item == item else { continue }
      itemFiles.append(Inventory.File(row: position, digest: digest, size: files.number(2)))
    }
    var inventory = Inventory(
      rows: rows,
      files: itemFiles,
      strongDigests: reader.strongDigests,
      variances: reader.variances.list,
      holderSets: holders.sets,
      segmentKeys: holders.keys
    )
    inventory.isPartial = items != nil
    inventory.newestDate = try database.newestDate()
    inventory.sights = try sights(database, of: items)
    return inventory
  }

  private func sights(
    _ database: Database,
    of items: [Int64]?
  ) throws(Failure) -> [Int64: Sight] {
    let rows = try InventoryReader.rows(
      "item, mark, head_mark, seen, restarts FROM item_sights",
      of: items,
      database
    )
    var sights: [Int64: Sight] = [:]
    while try rows.step() {
      sights[rows.number(0)] = Sight(
        mark: rows.text(1),
        headMark: rows.optionalText(2),
        seen: Instant(milliseconds: rows.number(3)),
        restarts: Int(rows.number(4))
      )
    }
    return sights
  }
}

/// Reads `items` and `item_times` side by side, in the order of item numbers.
private final class InventoryReader {
  private(set) var strongDigests: [[DigestAlgorithm: [UInt8]]] = []
  private(set) var variances: VarianceLists
  private let items: Statement
  private let times: Statement
  private let locks: LockRule
  private var timed: Int64 = .min

  static func rows(
    _ columns: String,
    of items: [Int64]?,
    _ database: Database
  ) throws(Failure) -> Statement {
    guard let items else { return database.prepare("SELECT \(columns) ORDER BY item") }
    let rows = database.prepare(
      "SELECT \(columns) WHERE item IN (SELECT value FROM json_each(?1)) ORDER BY item"
    )
    try rows.set("[\(items.map(String.init).joined(separator: ","))]")
    return rows
  }

  init(_ database: Database, of some: [Int64]?, locks: LockRule) throws(Failure) {
    self.locks = locks
    variances = try VarianceLists(database)
    items = try Self.rows("item, url, holders, variance, facts FROM items", of: some, database)
    times = try Self.rows(
      "item, validated_at, fresh_until, freshness FROM item_times",
      of: some,
      database
    )
  }

  func next(_ holders: inout HolderLists) throws(Failure) -> Inventory.Row? {
    guard try items.step() else { return nil }
    let item = items.number(0)
    // No run decodes the details of a pinned item, and `list` would fail at them each time.
    let head = try items.wholeHead(4, of: items.text(1))
    var row = Inventory.Row(
      key: items.key(1),
      item: item,
      digest: head.digest,
      size: head.size,
      state: head.state
    )
    // Equals ``Inventory/tagHash(_:)``.
    row.entityTag = head.tag.map { items.key(4, in: $0).first | 1 } ?? 0
    row.hasValidators = head.tag != nil || head.isDated
    // Stored tags are well-formed, so a leading quote means a strong tag.
    row.hasStrongTag =
      head.tag.map { items.byte(4, at: $0.lowerBound) == UInt8(ascii: "\"") } ?? false
    row.description = head.description
    row.form = head.form
    row.validatedAt = head.validatedAt ?? Inventory.Row.never
    row.freshness = head.freshness
    row.holders = holders.position(of: items.number(2))
    row.isLocked = locks.isLocked(item)
    if !head.otherDigests.isEmpty { row.strong = try strong(in: head.otherDigests) }
    row.variance = try variances.position(of: items.number(3), for: items)
    try readTimes(of: item, into: &row)
    return row
  }

  private func readTimes(
    of item: Int64,
    into row: inout Inventory.Row
  ) throws(Failure) {
    while timed < item {
      timed = try times.step() ? times.number(0) : .max
    }
    guard timed == item else { return }
    row.validatedAt = times.number(1)
    row.freshUntil = times.optionalNumber(2) ?? Inventory.Row.never
    row.freshnessKind = UInt8(truncatingIfNeeded: times.number(3))
  }

  private func strong(in range: Range<Int>) throws(Failure) -> UInt32 {
    let digests = unsafe items.withBytes(4) { bytes in
      unsafe DigestCoding.decode(bytes.bytes.extracting(range))
    }
    guard let digests else { throw RecordRow.damaged(of: items.text(1)) }
    strongDigests.append(digests)
    return UInt32(strongDigests.count)
  }
}

extension Statement {
  fileprivate func byte(_ index: Int32, at offset: Int) -> UInt8? {
    unsafe withBytes(index) { bytes in unsafe bytes.dropFirst(offset).first }
  }

  fileprivate func key(_ index: Int32) -> URLKey {
    unsafe withBytes(index) { bytes in unsafe URLKey(bytes.bytes) }
  }

  fileprivate func key(_ index: Int32, in range: Range<Int>) -> URLKey {
    unsafe withBytes(index) { bytes in unsafe URLKey(bytes.bytes.extracting(range)) }
  }
}
