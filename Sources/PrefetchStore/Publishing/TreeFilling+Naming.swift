internal import Glibc
internal import PrefetchCore

struct TreePlacement {
  var file: TreeFile
  var digest: ContentDigest
  var folder: Folder
  var folderPath: Substring
  var leaf: String
  var form: TreeSource.Form
  var identity: FileIdentity
  var birth: Int64
  var existingFile: FileIdentity?
  /// Whether the file was published before with these bytes, and is missing.
  var isRestored = false
  var replaced: [Int64] = []
  var temporary: String?
  var row: Int64 = 0
  var temporaryRow: Int64 = 0

  /// Whether the file has bytes of its own that need a flush.
  var isMade: Bool {
    switch form {
    case .object, .alias: false
    case .unnamed, .named: true
    }
  }
}

/// Order of publishing a file: flush, record, name.
extension TreeFilling {
  func flush() throws(Failure) {
    guard !pending.isEmpty else { return }
    defer { discardPending() }
    if options.isDurable, pending.contains(where: \.isMade) {
      try folders.root.synchronizeFileSystem()
    }
    try record.database.transaction { () throws(Failure) in
      for index in pending.indices {
        let placement = pending[index]
        pending[index].row = try record.add(
          placement.file.name,
          placement.digest,
          placement.identity,
          birth: placement.birth,
          to: tree
        )
        guard let temporary = placement.temporary else { continue }
        pending[index].temporaryRow = try record.add(
          placement.folderPath.isEmpty ? temporary : "\(placement.folderPath)/\(temporary)",
          placement.digest,
          placement.identity,
          birth: placement.birth,
          to: tree
        )
      }
    }
    var stale: [Int64] = []
    var hasReplaced = false
    var obstacle: Failure?
    for placement in pending {
      if placement.temporary != nil { stale.append(placement.temporaryRow) }
      do throws(Failure) {
        if let obstacle { throw obstacle }
        try name(placement)
        seen.insert(placement.row)
        stale += placement.replaced
        hasReplaced = hasReplaced || placement.temporary != nil
        outcome.created += 1
        if placement.isRestored { outcome.restored += 1 }
      } catch {
        // Rows of the former file stay.
        seen.formUnion(placement.replaced)
        stale.append(placement.row)
        guard obstacle == nil else { continue }
        do throws(Failure) {
          try recordFailure(error, of: placement.file)
        } catch {
          obstacle = error
        }
      }
    }
    // Flushed before the rows of former files go: on some file systems (btrfs), or on another one
    // than the state's, a power cut could bring back a former file, which would be foreign then.
    if options.isDurable, hasReplaced { try folders.root.synchronizeFileSystem() }
    try record.remove(stale)
    if let obstacle { throw obstacle }
  }

  private func name(_ placement: TreePlacement) throws(Failure) {
    let leaf = placement.temporary ?? placement.leaf
    let result = placement.form.link(as: leaf, in: placement.folder)
    if result == -EEXIST {
      throw Self.foreign(placement.folder.path(of: leaf), "it appeared while the tree was made")
    }
    if result < 0 {
      guard case .object = placement.form,
        let form = try source.instead(
          of: placement.digest,
          in: placement.folder,
          modified: dates.time(of: placement.file.url),
          error: -result
        )
      else { throw .system(-result, "create", placement.folder.path(of: placement.leaf)) }
      // The new inode is not recorded yet; after a kill, the next run finds this file by its bytes.
      let identity = try identity(of: form)
      let again = form.link(as: leaf, in: placement.folder)
      guard again == 0 else {
        throw .system(-again, "create", placement.folder.path(of: placement.leaf))
      }
      let row = try record.add(
        placement.file.name,
        placement.digest,
        identity,
        birth: form.birth,
        to: tree
      )
      seen.insert(row)
      try record.remove([placement.row])
    }
    guard placement.temporary != nil else { return }
    do throws(Failure) {
      // The old file may have been changed meanwhile.
      let existingFile = try placement.folder.status(of: placement.leaf).map(FileIdentity.init)
      guard existingFile == nil || existingFile == placement.existingFile else {
        throw Self.foreign(placement.folder.path(of: placement.leaf), "it was changed just now")
      }
      if let existingFile { try invalidateNeighbours(placement.file.name, existingFile) }
      try placement.folder.rename(leaf, to: placement.leaf, in: placement.folder)
    } catch {
      _ = try? placement.folder.remove(leaf)
      throw error
    }
    // Renaming onto another link of the same file leaves both names.
    _ = try? placement.folder.remove(leaf)
  }

  /// Makes other trees that share the replaced file check it again.
  private func invalidateNeighbours(_ name: String, _ identity: FileIdentity) throws(Failure) {
    for neighbour in neighbours {
      guard let theirs = neighbour.name(of: name),
        try record.rows(theirs, of: neighbour.tree)
          .contains(where: { $0.identity.inode == identity.inode })
      else { continue }
      var tree = neighbour.tree
      tree.mark = nil
      try record.set(tree)
    }
  }
}
