package import PrefetchCore

/// A folder that holds its own cache and state may be moved with them.
extension PublishedTrees {
  /// What was published by a segment, wherever that was, is in this folder now.
  package func follow(_ segment: SegmentKey, to folder: String) throws(Failure) {
    guard try record.publication(of: segment, folder: folder) == nil else { return }
    try record.run(
      """
      UPDATE publications SET dir=\(folder)
      WHERE identity=\(segment.identity) AND segment=\(segment.name)
      """
    )
  }
}
