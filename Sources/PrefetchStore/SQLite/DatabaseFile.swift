internal import Glibc
internal import PrefetchCore

/// A database in a folder of ours, and the ways to open it.
///
/// Readers must neither create nor change a file. So whoever reads holds a shared lock on the
/// folder, and the log is moved into the file only by a writer that got the exclusive one: as long
/// as somebody reads, the file itself stands still and only the log grows.
struct DatabaseFile: Sendable {
  let folder: Folder
  let name: String
  let schema: Schema

  /// For messages.
  var path: String {
    folder.path(of: name)
  }

  private var logName: String { name + "-wal" }
  private var sharedMemoryName: String { name + "-shm" }

  /// Nil when there is no such file.
  func status() throws(Failure) -> FileStatus? {
    try folder.status(of: name)
  }

  // MARK: Writing

  /// Opens the database for writing, makes it where it is missing, and brings it up to date.
  ///
  /// What is no database of ours any more is set aside, never overwritten; one from a newer version
  /// is left as it is. Callers exclude each other.
  func openForWriting(_ reports: inout [Diagnostic]) throws(Failure) -> Database {
    guard try status() != nil else {
      try setAside(&reports, because: nil)
      return try create()
    }
    switch try openExisting() {
    case .ready(let database):
      return database
    case .unusable(let fault):
      try setAside(&reports, because: fault)
      return try create()
    }
  }

  private enum Opening {
    case ready(Database)
    case unusable(Failure)
  }

  /// Moves what the log holds into the file and closes, unless somebody reads; then the log stays.
  func close(_ database: Database, patience: Duration) throws(Failure) {
    defer { database.close() }
    guard let lock = try KernelLock.take(.exclusive, on: folder, patience: patience) else { return }
    try withExtendedLifetime(lock) { () throws(Failure) in
      database.setBusyTimeout(.milliseconds(100))
      guard try database.checkpoint() else { return }
      // Closing the last connection removes the log; it must happen under the lock.
      try database.setKeepsLogOnClose(false)
      database.close()
    }
  }

  /// Keeps a long run's log from growing without end; does nothing while somebody reads.
  func shortenLog(of database: Database, over limit: Int64) throws(Failure) {
    guard let log = try folder.status(of: logName), log.size > limit else { return }
    guard let lock = try KernelLock.take(.exclusive, on: folder) else { return }
    try withExtendedLifetime(lock) { () throws(Failure) in
      _ = try database.checkpoint()
    }
  }

  /// Renames a file that cannot be used, with what belongs to it, so that it can be looked at.
  func setAside(_ reports: inout [Diagnostic], because fault: Failure?) throws(Failure) {
    // A log without its file would be replayed into the next file of that name.
    try folder.remove(sharedMemoryName)
    guard let newName = try freeName() else { return }
    if try folder.status(of: logName) != nil {
      try folder.rename(logName, to: newName + "-wal", in: folder)
    }
    guard try status() != nil else { return }
    try folder.rename(name, to: newName, in: folder)
    let reason = fault.map { ": " + $0.message } ?? ""
    reports.append(
      Diagnostic(
        "store.set-aside",
        "`\(path)` cannot be used and was renamed to `\(newName)`\(reason)",
        severity: .warning,
        hint: "a new one was begun; delete `\(newName)` when nobody needs to look at it",
        file: path
      )
    )
  }

  private func freeName() throws(Failure) -> String? {
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

  private func openExisting() throws(Failure) -> Opening {
    guard try status()?.kind == .file else {
      return .unusable(Failure(.storeDamaged, "`\(path)` is not a file"))
    }
    let database: Database
    let standing: Schema.Standing
    do throws(Failure) {
      database = try connect(.writing)
      standing = try schema.standing(of: database)
    } catch {
      guard error.code == .storeDamaged else { throw error }
      return .unusable(error)
    }
    switch standing {
    case .current:
      return .ready(database)
    case .older(let version):
      try schema.migrate(database, from: version)
      return .ready(database)
    case .newer(let version):
      throw Schema.newer(version, than: schema.version, path)
    case .foreign:
      return .unusable(foreign)
    }
  }

  /// Makes it whole under another name first, so that no one ever meets half a database.
  private func create() throws(Failure) -> Database {
    try removeLeftovers()
    let temporary = RandomName.make(name + ".new-")
    do throws(Failure) {
      let database = try Database(
        path: folder.realPath + "/" + temporary,
        named: path,
        access: .creating
      )
      try database.execute("PRAGMA journal_mode=WAL")
      try schema.migrate(database, from: 0)
      _ = try database.checkpoint()
      try database.setKeepsLogOnClose(false)
    } catch {
      removeTemporary(temporary)
      throw error
    }
    try folder.rename(temporary, to: name, in: folder)
    try folder.synchronize()
    return try connect(.writing)
  }

  /// What a process that was killed while making one has left; callers exclude each other.
  private func removeLeftovers() throws(Failure) {
    for leftover in try folder.names() where leftover.hasPrefix(name + ".new-") {
      try folder.remove(leftover)
    }
  }

  private func removeTemporary(_ temporary: String) {
    for suffix in ["", "-wal", "-shm"] {
      _ = try? folder.remove(temporary + suffix)
    }
  }

  private func connect(_ access: Database.Access) throws(Failure) -> Database {
    try Database(path: folder.realPath + "/" + name, named: path, access: access)
  }

  private var foreign: Failure {
    Failure(.storeDamaged, "`\(path)` is not a database of prefetch, or damaged")
  }

  // MARK: Reading

  /// Opens the database without creating or changing anything; the file must exist.
  func openForReading() throws(Failure) -> DatabaseReading {
    guard try status()?.kind == .file else {
      throw Failure(.storeDamaged, "`\(path)` is not a file")
    }
    // Writers hold the exclusive lock for a moment only, when they end.
    guard let lock = try KernelLock.take(.shared, on: folder, patience: .seconds(30)) else {
      throw Failure(.disk, "`\(path)` is busy: a writer has been tidying up for too long")
    }
    let database = try openBesideWriters()
    switch try schema.standing(of: database) {
    case .current:
      return DatabaseReading(database: database, lock: lock)
    case .newer(let version):
      throw Schema.newer(version, than: schema.version, path)
    case .older:
      throw Failure(
        .storeDamaged,
        "`\(path)` is from an older version of prefetch; `prefetch run` renews it"
      )
    case .foreign:
      throw foreign
    }
  }

  /// Whether only a newer version of the program can read it.
  func isNewer() throws(Failure) -> Bool {
    guard let database = try? openBesideWriters(),
      case .newer = try? schema.standing(of: database)
    else { return false }
    return true
  }

  private func openBesideWriters() throws(Failure) -> Database {
    guard let log = try folder.status(of: logName), log.size > 0 else {
      return try connect(.immutable)
    }
    do throws(Failure) {
      let database = try connect(.reading)
      // SQLite opens the log with the first statement only.
      _ = try database.number("SELECT count(*) FROM sqlite_schema")
      return database
    } catch {
      guard error.code == .permission || error.code == .disk else { throw error }
      return try openCopy()
    }
  }

  /// Reads a copy, where a log's shared memory is missing and cannot be made, or may not be used.
  ///
  /// Nothing moves the log into the file meanwhile, and a half-written end of the log is recognised
  /// by its checksum. Nobody in this process has the file open: closing a descriptor of it drops the
  /// locks that SQLite holds on it.
  private func openCopy() throws(Failure) -> Database {
    let place = try TemporaryFolder()
    try place.copy(name, from: folder)
    try place.copy(logName, from: folder)
    let database = try Database(
      path: place.folder.realPath + "/" + name,
      named: path,
      access: .writing
    )
    // Needs no shared memory, and so keeps working when the names are gone.
    try database.execute("PRAGMA locking_mode=EXCLUSIVE")
    _ = try database.number("SELECT count(*) FROM sqlite_schema")
    return database
  }
}

/// A database that stands still as long as this value lives.
struct DatabaseReading {
  let database: Database
  private let lock: KernelLock

  init(database: Database, lock: KernelLock) {
    self.database = database
    self.lock = lock
  }
}
