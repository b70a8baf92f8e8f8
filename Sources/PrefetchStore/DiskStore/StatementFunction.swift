internal import CSQLite
internal import PrefetchCore

/// SQL functions of this program, for sorting by values that no column has.
enum StatementFunction {
  static let name = "item_name"
  static let fact = "item_fact"

  static func registerAll(in database: Database) throws(Failure) {
    try unsafe register(name, argumentCount: 1, evaluateName, in: database)
    try unsafe register(fact, argumentCount: 2, evaluateFact, in: database)
  }

  private static func register(
    _ name: String,
    argumentCount count: Int32,
    _ function:
      @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void,
    in database: Database
  ) throws(Failure) {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    try database.check(
      unsafe sqlite3_create_function_v2(
        database.handle,
        name,
        count,
        flags,
        nil,
        function,
        nil,
        nil,
        nil
      )
    )
  }

  fileprivate enum Value {
    case text(String)
    case number(Int64?)
  }

  /// Returns a fact; damaged facts give NULL, and reading the row reports the damage.
  fileprivate static func value(_ name: String, in facts: RawSpan) -> Value {
    var record = ContentRecord(url: "", id: "")
    guard RecordRow.read(facts, into: &record) else { return .number(nil) }
    switch name {
    case "provider": return .text(record.provider ?? "")
    case "type": return .text(record.type ?? "")
    case "state": return .text(record.state.rawValue)
    case "size": return .number(record.digest == nil ? nil : record.wholeSize)
    case "fetched": return .number(record.fetchedAt?.milliseconds)
    case "validated": return .number(record.validatedAt?.milliseconds)
    case "expires": return .number(record.freshness.columns.until)
    default: return .number(nil)
    }
  }
}

private func evaluateName(
  _ context: OpaquePointer?,
  _ count: Int32,
  _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments = unsafe arguments else { return }
  unsafe setResult(context, .text(ItemName.made(from: text(arguments[0]))))
}

private func evaluateFact(
  _ context: OpaquePointer?,
  _ count: Int32,
  _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments = unsafe arguments else { return }
  let start = unsafe sqlite3_value_blob(arguments[0])
  let length = Int(unsafe sqlite3_value_bytes(arguments[0]))
  let facts = unsafe UnsafeRawBufferPointer(start: start, count: length)
  let name = unsafe text(arguments[1])
  unsafe setResult(context, StatementFunction.value(name, in: facts.bytes))
}

private func text(_ value: OpaquePointer?) -> String {
  guard let start = unsafe sqlite3_value_text(value) else { return "" }
  let length = Int(unsafe sqlite3_value_bytes(value))
  return unsafe String(
    decoding: UnsafeBufferPointer(start: start, count: length),
    as: UTF8.self
  )
}

private func setResult(_ context: OpaquePointer?, _ value: StatementFunction.Value) {
  switch value {
  case .text(let text):
    unsafe sqlite3_result_text(
      context,
      text,
      Int32(clamping: text.utf8.count),
      prefetch_sqlite_transient()
    )
  case .number(let number?): unsafe sqlite3_result_int64(context, number)
  case .number(nil): unsafe sqlite3_result_null(context)
  }
}
