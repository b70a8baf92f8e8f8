internal import PrefetchCore

/// Identity of a published file: changed bytes change the time, another file has another inode.
struct FileIdentity: Hashable {
  var inode: UInt64
  var size: Int64
  var modified: Int64

  init(_ status: FileStatus) {
    inode = status.inode
    size = status.size
    modified = status.modified
  }

  /// Identity of a link, or of a file that other programs may replace: its content alone counts.
  static func content(size: Int) -> FileIdentity {
    FileIdentity(inode: 0, size: Int64(size), modified: 0)
  }

  var isOfContent: Bool { inode == 0 }

  init(inode: UInt64, size: Int64, modified: Int64) {
    self.inode = inode
    self.size = size
    self.modified = modified
  }
}

/// Record of published trees; files without a record are foreign.
final class TreeRecord {
  struct Publication {
    var number: Int64
    /// Current generation of an atomic tree; zero for none.
    var current: Int
    /// Whether a rollback holds the tree until the next `publish`.
    var isHeld: Bool
  }

  struct Tree {
    var number: Int64
    var generation: Int
    var link: String
    var inode: UInt64
    /// Mark of the plan that the tree equals; nil during work and after troubles.
    var mark: UInt64?

    /// Key of the rows of foreign files that serve as files of the tree.
    var foreign: Tree {
      var tree = self
      tree.number = -number
      return tree
    }
  }

  struct Row {
    var number: Int64
    var path: String
    var digest: ContentDigest
    var identity: FileIdentity
    /// Birth time where the file system has one, since inodes are used again.
    var birth: Int64
    /// Whether the file is being removed, and may be gone.
    var isLeaving: Bool
  }

  let database: Database
  /// Folder of the state; paths of trees are relative to it.
  private let home: String
  private let fileMark: Int64
  /// Whether the state is a copy of the file that recorded the trees, whose inodes then differ.
  private(set) var isCopied = false
  private var kept: [String: KeptStatement] = [:]

  init(_ state: StateStore) throws(Failure) {
    database = state.database
    home = state.folderPath
    fileMark = try state.fileMark
    let known = try all("SELECT mark FROM state_file") { $0.number(0) }
    isCopied = known.first.map { $0 != fileMark } ?? false
  }

  func settle() throws(Failure) {
    try run("DELETE FROM state_file")
    try run("INSERT INTO state_file (mark) VALUES (\(fileMark))")
    isCopied = false
  }

  private func statement(_ query: Query) throws(Failure) -> KeptStatement {
    if let known = kept[query.text] {
      known.statement.reset()
      try known.statement.set(query)
      return known
    }
    let made = KeptStatement(try database.rows(query))
    kept[query.text] = made
    return made
  }

  func run(_ query: Query) throws(Failure) {
    try statement(query).statement.run()
  }

  func all<Value>(
    _ query: Query,
    read: (borrowing Statement) -> Value
  ) throws(Failure) -> [Value] {
    try statement(query).statement.all { row in read(row) }
  }

  func publication(of key: SegmentKey, folder: String) throws(Failure) -> Publication? {
    try all(
      """
      SELECT publication, current, is_held FROM publications
      WHERE identity=\(key.identity) AND segment=\(key.name) AND dir=\(PathText.relative(folder, to: home))
      """,
      read: Self.publication
    ).first
  }

  private static func publication(_ row: borrowing Statement) -> Publication {
    Publication(number: row.number(0), current: Int(row.number(1)), isHeld: row.flag(2))
  }

  func making(_ key: SegmentKey, folder: String) throws(Failure) -> Publication {
    if let known = try publication(of: key, folder: folder) { return known }
    try run(
      """
      INSERT INTO publications (identity, segment, dir)
      VALUES (\(key.identity), \(key.name), \(PathText.relative(folder, to: home)))
      """
    )
    let number = database.lastInsertedRow
    if try all("SELECT 1 FROM state_file", read: { _ in true }).isEmpty { try settle() }
    return Publication(number: number, current: 0, isHeld: false)
  }

  struct Found {
    var publication: Publication
    var key: SegmentKey
    var folder: String
  }

  func publications() throws(Failure) -> [Found] {
    try all(
      """
      SELECT publication, current, is_held, identity, segment, dir FROM publications
      ORDER BY segment, publication
      """
    ) { row in
      Found(
        publication: Self.publication(row),
        key: SegmentKey(identity: row.text(3), name: row.text(4)),
        folder: PathText.absolute(row.text(5), in: home)
      )
    }
  }

  func set(_ publication: Publication) throws(Failure) {
    try run(
      """
      UPDATE publications SET current=\(publication.current), is_held=\(publication.isHeld)
      WHERE publication=\(publication.number)
      """
    )
  }

  func otherTrees(
    excluding tree: Tree?
  ) throws(Failure) -> [(key: SegmentKey, folder: String, tree: Tree)] {
    try all(
      """
      SELECT tree, generation, link, inode, mark, identity, segment, dir
      FROM published_trees JOIN publications USING (publication)
      WHERE generation=0 AND tree<>\(tree?.number ?? 0)
      """
    ) { row in
      (
        SegmentKey(identity: row.text(5), name: row.text(6)),
        PathText.absolute(row.text(7), in: home), Self.tree(row)
      )
    }
  }

  // MARK: Trees

  func trees(of publication: Publication) throws(Failure) -> [Tree] {
    try all(
      """
      SELECT tree, generation, link, inode, mark FROM published_trees
      WHERE publication=\(publication.number) ORDER BY generation
      """,
      read: Self.tree
    )
  }

  private static func tree(_ row: borrowing Statement) -> Tree {
    Tree(
      number: row.number(0),
      generation: Int(row.number(1)),
      link: row.text(2),
      inode: UInt64(bitPattern: row.number(3)),
      mark: row.optionalNumber(4).map { UInt64(bitPattern: $0) }
    )
  }

  func makeTree(
    _ generation: Int,
    of publication: Publication,
    link: String,
    inode: UInt64
  ) throws(Failure) -> Tree {
    try run(
      """
      INSERT INTO published_trees (publication, generation, link, inode)
      VALUES (\(publication.number), \(generation), \(link), \(inode))
      """
    )
    return Tree(
      number: database.lastInsertedRow,
      generation: generation,
      link: link,
      inode: inode,
      mark: nil
    )
  }

  func set(_ tree: Tree) throws(Failure) {
    try run(
      """
      UPDATE published_trees SET link=\(tree.link), inode=\(tree.inode), mark=\(tree.mark)
      WHERE tree=\(tree.number)
      """
    )
  }

  func forget(_ tree: Tree, removesTree: Bool) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try run("DELETE FROM published_files WHERE tree IN (\(tree.number), \(tree.foreign.number))")
      try run("DELETE FROM published_folders WHERE tree=\(tree.number)")
      if removesTree { try run("DELETE FROM published_trees WHERE tree=\(tree.number)") }
    }
  }
}
