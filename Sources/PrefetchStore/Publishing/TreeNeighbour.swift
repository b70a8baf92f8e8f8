internal import PrefetchCore

/// The tree of another segment that lies in the same folder, or one of which lies in the other.
///
/// What both have is one file: it comes from either, and goes when neither declares it any more.
struct TreeNeighbour {
  let segment: String
  let tree: TreeRecord.Tree
  /// Whether a configuration still declares it there; what is left of others is any segment's.
  let isAlive: Bool
  /// What its names lack at the front, and what ours do.
  private let lacking: String
  private let additional: String

  /// Nil where the two have no path in common.
  init?(
    _ placed: (key: SegmentKey, folder: String, tree: TreeRecord.Tree),
    of own: String,
    isAlive: Bool
  ) {
    if let rest = PathText.rest(of: placed.folder + "/", after: own + "/") {
      (lacking, additional) = (rest, "")
    } else if let rest = PathText.rest(of: own + "/", after: placed.folder + "/") {
      (lacking, additional) = ("", rest)
    } else {
      return nil
    }
    segment = placed.key.name
    tree = placed.tree
    self.isAlive = isAlive
  }

  /// What it calls the file, nil for one outside of it.
  func name(of name: String) -> String? {
    PathText.rest(of: name, after: lacking).map { additional + $0 }
  }
}
