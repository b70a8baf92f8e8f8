internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// A database file in a folder, and the ways to open it.
///
/// Readers must not change files: they hold a shared lock on the folder, and only a writer with the
/// exclusive lock moves the log into the file.
struct DatabaseFile: Sendable {
  let folder: Folder
  let name: String
  let schema: Schema
  var backupName: String?
  /// Whether the file belongs to a lower cache, which is never written.
  var isLower = false
  /// Whether there was no such file before: one that is made then replaces no lost one.
  var isFirst = false

  var path: String {
    folder.path(of: name)
  }

  var logName: String { name + "-wal" }
  var sharedMemoryName: String { name + "-shm" }

  func status() throws(Failure) -> FileStatus? {
    try folder.status(of: name)
  }

  /// Whether the log has more than a header, which a killed run may leave.
  var hasLog: Bool {
    get throws(Failure) {
      try folder.status(of: logName).map { $0.size > Self.logHead } ?? false
    }
  }

  private static let logHead: Int64 = 32

  var hasBackup: Bool {
    get throws(Failure) {
      guard let backupName else { return false }
      return try folder.status(of: backupName) != nil
    }
  }

  func connect(_ access: Database.Access, to other: String? = nil) throws(Failure) -> Database {
    let name = other ?? name
    return try Database(
      path: folder.realPath + "/" + name,
      named: folder.path(of: name),
      access: access
    )
  }

  // MARK: Examining

  enum Finding {
    case current(Database)
    /// Database of an earlier version; its content can be found again.
    case older(Failure)
    case unusable(Failure)
  }

  /// Checks that the file is an intact prefetch database; throws for a newer version.
  ///
  /// SQLite reports some read errors as damage, so an unusable file is read and examined once more.
  func examine(
    of other: String? = nil,
    thoroughly: Bool = false,
    _ open: () throws(Failure) -> Database
  ) throws(Failure) -> Finding {
    let finding = try examineOnce(of: other, thoroughly: thoroughly, open)
    guard case .unusable = finding else { return finding }
    try checkReading(of: other ?? name)
    return try examineOnce(of: other, thoroughly: thoroughly, open)
  }

  private func checkReading(of name: String) throws(Failure) {
    // Closing the file would drop the locks of this process's writers.
    guard !Self.hasOwnWriters.load(ordering: .relaxed),
      try folder.status(of: name)?.kind == .file
    else { return }
    let file = try folder.open(name, O_RDONLY)
    guard file.reread() == .complete else {
      throw Failure(.disk, "cannot read `\(folder.path(of: name))`: the disk reports an error")
    }
  }

  private func examineOnce(
    of other: String?,
    thoroughly: Bool,
    _ open: () throws(Failure) -> Database
  ) throws(Failure) -> Finding {
    let database: Database
    let versionStatus: Schema.VersionStatus
    do throws(Failure) {
      database = try open()
      versionStatus = try schema.versionStatus(of: database)
      try database.checkPages(upTo: thoroughly ? .max : Self.glance)
      if case .current = versionStatus {
        try schema.checkTables(of: database)
        if thoroughly { try schema.checkRows?(database) }
      }
      // A thorough check opens the file without its log.
      let standsAlone = thoroughly ? true : try !hasLog
      if standsAlone { try checkEnd(of: other ?? name, database) }
    } catch {
      guard error.code == .storeDamaged else { throw error }
      return .unusable(error)
    }
    switch versionStatus {
    case .current:
      return .current(database)
    case .older(let version):
      database.close()
      return .older(schema.older(version, path))
    case .newer(let version):
      if try !hasLog {
        // Without log content, closing may remove the log.
        try database.setKeepsLogOnClose(false)
      }
      throw schema.newer(version, path)
    case .foreign:
      return .unusable(
        Failure(.storeDamaged, "`\(path)` is not a database of prefetch, or damaged")
      )
    }
  }

  /// Reports a truncated last page, which SQLite would read as one that ends with zeros.
  private func checkEnd(of name: String, _ database: Database) throws(Failure) {
    guard let size = try folder.status(of: name)?.size,
      let pageSize = try database.number("PRAGMA page_size"), size % pageSize != 0
    else { return }
    database.markDamaged()
    throw Failure(.storeDamaged, "`\(folder.path(of: name))` is damaged: its end is missing")
  }

  /// Pages checked in about a millisecond; other damage appears during reading.
  private static let glance: Int64 = 64

  func setMode(_ mode: mode_t = 0o600) throws(Failure) {
    for name in [name, logName, sharedMemoryName, backupName].compactMap(\.self) {
      guard let status = try folder.status(of: name), status.mode & 0o777 != mode else { continue }
      let result = SystemCall.number { unsafe fchmodat(folder.number, name, mode, 0) }
      // The mode of another user's file is up to that user.
      guard result < 0, result != -EPERM else { continue }
      throw .system(-result, "change the mode of", folder.path(of: name))
    }
  }

  // MARK: Closing

  /// Moves the log into the file and closes; the log stays while a reader needs it.
  func close(_ database: Database, timeout: Duration) throws(Failure) {
    defer { database.close() }
    guard let lock = try KernelLock.acquire(.exclusive, on: folder, timeout: timeout) else {
      return
    }
    try withExtendedLifetime(lock) { () throws(Failure) in
      let isEmptied = try database.trying { () throws(Failure) in try database.checkpoint() }
      guard isEmptied else { return }
      // Closing the last connection removes the log, which needs the lock.
      try database.setKeepsLogOnClose(false)
      database.close()
    }
  }

  /// Checkpoints a log above the limit, unless a reader needs it.
  func shortenLog(of database: Database, over limit: Int64) throws(Failure) {
    guard let log = try folder.status(of: logName), log.size > limit else { return }
    guard let lock = try KernelLock.acquire(.exclusive, on: folder) else { return }
    try withExtendedLifetime(lock) { () throws(Failure) in
      _ = try database.checkpoint()
    }
  }

  // MARK: Setting aside

  /// Renames an unusable database and its log for inspection; returns the new name.
  @discardableResult
  func setAside(
    _ reports: inout [Diagnostic],
    because fault: Failure?
  ) throws(Failure) -> String? {
    try checkReading(of: name)
    let newName = try setLogAside()
    guard try status() != nil else { return nil }
    try folder.rename(name, to: newName, in: folder)
    let reason = fault.map { ": " + $0.message } ?? ""
    reports.append(
      Diagnostic(
        "store.set-aside",
        "`\(path)` is no longer used and was renamed to `\(newName)`\(reason)",
        severity: .warning,
        hint: "delete `\(newName)` when it is no longer needed",
        file: path
      )
    )
    return newName
  }

  /// Renames the log, so that no new file replays it; returns the name for its database.
  @discardableResult
  func setLogAside() throws(Failure) -> String {
    try folder.remove(sharedMemoryName)
    let newName = try freeName()
    if try folder.status(of: logName) != nil {
      try folder.rename(logName, to: newName + "-wal", in: folder)
    }
    return newName
  }

  private func freeName() throws(Failure) -> String {
    for number in 1...1000 {
      let candidate = "\(name).damaged-\(number)"
      guard try folder.status(of: candidate) == nil else { continue }
      if try folder.status(of: candidate + "-wal") == nil { return candidate }
    }
    throw Failure(
      .storeDamaged,
      "too many files `\(name).damaged-*` in `\(folder.path)`; delete them"
    )
  }
}
