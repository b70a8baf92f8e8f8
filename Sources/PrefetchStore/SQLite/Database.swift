internal import CSQLite
internal import Glibc
internal import PrefetchCore

/// A connection to a database file, used by one thread at a time.
@safe final class Database {
  enum Access {
    /// A draft, which no other process knows: a lock that cannot be had there is an error.
    case creating
    case writing
    /// Reads while others may write; creates no file, not even shared memory.
    case reading
    /// The file cannot change while it is open.
    case immutable
  }

  let name: String
  let handle: OpaquePointer
  private var isOpen = true
  private let busyWait: BusyWait?
  private var idleStatements: [String: OpaquePointer] = unsafe [:]
  private(set) var isDamaged = false
  /// Last error of a read; statements that end a transaction repeat it as damage.
  private var readError: Int32?

  init(path: String, named name: String, access: Access) throws(Failure) {
    self.name = name
    busyWait = access == .creating ? nil : BusyWait(name)
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

  /// Configures the library once; a late call is refused and harmless.
  private static let prepareLibrary: Void = {
    _ = prefetch_sqlite_stop_counting_memory()
  }()

  func close() {
    guard isOpen else { return }
    isOpen = false
    while let idle = unsafe idleStatements.popFirst() { unsafe sqlite3_finalize(idle.value) }
    unsafe sqlite3_close_v2(handle)
  }

  func execute(_ statements: String) throws(Failure) {
    errno = 0
    try check(unsafe sqlite3_exec(handle, statements, nil, nil, nil))
  }

  func prepare(_ text: String) -> Statement {
    Statement(text, in: self)
  }

  /// Returns a prepared statement; the caller passes it to ``giveBack(_:_:)`` afterwards.
  func borrowStatement(_ text: String) throws(Failure) -> OpaquePointer {
    errno = 0
    if let known = unsafe idleStatements.removeValue(forKey: text) { return unsafe known }
    var prepared: OpaquePointer?
    try check(unsafe sqlite3_prepare_v2(handle, text, -1, &prepared, nil))
    guard let prepared = unsafe prepared else {
      throw Failure(.internal, "an empty statement for `\(name)`")
    }
    return unsafe prepared
  }

  /// Keeps an idle statement: preparing costs more than most queries.
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
  /// Verbs of statements that have no effect while being prepared.
  private static let keptVerbs = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "BEGIN", "COMMIT",
  ]

  func run(_ query: Query) throws(Failure) {
    try rows(query).run()
  }

  func rows(_ query: Query) throws(Failure) -> Statement {
    let statement = prepare(query.text)
    try statement.set(query)
    return statement
  }

  /// Performs `body` in a transaction with the write lock taken at once.
  func transaction<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    try prepare("BEGIN IMMEDIATE").run()
    do throws(Failure) {
      let value = try body()
      try prepare("COMMIT").run()
      // A reader that cannot write to the shared memory sees only what some writer has read: so
      // read what was just written.
      _ = try? number("SELECT count(*) FROM sqlite_schema")
      return value
    } catch {
      rollBack()
      throw error
    }
  }

  /// Performs queries in one read transaction; nests.
  func reading<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    guard unsafe sqlite3_get_autocommit(handle) != 0 else { return try body() }
    try prepare("BEGIN").run()
    defer {
      // A failed end would leave the transaction open for those that follow.
      if (try? prepare("COMMIT").run()) == nil { rollBack() }
    }
    return try body()
  }

  func rollBack() {
    guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
    try? execute("ROLLBACK")
  }

  func number(_ query: Query) throws(Failure) -> Int64? {
    try rows(query).first { row in row.optionalNumber(0) }
  }

  var lastInsertedRow: Int64 {
    unsafe sqlite3_last_insert_rowid(handle)
  }

  var changeCount: Int {
    Int(unsafe sqlite3_changes(handle))
  }

  /// Performs `body` with a short busy timeout of 100 ms.
  func trying<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    unsafe sqlite3_busy_timeout(handle, 100)
    defer { waitWhenBusy() }
    return try body()
  }

  private func waitWhenBusy() {
    guard let busyWait else { return }
    let context = unsafe Unmanaged.passUnretained(busyWait).toOpaque()
    unsafe sqlite3_busy_handler(handle, BusyWait.handler, context)
  }

  func setKeepsLogOnClose(_ keeps: Bool) throws(Failure) {
    try check(
      unsafe prefetch_sqlite_db_config(
        handle,
        SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
        keeps ? 1 : 0
      )
    )
  }

  /// Moves the log into the file; returns false when a reader still needs the log.
  @discardableResult
  func checkpoint() throws(Failure) -> Bool {
    let result = unsafe sqlite3_wal_checkpoint_v2(
      handle,
      nil,
      SQLITE_CHECKPOINT_TRUNCATE,
      nil,
      nil
    )
    if busyWait != nil, [SQLITE_BUSY, SQLITE_LOCKED].contains(result & 0xff) { return false }
    try check(result)
    return true
  }

  /// Checks up to `limit` pages, and of up to `rowLimit` pages that SQLite's indexes name all rows.
  func checkPages(upTo limit: Int64, rowsUpTo rowLimit: Int64 = .max) throws(Failure) {
    let count = try number("PRAGMA page_count") ?? 0
    guard count <= limit else { return }
    let check = count <= rowLimit ? "integrity_check" : "quick_check"
    let statement = prepare("PRAGMA \(check)(1)")
    guard try statement.step() else { throw failure(SQLITE_CORRUPT) }
    let finding = statement.text(0)
    guard finding != "ok" else { return }
    if let result = Self.readError(in: finding) { throw .sqlite(result, finding, in: name) }
    markDamaged()
    throw Failure(.storeDamaged, "`\(name)` is damaged: \(finding)")
  }

  /// `SQLITE_IOERR_SHORT_READ`, a macro that Swift does not see.
  private static let shortRead = SQLITE_IOERR | 2 << 8

  /// Returns the result code of a page that could not be read; a file that is too short is damaged.
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

  func copyPages(to copy: Database) throws(Failure) {
    guard let backup = unsafe sqlite3_backup_init(copy.handle, "main", handle, "main") else {
      throw copy.failure(unsafe sqlite3_errcode(copy.handle))
    }
    unsafe sqlite3_backup_step(backup, -1)
    let result = unsafe sqlite3_backup_finish(backup)
    guard result == SQLITE_OK else { throw copy.failure(result) }
  }

  func markDamaged() {
    isDamaged = true
  }

  var totalChangeCount: Int64 {
    unsafe sqlite3_total_changes64(handle)
  }

  func check(_ result: Int32) throws(Failure) {
    guard result != SQLITE_OK else { return }
    throw failure(result)
  }

  func failure(_ result: Int32) -> Failure {
    if Self.readErrors.contains(errno) { readError = errno }
    let message = unsafe String(cString: sqlite3_errmsg(handle))
    // The kernel's error is more precise than "I/O error", which includes a full disk.
    let error = unsafe sqlite3_system_errno(handle)
    if result & 0xff == SQLITE_BUSY {
      guard let busyWait else {
        return Failure(.disk, "`\(name)` cannot be locked, although no other process has it")
      }
      if let failure = busyWait.consumeFailure() { return failure }
    }
    switch (result & 0xff, error) {
    case (SQLITE_IOERR, ENOSPC), (SQLITE_IOERR, EDQUOT), (SQLITE_IOERR, EROFS),
      (SQLITE_IOERR, EACCES), (SQLITE_CANTOPEN, ENOSPC), (SQLITE_CANTOPEN, EDQUOT):
      return .system(error, "write", name)
    case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _):
      // SQLite calls a page that could not be read damaged, and drops the error's number.
      if let readError { return .system(readError, "read", name) }
      markDamaged()
      return .sqlite(result, message, in: name)
    case (SQLITE_ERROR, _) where Self.otherSchemaWords.contains(where: { message.contains($0) }):
      // The version is this program's, so the text of the schema has changed on the disk.
      markDamaged()
      return .sqlite(SQLITE_CORRUPT, message, in: name)
    default:
      return .sqlite(result, message, in: name)
    }
  }

  /// Errors of a read that SQLite reports as `SQLITE_IOERR_CORRUPTFS`, then as `SQLITE_CORRUPT`.
  private static let readErrors: Set<Int32> = [EIO, ENXIO, ERANGE]

  /// Words in messages about a schema that lacks what the program's statements name.
  private static let otherSchemaWords = ["no such column", "no such table", "has no column named"]

  /// Configures the connection: nothing is written beside the database, and a hostile file can
  /// neither run functions from its schema nor hide broken cells.
  ///
  /// A page cache of one MiB is enough, since the kernel caches as well.
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

  private static func escaped(_ path: String) -> String {
    var text = ""
    for byte in path.utf8 {
      let isUnreserved =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
          UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      text += isUnreserved ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte])
    }
    return text
  }
}
