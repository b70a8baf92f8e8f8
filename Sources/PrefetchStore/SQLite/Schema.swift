internal import PrefetchCore

struct Schema: Sendable {
  /// Number that marks a database as prefetch's own.
  let applicationID: Int32
  let version: Int
  let layout: String
  /// SQL run in a rebuilt or restored database; `?1` is the time.
  var rebuildStatement: String?
  /// SQL that deletes what may be outdated in a restored copy.
  var rebuildDoubt: String?
  /// Throws when a row holds bytes that this program never writes, which SQLite cannot know.
  var checkRows: (@Sendable (Database) throws(Failure) -> Void)?
  /// Copies the rows that must survive from a damaged database; returns their number.
  var rescue: (@Sendable (_ old: Database, _ new: Database) throws(Failure) -> Int)?

  enum VersionStatus {
    case current
    case older(version: Int)
    case newer(version: Int)
    case foreign
  }

  func versionStatus(of database: Database) throws(Failure) -> VersionStatus {
    let id = try database.number("PRAGMA application_id")
    guard id == Int64(applicationID) else { return .foreign }
    let version = Int(try database.number("PRAGMA user_version") ?? 0)
    if version == self.version { return .current }
    return version > self.version ? .newer(version: version) : .older(version: version)
  }

  func make(in database: Database) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try database.execute(layout)
      try database.execute("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
    }
  }

  /// Throws when tables or indexes differ from those that this version makes.
  ///
  /// SQLite keeps the text that made each of them.
  func checkTables(of database: Database) throws(Failure) {
    let statements = layout.utf8.split(separator: UInt8(ascii: ";")).lazy.map { statement in
      Substring(statement.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") })
    }
    var missing = Set(statements.filter { $0.utf8.starts(with: "CREATE".utf8) })
    let texts = database.prepare("SELECT sql FROM sqlite_schema WHERE sql NOT NULL")
    while try texts.step() { missing.remove(texts.text(0)[...]) }
    guard missing.isEmpty else {
      database.markDamaged()
      throw Failure(.storeDamaged, "`\(database.name)` is damaged: its tables are not as made")
    }
  }

  func newer(_ other: Int, _ name: String) -> Failure {
    Failure(
      .storeDamaged,
      "`\(name)` is from a newer version of prefetch (schema \(other), this one knows \(version))"
        + "; use that version"
    )
  }

  func older(_ other: Int, _ name: String) -> Failure {
    Failure(
      .storeDamaged,
      "`\(name)` is from an earlier version of prefetch (schema \(other), this one's is \(version))"
    )
  }
}
