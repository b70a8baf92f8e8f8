internal import PrefetchCore

/// Folder times of a tree: a folder without additions and removals need not be checked again.
struct TreeFolderTimes {
  struct Stamp: Hashable {
    var inode: UInt64
    var modified: Int64

    init(inode: UInt64, modified: Int64) {
      self.inode = inode
      self.modified = modified
    }

    init(_ status: FileStatus) {
      inode = status.inode
      modified = status.modified
    }
  }

  let changed: Set<URLKey>
  private let recorded: [URLKey: (path: String, stamp: Stamp)]

  init(of tree: TreeRecord.Tree, in root: Folder, _ record: TreeRecord) throws(Failure) {
    var changed: Set<URLKey> = []
    var recorded: [URLKey: (path: String, stamp: Stamp)] = [:]
    for (path, stamp) in try record.stamps(of: tree) {
      let key = URLKey(path)
      recorded[key] = (path, stamp)
      if Self.stamp(of: path, in: root) != stamp { changed.insert(key) }
    }
    self.changed = changed
    self.recorded = recorded
  }

  func renew(
    _ folders: some Sequence<String>,
    of tree: TreeRecord.Tree,
    in root: Folder,
    _ record: TreeRecord
  ) throws(Failure) {
    var left = recorded
    var changes: [(path: String, stamp: Stamp?)] = []
    for path in folders {
      let stamp = Self.stamp(of: path, in: root)
      if left.removeValue(forKey: URLKey(path))?.stamp != stamp { changes.append((path, stamp)) }
    }
    changes += left.values.map { ($0.path, nil) }
    try record.set(changes, of: tree)
  }

  private static func stamp(of path: String, in root: Folder) -> Stamp? {
    let status = path.isEmpty ? try? root.status() : (try? root.status(of: path)) ?? nil
    guard let status, status.kind == .folder else { return nil }
    return Stamp(status)
  }
}
