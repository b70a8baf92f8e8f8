internal import PrefetchCore

/// Files of a mirror have the times that their servers state, also where only the time is another one.
extension TreeFilling {
  func isTimed(_ row: TreeRecord.Row, _ file: TreeFile) -> Bool {
    times.time(of: file.url).map { $0 == row.identity.modified } ?? true
  }

  /// The row by which a file of ours is known once it has its time; nil where others have the file
  /// too, so that another one has to take its place.
  func timed(
    _ row: TreeRecord.Row,
    _ file: TreeFile,
    _ status: FileStatus,
    _ leaf: String,
    in folder: Folder
  ) throws(Failure) -> Int64? {
    guard let time = times.time(of: file.url), !isTimed(row, file) else { return row.number }
    let isAlone = status.linkCount == 1
    guard isAlone || status.linkCount == 2 && source.isLink(status, to: file.content) else {
      return nil
    }
    // Known by both times, so that it is ours whenever a kill comes.
    var identity = row.identity
    identity.modified = time
    let number = try record.add(file.name, row.digest, identity, to: tree)
    guard folder.setModified(time, of: leaf), try folder.status(of: leaf)?.modified == time else {
      try record.remove([number])
      return row.number
    }
    try record.remove([row.number])
    return number
  }
}
