/// Rows of the matrix that do not hold yet, by name.
///
/// A row is taken off as soon as it holds; that it still stands here is no failure.
enum NotYet {
  static func contains(_ row: Row) -> Bool {
    names.contains(row.testDescription)
  }

  static let names: Set<String> = []

  /// The same over HTTP/2.
  static let streams: Set<String> = [
    // libcurl takes a stream reset without an error for ended, and does not tell which of the
    // two it was. A length, a coding, a declared size or a digest shows what is missing; here there
    // is none of them, as with many pages that are made on the fly, so refusing is no way out.
    "a reset (noError) within a body without a length"
  ]
}
