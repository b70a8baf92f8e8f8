/// What servers over a cache have done.
package struct ServeFigures: Hashable, Sendable {
  /// Answers out of the cache, and answers that needed a server or could not be given.
  package var hits: Int64 = 0
  package var misses: Int64 = 0
  /// Answers that should have been given and were not.
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
