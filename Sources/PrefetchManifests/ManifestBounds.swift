enum ManifestBounds {
  static let maximumItems = 1_000_000
  /// Limit for manifests with one item per line, which are never held in memory as a whole.
  static let maximumLines = 10_000_000
  /// Limit for all resolved URLs: a long base could make gigabytes of a small document.
  static let maximumBytes = 1 << 30

  static func surplus(items: Int, bytes: Int, atMost limit: Int = maximumItems) -> String? {
    if items > limit { return "it lists more than \(limit) items, which is as many as are read" }
    guard bytes > maximumBytes else { return nil }
    return "its URLs, made whole, come to more than \(maximumBytes) bytes"
  }
}
