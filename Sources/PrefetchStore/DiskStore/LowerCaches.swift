internal import PrefetchCore

/// Caches below one, which are read and never written.
package struct LowerCaches: Hashable, Sendable {
  /// The uppermost first.
  package var paths: [String]
  /// Whose segments are taken over from them.
  package var identity: String

  package init(_ paths: [String], for identity: String) {
    self.paths = paths
    self.identity = identity
  }
}

/// A lower cache as the index remembers that its rows were taken over.
struct TakenCache: Equatable {
  var path: String
  /// Of the files of its index at that time; empty where they could not be read.
  var stamp: String
}

/// The rows of `lower_caches`.
enum LowerRows {
  static func read(_ database: Database, of identity: String) throws(Failure) -> [TakenCache] {
    try database.rows(
      "SELECT path, stamp FROM lower_caches WHERE identity=\(identity) ORDER BY position"
    ).all { row in TakenCache(path: row.text(0), stamp: row.text(1)) }
  }

  /// Those of all identities, each once.
  static func paths(_ database: Database) throws(Failure) -> [String] {
    try database.rows(
      "SELECT path FROM lower_caches GROUP BY path ORDER BY min(position), path"
    ).all { row in row.text(0) }
  }

  static func replace(
    _ database: Database,
    of identity: String,
    with caches: [TakenCache]
  ) throws(Failure) {
    try database.run("DELETE FROM lower_caches WHERE identity=\(identity)")
    let insertion = try database.prepare("INSERT INTO lower_caches VALUES (?1, ?2, ?3, ?4)")
    for (position, cache) in caches.enumerated() {
      try insertion.run(identity, position, cache.path, cache.stamp)
    }
  }
}
