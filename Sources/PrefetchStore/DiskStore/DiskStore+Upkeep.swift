package import PrefetchCore

extension DiskStore {
  /// Notes, for runs to come, which folders are complete and how much was changed; to be called in
  /// turn.
  func recordUpkeep(_ database: Database) throws(Failure) {
    let changes = database.totalChangeCount - countedChanges
    try recordTimes(database)
    try recordExamined(database)
    guard changes > 0 else { return }
    try database.execute("UPDATE upkeep SET changes=changes+\(changes)")
    countedChanges = database.totalChangeCount
  }

  /// Renews the last good copy of the index when it is a day old, or a tenth of the rows changed.
  ///
  /// Of several processes that end together one is enough.
  func backUpWhenDue() throws(Failure) {
    let database = try database()
    let writing = try requireWriting()
    guard let lock = try KernelLock.take(.exclusive, on: writing.layout.objects) else {
      return
    }
    defer { withExtendedLifetime(lock) {} }
    do throws(Failure) {
      try writing.claims.inTurn { () throws(Failure) in try recordUpkeep(database) }
      try index.removeLeftovers(of: CacheLayout.backupName)
      try index.removeLeftovers(of: CacheLayout.indexName)
      guard try isBackupDue(database) else { return }
      try writing.claims.inTurn { () throws(Failure) in
        try VarianceRows.tidyUp(database)
        try ItemRows.tidyUp(database)
        try database.execute("UPDATE upkeep SET changes=0")
      }
      countedChanges = database.totalChangeCount
      try index.backUp(database, isDurable: writing.publisher.durability != .none)
    } catch {
      // The run itself is done; a damaged index is set aside when it is closed.
      diagnostics.append(
        Diagnostic(
          "store.backup",
          "the copy of the index could not be updated: \(error.message)",
          severity: .warning,
          hint: "the next run tries again",
          file: index.path
        )
      )
    }
  }

  /// Whether the index took the place of a lost one, and no copy was made of it since: its rows may
  /// name bodies that went before the loss.
  var isMadeFromCopy: Bool {
    get throws(Failure) {
      guard let rebuilt = try database().number("SELECT rebuilt_at FROM upkeep") else {
        return false
      }
      return try root.status(of: CacheLayout.backupName).map { $0.modified < rebuilt } ?? false
    }
  }

  private func isBackupDue(_ database: Database) throws(Failure) -> Bool {
    guard let backup = try root.status(of: CacheLayout.backupName), backup.kind == .file else {
      return true
    }
    if try isMadeFromCopy { return true }
    let changes = try database.number("SELECT changes FROM upkeep") ?? 0
    guard changes > 0 else { return false }
    let made = Instant(milliseconds: backup.modified / 1_000_000)
    let age = clockStart - made
    // One of the future was made by a clock that was ahead.
    if age > Self.longestBackupAge || age < .zero - Self.longestBackupAge { return true }
    // The highest number stands for the count, which would cost a pass over a large index.
    return changes * 10 >= (try database.number("SELECT max(item) FROM items") ?? 0)
  }

  /// Up to when objects may belong to rows that were lost with the index, in nanoseconds.
  ///
  /// A manifest that names them finds them again; nil when that had its time.
  func sparedOrphans() throws(Failure) -> Int64? {
    guard let rebuilt = try database().number("SELECT rebuilt_at FROM upkeep"),
      clockStart - Instant(milliseconds: rebuilt / 1_000_000) < Self.longestSearch
    else { return nil }
    return rebuilt
  }

  private static let longestBackupAge: Duration = .seconds(24 * 3600)
  private static let longestSearch: Duration = .seconds(7 * 24 * 3600)

  /// The time by which content expires: none where the clock is far ahead of what servers told.
  package func expiryTime() throws(Failure) -> Instant {
    try believesClock() ? clockStart : Instant(milliseconds: .min)
  }

  /// Whether the clock is not far ahead of what servers have told.
  package func believesClock() throws(Failure) -> Bool {
    let told = ServerTime(recorded: try database().newestDate())
    return !told.isBehind(clockStart)
  }

  /// The time from which something is to last: no earlier than what servers have told, since a clock
  /// that begins anew with the machine may be years behind.
  package func presentTime() throws(Failure) -> Instant {
    guard let told = try database().newestDate() else { return clockStart }
    return max(clockStart, told)
  }

  // MARK: The key of header digests

  package func varianceKey() throws(Failure) -> VarianceKey {
    try answering { () throws(Failure) in
      let row = try database().prepare("SELECT variance_key FROM upkeep")
      guard try row.step(), let key = VarianceKey(row.bytes(0)) else {
        throw Failure(.storeDamaged, "the index has lost the key of its header digests")
      }
      return key
    }
  }
}

extension Database {
  /// The newest `Date` that servers have told.
  func newestDate() throws(Failure) -> Instant? {
    try number("SELECT newest_date FROM upkeep").map(Instant.init(milliseconds:))
  }
}
