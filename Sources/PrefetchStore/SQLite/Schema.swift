internal import PrefetchCore

/// What a database of ours must look like.
struct Schema: Sendable {
  /// Marks the file as ours, so that no other program's database is taken for it.
  let applicationID: Int32
  /// Rises with every change of the layout.
  let version: Int
  let layout: String
  /// What a database notes that was made anew at time `?1`, or restored from a copy.
  var rebuildNote: String?
  /// Forgets what may no longer be true in a file that was made from an older copy.
  var rebuildDoubt: String?
  /// Copies the rows that must not be lost from a database that was set aside; returns their number.
  var rescue: (@Sendable (_ old: Database, _ new: Database) throws(Failure) -> Int)?

  enum Standing {
    case current
    case older(version: Int)
    case newer(version: Int)
    case foreign
  }

  func standing(of database: Database) throws(Failure) -> Standing {
    let id = try database.number("PRAGMA application_id")
    guard id == Int64(applicationID) else { return .foreign }
    let version = Int(try database.number("PRAGMA user_version") ?? 0)
    if version == self.version { return .current }
    return version > self.version ? .newer(version: version) : .older(version: version)
  }

  /// Lays out an empty database, all or nothing.
  func make(in database: Database) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try database.execute(layout)
      try database.execute("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
    }
  }

  func newer(_ other: Int, _ name: String) -> Failure {
    Failure(
      .storeDamaged,
      "`\(name)` is from a newer version of prefetch (schema \(other), this one knows \(version))"
        + "; use that version"
    )
  }

  /// What an earlier version made is made anew: nothing in it cannot be found again.
  func older(_ other: Int, _ name: String) -> Failure {
    Failure(
      .storeDamaged,
      "`\(name)` is from an earlier version of prefetch (schema \(other), this one's is \(version))"
    )
  }
}
