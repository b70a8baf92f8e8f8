internal import Glibc
internal import PrefetchCore
internal import Synchronization

extension DatabaseFile {
  /// Whether this process reads and writes the database at the same time.
  static let hasOwnWriters = Atomic<Bool>(false)

  /// Opens the database, or its last good copy, without changing anything.
  func openForReading(_ reports: inout [Diagnostic]) throws(Failure) -> DatabaseReading {
    let lock = try lockForReading()
    guard let status = try status() else {
      return try openCopy(because: missing, lock, &reports)
    }
    guard status.kind == .file else {
      let fault = Failure(.storeDamaged, "`\(path)` is not a file")
      return try openCopy(because: fault, lock, &reports)
    }
    switch try examine({ () throws(Failure) in try openAlongsideWriters() }) {
    case .current(let database):
      return DatabaseReading(database: database, lock: lock)
    case .older(let fault):
      return try openEmpty(because: fault, lock, &reports)
    case .unusable(let fault):
      return try openCopy(because: fault, lock, &reports)
    }
  }

  func openCopy(
    because fault: Failure,
    _ reports: inout [Diagnostic]
  ) throws(Failure) -> DatabaseReading {
    try openCopy(because: fault, lockForReading(), &reports)
  }

  /// Takes the shared lock; a writer holds the exclusive one only briefly when it ends.
  private func lockForReading() throws(Failure) -> KernelLock {
    try KernelLock.wait(
      .shared,
      on: folder,
      for: path,
      usedBy: CacheUser.others(inCache: folder)
    )
  }

  private func openCopy(
    because fault: Failure,
    _ lock: KernelLock,
    _ reports: inout [Diagnostic]
  ) throws(Failure) -> DatabaseReading {
    if try hasLog, try status()?.kind == .file,
      case .current(let database) = try examine(
        thoroughly: true,
        { () throws(Failure) in try connect(.immutable) }
      )
    {
      reports.append(replacementDiagnostic(fault, "the file without its log `\(logName)`"))
      return DatabaseReading(database: database, lock: lock, isCopy: true)
    }
    guard let backupName, try folder.status(of: backupName)?.kind == .file else { throw fault }
    let finding = try examine(of: backupName, thoroughly: true) { () throws(Failure) in
      try connect(.immutable, to: backupName)
    }
    reports.append(replacementDiagnostic(fault, "the copy `\(backupName)`"))
    switch finding {
    case .unusable, .older:
      throw fault
    case .current(let database):
      return DatabaseReading(database: database, lock: lock, isCopy: true)
    }
  }

  /// Opens an empty database, as a run of this version would begin.
  private func openEmpty(
    because fault: Failure,
    _ lock: KernelLock,
    _ reports: inout [Diagnostic]
  ) throws(Failure) -> DatabaseReading {
    reports.append(
      Diagnostic(
        "store.older",
        fault.message,
        severity: .warning,
        hint:
          "the next \(MirrorRules.runCommand(over: path)) makes a new one; bodies pinned by a digest are found again",
        file: path
      )
    )
    return try emptyReading(lock)
  }

  func emptyReading(_ lock: KernelLock? = nil) throws(Failure) -> DatabaseReading {
    let database = try Database(path: ":memory:", named: path, access: .creating)
    try schema.make(in: database)
    return DatabaseReading(database: database, lock: lock, isCopy: true)
  }

  /// Returns an in-memory copy, to which rows can be added without changing the file.
  func copyInMemory(of database: Database) throws(Failure) -> DatabaseReading {
    let copy = try Database(path: ":memory:", named: path, access: .creating)
    try database.copyPages(to: copy)
    return DatabaseReading(database: copy, lock: nil, isCopy: true)
  }

  var objectionToNewer: Failure? {
    // Opening a pipe would wait for its writer.
    guard (try? status())??.kind == .file, let database = try? openAlongsideWriters(),
      case .newer(let version) = try? schema.versionStatus(of: database)
    else { return nil }
    return schema.newer(version, path)
  }

  private var missing: Failure {
    Failure(
      .storeDamaged,
      "`\(path)` is missing; \(MirrorRules.runCommand(over: path)) makes a new one"
    )
  }

  private func replacementDiagnostic(_ fault: Failure, _ copy: String) -> Diagnostic {
    Diagnostic(
      "store.damaged",
      "\(fault.message); \(copy) answers instead",
      severity: .warning,
      hint: "\(MirrorRules.runCommand(over: path)) repairs it",
      file: path
    )
  }

  private func openAlongsideWriters() throws(Failure) -> Database {
    // A lower cache must not be written, and reading beside a log would write shared memory.
    if isLower { return try hasLog ? openPrivately(name) : connect(.immutable) }
    // Closing a file opened without locks would drop the locks of this process's writers.
    if Self.hasOwnWriters.load(ordering: .relaxed) { return try connect(.writing) }
    guard try hasLog else { return try connect(.immutable) }
    guard try hasIndexOfLog else { return try openPrivately(name) }
    do throws(Failure) {
      let database = try connect(.reading)
      // SQLite opens the log with the first statement.
      try database.trying { () throws(Failure) in
        _ = try database.number("SELECT count(*) FROM sqlite_schema")
      }
      return database
    } catch {
      guard [.permission, .disk, .locked].contains(error.code) else { throw error }
      return try openPrivately(name)
    }
  }

  /// Whether the shared memory has two equal headers; otherwise SQLite would try for ten seconds.
  private var hasIndexOfLog: Bool {
    get throws(Failure) {
      guard let file = try folder.openExisting(sharedMemoryName, O_RDONLY) else { return false }
      let size = 48
      let isMade = 12
      var headers = [UInt8](repeating: 0, count: 2 * size)
      guard try file.read(into: &headers, at: 0) == headers.count else { return false }
      return headers[isMade] != 0 && headers[..<size] == headers[size...]
    }
  }

  /// Reads a private copy, where the log's shared memory is missing or may not be used.
  ///
  /// This process must not have the file open: closing a descriptor drops SQLite's locks on the
  /// file. Nothing moves the log meanwhile, and a checksum reveals its half-written end.
  private func openPrivately(_ name: String) throws(Failure) -> Database {
    let temporary = try TemporaryFolder()
    try folder.copy(name, to: name, in: temporary.folder)
    if name == self.name, try hasLog {
      try folder.copy(logName, to: logName, in: temporary.folder)
    }
    let database = try Database(
      path: temporary.folder.realPath + "/" + name,
      named: path,
      access: .writing
    )
    // Needs no shared memory, and works after the names are removed.
    try database.execute("PRAGMA locking_mode=EXCLUSIVE")
    _ = try database.number("SELECT count(*) FROM sqlite_schema")
    return database
  }
}

/// A database that does not change while this value lives.
struct DatabaseReading {
  let database: Database
  let isCopy: Bool
  private let lock: KernelLock?

  init(database: Database, lock: KernelLock?, isCopy: Bool = false) {
    self.database = database
    self.lock = lock
    self.isCopy = isCopy
  }
}
