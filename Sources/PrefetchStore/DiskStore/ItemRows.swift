internal import PrefetchCore

/// The rows of items: finding, writing and deleting them, with statements that are kept.
final class ItemRows {
  /// What has to be known of an item before it changes.
  struct Standing {
    var item: Int64
    var digest: ContentDigest?
    var size: Int64
    var state: ItemState?
    var holders: Int64
    var isDeclared: Bool
  }

  private let database: Database
  private let variances: VarianceRows
  private let findByURL: Statement
  private let findByNumber: Statement
  private let findByDigest: Statement
  private let insertItem: Statement
  private let updateItem: Statement
  private let insertTimes: Statement
  private let renewTimes: Statement
  private let insertDetails: Statement
  private let replaceDetails: Statement
  private let insertArrival: Statement
  private let updateHolders: Statement
  private let findRemoval: Statement
  private let deletions: Deletions
  /// The number of the next new item, once it was asked for within this transaction.
  private var nextNumber: Int64?
  private var firstNumber: Int64?

  private struct Deletions: ~Copyable {
    let item: Statement
    let times: Statement
    let details: Statement
  }

  init(_ database: Database) throws(Failure) {
    self.database = database
    variances = try VarianceRows(database)
    let standing = "SELECT item, digest, state, holders, is_declared, size FROM items"
    findByURL = try database.prepare("\(standing) WHERE url=?1")
    findByNumber = try database.prepare("\(standing) WHERE item=?1")
    findByDigest = try database.prepare(
      "SELECT url FROM items WHERE \(ObjectReferences.namesDigest)"
    )
    insertItem = try database.prepare(
      """
      INSERT INTO items (item, url, state, digest, size, etag, is_dated, description, \
      other_digests, holders, is_declared, variance) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
      """
    )
    updateItem = try database.prepare(
      """
      UPDATE items SET state=?3, digest=?4, size=?5, etag=?6, is_dated=?7, description=?8, \
      other_digests=?9, holders=?10, is_declared=?11, variance=?12 WHERE item=?1
      """
    )
    insertTimes = try database.prepare("INSERT INTO item_times VALUES (?1, ?2, ?3, ?4)")
    renewTimes = try database.prepare(
      "UPDATE item_times SET validated_at=?2, fresh_until=?3, freshness=?4 WHERE item=?1"
    )
    let details =
      """
      INTO item_details (item, id, provider, type, fetched_at, expires_at, details) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """
    // A replacement looks for what it replaces, so what is new is only inserted.
    insertDetails = try database.prepare("INSERT \(details)")
    replaceDetails = try database.prepare("REPLACE \(details)")
    insertArrival = try database.prepare(
      """
      INSERT INTO items (item, url, state, digest, size, etag, is_dated, description, holders, \
      is_declared, variance) VALUES (?1, ?2, 'cached', ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9) \
      ON CONFLICT (url) DO NOTHING
      """
    )
    updateHolders = try database.prepare(
      "UPDATE items SET holders=?2, is_declared=?3 WHERE item=?1"
    )
    findRemoval = try database.prepare(
      """
      SELECT url, id, size, digest, holders, locked, locked_until, locked_process \
      FROM items JOIN item_details USING (item) WHERE item=?1
      """
    )
    deletions = Deletions(
      item: try database.prepare("DELETE FROM items WHERE item=?1"),
      times: try database.prepare("DELETE FROM item_times WHERE item=?1"),
      details: try database.prepare("DELETE FROM item_details WHERE item=?1")
    )
  }

  /// To be called first in a transaction: others may have taken numbers since the last one.
  func begin() {
    nextNumber = nil
    firstNumber = nil
    variances.begin()
  }

  /// To be called last in a transaction that did not fail.
  func end() throws(Failure) {
    guard let nextNumber, nextNumber != firstNumber else { return }
    try database.execute("UPDATE item_numbers SET next=\(nextNumber)")
  }

  // MARK: Finding

  func standing(url: String) throws(Failure) -> Standing? {
    try findByURL.bind(1, url)
    defer { findByURL.reset() }
    return try findByURL.step() ? Self.standing(findByURL) : nil
  }

  func standing(item: Int64) throws(Failure) -> Standing? {
    try findByNumber.bind(1, item)
    defer { findByNumber.reset() }
    return try findByNumber.step() ? Self.standing(findByNumber) : nil
  }

  func urls(naming digest: ContentDigest) throws(Failure) -> [String] {
    try findByDigest.bind(1, digest)
    defer { findByDigest.reset() }
    var urls: [String] = []
    while try findByDigest.step() {
      urls.append(findByDigest.text(0))
    }
    return urls
  }

  private static func standing(_ row: borrowing Statement) -> Standing {
    Standing(
      item: row.number(0),
      digest: row.optionalDigest(1),
      size: row.number(5),
      state: RecordRow.state(row, 2),
      holders: row.number(3),
      isDeclared: row.flag(4)
    )
  }

  // MARK: Writing

  /// Returns its number, which no item ever had before.
  func insert(_ record: ContentRecord, holders: Int64) throws(Failure) -> Int64 {
    let item = try takeNumber()
    try insertItem.bind(2, record.url)
    try write(record, item, holders: holders, isDeclared: holders != 0, with: insertItem)
    try writeTimes(item, record.validatedAt, record.freshness, with: insertTimes)
    try writeDetails(of: record, item, with: insertDetails)
    return item
  }

  /// The same for what arrived; false, and nothing done, where the URL has a row after all.
  func insert(_ arrival: Arrival, holders: Int64) throws(Failure) -> Bool {
    let item = try takeNumber()
    let (table, entry) = (arrival.terms.table.value, arrival.entry)
    try insertArrival.bind(1, item)
    try insertArrival.bind(2, table.url(at: entry))
    try insertArrival.bind(3, arrival.body.digest)
    try insertArrival.bind(4, arrival.body.size)
    try insertArrival.bind(5, arrival.validators.entityTag)
    try insertArrival.bind(6, arrival.validators.lastModified != nil)
    try insertArrival.bind(7, Int64(bitPattern: table.descriptionHash(at: entry)))
    try insertArrival.bind(8, holders)
    try insertArrival.bind(9, try number(of: arrival.variance))
    try insertArrival.run()
    guard database.changeCount > 0 else { return false }
    try writeTimes(item, arrival.at, arrival.freshness, with: insertTimes)
    try insertDetails.bind(1, item)
    try insertDetails.bind(
      2,
      table.id(at: entry).flatMap { ItemName.stored($0, url: arrival.url) }
    )
    try insertDetails.bind(3, table.provider(at: entry))
    try insertDetails.bind(4, table.type(at: entry))
    try insertDetails.bind(5, arrival.at)
    try insertDetails.bind(6, nil as Instant?)
    try insertDetails.bind(7, DetailsCoding.encode(arrival))
    try insertDetails.run()
    return true
  }

  func update(_ standing: Standing, to record: ContentRecord) throws(Failure) {
    try write(
      record,
      standing.item,
      holders: standing.holders,
      isDeclared: standing.isDeclared,
      with: updateItem
    )
    try writeTimes(standing.item, record.validatedAt, record.freshness, with: renewTimes)
    try writeDetails(of: record, standing.item, with: replaceDetails)
  }

  /// An item that a segment held once came through a segment.
  func setHolders(_ holders: Int64, of standing: Standing) throws(Failure) {
    try updateHolders.bind(1, standing.item)
    try updateHolders.bind(2, holders)
    try updateHolders.bind(3, standing.isDeclared || holders != 0)
    try updateHolders.run()
  }

  func renewTimes(_ confirmation: Confirmation) throws(Failure) {
    try writeTimes(
      confirmation.item,
      confirmation.validatedAt,
      confirmation.freshness,
      with: renewTimes
    )
  }

  private func write(
    _ record: ContentRecord,
    _ item: Int64,
    holders: Int64,
    isDeclared: Bool,
    with statement: borrowing Statement
  ) throws(Failure) {
    try statement.bind(1, item)
    try statement.bind(3, record.state.rawValue)
    try statement.bind(4, record.digest)
    try statement.bind(5, record.size)
    try statement.bind(6, record.validators.entityTag)
    try statement.bind(7, record.validators.lastModified != nil)
    try statement.bind(8, Int64(bitPattern: record.description))
    try statement.bind(9, DigestCoding.encode(record.otherDigests))
    try statement.bind(10, holders)
    try statement.bind(11, isDeclared)
    try statement.bind(12, try number(of: record.variance))
    try statement.run()
  }

  private func number(of variance: Variance?) throws(Failure) -> Int64 {
    guard let variance else { return 0 }
    return try variances.number(of: variance)
  }

  private func writeTimes(
    _ item: Int64,
    _ validatedAt: Instant?,
    _ freshness: Freshness,
    with statement: borrowing Statement
  ) throws(Failure) {
    let columns = freshness.columns
    try statement.bind(1, item)
    try statement.bind(2, validatedAt)
    try statement.bind(3, columns.until)
    try statement.bind(4, columns.kind)
    try statement.run()
  }

  private func writeDetails(
    of record: ContentRecord,
    _ item: Int64,
    with statement: borrowing Statement
  ) throws(Failure) {
    try statement.bind(1, item)
    try statement.bind(2, ItemName.stored(record.id, url: record.url))
    try statement.bind(3, record.provider)
    try statement.bind(4, record.type)
    try statement.bind(5, record.fetchedAt)
    try statement.bind(6, record.expiresAt)
    try statement.bind(7, DetailsCoding.encode(record))
    try statement.run()
  }

  private func takeNumber() throws(Failure) -> Int64 {
    if nextNumber == nil {
      nextNumber = try database.number("SELECT next FROM item_numbers")
      firstNumber = nextNumber
    }
    guard let number = nextNumber else {
      throw Failure(.storeDamaged, "the index has lost its item numbers")
    }
    nextNumber = number + 1
    return number
  }

  // MARK: Deleting

  /// What an item is that may go; nil when there is none.
  struct Removal {
    var content: RemovedContent
    var digest: ContentDigest?
    var holders: Int64
    var isLocked: Bool
  }

  func removal(of item: Int64, locks: LockRule) throws(Failure) -> Removal? {
    try findRemoval.bind(1, item)
    defer { findRemoval.reset() }
    guard try findRemoval.step() else { return nil }
    let url = findRemoval.text(0)
    var content = RemovedContent(
      url: url,
      id: findRemoval.optionalText(1) ?? ItemName.made(from: url),
      size: findRemoval.number(2)
    )
    content.hadBody = !findRemoval.isNull(3)
    return Removal(
      content: content,
      digest: findRemoval.optionalDigest(3),
      holders: findRemoval.number(4),
      isLocked: locks.isLocked(findRemoval, from: 5)
    )
  }

  func delete(_ item: Int64) throws(Failure) {
    try deletions.item.bind(1, item)
    try deletions.item.run()
    try deletions.times.bind(1, item)
    try deletions.times.run()
    try deletions.details.bind(1, item)
    try deletions.details.run()
  }
}
