internal import PrefetchCore

/// The files and folders of a tree that are prefetch's own.
extension TreeRecord {
  /// Usually none or one.
  func rows(_ path: String, of tree: Tree) throws(Failure) -> [Row] {
    let row = try statement(
      """
      SELECT file, path, digest, inode, size, modified, birth FROM published_files
      WHERE tree=?1 AND path=?2
      """
    )
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, path)
    defer { row.statement.reset() }
    var rows: [Row] = []
    while try row.statement.step() { rows.append(Self.read(row.statement)) }
    return rows
  }

  /// The next rows after a number, so that millions need not be held at once.
  func rows(of tree: Tree, after number: Int64) throws(Failure) -> [Row] {
    let row = try statement(
      """
      SELECT file, path, digest, inode, size, modified, birth FROM published_files
      WHERE file>?2 AND tree=?1 ORDER BY file LIMIT 4096
      """
    )
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, number)
    defer { row.statement.reset() }
    var rows: [Row] = []
    while try row.statement.step() { rows.append(Self.read(row.statement)) }
    return rows
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
      birth: row.number(6)
    )
  }

  func add(
    _ path: String,
    _ digest: ContentDigest,
    _ identity: FileIdentity,
    birth: Int64,
    to tree: Tree
  ) throws(Failure) -> Int64 {
    let row = try statement(
      """
      INSERT INTO published_files (tree, path, digest, inode, size, modified, birth)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """
    )
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, path)
    try row.statement.bind(3, digest)
    try row.statement.bind(4, Int64(bitPattern: identity.inode))
    try row.statement.bind(5, identity.size)
    try row.statement.bind(6, identity.modified)
    try row.statement.bind(7, birth)
    try row.statement.run()
    return database.lastInsertedRow
  }

  func remove(_ files: [Int64]) throws(Failure) {
    guard !files.isEmpty else { return }
    try transaction { () throws(Failure) in
      for file in files {
        let row = try statement("DELETE FROM published_files WHERE file=?1")
        try row.statement.bind(1, file)
        try row.statement.run()
      }
    }
  }

  // MARK: Folders

  func addFolder(_ path: String, to tree: Tree) throws(Failure) {
    let row = try statement(
      """
      INSERT INTO published_folders (tree, path, is_made) VALUES (?1, ?2, 1)
      ON CONFLICT DO UPDATE SET is_made=1
      """
    )
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, path)
    try row.statement.run()
  }

  /// Whether prefetch made it.
  func hasFolder(_ path: String, of tree: Tree) throws(Failure) -> Bool {
    let row = try statement(
      "SELECT 1 FROM published_folders WHERE tree=?1 AND path=?2 AND is_made"
    )
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, path)
    defer { row.statement.reset() }
    return try row.statement.step()
  }

  func removeFolder(_ path: String, of tree: Tree) throws(Failure) {
    let row = try statement("DELETE FROM published_folders WHERE tree=?1 AND path=?2")
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, path)
    try row.statement.run()
  }

  /// How the folders were when their files were last looked at.
  func stamps(of tree: Tree) throws(Failure) -> [(path: String, stamp: TreeFolderTimes.Stamp)] {
    let row = try statement(
      "SELECT path, inode, modified FROM published_folders WHERE tree=?1 AND inode IS NOT NULL"
    )
    try row.statement.bind(1, tree.number)
    defer { row.statement.reset() }
    var stamps: [(path: String, stamp: TreeFolderTimes.Stamp)] = []
    while try row.statement.step() {
      let stamp = TreeFolderTimes.Stamp(
        inode: UInt64(bitPattern: row.statement.number(1)),
        modified: row.statement.number(2)
      )
      stamps.append((row.statement.text(0), stamp))
    }
    return stamps
  }

  func set(
    _ stamps: [(path: String, stamp: TreeFolderTimes.Stamp?)],
    of tree: Tree
  ) throws(Failure) {
    guard !stamps.isEmpty else { return }
    try transaction { () throws(Failure) in
      for (path, stamp) in stamps {
        let row = try statement(
          """
          INSERT INTO published_folders (tree, path, inode, modified) VALUES (?1, ?2, ?3, ?4)
          ON CONFLICT DO UPDATE SET inode=?3, modified=?4
          """
        )
        try row.statement.bind(1, tree.number)
        try row.statement.bind(2, path)
        try row.statement.bind(3, stamp.map { Int64(bitPattern: $0.inode) })
        try row.statement.bind(4, stamp?.modified)
        try row.statement.run()
      }
      let row = try statement(
        "DELETE FROM published_folders WHERE tree=?1 AND inode IS NULL AND NOT is_made"
      )
      try row.statement.bind(1, tree.number)
      try row.statement.run()
    }
  }
}
