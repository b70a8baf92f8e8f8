package import PrefetchCore

extension DiskStore {
  /// Records complete folders and the number of changes; call within `Claims.withWriterLock`.
  func recordUpkeep(_ database: Database) throws(Failure) {
    let changes = database.totalChangeCount - countedChanges
    try recordTimes(database)
    try recordExamined(database)
    guard changes > 0 else { return }
    try database.execute("UPDATE upkeep SET changes=changes+\(changes)")
    countedChanges = database.totalChangeCount
  }

  /// Backs up the index when its backup is a day old or a tenth of the rows changed.
  func backUpWhenDue() throws(Failure) {
    let database = try database()
    let writing = try requireWriting()
    guard let lock = try KernelLock.acquire(.exclusive, on: writing.layout.objects) else {
      return
    }
    defer { withExtendedLifetime(lock) {} }
    do throws(Failure) {
      try writing.claims.withWriterLock { () throws(Failure) in try recordUpkeep(database) }
      try index.removeLeftovers(of: CacheLayout.backupName)
      try index.removeLeftovers(of: CacheLayout.indexName)
      guard try isBackupDue(database) else { return }
      try writing.claims.withWriterLock { () throws(Failure) in
        try VarianceRows.tidyUp(database)
        try ItemRows.tidyUp(database)
        try database.execute("UPDATE upkeep SET changes=0")
      }
      countedChanges = database.totalChangeCount
      try index.backUp(database, isDurable: writing.publisher.durability != .none)
    } catch {
      // The run has succeeded; closing the store sets a damaged index aside.
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

  /// Whether the index was rebuilt from its copy: until a backup, rows may name removed bodies.
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
    // A backup from the future was made by a clock that was ahead.
    if age > Self.longestBackupAge || age < .zero - Self.longestBackupAge { return true }
    // The highest item number stands for the count, which would take a scan of a large index.
    return changes * 10 >= (try database.number("SELECT max(item) FROM items") ?? 0)
  }

  /// Returns the time (ns) up to which orphans may belong to rows of a lost index; nil without any.
  func orphanRetentionLimit() throws(Failure) -> Int64? {
    guard let rebuilt = try database().number("SELECT rebuilt_at FROM upkeep"),
      clockStart - Instant(milliseconds: rebuilt / 1_000_000) < Self.longestSearch
    else { return nil }
    return rebuilt
  }

  private static let longestBackupAge: Duration = .seconds(24 * 3600)
  private static let longestSearch: Duration = .seconds(7 * 24 * 3600)

  /// Returns the time by which content expires: none when the clock is far ahead of server dates.
  package func expiryTime() throws(Failure) -> Instant {
    try believesClock() ? clockStart : Instant(milliseconds: .min)
  }

  package func believesClock() throws(Failure) -> Bool {
    let newest = ServerTime(recorded: try database().newestDate())
    return !newest.showsClockAhead(at: clockStart)
  }

  /// Returns the start of new periods: a clock reset by the machine's start may be years behind.
  package func presentTime() throws(Failure) -> Instant {
    guard let newest = try database().newestDate() else { return clockStart }
    return max(clockStart, newest)
  }

  // MARK: The key of header digests

  package func varianceKey() throws(Failure) -> VarianceKey {
    try withBackup { () throws(Failure) in try IndexRows.varianceKey(database()) }
  }
}

extension Database {
  func newestDate() throws(Failure) -> Instant? {
    try number("SELECT newest_date FROM upkeep").map(Instant.init(milliseconds:))
  }
}
