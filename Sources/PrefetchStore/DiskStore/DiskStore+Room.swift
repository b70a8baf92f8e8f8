package import PrefetchCore

extension DiskStore {
  /// Returns the bytes of all bodies; counted again only when another process has written.
  package func usedBytes() throws(Failure) -> Int64 {
    try withBackup { () throws(Failure) in try usedNow() }
  }

  /// Returns the used bytes within a transaction, in which a damaged index cannot be replaced.
  func usedNow() throws(Failure) -> Int64 {
    let version = try dataVersion()
    if let used, used.version == version { return used.bytes }
    // Leased bodies are not counted: they are removed first when room is short.
    let bytes = try named().totals.bytes
    used = Used(bytes: bytes, version: version)
    return bytes
  }

  package func diskSpace() throws(Failure) -> DiskSpace? {
    try DiskSpace(of: root)
  }

  package func readStock() throws(Failure) -> Stock {
    try withBackup { () throws(Failure) in
      let database = try database()
      let inventory = try readInventory()
      var stock = Stock(
        inventory: inventory,
        used: try usedBytes(),
        pinned: try documents(database),
        ages: try ages(database, inventory)
      )
      if !lower.isEmpty { leaveOutLower(in: &stock) }
      return stock
    }
  }

  /// Sets the sizes of bodies in lower caches to zero: evicting them frees no room here.
  private func leaveOutLower(in stock: inout Stock) {
    let inventory = stock.inventory
    var (rows, files) = (inventory.rows, inventory.files)
    for position in rows.indices
    where rows[position].hasBody && !layers.isOwn(rows[position].digest) {
      rows[position].size = 0
      let document = stock.pinned[rows[position].digest]
      stock.pinned[rows[position].digest] = Stock.Document(size: 0, names: document?.names ?? 0)
    }
    for position in files.indices where !layers.isOwn(files[position].digest) {
      files[position].size = 0
    }
    stock.inventory = Inventory(
      rows: rows,
      files: files,
      strongDigests: inventory.strongDigests,
      variances: inventory.variances,
      holderSets: inventory.holderSets,
      segmentKeys: inventory.segmentKeys
    )
  }

  package func expiredItems() throws(Failure) -> [Int64] {
    let rows = try database().rows(
      "SELECT item FROM items WHERE holders=0 AND expires_at<=\(try expiryTime())"
    )
    let locks = try LockRule(database(), now: expiryTime())
    var items: [Int64] = []
    while try rows.step() {
      if !locks.isLocked(rows.number(0)) { items.append(rows.number(0)) }
    }
    return items
  }

  package func removeExpired() throws(Failure) -> [RemovedContent] {
    let items = try expiredItems()
    guard !items.isEmpty else { return [] }
    return try change { (writer, _) throws(Failure) in
      for item in items { try writer.remove(item: item) }
    }
  }

  private func documents(
    _ database: Database
  ) throws(Failure) -> [ContentDigest: Stock.Document] {
    var documents: [ContentDigest: Stock.Document] = [:]
    for (digest, names) in try documentDigests(database) {
      documents[digest] = Stock.Document(size: try sizeOnDisk(digest) ?? 0, names: names)
    }
    return documents
  }

  func documentDigests(_ database: Database) throws(Failure) -> [ContentDigest: Int] {
    let rows = database.prepare(
      "SELECT manifest FROM segments UNION ALL SELECT digest FROM segment_documents"
    )
    var digests: [ContentDigest: Int] = [:]
    while try rows.step() {
      if let digest = rows.optionalDigest(0) { digests[digest, default: 0] += 1 }
    }
    return digests
  }

  /// Returns ages of items that expire, or that no subscribed segment holds.
  private func ages(
    _ database: Database,
    _ inventory: Inventory
  ) throws(Failure) -> [Int: Stock.Age] {
    let rows = database.prepare(
      """
      SELECT item, facts, expires_at, url FROM items \
      WHERE mark IS NOT NULL AND (expires_at IS NOT NULL OR holders NOT IN \
      (SELECT holders FROM holder_sets JOIN segments USING (segment) WHERE state<>'unsubscribed')) \
      ORDER BY item
      """
    )
    var ages: [Int: Stock.Age] = [:]
    var uses: [String: Instant]?
    var consumed: [String: Instant] = [:]
    var position = 0
    while try rows.step() {
      let item = rows.number(0)
      // Rows and inventory are both in the order of item numbers.
      while position < inventory.count, inventory.rows[position].item < item { position += 1 }
      guard position < inventory.count, inventory.rows[position].item == item else { continue }
      if uses == nil {
        uses = try lastUses()
        consumed = try consumptions()
      }
      let fetchedAt = try rows.head(1, of: rows.text(3)).fetchedAt
      var lastUse = Instant(milliseconds: fetchedAt ?? 0)
      if let uses, !uses.isEmpty, let use = uses[RememberedURL.name(of: rows.text(3))] {
        lastUse = max(lastUse, use)
      }
      ages[position] = Stock.Age(lastUse: lastUse, expiresAt: rows.instant(2))
      if !consumed.isEmpty {
        // Content that arrived after the consumption is new.
        let instant = consumed[RememberedURL.name(of: rows.text(3))]
        if let instant, instant.milliseconds >= fetchedAt ?? 0 {
          ages[position]?.consumedAt = instant
        }
      }
    }
    return ages
  }
}
