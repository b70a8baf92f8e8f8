internal import PrefetchCore

/// What a database of ours must look like, and the steps that lead there.
struct Schema: Sendable {
  /// Marks the file as ours, so that no other program's database is taken for it.
  let applicationID: Int32
  /// The statements that lead from version n to n + 1; a new file runs through all of them.
  let steps: [String]
  /// What a database notes that was made anew at time `?1`, or restored from a copy.
  var rebuildNote: String?
  /// Forgets what may no longer be true in a file that was made from an older copy.
  var rebuildDoubt: String?

  var version: Int {
    steps.count
  }

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

  /// Brings a database from `version` to this one, all or nothing.
  func migrate(_ database: Database, from version: Int) throws(Failure) {
    try database.transaction { () throws(Failure) in
      for step in steps.dropFirst(version) {
        try database.execute(step)
      }
      try database.execute(
        "PRAGMA application_id=\(applicationID); PRAGMA user_version=\(self.version)"
      )
    }
  }

  static func newer(_ version: Int, than own: Int, _ name: String) -> Failure {
    Failure(
      .storeDamaged,
      "`\(name)` is from a newer version of prefetch (schema \(version), this one knows \(own))"
        + "; use that version"
    )
  }
}
