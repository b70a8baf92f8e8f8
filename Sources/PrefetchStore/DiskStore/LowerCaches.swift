internal import PrefetchCore

package struct LowerCaches: Hashable, Sendable {
  package var paths: [String]
  package var identity: String

  package init(_ paths: [String], for identity: String) {
    self.paths = paths
    self.identity = identity
  }
}

/// A lower cache whose rows were taken over, as the index records it.
struct CopiedCache: Equatable {
  var path: String
  /// Stamp of the cache's index files at that time; empty when they could not be read.
  var stamp: String
}

enum LowerRows {
  static func read(_ database: Database, of identity: String) throws(Failure) -> [CopiedCache] {
    try database.rows(
      "SELECT path, stamp FROM lower_caches WHERE identity=\(identity) ORDER BY position"
    ).all { row in CopiedCache(path: row.text(0), stamp: row.text(1)) }
  }

  static func paths(_ database: Database) throws(Failure) -> [String] {
    try database.rows(
      "SELECT path FROM lower_caches GROUP BY path ORDER BY min(position), path"
    ).all { row in row.text(0) }
  }

  static func replace(
    _ database: Database,
    of identity: String,
    with caches: [CopiedCache]
  ) throws(Failure) {
    try database.run("DELETE FROM lower_caches WHERE identity=\(identity)")
    let insertion = database.prepare("INSERT INTO lower_caches VALUES (?1, ?2, ?3, ?4)")
    for (position, cache) in caches.enumerated() {
      try insertion.run(identity, position, cache.path, cache.stamp)
    }
  }
}
