internal import CSQLite
internal import Glibc
internal import PrefetchCore

/// One connection to one database file; used by one thread at a time.
@safe final class Database {
  enum Access {
    /// Makes the file where it is missing.
    case creating
    case writing
    /// Beside a writer: never makes a file, not even for shared memory.
    case reading
    /// The file cannot change as long as it is open.
    case immutable
  }

  /// Only for messages.
  let name: String
  let handle: OpaquePointer
  private var isOpen = true
  private let busyWait: BusyWait
  /// Prepared statements that are not in use, by their text.
  private var idleStatements: [String: OpaquePointer] = unsafe [:]
  /// Whether any statement met broken pages.
  private(set) var isDamaged = false

  init(path: String, named name: String, access: Access) throws(Failure) {
    self.name = name
    busyWait = BusyWait(name)
    Self.prepareLibrary
    var flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    var uri = "file:" + Self.escaped(path)
    switch access {
    case .creating: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .writing: flags |= SQLITE_OPEN_READWRITE
    case .reading:
      flags |= SQLITE_OPEN_READONLY
      uri += "?mode=ro&readonly_shm=1"
    case .immutable:
      flags |= SQLITE_OPEN_READONLY
      uri += "?mode=ro&immutable=1"
    }
    var opened: OpaquePointer?
    let result = unsafe sqlite3_open_v2(uri, &opened, flags, nil)
    guard result == SQLITE_OK, let handle = unsafe opened else {
      let message = unsafe String(cString: sqlite3_errstr(result))
      unsafe sqlite3_close_v2(opened)
      throw .sqlite(result, message, in: name)
    }
    unsafe self.handle = handle
    try configure()
  }

  deinit {
    close()
  }

  /// Once a process, before the first use; too late it is refused and does no harm.
  private static let prepareLibrary: Void = {
    _ = prefetch_sqlite_stop_counting_memory()
  }()

  /// Closes it now; all its statements must have ended, and no other use may follow.
  func close() {
    guard isOpen else { return }
    isOpen = false
    while let idle = unsafe idleStatements.popFirst() { unsafe sqlite3_finalize(idle.value) }
    unsafe sqlite3_close_v2(handle)
  }

  /// Runs statements without parameters and rows.
  func execute(_ statements: String) throws(Failure) {
    try check(unsafe sqlite3_exec(handle, statements, nil, nil, nil))
  }

  func prepare(_ text: String) throws(Failure) -> Statement {
    try Statement(text, in: self)
  }

  /// Returns a prepared statement, to be returned by ``giveBack(_:_:)``.
  func takeStatement(_ text: String) throws(Failure) -> OpaquePointer {
    if let known = unsafe idleStatements.removeValue(forKey: text) { return unsafe known }
    var prepared: OpaquePointer?
    try check(unsafe sqlite3_prepare_v2(handle, text, -1, &prepared, nil))
    guard let prepared = unsafe prepared else {
      throw Failure(.internal, "an empty statement for `\(name)`")
    }
    return unsafe prepared
  }

  /// Keeps a statement for the next use of the same text: preparing costs more than most queries.
  func giveBack(_ statement: OpaquePointer, _ text: String) {
    guard isOpen, unsafe idleStatements.count < Self.mostIdle,
      unsafe idleStatements[text] == nil,
      Self.keptVerbs.contains(where: { text.hasPrefix($0) })
    else {
      unsafe sqlite3_finalize(statement)
      return
    }
    unsafe sqlite3_reset(statement)
    // Some bindings point at bytes of the caller.
    unsafe sqlite3_clear_bindings(statement)
    unsafe idleStatements[text] = statement
  }

  private static let mostIdle = 64
  /// Verbs of statements that have no effect while they are prepared.
  private static let keptVerbs = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "BEGIN", "COMMIT",
  ]

  /// Runs a statement once that gives no rows.
  func run(_ query: Query) throws(Failure) {
    try rows(query).run()
  }

  /// A statement whose parameters have their values, ready for its first row.
  func rows(_ query: Query) throws(Failure) -> Statement {
    let statement = try prepare(query.text)
    try statement.set(query)
    return statement
  }

  /// All or nothing; takes the right to write at once, so that nothing can come between.
  func transaction<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    try prepare("BEGIN IMMEDIATE").run()
    do throws(Failure) {
      let value = try body()
      try prepare("COMMIT").run()
      // A reader that may not note in the shared memory how far it reads gets no farther than some
      // writer has read; so read what was just written.
      _ = try? number("SELECT count(*) FROM sqlite_schema")
      return value
    } catch {
      rollBack()
      throw error
    }
  }

  /// Many questions about one state, which takes and gives up the right to read once.
  ///
  /// Within another such question it is part of that one.
  func reading<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    guard unsafe sqlite3_get_autocommit(handle) != 0 else { return try body() }
    try prepare("BEGIN").run()
    defer { try? prepare("COMMIT").run() }
    return try body()
  }

  /// Some faults have ended the transaction already; then there is nothing to do.
  func rollBack() {
    guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
    try? execute("ROLLBACK")
  }

  /// The one number that a statement such as `PRAGMA user_version` gives.
  func number(_ query: Query) throws(Failure) -> Int64? {
    try rows(query).first { row in row.optionalNumber(0) }
  }

  var lastInsertedRow: Int64 {
    unsafe sqlite3_last_insert_rowid(handle)
  }

  /// Rows that the last statement changed.
  var changeCount: Int {
    Int(unsafe sqlite3_changes(handle))
  }

  /// Does something for which no other process is waited for longer than a moment.
  func trying<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    unsafe sqlite3_busy_timeout(handle, 100)
    defer { waitWhenBusy() }
    return try body()
  }

  /// Lets SQLite wait for other processes as long as this one has patience.
  private func waitWhenBusy() {
    let context = unsafe Unmanaged.passUnretained(busyWait).toOpaque()
    unsafe sqlite3_busy_handler(handle, BusyWait.goesOn, context)
  }

  /// Whether closing may move what the log holds into the file and remove the log.
  func setKeepsLogOnClose(_ keeps: Bool) throws(Failure) {
    try check(
      unsafe prefetch_sqlite_db_config(
        handle,
        SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
        keeps ? 1 : 0
      )
    )
  }

  /// Moves what the log holds into the file; false when a reader still needs the log.
  func checkpoint() throws(Failure) -> Bool {
    let result = unsafe sqlite3_wal_checkpoint_v2(
      handle,
      nil,
      SQLITE_CHECKPOINT_TRUNCATE,
      nil,
      nil
    )
    guard result & 0xff != SQLITE_BUSY, result & 0xff != SQLITE_LOCKED else { return false }
    try check(result)
    return true
  }

  /// Reads every page and checks how they hang together, unless there are more than that many.
  func checkPages(upTo limit: Int64) throws(Failure) {
    guard try number("PRAGMA page_count") ?? 0 <= limit else { return }
    let statement = try prepare("PRAGMA quick_check(1)")
    guard try statement.step() else { throw failure(SQLITE_CORRUPT) }
    let finding = statement.text(0)
    guard finding != "ok" else { return }
    if let result = Self.readError(in: finding) { throw .sqlite(result, finding, in: name) }
    noteDamage()
    throw Failure(.storeDamaged, "`\(name)` is damaged: \(finding)")
  }

  /// `SQLITE_IOERR_SHORT_READ`, a macro that Swift does not see.
  private static let shortRead = SQLITE_IOERR | 2 << 8

  /// Returns the result code of a page that `quick_check` could not read.
  ///
  /// A disk or a kernel that refuses a read says nothing about the bytes. A file that ends too
  /// early is damage.
  private static func readError(in finding: String) -> Int32? {
    guard let mark = finding.utf8.split(separator: UInt8(ascii: "=")).last,
      finding.contains("error code="),
      let result = Int32(String(decoding: mark.prefix { ASCII.isDigit($0) }, as: UTF8.self)),
      result != Self.shortRead
    else { return nil }
    switch result & 0xff {
    case SQLITE_IOERR, SQLITE_NOMEM, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_FULL: return result
    default: return nil
    }
  }

  /// Makes another database a copy of this one as it is now.
  func copyPages(to copy: Database) throws(Failure) {
    guard let backup = unsafe sqlite3_backup_init(copy.handle, "main", handle, "main") else {
      throw copy.failure(unsafe sqlite3_errcode(copy.handle))
    }
    unsafe sqlite3_backup_step(backup, -1)
    let result = unsafe sqlite3_backup_finish(backup)
    guard result == SQLITE_OK else { throw copy.failure(result) }
  }

  func noteDamage() {
    isDamaged = true
  }

  /// Rows that were changed since it was opened.
  var totalChangeCount: Int64 {
    unsafe sqlite3_total_changes64(handle)
  }

  func check(_ result: Int32) throws(Failure) {
    guard result != SQLITE_OK else { return }
    throw failure(result)
  }

  func failure(_ result: Int32) -> Failure {
    let message = unsafe String(cString: sqlite3_errmsg(handle))
    // What the kernel said is more precise than "I/O error", which also stands for a full disk.
    let error = unsafe sqlite3_system_errno(handle)
    if result & 0xff == SQLITE_BUSY, let ending = busyWait.takeEnding() { return ending }
    switch (result & 0xff, error) {
    case (SQLITE_IOERR, ENOSPC), (SQLITE_IOERR, EDQUOT), (SQLITE_IOERR, EROFS),
      (SQLITE_IOERR, EACCES), (SQLITE_CANTOPEN, ENOSPC), (SQLITE_CANTOPEN, EDQUOT):
      return .system(error, "write", name)
    case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _):
      noteDamage()
      return .sqlite(result, message, in: name)
    default:
      return .sqlite(result, message, in: name)
    }
  }

  /// Temporary tables stay in memory, so that nothing is written beside the database, and a
  /// hostile file can neither run functions from its schema nor hide broken cells.
  ///
  /// What one mebibyte of pages does not hold is in the kernel's own cache.
  private func configure() throws(Failure) {
    waitWhenBusy()
    try check(unsafe prefetch_sqlite_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1))
    try check(unsafe prefetch_sqlite_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
    try setKeepsLogOnClose(true)
    try execute(
      "PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL;"
        + " PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-1024"
    )
  }

  /// Only what a URI needs: everything but plain characters as `%XX`.
  private static func escaped(_ path: String) -> String {
    var text = ""
    for byte in path.utf8 {
      let isPlain =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
          UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      text += isPlain ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte])
    }
    return text
  }
}
