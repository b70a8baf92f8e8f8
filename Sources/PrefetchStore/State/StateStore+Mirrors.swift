package import PrefetchCore

extension StateStore {
  /// Returns the options of a mirror's last run, as they were recorded; nil before that.
  package func mirrorOptions(of identity: String) throws(Failure) -> String? {
    try database.rows("SELECT options FROM mirror_options WHERE identity=\(identity)")
      .all { row in row.text(0) }.first
  }

  /// Records the options of a mirror; equal ones cost no write.
  package func recordMirrorOptions(_ text: String, of identity: String) throws(Failure) {
    guard try mirrorOptions(of: identity) != text else { return }
    try database.run(
      "INSERT OR REPLACE INTO mirror_options (identity, options) VALUES (\(identity), \(text))"
    )
  }
}
