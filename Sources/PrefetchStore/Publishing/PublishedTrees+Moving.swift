package import PrefetchCore

/// A folder that holds its own cache and state may be moved with them.
extension PublishedTrees {
  /// What was published by a segment, wherever that was, is in this folder now.
  package func follow(_ segment: SegmentKey, to folder: String) throws(Failure) {
    guard try record.publication(of: segment, folder: folder) == nil else { return }
    let row = try record.statement(
      "UPDATE publications SET dir=?3 WHERE identity=?1 AND segment=?2"
    )
    try row.statement.bind(1, segment.identity)
    try row.statement.bind(2, segment.name)
    try row.statement.bind(3, folder)
    try row.statement.run()
  }
}
