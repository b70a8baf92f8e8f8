package import PrefetchCore

extension DiskStore {
  package func takeInventory() throws(Failure) -> Inventory {
    try answering { () throws(Failure) in try readRows() }
  }

  package func records(_ items: [Int64]) throws(Failure) -> [ContentRecord?] {
    try answering { () throws(Failure) in
      let query = try recordQuery()
      // One transaction, since every one of them takes locks.
      return try database().reading { () throws(Failure) in try query.records(items) }
    }
  }

  package func adoptable(_ digest: ContentDigest) throws(Failure) -> Int64? {
    try intactObject(digest)
  }

  private func readRows() throws(Failure) -> Inventory {
    let database = try database()
    // One transaction, so that all questions are answered from the same state.
    try database.execute("BEGIN")
    defer { try? database.execute("COMMIT") }
    var holders = try HolderLists(database)
    let reader = try InventoryReader(database, locks: LockRule(now: clockStart))
    var rows: [Inventory.Row] = []
    rows.reserveCapacity(Int(try database.number("SELECT count(*) FROM item_times") ?? 0))
    while let row = try reader.next(&holders) {
      rows.append(row)
    }
    return Inventory(
      rows: rows,
      strongDigests: reader.strongDigests,
      variances: reader.variances.list,
      holderSets: holders.sets,
      segmentKeys: holders.keys
    )
  }
}

/// Reads `items` and `item_times` side by side, in the order of their numbers.
private final class InventoryReader {
  private(set) var strongDigests: [[DigestAlgorithm: [UInt8]]] = []
  private(set) var variances: VarianceLists
  private let items: Statement
  private let times: Statement
  private let locks: LockRule
  /// Where `times` stands.
  private var timed: Int64 = .min

  init(_ database: Database, locks: LockRule) throws(Failure) {
    self.locks = locks
    variances = try VarianceLists(database)
    items = try database.prepare(
      """
      SELECT item, url, state, digest, size, etag, is_dated, description, holders, locked, \
      locked_until, locked_process, other_digests, variance FROM items ORDER BY item
      """
    )
    times = try database.prepare(
      "SELECT item, validated_at, fresh_until, freshness FROM item_times ORDER BY item"
    )
  }

  func next(_ holders: inout HolderLists) throws(Failure) -> Inventory.Row? {
    guard try items.step() else { return nil }
    let item = items.number(0)
    guard let state = RecordRow.state(items, 2) else {
      throw RecordRow.damaged("state", of: items.text(1))
    }
    let digest = items.optionalDigest(3)
    guard digest != nil || items.isNull(3) else {
      throw RecordRow.damaged("digest", of: items.text(1))
    }
    var row = Inventory.Row(
      key: items.key(1),
      item: item,
      digest: digest ?? .none,
      size: items.number(4),
      state: state
    )
    let hasTag = !items.isNull(5)
    // As ``Inventory/tagHash(_:)`` makes it.
    row.entityTag = hasTag ? items.key(5).first | 1 : 0
    row.hasValidators = hasTag || items.flag(6)
    // A tag that is kept at all is a well-formed one.
    row.hasStrongTag = hasTag && items.begins(5, with: UInt8(ascii: "\""))
    row.description = UInt64(bitPattern: items.number(7))
    row.holders = holders.position(of: items.number(8))
    row.isLocked = locks.isLocked(items, from: 9)
    if !items.isNull(12) {
      row.strong = try strong()
    }
    row.variance = try variances.position(of: items.number(13), for: items)
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
    row.validatedAt = times.optionalNumber(1) ?? Inventory.Row.never
    row.freshUntil = times.optionalNumber(2) ?? Inventory.Row.never
    row.freshnessKind = UInt8(truncatingIfNeeded: times.number(3))
  }

  private func strong() throws(Failure) -> UInt32 {
    let digests = unsafe items.withBytes(12) { bytes in unsafe DigestCoding.decode(bytes.bytes) }
    guard let digests else { throw RecordRow.damaged("digests", of: items.text(1)) }
    strongDigests.append(digests)
    return UInt32(strongDigests.count)
  }
}

extension Statement {
  fileprivate func begins(_ index: Int32, with byte: UInt8) -> Bool {
    unsafe withBytes(index) { bytes in unsafe bytes.first == byte }
  }

  /// The key of a URL, or of any text, made from the bytes where they lie.
  fileprivate func key(_ index: Int32) -> URLKey {
    unsafe withBytes(index) { bytes in unsafe URLKey(bytes.bytes) }
  }
}
