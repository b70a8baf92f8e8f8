internal import PrefetchCore

/// Trees that were copied or unpacked elsewhere together with the state.
extension PublishedTrees {
  /// Accepts files of a copied tree as recorded when they have the recorded bytes.
  func adoptCopies() throws(Failure) {
    guard record.isCopied else { return }
    for found in try record.publications() {
      guard let location = try? TreeLocation.existing(found.folder) else { continue }
      try withPublisherLock(location) { () throws(Failure) in
        for tree in try record.trees(of: found.publication) {
          guard let root = try? location.root(of: tree.generation) else { continue }
          try adoptCopies(of: tree, in: root)
        }
      }
    }
    try record.settle()
  }

  private func adoptCopies(of tree: TreeRecord.Tree, in root: Folder) throws(Failure) {
    let folders = TreeFolders(root, record: record, tree: tree)
    var number: Int64 = 0
    while true {
      let rows = try record.rows(of: tree, after: number)
      guard let last = rows.last else { break }
      number = last.number
      var copies: [TreeRecord.Row] = []
      for var row in rows where !row.identity.isOfContent {
        guard !isCancelled() else { throw Failure(.cancelled, "stopped while files were hashed") }
        guard let spot = try folders.spot(of: row), spot.identity != row.identity,
          try spot.isCopy(of: row, isCancelled)
        else { continue }
        row.identity = spot.identity
        row.birth = spot.folder.birth(of: spot.leaf)
        copies.append(row)
      }
      try record.renew(copies)
    }
    var tree = tree
    tree.inode = try root.status().inode
    try record.set(tree)
  }
}

extension TreeRecord {
  /// Returns whether the files of a copied tree exist with the recorded sizes, without hashing.
  func isComplete(_ tree: Tree, in root: Folder) throws(Failure) -> Bool {
    let folders = TreeFolders(root, record: self, tree: tree)
    var number: Int64 = 0
    while true {
      let rows = try rows(of: tree, after: number)
      guard let last = rows.last else { return true }
      number = last.number
      for row in rows where !PathText.split(row.path).leaf.hasPrefix(TreeName.temporaryPrefix) {
        let spot = try folders.spot(of: row)
        if row.identity.isOfContent, spot?.isUnchanged(since: row) == true { continue }
        guard spot?.status.kind == .file, spot?.status.size == row.identity.size else {
          return false
        }
      }
    }
  }
}
