internal import PrefetchCore

extension TreeRecord {
  /// Gives a mirror the record of its folder that its runs with another cache have made.
  func takeOver(_ key: SegmentKey, _ folder: String) throws(Failure) {
    var others = try publications().filter { other in
      other.folder == folder && other.key.name == key.name && other.key != key
        && MirrorRules.isIdentity(other.key.identity)
    }
    if try publication(of: key, folder: folder) == nil, let first = others.popLast() {
      try run(
        """
        UPDATE publications SET identity=\(key.identity)
        WHERE publication=\(first.publication.number)
        """
      )
    }
    for other in others {
      for tree in try trees(of: other.publication) { try forget(tree, removesTree: true) }
      try run("DELETE FROM publications WHERE publication=\(other.publication.number)")
    }
  }

  func rows(_ path: String, of tree: Tree) throws(Failure) -> [Row] {
    try all(
      """
      SELECT file, path, digest, inode, size, modified, birth, is_leaving FROM published_files
      WHERE tree=\(tree.number) AND path=\(path)
      """,
      read: Self.read
    )
  }

  func hasFile(_ identity: FileIdentity, of tree: Tree) throws(Failure) -> Bool {
    try !all(
      """
      SELECT 1 FROM published_files WHERE tree=\(tree.number) AND inode=\(identity.inode)
      AND size=\(identity.size) AND modified=\(identity.modified) LIMIT 1
      """
    ) { _ in true }.isEmpty
  }

  /// Returns the next rows after a number, so that millions are not in memory at once.
  func rows(of tree: Tree, after number: Int64) throws(Failure) -> [Row] {
    try all(
      """
      SELECT file, path, digest, inode, size, modified, birth, is_leaving FROM published_files
      WHERE file>\(number) AND tree=\(tree.number) ORDER BY file LIMIT 4096
      """,
      read: Self.read
    )
  }

  /// Returns the number of names, foreign ones included; a kill during a replacement leaves two
  /// rows of one name.
  func fileCount(of tree: Tree) throws(Failure) -> Int {
    try all(
      """
      SELECT count(DISTINCT path) FROM published_files
      WHERE tree IN (\(tree.number), \(tree.foreign.number))
      """
    ) { row in Int(row.number(0)) }.first ?? 0
  }

  private static func read(_ row: borrowing Statement) -> Row {
    Row(
      number: row.number(0),
      path: row.text(1),
      digest: row.optionalDigest(2) ?? .none,
      identity: FileIdentity(
        inode: UInt64(bitPattern: row.number(3)),
        size: row.number(4),
        modified: row.number(5)
      ),
      birth: row.number(6),
      isLeaving: row.flag(7)
    )
  }

  func add(
    _ path: String,
    _ digest: ContentDigest,
    _ identity: FileIdentity,
    birth: Int64,
    to tree: Tree
  ) throws(Failure) -> Int64 {
    try run(
      """
      INSERT INTO published_files (tree, path, digest, inode, size, modified, birth)
      VALUES (\(tree.number), \(path), \(digest), \(identity.inode), \(identity.size),
      \(identity.modified), \(birth))
      """
    )
    return database.lastInsertedRow
  }

  func renew(_ rows: [Row]) throws(Failure) {
    guard !rows.isEmpty else { return }
    try database.transaction { () throws(Failure) in
      for row in rows {
        try run(
          """
          UPDATE published_files SET inode=\(row.identity.inode), size=\(row.identity.size),
          modified=\(row.identity.modified), birth=\(row.birth) WHERE file=\(row.number)
          """
        )
      }
    }
  }

  /// Records which files are about to be removed, before any of them is.
  func set(leaving isLeaving: Bool, _ files: [Int64]) throws(Failure) {
    guard !files.isEmpty else { return }
    try database.transaction { () throws(Failure) in
      for file in files {
        try run("UPDATE published_files SET is_leaving=\(isLeaving) WHERE file=\(file)")
      }
    }
  }

  func remove(_ files: [Int64]) throws(Failure) {
    guard !files.isEmpty else { return }
    try database.transaction { () throws(Failure) in
      for file in files { try run("DELETE FROM published_files WHERE file=\(file)") }
    }
  }

  // MARK: Folders

  func addFolder(_ path: String, to tree: Tree) throws(Failure) {
    try run(
      """
      INSERT INTO published_folders (tree, path, is_made) VALUES (\(tree.number), \(path), 1)
      ON CONFLICT DO UPDATE SET is_made=1
      """
    )
  }

  func hasFolder(_ path: String, of tree: Tree) throws(Failure) -> Bool {
    try !all(
      "SELECT 1 FROM published_folders WHERE tree=\(tree.number) AND path=\(path) AND is_made"
    ) { _ in true }.isEmpty
  }

  func removeFolder(_ path: String, of tree: Tree) throws(Failure) {
    try run("DELETE FROM published_folders WHERE tree=\(tree.number) AND path=\(path)")
  }

  func stamps(of tree: Tree) throws(Failure) -> [(path: String, stamp: TreeFolderTimes.Stamp)] {
    try all(
      """
      SELECT path, inode, modified FROM published_folders
      WHERE tree=\(tree.number) AND inode IS NOT NULL
      """
    ) { row in
      (row.text(0), .init(inode: UInt64(bitPattern: row.number(1)), modified: row.number(2)))
    }
  }

  func set(
    _ stamps: [(path: String, stamp: TreeFolderTimes.Stamp?)],
    of tree: Tree
  ) throws(Failure) {
    guard !stamps.isEmpty else { return }
    try database.transaction { () throws(Failure) in
      for (path, stamp) in stamps {
        try run(
          """
          INSERT INTO published_folders (tree, path, inode, modified)
          VALUES (\(tree.number), \(path), \(stamp?.inode), \(stamp?.modified))
          ON CONFLICT DO UPDATE SET inode=excluded.inode, modified=excluded.modified
          """
        )
      }
      try run(
        """
        DELETE FROM published_folders
        WHERE tree=\(tree.number) AND inode IS NULL AND NOT is_made
        """
      )
    }
  }
}
