internal import PrefetchCore

/// By what a file is known again: changed bytes change the time, another file has another number.
struct FileIdentity: Hashable {
  var inode: UInt64
  var size: Int64
  var modified: Int64

  init(_ status: FileStatus) {
    inode = status.inode
    size = status.size
    modified = status.modified
  }

  init(inode: UInt64, size: Int64, modified: Int64) {
    self.inode = inode
    self.size = size
    self.modified = modified
  }
}

/// What is remembered of published trees: without it no file in them counts as prefetch's own.
final class TreeRecord {
  struct Publication {
    var number: Int64
    /// Of an atomic tree, the generation that stands; zero for none.
    var current: Int
    /// Whether it went back, and waits for the next `publish`.
    var isHeld: Bool
  }

  struct Tree {
    var number: Int64
    var generation: Int
    var link: String
    /// Of its folder.
    var inode: UInt64
    /// Of the plan that it is equal to; nil while it is worked on, and after troubles.
    var mark: UInt64?
  }

  struct Row {
    var number: Int64
    var path: String
    var digest: ContentDigest
    var identity: FileIdentity
    /// When the file was made, where its file system says so: numbers are given again.
    var birth: Int64
  }

  let database: Database
  /// The folder of the state: trees are recorded by their paths from there.
  private let home: String
  private let fileMark: Int64
  /// Whether the state is a copy of the file that recorded the trees, as after the folder of both was
  /// unpacked elsewhere: then the files have other inodes than the recorded ones.
  private(set) var isCopied = false
  /// By their texts, since most are used again and again.
  private var kept: [String: KeptStatement] = [:]

  init(_ state: StateStore) throws(Failure) {
    database = state.database
    home = state.folderPath
    fileMark = try state.fileMark
    let known = try all("SELECT mark FROM state_file") { $0.number(0) }
    isCopied = known.first.map { $0 != fileMark } ?? false
  }

  /// Notes that the recorded files are those of this state.
  func settle() throws(Failure) {
    try run("DELETE FROM state_file")
    try run("INSERT INTO state_file (mark) VALUES (\(fileMark))")
    isCopied = false
  }

  /// The statement of a query, ready for its first row; it is kept for the next use.
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

  /// What stands in its own place of all segments, with who published it where.
  func placedTrees(
    besides tree: Tree
  ) throws(Failure) -> [(key: SegmentKey, folder: String, tree: Tree)] {
    try all(
      """
      SELECT tree, generation, link, inode, mark, identity, segment, dir
      FROM published_trees JOIN publications USING (publication)
      WHERE generation=0 AND tree<>\(tree.number)
      """
    ) { row in
      (
        SegmentKey(identity: row.text(5), name: row.text(6)),
        PathText.absolute(row.text(7), in: home), Self.tree(row)
      )
    }
  }

  // MARK: Trees

  /// In the order of their generations.
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

  /// Forgets its files, and with `isGone` the tree itself.
  func forget(_ tree: Tree, isGone: Bool) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try run("DELETE FROM published_files WHERE tree=\(tree.number)")
      try run("DELETE FROM published_folders WHERE tree=\(tree.number)")
      if isGone { try run("DELETE FROM published_trees WHERE tree=\(tree.number)") }
    }
  }
}
