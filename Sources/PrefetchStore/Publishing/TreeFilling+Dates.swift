internal import PrefetchCore

extension TreeFilling {
  func isDated(_ row: TreeRecord.Row, _ file: TreeFile) -> Bool {
    dates.time(of: file.url).map { $0 == row.identity.modified } ?? true
  }

  /// Sets the time of a file and returns its new row; nil when other links require a new file.
  func dated(
    _ row: TreeRecord.Row,
    _ file: TreeFile,
    _ spot: TreeSpot
  ) throws(Failure) -> Int64? {
    guard let time = dates.time(of: file.url), !isDated(row, file) else { return row.number }
    let isOwn =
      source.mirrorLinks != nil && spot.status.linkCount == 2
      && source.isLink(spot.status, to: file.content)
    guard spot.status.linkCount == 1 || isOwn else { return nil }
    // Recorded under both times, so that a kill at any moment leaves the file known.
    var identity = row.identity
    identity.modified = time
    let number = try record.add(file.name, row.digest, identity, birth: row.birth, to: tree)
    guard spot.folder.setModified(time, of: spot.leaf),
      try spot.folder.status(of: spot.leaf)?.modified == time
    else {
      try record.remove([number])
      return row.number
    }
    try record.remove([row.number])
    return number
  }
}
