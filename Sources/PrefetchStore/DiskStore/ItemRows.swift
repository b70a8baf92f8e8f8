internal import PrefetchCore

final class ItemRows {
  /// Values of a row that a change needs.
  struct Row {
    var item: Int64
    var digest: ContentDigest?
    var size: Int64
    var state: ItemState?
    var holders: Int64
    var isDeclared: Bool
    var file: Int64?
  }

  private let database: Database
  private let variances: VarianceRows
  private let findByURL: Statement
  private let findByNumber: Statement
  private let findByDigest: Statement
  private let insertions: RowBatch
  private let updateItem: Statement
  private let renewals: RowBatch
  private let updateHolders: Statement
  private let findRemoval: Statement
  private let deletions: Deletions
  private let findFiles: Statement
  private let insertFile: Statement
  private let findOwners: Statement
  private let setSight: Statement
  private let releases: Releases
  private var nextNumber: Int64?
  private var firstNumber: Int64?
  private var newFiles: [ContentDigest: ObjectFile] = [:]

  private struct Deletions: ~Copyable {
    let item: Statement
    let times: Statement
    let files: Statement
    let sights: Statement
  }

  private struct Releases: ~Copyable {
    let keep: Statement
    let find: Statement
    let restore: Statement
    let withdraw: Statement
  }

  init(_ database: Database) {
    self.database = database
    variances = VarianceRows(database)
    let selection = "SELECT item, holders, was_held, facts, url, file FROM items"
    findByURL = database.prepare("\(selection) WHERE url=?1")
    findByNumber = database.prepare("\(selection) WHERE item=?1")
    findByDigest = database.prepare(
      "SELECT url FROM items WHERE \(ObjectReferences.namesDigest)"
    )
    insertions = RowBatch(
      database,
      "INSERT INTO items (item, url, id, mark, holders, variance, expires_at, file, facts) VALUES",
      columns: 9,
      "ON CONFLICT (url) DO NOTHING"
    )
    updateItem = database.prepare(
      """
      UPDATE items SET id=?2, mark=?3, was_held=was_held OR holders<>0, holders=?4, variance=?5, \
      expires_at=?6, file=?7, facts=?8 WHERE item=?1
      """
    )
    // The batch does not check that the item exists: times without an item are never read.
    renewals = RowBatch(database, "REPLACE INTO item_times VALUES", columns: 4)
    updateHolders = database.prepare(
      "UPDATE items SET was_held=was_held OR holders<>0, holders=?2 WHERE item=?1"
    )
    findRemoval = database.prepare(
      "SELECT url, id, facts, holders FROM items WHERE item=?1"
    )
    deletions = Deletions(
      item: database.prepare("DELETE FROM items WHERE item=?1"),
      times: database.prepare("DELETE FROM item_times WHERE item=?1"),
      files: database.prepare("DELETE FROM item_files WHERE item=?1"),
      sights: database.prepare("DELETE FROM item_sights WHERE item=?1")
    )
    findFiles = database.prepare("SELECT digest, size FROM item_files WHERE item=?1")
    setSight = database.prepare("REPLACE INTO item_sights VALUES (?1, ?2, ?3, ?4, ?5)")
    insertFile = database.prepare("INSERT OR IGNORE INTO item_files VALUES (?1, ?2, ?3, ?4)")
    findOwners = database.prepare(
      "SELECT url FROM items JOIN item_files USING (item) WHERE digest=?1"
    )
    let columns = "item, url, id, mark, holders, variance, expires_at, file, facts"
    releases = Releases(
      keep: database.prepare(
        """
        INSERT OR REPLACE INTO released_items SELECT \(columns), ?2 FROM items WHERE item=?1 \
        AND (mark IS NOT NULL OR NOT EXISTS (SELECT 1 FROM released_items WHERE item=?1))
        """
      ),
      find: database.prepare(
        "SELECT url, facts FROM released_items WHERE item=?1 AND holders>=0"
      ),
      restore: database.prepare(
        "INSERT INTO items (\(columns)) SELECT \(columns) FROM released_items WHERE item=?1"
      ),
      withdraw: database.prepare(
        """
        INSERT OR REPLACE INTO released_items (item, url, holders, variance, facts, since) \
        VALUES (?1, ?2, -1, 0, x'', ?3)
        """
      )
    )
  }

  /// Begins a transaction; other processes may have taken numbers since the last.
  func begin(files: [ContentDigest: ObjectFile]) {
    newFiles = files
    nextNumber = nil
    firstNumber = nil
    variances.begin()
    insertions.begin()
    renewals.begin()
  }

  func end() throws(Failure) {
    guard let nextNumber, nextNumber != firstNumber else { return }
    try database.execute("UPDATE item_numbers SET next=\(nextNumber)")
  }

  // MARK: Finding

  func row(url: String) throws(Failure) -> Row? {
    try findByURL.first(url, read: Self.read)
  }

  func row(item: Int64) throws(Failure) -> Row? {
    try findByNumber.first(item, read: Self.read)
  }

  func urls(naming digest: ContentDigest) throws(Failure) -> [String] {
    try findByDigest.all(digest, digest.mark) { row in row.text(0) }
  }

  private static func read(_ row: borrowing Statement) throws(Failure) -> Row {
    let head = try row.head(3, of: row.text(4))
    return Row(
      item: row.number(0),
      digest: head.digest.isNone ? nil : head.digest,
      size: head.size,
      state: head.state,
      holders: row.number(1),
      isDeclared: row.flag(2) || row.number(1) != 0,
      file: row.optionalNumber(5)
    )
  }

  // MARK: Writing

  /// Returns false, without a change, when the URL already has a row.
  func insert(_ record: ContentRecord, holders: Int64) throws(Failure) -> Bool {
    _ = try draft(
      record.url,
      id: ItemName.stored(record.id, url: record.url),
      digest: record.digest,
      holders: holders,
      variance: record.variance,
      expiresAt: record.expiresAt
    ) { RecordRow.append(record, to: &$0) }
    return try insertDrafts() > 0
  }

  func draft(_ arrival: Arrival, holders: Int64) throws(Failure) -> Int64 {
    let (table, entry) = (arrival.terms.table, arrival.entry)
    let url = table.value.url(at: entry)
    return try draft(
      url,
      id: table.value.id(at: entry).flatMap { ItemName.stored($0, url: url) },
      digest: arrival.body.digest,
      holders: holders,
      variance: arrival.variance,
      expiresAt: nil
    ) { RecordRow.append(arrival, table.value, to: &$0) }
  }

  private func draft(
    _ url: String,
    id: String?,
    digest: ContentDigest?,
    holders: Int64,
    variance: Variance?,
    expiresAt: Instant?,
    facts: (inout [UInt8]) -> Void
  ) throws(Failure) -> Int64 {
    let item = try allocateNumber()
    insertions.add(item)
    insertions.add(url)
    insertions.add(id)
    insertions.add(digest?.mark)
    insertions.add(holders)
    insertions.add(try number(of: variance))
    insertions.add(expiresAt?.milliseconds)
    insertions.add(digest.flatMap { newFiles[$0] }?.mark)
    insertions.addBlob(facts)
    return item
  }

  func insertDrafts() throws(Failure) -> Int {
    try insertions.run()
  }

  func update(_ row: Row, to record: ContentRecord) throws(Failure) {
    var facts: [UInt8] = []
    RecordRow.append(record, to: &facts)
    let known = row.digest == record.digest ? row.file : nil
    let new = record.digest.flatMap { newFiles[$0] }
    try updateItem.run(
      row.item,
      ItemName.stored(record.id, url: record.url),
      record.digest?.mark,
      row.holders,
      try number(of: record.variance),
      record.expiresAt,
      new?.mark ?? known,
      facts
    )
    try deletions.times.run(row.item)
  }

  /// Changes the holders; `was_held` remembers that the item had some.
  func setHolders(_ holders: Int64, of row: Row) throws(Failure) {
    try updateHolders.run(row.item, holders)
  }

  func renewTimes(_ confirmations: [Confirmation]) throws(Failure) {
    // A rebuilt index gives the numbers from `end` on to other items.
    let end = try next()
    for confirmation in confirmations where confirmation.item < end {
      let columns = confirmation.freshness.columns
      renewals.add(confirmation.item)
      renewals.add(confirmation.validatedAt.milliseconds)
      renewals.add(columns.until)
      renewals.add(columns.kind)
      if renewals.isFull { try renewals.run() }
    }
    try renewals.run()
  }

  static func tidyUp(_ database: Database) throws(Failure) {
    for table in ["item_times", "item_locks", "item_files", "item_sights"] {
      try database.execute("DELETE FROM \(table) WHERE item NOT IN (SELECT item FROM items)")
    }
  }

  private func number(of variance: Variance?) throws(Failure) -> Int64 {
    guard let variance else { return 0 }
    return try variances.number(of: variance)
  }

  private func allocateNumber() throws(Failure) -> Int64 {
    let number = try next()
    nextNumber = number + 1
    return number
  }

  private func next() throws(Failure) -> Int64 {
    if nextNumber == nil {
      nextNumber = try database.number("SELECT next FROM item_numbers")
      firstNumber = nextNumber
    }
    guard let number = nextNumber else {
      throw Failure(.storeDamaged, "the index has lost its item numbers")
    }
    return number
  }

  func setSight(_ sight: Sight, of item: Int64) throws(Failure) {
    try setSight.run(
      item,
      sight.mark,
      sight.headMark,
      sight.seen.milliseconds,
      Int64(sight.restarts)
    )
  }

  // MARK: Files

  func files(of item: Int64) throws(Failure) -> [ContentDigest: Int64] {
    try findFiles.set(item)
    defer { findFiles.reset() }
    var files: [ContentDigest: Int64] = [:]
    while try findFiles.step() {
      if let digest = findFiles.optionalDigest(0) { files[digest] = findFiles.number(1) }
    }
    return files
  }

  /// Records that a user removed a URL which a run has in flight; `item` is the row's number.
  func recordWithdrawal(of url: String, item: Int64?, at time: Int64) throws(Failure) {
    let number = if let item { item } else { try allocateNumber() }
    try releases.withdraw.run(number, url, time)
  }

  func setFiles(_ files: [BundleFile], of item: Int64) throws(Failure) {
    try deletions.files.run(item)
    for file in files {
      let mark = newFiles[file.digest]?.mark
      try insertFile.run(item, file.digest, file.size, mark)
    }
  }

  func owners(ofFile digest: ContentDigest) throws(Failure) -> [String] {
    try findOwners.all(digest) { row in row.text(0) }
  }

  // MARK: Deleting

  struct Removal {
    var content: RemovedContent
    var digest: ContentDigest?
    var digestSize: Int64
    var holders: Int64
    var isLocked: Bool
  }

  func removal(of item: Int64, locks: LockRule) throws(Failure) -> Removal? {
    try findRemoval.set(item)
    defer { findRemoval.reset() }
    guard try findRemoval.step() else { return nil }
    let url = findRemoval.text(0)
    let head = try findRemoval.head(2, of: url)
    var content = RemovedContent(
      url: url,
      id: findRemoval.optionalText(1) ?? ItemName.made(from: url),
      size: head.size
    )
    content.hadBody = !head.digest.isNone
    for size in try files(of: item).values { content.size += size }
    return Removal(
      content: content,
      digest: head.digest.isNone ? nil : head.digest,
      digestSize: head.size,
      holders: findRemoval.number(3),
      isLocked: locks.isLocked(item)
    )
  }

  /// Keeps a copy of a row that is about to lose its body or to be deleted.
  func release(_ item: Int64, at now: Int64) throws(Failure) {
    try releases.keep.run(item, now)
  }

  func released(_ item: Int64) throws(Failure) -> (url: String, digest: ContentDigest?)? {
    try releases.find.set(item)
    defer { releases.find.reset() }
    guard try releases.find.step() else { return nil }
    let url = releases.find.text(0)
    let digest = try releases.find.head(1, of: url).digest
    return (url, digest.isNone ? nil : digest)
  }

  /// Restores a removed row; the URL must have no new row.
  func restore(_ item: Int64) throws(Failure) -> Row? {
    try releases.restore.run(item)
    return try row(item: item)
  }

  func delete(_ item: Int64) throws(Failure) {
    try deletions.item.run(item)
    try deletions.times.run(item)
    try deletions.files.run(item)
    try deletions.sights.run(item)
  }
}
