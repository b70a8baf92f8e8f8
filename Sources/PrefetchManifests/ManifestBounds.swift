/// How much of a document is read.
enum ManifestBounds {
  static let maximumItems = 1_000_000
  /// Of lines of items, which no list has to hold at once.
  static let maximumLines = 10_000_000
  /// The bytes of all URLs, made whole: a long base could make gigabytes of a small document.
  static let maximumBytes = 1 << 30

  /// Why so much is too much, in words; nil where it is not.
  static func surplus(items: Int, bytes: Int, atMost limit: Int = maximumItems) -> String? {
    if items > limit { return "it lists more than \(limit) items, which is as many as are read" }
    guard bytes > maximumBytes else { return nil }
    return "its URLs, made whole, come to more than \(maximumBytes) bytes"
  }
}
