internal import Glibc
internal import PrefetchCore
internal import Synchronization

extension DatabaseFile {
  /// Whether threads of this process read and write at the same time.
  static let hasOwnWriters = Atomic<Bool>(false)

  /// Opens the database without creating or changing anything.
  ///
  /// Where it is lost, its last good copy answers, which the reports then say.
  func openForReading(_ reports: inout [Diagnostic]) throws(Failure) -> DatabaseReading {
    let lock = try lockForReading()
    guard let status = try status() else {
      return try openCopy(because: missing, lock, &reports)
    }
    guard status.kind == .file else {
      let fault = Failure(.storeDamaged, "`\(path)` is not a file")
      return try openCopy(because: fault, lock, &reports)
    }
    switch try examine({ () throws(Failure) in try openBesideWriters() }) {
    case .current(let database):
      return DatabaseReading(database: database, lock: lock)
    case .older(let fault):
      return try openEmpty(because: fault, lock, &reports)
    case .unusable(let fault):
      return try openCopy(because: fault, lock, &reports)
    }
  }

  /// Opens what is left of a database that turned out damaged while it was read.
  func openCopy(
    because fault: Failure,
    _ reports: inout [Diagnostic]
  ) throws(Failure) -> DatabaseReading {
    try openCopy(because: fault, lockForReading(), &reports)
  }

  /// Writers hold the exclusive lock for a moment only, when they end.
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
      reports.append(answersFor(fault, "the file without its log `\(logName)`"))
      return DatabaseReading(database: database, lock: lock, isCopy: true)
    }
    guard let backupName, try folder.status(of: backupName)?.kind == .file else { throw fault }
    let finding = try examine(of: backupName, thoroughly: true) { () throws(Failure) in
      try connect(.immutable, to: backupName)
    }
    reports.append(answersFor(fault, "the copy `\(backupName)`"))
    switch finding {
    case .unusable, .older:
      throw fault
    case .current(let database):
      return DatabaseReading(database: database, lock: lock, isCopy: true)
    }
  }

  /// What a run of this version will find: nothing but what the file system tells.
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

  /// Of a database that is not there, in memory.
  func emptyReading(_ lock: KernelLock? = nil) throws(Failure) -> DatabaseReading {
    let database = try Database(path: ":memory:", named: path, access: .creating)
    try schema.make(in: database)
    return DatabaseReading(database: database, lock: lock, isCopy: true)
  }

  /// What is in it now, and may be added to without a trace.
  func copyInMemory(of database: Database) throws(Failure) -> DatabaseReading {
    let copy = try Database(path: ":memory:", named: path, access: .creating)
    try database.copyPages(to: copy)
    return DatabaseReading(database: copy, lock: nil, isCopy: true)
  }

  /// Says that only a newer version of the program can read it; nil where that is not so.
  var objectionToNewer: Failure? {
    guard let database = try? openBesideWriters(),
      case .newer(let version) = try? schema.standing(of: database)
    else { return nil }
    return schema.newer(version, path)
  }

  private var missing: Failure {
    Failure(
      .storeDamaged,
      "`\(path)` is missing; \(MirrorRules.runCommand(over: path)) makes a new one"
    )
  }

  private func answersFor(_ fault: Failure, _ copy: String) -> Diagnostic {
    Diagnostic(
      "store.damaged",
      "\(fault.message); \(copy) answers instead",
      severity: .warning,
      hint: "\(MirrorRules.runCommand(over: path)) repairs it",
      file: path
    )
  }

  private func openBesideWriters() throws(Failure) -> Database {
    // Beside a log there would be shared memory to be written.
    if isLower { return try hasLog ? openPrivately(name) : connect(.immutable) }
    // Closing a file that was opened without locks would drop those of this process's writers.
    if Self.hasOwnWriters.load(ordering: .relaxed) { return try connect(.writing) }
    guard try hasLog else { return try connect(.immutable) }
    guard try hasIndexOfLog else { return try openPrivately(name) }
    do throws(Failure) {
      let database = try connect(.reading)
      // SQLite opens the log with the first statement only.
      try database.trying { () throws(Failure) in
        _ = try database.number("SELECT count(*) FROM sqlite_schema")
      }
      return database
    } catch {
      guard [.permission, .disk, .locked].contains(error.code) else { throw error }
      return try openPrivately(name)
    }
  }

  /// Whether the shared memory has both its headers, and alike.
  ///
  /// What only a writer could put right SQLite tries for ten seconds each time.
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

  /// Reads a copy, where a log's shared memory is missing and cannot be made, or may not be used.
  ///
  /// Nothing moves the log into the file meanwhile, and a half-written end of the log is recognised
  /// by its checksum. This process does not have the file open: closing a descriptor drops the
  /// locks that SQLite holds on it.
  private func openPrivately(_ name: String) throws(Failure) -> Database {
    let place = try TemporaryFolder()
    try folder.copy(name, to: name, in: place.folder)
    if name == self.name, try hasLog {
      try folder.copy(logName, to: logName, in: place.folder)
    }
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
  /// Whether it is not the database itself, but what is left of it.
  let isCopy: Bool
  private let lock: KernelLock?

  init(database: Database, lock: KernelLock?, isCopy: Bool = false) {
    self.database = database
    self.lock = lock
    self.isCopy = isCopy
  }
}
