internal import CSQLite
internal import Glibc
internal import PrefetchCore

/// One prepared statement, given back at the end of its scope.
///
/// Parameters count from 1 and columns from 0, as in SQLite itself.
@safe struct Statement: ~Copyable {
  private let handle: OpaquePointer
  private let database: Database

  init(_ text: String, in database: Database) throws(Failure) {
    var prepared: OpaquePointer?
    try database.check(unsafe sqlite3_prepare_v2(database.handle, text, -1, &prepared, nil))
    guard let handle = unsafe prepared else {
      throw Failure(.internal, "an empty statement for `\(database.name)`")
    }
    unsafe self.handle = handle
    self.database = database
  }

  deinit {
    unsafe sqlite3_finalize(handle)
  }

  /// Goes to the next row; false at the end.
  func step() throws(Failure) -> Bool {
    let result = unsafe sqlite3_step(handle)
    if result == SQLITE_ROW { return true }
    guard result == SQLITE_DONE else {
      let failure = database.failure(result)
      unsafe sqlite3_reset(handle)
      throw failure
    }
    return false
  }

  /// Makes it ready for the next use; parameters keep their values.
  func reset() {
    // What it returns is the fault that `step` has thrown already.
    unsafe sqlite3_reset(handle)
  }

  /// Runs a statement that gives no rows.
  func run() throws(Failure) {
    defer { reset() }
    while try step() {}
  }

  // MARK: Parameters

  func bind(_ index: Int32, _ value: Int64?) throws(Failure) {
    guard let value else { return try bindNull(index) }
    try database.check(unsafe sqlite3_bind_int64(handle, index, value))
  }

  func bind(_ index: Int32, _ value: Int?) throws(Failure) {
    try bind(index, value.map(Int64.init))
  }

  func bind(_ index: Int32, _ value: Bool) throws(Failure) {
    try bind(index, Int64(value ? 1 : 0))
  }

  func bind(_ index: Int32, _ value: Instant?) throws(Failure) {
    try bind(index, value?.milliseconds)
  }

  func bind(_ index: Int32, _ value: String?) throws(Failure) {
    guard var value else { return try bindNull(index) }
    // Passed as it is, a string would first be copied into one that ends with a zero.
    let result = value.withUTF8 { text in
      unsafe prefetch_sqlite_bind_text(
        handle,
        index,
        text.baseAddress,
        Int32(clamping: text.count)
      )
    }
    try database.check(result)
  }

  func bind(_ index: Int32, _ value: [UInt8]?) throws(Failure) {
    guard let value else { return try bindNull(index) }
    // An empty array may have no address, which would make it NULL.
    guard !value.isEmpty else {
      return try database.check(unsafe sqlite3_bind_zeroblob(handle, index, 0))
    }
    try database.check(
      unsafe sqlite3_bind_blob(
        handle,
        index,
        value,
        Int32(clamping: value.count),
        prefetch_sqlite_transient()
      )
    )
  }

  func bind(_ index: Int32, _ value: ContentDigest?) throws(Failure) {
    guard let value else { return try bindNull(index) }
    let result = unsafe value.withBytes { bytes in
      unsafe sqlite3_bind_blob(
        handle,
        index,
        bytes.baseAddress,
        Int32(bytes.count),
        prefetch_sqlite_transient()
      )
    }
    try database.check(result)
  }

  /// Not copied: the bytes must lie still until the statement has run.
  func bindText(_ index: Int32, _ text: RawSpan) throws(Failure) {
    let result = unsafe text.withUnsafeBytes { bytes in
      unsafe prefetch_sqlite_borrow_text(handle, index, bytes.baseAddress, Int32(bytes.count))
    }
    try database.check(result)
  }

  /// Not copied either.
  func bindBlob(_ index: Int32, _ blob: RawSpan) throws(Failure) {
    let result = unsafe blob.withUnsafeBytes { bytes in
      unsafe sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil)
    }
    try database.check(result)
  }

  private func bindNull(_ index: Int32) throws(Failure) {
    try database.check(unsafe sqlite3_bind_null(handle, index))
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

  /// The bytes of a column where they lie; they are gone with the next step.
  func withBytes<Value>(_ index: Int32, _ read: (UnsafeRawBufferPointer) -> Value) -> Value {
    let start = unsafe sqlite3_column_blob(handle, index)
    let count = Int(unsafe sqlite3_column_bytes(handle, index))
    return unsafe read(UnsafeRawBufferPointer(start: start, count: count))
  }
}
