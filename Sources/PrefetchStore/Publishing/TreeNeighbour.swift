internal import PrefetchCore

/// A tree of another segment whose folder overlaps; a common file stays until neither declares it.
struct TreeNeighbour {
  let segment: String
  let tree: TreeRecord.Tree
  /// Whether a configuration still declares the tree; any segment may take over files of others.
  let isAlive: Bool
  /// Path prefix to strip from this tree's names, and prefix to add for the neighbour's.
  private let lacking: String
  private let additional: String

  init?(
    _ published: (key: SegmentKey, folder: String, tree: TreeRecord.Tree),
    of own: String,
    isAlive: Bool
  ) {
    if let rest = PathText.rest(of: published.folder + "/", after: own + "/") {
      (lacking, additional) = (rest, "")
    } else if let rest = PathText.rest(of: own + "/", after: published.folder + "/") {
      (lacking, additional) = ("", rest)
    } else {
      return nil
    }
    segment = published.key.name
    tree = published.tree
    self.isAlive = isAlive
  }

  /// Returns the neighbour's name of a file; nil for a file outside the neighbour.
  func name(of name: String) -> String? {
    PathText.rest(of: name, after: lacking).map { additional + $0 }
  }
}

extension [TreeNeighbour] {
  /// Returns the overlapping tree that published the file.
  func claim(
    on name: String,
    _ spot: TreeSpot,
    _ record: TreeRecord
  ) throws(Failure) -> (neighbour: TreeNeighbour, row: TreeRecord.Row)? {
    for neighbour in self {
      guard let theirs = neighbour.name(of: name) else { continue }
      let row = try record.rows(theirs, of: neighbour.tree).first(where: spot.isFile)
      if let row { return (neighbour, row) }
    }
    return nil
  }
}
