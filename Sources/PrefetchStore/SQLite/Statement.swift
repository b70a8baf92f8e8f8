internal import CSQLite
internal import Glibc
internal import PrefetchCore

/// A statement, prepared when it is first used; parameters count from 1 and columns from 0, as in
/// SQLite.
@safe struct Statement: ~Copyable {
  private let prepared: Prepared

  @safe private final class Prepared {
    let text: String
    let database: Database
    // The compiler would check each use at run time.
    @exclusivity(unchecked) var handle: OpaquePointer?

    init(_ text: String, in database: Database) {
      self.text = text
      self.database = database
    }

    deinit {
      if let handle = unsafe handle { unsafe database.giveBack(handle, text) }
    }
  }

  init(_ text: String, in database: Database) {
    prepared = Prepared(text, in: database)
  }

  /// Handle of the prepared statement; SQLite takes nil, which has no columns.
  private var handle: OpaquePointer? { unsafe prepared.handle }

  private var database: Database { prepared.database }

  /// Returns the handle, of a statement that is prepared now if it was not before.
  private func prepare() throws(Failure) -> OpaquePointer {
    if let handle = unsafe prepared.handle { return unsafe handle }
    let handle = unsafe try database.borrowStatement(prepared.text)
    unsafe prepared.handle = handle
    return unsafe handle
  }

  func step() throws(Failure) -> Bool {
    let handle = unsafe try prepare()
    // A failure looks at the error of the last read, which no older one may pass for.
    errno = 0
    let result = unsafe sqlite3_step(handle)
    if result == SQLITE_ROW { return true }
    guard result == SQLITE_DONE else {
      let failure = database.failure(result)
      unsafe sqlite3_reset(handle)
      throw failure
    }
    return false
  }

  /// Rewinds the statement; parameters keep their values.
  func reset() {
    // The result is an error that `step` has already thrown.
    unsafe sqlite3_reset(handle)
  }

  func run() throws(Failure) {
    defer { reset() }
    while try step() {}
  }

  func run<each Value: StatementValue>(_ values: repeat each Value) throws(Failure) {
    try set(repeat each values)
    try run()
  }

  // MARK: Parameters

  func set<each Value: StatementValue>(_ values: repeat each Value) throws(Failure) {
    var index: Int32 = 0
    for value in repeat each values {
      index += 1
      try bind(index, value)
    }
  }

  func set(_ query: Query) throws(Failure) {
    for (index, value) in query.values.enumerated() { try bind(Int32(index + 1), value) }
  }

  func bind(_ index: Int32, _ value: some StatementValue) throws(Failure) {
    let handle = unsafe try prepare()
    try database.check(unsafe value.bind(to: handle, at: index))
  }

  /// Binds text without a copy: the bytes must not move until the statement has run.
  func bindText(_ index: Int32, _ text: RawSpan) throws(Failure) {
    let handle = unsafe try prepare()
    let result = unsafe text.withUnsafeBytes { bytes in
      unsafe prefetch_sqlite_borrow_text(handle, index, bytes.baseAddress, Int32(bytes.count))
    }
    try database.check(result)
  }

  /// Binds a blob without a copy, like ``bindText(_:_:)``.
  func bindBlob(_ index: Int32, _ blob: RawSpan) throws(Failure) {
    let handle = unsafe try prepare()
    let result = unsafe blob.withUnsafeBytes { bytes in
      unsafe sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil)
    }
    try database.check(result)
  }

  // MARK: Rows

  /// Returns the value of the first row, and resets the statement.
  func first<Value, each Parameter: StatementValue>(
    _ parameters: repeat each Parameter,
    read: (borrowing Statement) throws(Failure) -> Value?
  ) throws(Failure) -> Value? {
    try set(repeat each parameters)
    defer { reset() }
    return try step() ? try read(self) : nil
  }

  func all<Value, each Parameter: StatementValue>(
    _ parameters: repeat each Parameter,
    read: (borrowing Statement) throws(Failure) -> Value?
  ) throws(Failure) -> [Value] {
    try set(repeat each parameters)
    defer { reset() }
    var values: [Value] = []
    while try step() {
      if let value = try read(self) { values.append(value) }
    }
    return values
  }

  // MARK: Columns

  func isNull(_ index: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, index) == SQLITE_NULL
  }

  func number(_ index: Int32) -> Int64 {
    unsafe sqlite3_column_int64(handle, index)
  }

  func optionalNumber(_ index: Int32) -> Int64? {
    isNull(index) ? nil : number(index)
  }

  func flag(_ index: Int32) -> Bool {
    number(index) != 0
  }

  func instant(_ index: Int32) -> Instant? {
    optionalNumber(index).map(Instant.init(milliseconds:))
  }

  func text(_ index: Int32) -> String {
    optionalText(index) ?? ""
  }

  func optionalText(_ index: Int32) -> String? {
    guard let start = unsafe sqlite3_column_text(handle, index) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(handle, index))
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  func optionalDigest(_ index: Int32) -> ContentDigest? {
    unsafe withBytes(index) { bytes in unsafe ContentDigest(bytes) }
  }

  func bytes(_ index: Int32) -> [UInt8] {
    unsafe withBytes(index) { bytes in unsafe Array(bytes) }
  }

  /// Passes a column's bytes, which are valid until the next step.
  func withBytes<Value>(_ index: Int32, _ read: (UnsafeRawBufferPointer) -> Value) -> Value {
    let start = unsafe sqlite3_column_blob(handle, index)
    let count = Int(unsafe sqlite3_column_bytes(handle, index))
    return unsafe read(UnsafeRawBufferPointer(start: start, count: count))
  }
}

/// A statement in a class, since collections cannot hold the noncopyable type.
final class KeptStatement {
  let statement: Statement

  init(_ statement: consuming Statement) {
    self.statement = statement
  }
}
