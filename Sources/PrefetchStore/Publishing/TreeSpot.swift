internal import PrefetchCore
internal import PrefetchCrypto

/// An existing name in a tree.
struct TreeSpot {
  let folder: Folder
  let leaf: String
  let status: FileStatus

  var path: String { folder.path(of: leaf) }
  var identity: FileIdentity { FileIdentity(status) }

  /// Returns whether the name still belongs to the published file, even with changed bytes.
  func isFile(of row: TreeRecord.Row) -> Bool {
    guard !row.identity.isOfContent else { return holds(row.digest) }
    guard status.kind == .file, status.inode == row.identity.inode else { return false }
    // The inode of a deleted file may be used again by another.
    return row.identity == identity || row.birth == 0 || row.birth == folder.birth(of: leaf)
  }

  /// Whether a file of a row is as it was published.
  func isUnchanged(since row: TreeRecord.Row) -> Bool {
    row.identity.isOfContent ? holds(row.digest) : row.identity == identity
  }

  /// Whether a link has the text, or a small file the bytes, of a digest.
  private func holds(_ digest: ContentDigest) -> Bool {
    switch status.kind {
    case .link:
      ((try? folder.target(of: leaf)) ?? nil).map { SHA256.digest(of: Array($0.utf8)) } == digest
    case .file: (try? mayHold(digest) { false }) ?? false
    case .folder, .other: false
    }
  }
}

extension TreeFolders {
  func spot(of row: TreeRecord.Row) throws(Failure) -> TreeSpot? {
    let (folderPath, leaf) = PathText.split(row.path)
    guard let folder = try existing(folderPath), let status = try folder.status(of: leaf) else {
      return nil
    }
    return TreeSpot(folder: folder, leaf: leaf, status: status)
  }

  /// Calls `body` for each missing, changed or unreadable file, for the last with the reason; hard links
  /// to intact bodies are not hashed.
  ///
  /// `changed` are the folders to look into, nil for all.
  func eachChange(
    in changed: Set<URLKey>? = nil,
    readsFiles: Bool = true,
    _ isCancelled: () -> Bool,
    isSound: (ContentDigest, FileStatus) -> Bool,
    _ body: (TreeRecord.Row, TreeSpot?, Failure?) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    // Files of another folder than the recorded one were restored, and count by their bytes.
    let inode = try root.status().inode
    let isCopied = record.isCopied || inode != tree.inode
    var number: Int64 = 0
    var count = 0
    while true {
      let rows = try record.rows(of: tree, after: number)
      guard let last = rows.last else { return count }
      number = last.number
      for row in rows {
        guard !isCancelled() else { throw Failure(.cancelled, "stopped while verifying") }
        // Temporary names left by a kill are ignored.
        let (folder, leaf) = PathText.split(row.path)
        if leaf.hasPrefix(TreeName.temporaryPrefix) { continue }
        if let changed, !changed.contains(URLKey(String(folder))) { continue }
        count += 1
        let spot = try spot(of: row)
        if let spot, row.identity.isOfContent {
          // Other programs may move the switch of a tree.
          if spot.status.kind == .file || spot.isFile(of: row) { continue }
        } else if let spot, spot.status.kind == .file {
          let isSame = spot.identity == row.identity
          let mayBeCopy =
            (isCopied || spot.hasTime(of: row)) && spot.status.size == row.identity.size
          if readsFiles, isSame, spot.status.linkCount > 1, isSound(row.digest, spot.status) {
            continue
          }
          var content = TreeSpot.Content.other
          if isSame || mayBeCopy {
            content = readsFiles ? try spot.content(row.digest, isCancelled) : .body
          }
          switch content {
          case .body: continue
          case .other where !isSame: if try isOfOtherRow(spot, row) { continue }
          case .other: break
          case .unreadable(let failure):
            try body(row, spot, failure)
            continue
          }
        }
        try body(row, spot, nil)
      }
    }
  }

  /// Returns whether another row describes the file: a kill during a replacement leaves two rows.
  private func isOfOtherRow(_ spot: TreeSpot, _ row: TreeRecord.Row) throws(Failure) -> Bool {
    try record.rows(row.path, of: tree).contains { other in
      other.number != row.number && other.identity == spot.identity
    }
  }
}

extension TreeSpot {
  /// Whether the file has the time of the recorded one, as a copy from a backup has.
  func hasTime(of row: TreeRecord.Row) -> Bool {
    identity.modified == row.identity.modified
  }

  func isCopy(of row: TreeRecord.Row, _ isCancelled: () -> Bool) throws(Failure) -> Bool {
    guard status.kind == .file, status.size == row.identity.size else { return false }
    return try mayHold(row.digest, isCancelled)
  }

  /// Returns false when the bytes differ; an unreadable file gives no answer and counts as equal.
  fileprivate func mayHold(
    _ digest: ContentDigest,
    _ isCancelled: () -> Bool
  ) throws(Failure) -> Bool {
    if case .other = try content(digest, isCancelled) { false } else { true }
  }

  fileprivate enum Content {
    case body
    case other
    case unreadable(Failure)
  }

  /// Compares the file with a body; one that has just gone counts as equal.
  fileprivate func content(
    _ digest: ContentDigest,
    _ isCancelled: () -> Bool
  ) throws(Failure) -> Content {
    do throws(Failure) {
      guard let file = try ObjectFolder.open(leaf, in: folder) else { return .body }
      return try ObjectFolder.digest(of: file, isCancelled: isCancelled) == digest ? .body : .other
    } catch {
      if error.code == .cancelled { throw error }
      return .unreadable(error)
    }
  }
}
