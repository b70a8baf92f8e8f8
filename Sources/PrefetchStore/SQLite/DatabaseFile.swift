internal import Glibc
internal import PrefetchCore
internal import Synchronization

/// A database in a folder of ours, and the ways to open it.
///
/// Readers must neither create nor change a file. So a reader holds a shared lock on the
/// folder, and the log is moved into the file only by a writer that got the exclusive one: as long
/// as there is a reader, the file itself stands still and only the log grows.
struct DatabaseFile: Sendable {
  let folder: Folder
  let name: String
  let schema: Schema
  /// The last good copy, which takes the place of a database that is lost; nil = none is made.
  var backupName: String?
  /// Whether nobody here may write it, nor anything beside it.
  var isLower = false

  /// For messages.
  var path: String {
    folder.path(of: name)
  }

  var logName: String { name + "-wal" }
  var sharedMemoryName: String { name + "-shm" }

  /// Nil when there is no such file.
  func status() throws(Failure) -> FileStatus? {
    try folder.status(of: name)
  }

  /// Whether the log holds anything: what a run that was killed leaves may be a head alone, which
  /// SQLite would wait for a process to write behind.
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
    /// An earlier version's; what is in it can be found again.
    case older(Failure)
    case unusable(Failure)
  }

  /// Whether a database is one of ours and, as far as a glance tells, whole.
  ///
  /// Throws for one from a newer version, which must be left as it is.
  ///
  /// SQLite takes some read errors for damage, so what is found unusable is read and examined again.
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

  /// Throws where the kernel does not give the bytes of a file.
  private func checkReading(of name: String) throws(Failure) {
    // To close the file would drop the locks of this process's writers.
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
    let standing: Schema.Standing
    do throws(Failure) {
      database = try open()
      standing = try schema.standing(of: database)
      try database.checkPages(upTo: thoroughly ? .max : Self.glance)
      // What is looked at thoroughly stands without a log.
      let standsAlone = thoroughly ? true : try !hasLog
      if standsAlone { try checkEnd(of: other ?? name, database) }
    } catch {
      guard error.code == .storeDamaged else { throw error }
      return .unusable(error)
    }
    switch standing {
    case .current:
      return .current(database)
    case .older(let version):
      database.close()
      return .older(schema.older(version, path))
    case .newer(let version):
      if try !hasLog {
        // Nothing to move into the file, so closing takes the empty log away again.
        try database.setKeepsLogOnClose(false)
      }
      throw schema.newer(version, path)
    case .foreign:
      return .unusable(
        Failure(.storeDamaged, "`\(path)` is not a database of prefetch, or damaged")
      )
    }
  }

  /// SQLite takes a last page of which a part is missing for one that ends with zeros, which in the
  /// middle of a row nothing tells from what was written.
  private func checkEnd(of name: String, _ database: Database) throws(Failure) {
    guard let size = try folder.status(of: name)?.size,
      let pageSize = try database.number("PRAGMA page_size"), size % pageSize != 0
    else { return }
    database.noteDamage()
    throw Failure(.storeDamaged, "`\(folder.path(of: name))` is damaged: its end is missing")
  }

  /// Pages that are looked at in about a millisecond; damage of a larger file shows when it is read.
  private static let glance: Int64 = 64

  /// Gives the file, and what belongs to it, to its owner alone, or lets others read it too.
  func setMode(_ mode: mode_t = 0o600) throws(Failure) {
    for name in [name, logName, sharedMemoryName, backupName].compactMap(\.self) {
      guard let status = try folder.status(of: name), status.mode & 0o777 != mode else { continue }
      let result = SystemCall.number { unsafe fchmodat(folder.number, name, mode, 0) }
      // Another user's file is as private as they made it.
      guard result < 0, result != -EPERM else { continue }
      throw .system(-result, "change the mode of", folder.path(of: name))
    }
  }

  // MARK: Closing

  /// Moves what the log holds into the file and closes; the log stays where a reader needs it.
  func close(_ database: Database, patience: Duration) throws(Failure) {
    defer { database.close() }
    guard let lock = try KernelLock.take(.exclusive, on: folder, patience: patience) else { return }
    try withExtendedLifetime(lock) { () throws(Failure) in
      let isEmptied = try database.trying { () throws(Failure) in try database.checkpoint() }
      guard isEmptied else { return }
      // Closing the last connection removes the log; it must happen under the lock.
      try database.setKeepsLogOnClose(false)
      database.close()
    }
  }

  /// Keeps a long run's log from growing without end; does nothing while a reader needs it.
  func shortenLog(of database: Database, over limit: Int64) throws(Failure) {
    guard let log = try folder.status(of: logName), log.size > limit else { return }
    guard let lock = try KernelLock.take(.exclusive, on: folder) else { return }
    try withExtendedLifetime(lock) { () throws(Failure) in
      _ = try database.checkpoint()
    }
  }

  // MARK: Setting aside

  /// Renames a file that cannot be used, with what belongs to it, so that it can be looked at.
  ///
  /// Returns its new name; nil where there was no file.
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

  /// Renames the log alone; returns the name under which its file would be put aside.
  ///
  /// A log without its file would be replayed into the next file of that name.
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
