package struct ServeFigures: Hashable, Sendable {
  /// Responses from the cache, and responses that needed a server or failed.
  package var hits: Int64 = 0
  package var misses: Int64 = 0
  /// Responses that should have been possible and failed.
  package var failures: Int64 = 0
  package var bytes: Int64 = 0

  package init() {}

  package static func - (a: Self, b: Self) -> Self {
    var rest = a
    rest.hits -= b.hits
    rest.misses -= b.misses
    rest.failures -= b.failures
    rest.bytes -= b.bytes
    return rest
  }
}
