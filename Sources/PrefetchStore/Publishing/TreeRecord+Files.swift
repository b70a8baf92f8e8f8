internal import PrefetchCore

/// The files and folders of a tree that are prefetch's own.
extension TreeRecord {
  /// Usually none or one.
  func rows(_ path: String, of tree: Tree) throws(Failure) -> [Row] {
    let row = try statement(
      """
      SELECT file, path, digest, inode, size, modified FROM published_files
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
      SELECT file, path, digest, inode, size, modified FROM published_files
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
      )
    )
  }

  func add(
    _ path: String,
    _ digest: ContentDigest,
    _ identity: FileIdentity,
    to tree: Tree
  ) throws(Failure) -> Int64 {
    let row = try statement(
      """
      INSERT INTO published_files (tree, path, digest, inode, size, modified)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """
    )
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, path)
    try row.statement.bind(3, digest)
    try row.statement.bind(4, Int64(bitPattern: identity.inode))
    try row.statement.bind(5, identity.size)
    try row.statement.bind(6, identity.modified)
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
    let row = try statement("INSERT OR IGNORE INTO published_folders (tree, path) VALUES (?1, ?2)")
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, path)
    try row.statement.run()
  }

  func hasFolder(_ path: String, of tree: Tree) throws(Failure) -> Bool {
    let row = try statement("SELECT 1 FROM published_folders WHERE tree=?1 AND path=?2")
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
}
