internal import PrefetchCore

/// What left the plan goes, and what is not prefetch's stays.
extension TreeFilling {
  func removeLeft() throws(Failure) {
    folders.forgetChain()
    var number: Int64 = 0
    while true {
      let rows = try record.rows(of: tree, after: number)
      guard let last = rows.last else { return }
      number = last.number
      var gone: [Int64] = []
      let removedBefore = outcome.removed
      for row in rows where !seen.contains(row.number) && !plan.holds(row.path, row.digest) {
        try remove(row)
        gone.append(row.number)
      }
      // A power cut must not bring back a file whose row is forgotten: some file systems (btrfs) make
      // the row durable before the removal, if nobody waits for that.
      if manner.isDurable, outcome.removed > removedBefore {
        try folders.root.synchronizeFileSystem()
      }
      try record.remove(gone)
    }
  }

  /// Only what is still the file that was put there; then the folders of ours that it leaves empty.
  private func remove(_ row: TreeRecord.Row) throws(Failure) {
    let (folderPath, leaf) = PathText.split(row.path)
    guard let folder = try folders.existing(folderPath), let status = try folder.status(of: leaf)
    else { return }
    let spot = TreeSpot(folder: folder, leaf: leaf, status: status)
    guard spot.isFile(of: row) else { return }
    // Another row may know the file that has come in its place.
    let others = try record.rows(row.path, of: tree).filter { $0.number != row.number }
    guard !others.contains(where: { spot.isFile(of: $0) && seen.contains($0.number) })
    else { return }
    if let claim = try claim(on: row.path, spot), claim.neighbour.isAlive { return }
    try folder.remove(leaf)
    outcome.removed += 1
    try removeEmptyFolders(folderPath)
  }

  private func removeEmptyFolders(_ path: Substring) throws(Failure) {
    var path = path
    while !path.isEmpty, try record.hasFolder(String(path), of: tree) {
      let (parentPath, leaf) = PathText.split(String(path))
      folders.forgetChain()
      guard let parent = try folders.existing(parentPath),
        (try? parent.removeFolder(leaf)) != nil
      else { return }
      try record.removeFolder(String(path), of: tree)
      path = parentPath
    }
  }

  /// Takes everything away that is ours.
  func empty() throws(Failure) {
    seen = []
    try removeLeft()
  }
}
