internal import CSQLite
internal import PrefetchCore
internal import PrefetchCrypto

/// The id of an item whose publisher gave it none: the first twelve digits of the SHA-256 of its
/// URL.
enum ItemName {
  static func made(from url: String) -> String {
    SHA256.digest(of: url).hexadecimal(ofFirst: length / 2)
  }

  /// What a row holds: nil for an id that can be made again.
  static func stored(_ id: String, url: String) -> String? {
    guard !id.isEmpty else { return nil }
    return couldBeMade(id) && id == made(from: url) ? nil : id
  }

  static func couldBeMade(_ id: String) -> Bool {
    id.utf8.count == length && id.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
  }

  private static let length = 12

  // MARK: In statements

  /// The function by which a statement makes an id of a URL.
  static let functionName = "item_name"

  static func register(in database: Database) throws(Failure) {
    try database.check(
      unsafe sqlite3_create_function_v2(
        database.handle,
        functionName,
        1,
        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
        nil,
        answer,
        nil,
        nil,
        nil
      )
    )
  }
}

private func answer(
  _ context: OpaquePointer?,
  _ count: Int32,
  _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments = unsafe arguments, let text = unsafe sqlite3_value_text(arguments[0]) else {
    return unsafe sqlite3_result_null(context)
  }
  let length = Int(unsafe sqlite3_value_bytes(arguments[0]))
  let bytes = unsafe UnsafeBufferPointer(start: text, count: length)
  let name = unsafe ItemName.made(from: String(decoding: bytes, as: UTF8.self))
  unsafe sqlite3_result_text(
    context,
    name,
    Int32(name.utf8.count),
    prefetch_sqlite_transient()
  )
}
