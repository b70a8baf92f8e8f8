internal import PrefetchCore

extension TreeFilling {
  func removeLeft() throws(Failure) {
    folders.forgetChain()
    try nameForeign()
    let kept = try keptRevisions()
    folders.forgetChain()
    var number: Int64 = 0
    while true {
      let rows = try record.rows(of: tree, after: number)
      guard let last = rows.last else { return }
      number = last.number
      let leaving = rows.filter { row in
        !seen.contains(row.number) && !plan.holds(row.path, row.digest) && !kept.holds(row.path)
      }
      try record.set(leaving: false, rows.filter(\.isLeaving).map(\.number))
      try record.set(leaving: true, leaving.map(\.number))
      var removed: [Int64] = []
      let removedBefore = outcome.removed
      for row in leaving {
        if try remove(row) { removed.append(row.number) }
      }
      // Flushed before the rows go: on some file systems (btrfs) a power cut could bring back a
      // file whose row is already deleted.
      if options.isDurable, outcome.removed > removedBefore {
        try folders.root.synchronizeFileSystem()
      }
      try record.remove(removed)
      for row in rows where !seen.contains(row.number) { try restore(row) }
    }
  }

  /// Makes a missing file of a retained body again.
  private func restore(_ row: TreeRecord.Row) throws(Failure) {
    guard let file = plan.retainedFile(row.path, row.digest, size: row.identity.size),
      try folders.spot(of: row) == nil
    else { return }
    do throws(Failure) {
      folders.forgetChain()
      try fill(file, index: nil, isLast: true)
      try flush()
    } catch {
      try recordFailure(error, of: file)
    }
  }

  /// Names foreign files that served for items which the plan no longer has: they stay.
  private func nameForeign() throws(Failure) {
    var number: Int64 = 0
    while true {
      let rows = try record.rows(of: tree.foreign, after: number)
      guard let last = rows.last else { return }
      number = last.number
      var removed: [Int64] = []
      for row in rows where !seen.contains(row.number) && !plan.holds(row.path, row.digest) {
        removed.append(row.number)
        guard let spot = try folders.spot(of: row), spot.isFile(of: row),
          try !record.rows(row.path, of: tree).contains(where: spot.isFile)
        else { continue }
        foreign.addLeft(spot.path)
      }
      try record.remove(removed)
    }
  }

  /// Removes a published file that is unchanged in identity, then empty folders made by prefetch.
  ///
  /// Returns whether its row can go: a missing file may be on a disk that is not mounted, and comes
  /// back with it, as long as the tree cannot be filled.
  private func remove(_ row: TreeRecord.Row) throws(Failure) -> Bool {
    guard let spot = try folders.spot(of: row) else { return outcome.troubles.isEmpty }
    guard try published([row], at: spot) != nil else { return true }
    // Another row may describe the file that replaced it.
    let others = try record.rows(row.path, of: tree).filter { $0.number != row.number }
    guard !others.contains(where: { spot.isFile(of: $0) && seen.contains($0.number) })
    else { return true }
    if let claim = try claim(on: row.path, spot), claim.neighbour.isAlive { return true }
    try spot.folder.remove(spot.leaf)
    outcome.removed += 1
    try removeEmptyFolders(PathText.split(row.path).folder)
    return true
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

  func empty() throws(Failure) {
    seen = []
    try removeLeft()
  }
}
