internal import PrefetchCore

/// A name in a tree that something has.
struct TreeSpot {
  let folder: Folder
  let leaf: String
  let status: FileStatus

  var path: String { folder.path(of: leaf) }
  var identity: FileIdentity { FileIdentity(status) }

  /// Whether it is the file that was put there, whatever became of its bytes.
  func isFile(of row: TreeRecord.Row) -> Bool {
    guard status.kind == .file, status.inode == row.identity.inode else { return false }
    // A number may be given again to a file that another process makes.
    return row.identity == identity || row.birth == 0 || row.birth == folder.birth(of: leaf)
  }
}

extension TreeFolders {
  /// Nil where nothing has the name.
  func spot(of row: TreeRecord.Row) throws(Failure) -> TreeSpot? {
    let (folderPath, leaf) = PathText.split(row.path)
    guard let folder = try existing(folderPath), let status = try folder.status(of: leaf) else {
      return nil
    }
    return TreeSpot(folder: folder, leaf: leaf, status: status)
  }

  /// Tells every file that is recorded and is not as it was put there; returns how many were looked at.
  ///
  /// A second name of a stored body is as sound as that: only other files are hashed.
  func eachChange(
    _ isCancelled: () -> Bool,
    isSound: (ContentDigest, FileStatus) -> Bool,
    _ body: (TreeRecord.Row, TreeSpot?) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    var number: Int64 = 0
    var count = 0
    while true {
      let rows = try record.rows(of: tree, after: number)
      guard let last = rows.last else { return count }
      number = last.number
      for row in rows {
        guard !isCancelled() else { throw Failure(.cancelled, "stopped while verifying") }
        // What a kill left on its way has no name that is ever read.
        if PathText.split(row.path).leaf.hasPrefix(TreeName.temporaryPrefix) { continue }
        count += 1
        let spot = try spot(of: row)
        if let spot, spot.status.kind == .file {
          if spot.identity == row.identity {
            if spot.status.linkCount > 1, isSound(row.digest, spot.status) { continue }
            if try spot.mayHold(row.digest, isCancelled) { continue }
          } else if record.isCopied, try spot.isCopy(of: row, isCancelled) {
            continue
          } else if try isOfOtherRow(spot, row) {
            continue
          }
        }
        try body(row, spot)
      }
    }
  }

  /// Whether a process that was killed while one file took the place of another has left two rows,
  /// of which the other one tells what stands there.
  private func isOfOtherRow(_ spot: TreeSpot, _ row: TreeRecord.Row) throws(Failure) -> Bool {
    try record.rows(row.path, of: tree).contains { other in
      other.number != row.number && other.identity == spot.identity
    }
  }
}

extension TreeSpot {
  /// Whether it has the bytes of the recorded file, as after both were unpacked elsewhere.
  func isCopy(of row: TreeRecord.Row, _ isCancelled: () -> Bool) throws(Failure) -> Bool {
    guard status.kind == .file, status.size == row.identity.size else { return false }
    return try mayHold(row.digest, isCancelled)
  }

  /// False where the bytes are others; what cannot be read says nothing.
  fileprivate func mayHold(
    _ digest: ContentDigest,
    _ isCancelled: () -> Bool
  ) throws(Failure) -> Bool {
    do throws(Failure) {
      guard let file = try ObjectFolder.open(leaf, in: folder) else { return true }
      return try ObjectFolder.digest(of: file, isCancelled: isCancelled) == digest
    } catch {
      if error.code == .cancelled { throw error }
      return true
    }
  }
}
