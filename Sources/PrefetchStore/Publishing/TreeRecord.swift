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
  private var kept: [String: Kept] = [:]

  init(_ state: StateStore) {
    database = state.database
  }

  func transaction(_ body: () throws(Failure) -> Void) throws(Failure) {
    try database.execute("BEGIN IMMEDIATE")
    do throws(Failure) {
      try body()
      try database.execute("COMMIT")
    } catch {
      database.rollBack()
      throw error
    }
  }

  /// A statement that is used again and again.
  final class Kept {
    let statement: Statement

    init(_ statement: consuming Statement) {
      self.statement = statement
    }
  }

  func statement(_ text: String) throws(Failure) -> Kept {
    if let known = kept[text] {
      known.statement.reset()
      return known
    }
    let made = Kept(try database.prepare(text))
    kept[text] = made
    return made
  }

  func publication(of key: SegmentKey, folder: String) throws(Failure) -> Publication? {
    let row = try statement(
      """
      SELECT publication, current, is_held FROM publications
      WHERE identity=?1 AND segment=?2 AND dir=?3
      """
    )
    try row.statement.bind(1, key.identity)
    try row.statement.bind(2, key.name)
    try row.statement.bind(3, folder)
    defer { row.statement.reset() }
    guard try row.statement.step() else { return nil }
    return Publication(
      number: row.statement.number(0),
      current: Int(row.statement.number(1)),
      isHeld: row.statement.flag(2)
    )
  }

  func making(_ key: SegmentKey, folder: String) throws(Failure) -> Publication {
    if let known = try publication(of: key, folder: folder) { return known }
    let row = try statement("INSERT INTO publications (identity, segment, dir) VALUES (?1, ?2, ?3)")
    try row.statement.bind(1, key.identity)
    try row.statement.bind(2, key.name)
    try row.statement.bind(3, folder)
    try row.statement.run()
    return Publication(number: database.lastInsertedRow, current: 0, isHeld: false)
  }

  struct Found {
    var publication: Publication
    var key: SegmentKey
    var folder: String
  }

  func publications() throws(Failure) -> [Found] {
    let row = try statement(
      """
      SELECT publication, current, is_held, identity, segment, dir FROM publications
      ORDER BY segment, publication
      """
    )
    defer { row.statement.reset() }
    var found: [Found] = []
    while try row.statement.step() {
      found.append(
        Found(
          publication: Publication(
            number: row.statement.number(0),
            current: Int(row.statement.number(1)),
            isHeld: row.statement.flag(2)
          ),
          key: SegmentKey(identity: row.statement.text(3), name: row.statement.text(4)),
          folder: row.statement.text(5)
        )
      )
    }
    return found
  }

  func set(_ publication: Publication) throws(Failure) {
    let row = try statement(
      "UPDATE publications SET current=?2, is_held=?3 WHERE publication=?1"
    )
    try row.statement.bind(1, publication.number)
    try row.statement.bind(2, publication.current)
    try row.statement.bind(3, publication.isHeld)
    try row.statement.run()
  }

  /// What stands in its own place of all segments, with who published it where.
  func placedTrees(
    besides tree: Tree
  ) throws(Failure) -> [(key: SegmentKey, folder: String, tree: Tree)] {
    let row = try statement(
      """
      SELECT tree, generation, link, inode, mark, identity, segment, dir
      FROM published_trees JOIN publications USING (publication)
      WHERE generation=0 AND tree<>?1
      """
    )
    try row.statement.bind(1, tree.number)
    defer { row.statement.reset() }
    var placed: [(key: SegmentKey, folder: String, tree: Tree)] = []
    while try row.statement.step() {
      let key = SegmentKey(identity: row.statement.text(5), name: row.statement.text(6))
      placed.append((key, row.statement.text(7), Self.tree(row.statement)))
    }
    return placed
  }

  // MARK: Trees

  /// In the order of their generations.
  func trees(of publication: Publication) throws(Failure) -> [Tree] {
    let row = try statement(
      """
      SELECT tree, generation, link, inode, mark FROM published_trees
      WHERE publication=?1 ORDER BY generation
      """
    )
    try row.statement.bind(1, publication.number)
    defer { row.statement.reset() }
    var trees: [Tree] = []
    while try row.statement.step() { trees.append(Self.tree(row.statement)) }
    return trees
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
    let row = try statement(
      "INSERT INTO published_trees (publication, generation, link, inode) VALUES (?1, ?2, ?3, ?4)"
    )
    try row.statement.bind(1, publication.number)
    try row.statement.bind(2, generation)
    try row.statement.bind(3, link)
    try row.statement.bind(4, Int64(bitPattern: inode))
    try row.statement.run()
    return Tree(
      number: database.lastInsertedRow,
      generation: generation,
      link: link,
      inode: inode,
      mark: nil
    )
  }

  func set(_ tree: Tree) throws(Failure) {
    let row = try statement("UPDATE published_trees SET link=?2, inode=?3, mark=?4 WHERE tree=?1")
    try row.statement.bind(1, tree.number)
    try row.statement.bind(2, tree.link)
    try row.statement.bind(3, Int64(bitPattern: tree.inode))
    try row.statement.bind(4, tree.mark.map { Int64(bitPattern: $0) })
    try row.statement.run()
  }

  /// Forgets its files, and with `isGone` the tree itself.
  func forget(_ tree: Tree, isGone: Bool) throws(Failure) {
    try transaction { () throws(Failure) in
      var tables = ["published_files", "published_folders"]
      if isGone { tables.append("published_trees") }
      for table in tables {
        let row = try statement("DELETE FROM \(table) WHERE tree=?1")
        try row.statement.bind(1, tree.number)
        try row.statement.run()
      }
    }
  }
}
