internal import Glibc
internal import PrefetchCore

extension DatabaseFile {
  /// Opens the database for writing or creates it; the caller excludes other processes.
  func openForWriting(_ reports: inout [Diagnostic]) throws(Failure) -> Database {
    guard try status() != nil else { return try rebuild(because: nil, &reports) }
    switch try openExisting() {
    case .current(let database):
      return database
    case .older(let fault), .unusable(let fault):
      return try rebuild(because: fault, &reports)
    }
  }

  /// Replaces a damaged or missing database by its newest good copy; no process may have it open.
  func rebuild(
    because fault: Failure?,
    _ reports: inout [Diagnostic]
  ) throws(Failure) -> Database {
    if let fault, try hasLog, try isSoundWithoutLog() {
      let name = try setLogAside()
      reports.append(
        Diagnostic(
          "store.set-aside",
          "`\(folder.path(of: logName))` cannot be used and was renamed to `\(name)-wal`: "
            + fault.message,
          severity: .warning,
          hint: "what the last run did not finish is done again",
          file: path
        )
      )
      return try connect(.writing)
    }
    let oldName = try setAside(&reports, because: fault)
    if let database = try createFromBackup(&reports) { return database }
    var rescuedCount = 0
    let database = try create { (temporary) throws(Failure) in
      let database = try connect(.creating, to: temporary)
      try database.execute("PRAGMA journal_mode=WAL")
      try schema.make(in: database)
      if let oldName { rescuedCount = try rescueRows(of: oldName, to: database) }
      return database
    }
    if rescuedCount > 0 {
      reports.append(
        Diagnostic(
          "store.rescued",
          "\(rescuedCount) queued event\(rescuedCount == 1 ? " was" : "s were") carried over to the new `\(path)`",
          severity: .warning,
          file: path
        )
      )
    }
    return database
  }

  private func rescueRows(of oldName: String, to database: Database) throws(Failure) -> Int {
    guard let rescue = schema.rescue, let old = try? connect(.writing, to: oldName) else {
      return 0
    }
    defer {
      old.close()
      _ = try? folder.remove(oldName + "-shm")
    }
    return try rescue(old, database)
  }

  private func openExisting() throws(Failure) -> Finding {
    guard try status()?.kind == .file else {
      return .unusable(Failure(.storeDamaged, "`\(path)` is not a file"))
    }
    return try examine { () throws(Failure) in try connect(.writing) }
  }

  /// Returns whether the file alone is intact: then it has the state at the end of the last run.
  private func isSoundWithoutLog() throws(Failure) -> Bool {
    guard try status()?.kind == .file else { return false }
    let finding = try examine(thoroughly: true) { () throws(Failure) in try connect(.immutable) }
    if case .current = finding { return true }
    return false
  }

  private func createFromBackup(_ reports: inout [Diagnostic]) throws(Failure) -> Database? {
    guard let backupName, let status = try folder.status(of: backupName), status.kind == .file
    else { return nil }
    // Checked before copying: a copy of a newer version throws here.
    let finding = try examine(of: backupName, thoroughly: true) { () throws(Failure) in
      try connect(.immutable, to: backupName)
    }
    if case .older = finding { return nil }
    if case .unusable(let fault) = finding {
      reports.append(
        Diagnostic("store.backup-damaged", fault.message, severity: .warning, file: path)
      )
      return nil
    }
    let database = try create { (temporary) throws(Failure) in
      try folder.copy(backupName, to: temporary, in: folder, mode: 0o644)
      let database = try connect(.creating, to: temporary)
      try database.execute("PRAGMA journal_mode=WAL")
      return database
    }
    reports.append(restored(from: backupName, status))
    return database
  }

  func restored(from backup: String, _ status: FileStatus) -> Diagnostic {
    let time = Instant(milliseconds: status.modified / 1_000_000)
    return Diagnostic(
      "store.restored",
      "`\(path)` was lost; its copy `\(backup)` of \(Timestamp.readable(time)) takes its place",
      severity: .warning,
      hint: "later changes are found again by their digests, or fetched again",
      file: path
    )
  }

  /// Makes the database under a temporary name, so that no process meets an incomplete one.
  private func create(
    _ make: (String) throws(Failure) -> Database
  ) throws(Failure) -> Database {
    try removeLeftovers(of: name)
    let temporary = Self.temporaryName(name)
    do throws(Failure) {
      let database = try make(temporary)
      if !isFirst, let statement = schema.rebuildStatement,
        let now = try folder.status(of: temporary)?.changed
      {
        // The file system's time can be compared with times of objects.
        try database.prepare(statement).run(now)
      }
      if let doubt = schema.rebuildDoubt {
        try database.execute(doubt)
      }
      try database.checkpoint()
      try database.setKeepsLogOnClose(false)
      database.close()
    } catch {
      try? removeDraft(temporary)
      throw error
    }
    // Another process may have been first, where locks are unreliable; its rows must stay.
    let result = folder.link(temporary, to: name, in: folder)
    if result != 0, result != -EEXIST { try folder.rename(temporary, to: name, in: folder) }
    try removeDraft(temporary)
    try folder.synchronize()
    return try connect(.writing)
  }

  /// Removes a draft with its log, which closing leaves where it cannot lock the draft.
  private func removeDraft(_ temporary: String) throws(Failure) {
    var fault: Failure?
    for suffix in ["", "-wal", "-shm"] {
      do throws(Failure) { try folder.remove(temporary + suffix) } catch { fault = fault ?? error }
    }
    if let fault { throw fault }
  }

  func removeLeftovers(of name: String) throws(Failure) {
    let prefix = Self.temporaryPrefix(name)
    for leftover in try folder.names() where leftover.hasPrefix(prefix) {
      // The maker may still be alive, where locks are unreliable.
      if Self.hasEndedMaker(leftover.dropFirst(prefix.count)) { try folder.remove(leftover) }
    }
  }

  /// Returns whether the maker of a temporary file has ended; its number may belong to another
  /// process by now, above all after a restart of the machine.
  private static func hasEndedMaker(_ name: Substring) -> Bool {
    let numbers = name.prefix { $0 != "-" }.split(separator: ".")
    guard let process = numbers.first.flatMap({ pid_t($0) }) else { return true }
    return !LockRule.isAlive(process, begun: numbers.dropFirst().first.flatMap { Int64($0) } ?? 0)
  }

  static func temporaryName(_ name: String) -> String {
    let process = getpid()
    let begun = LockRule.beginning(of: process) ?? 0
    return RandomName.make("\(temporaryPrefix(name))\(process).\(begun)-")
  }

  private static func temporaryPrefix(_ name: String) -> String {
    name + ".new-"
  }
}
