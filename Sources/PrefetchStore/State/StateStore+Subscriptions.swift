package import PrefetchCore

package struct SubscriptionKey: Hashable, Sendable {
  package var identity: String
  package var licenseFingerprint: String

  package init(identity: String, licenseFingerprint: String) {
    self.identity = identity
    self.licenseFingerprint = licenseFingerprint
  }
}

extension StateStore {
  /// Returns nil until subscriptions were first written; an empty set is a result.
  package func subscriptions(_ key: SubscriptionKey) throws(Failure) -> Set<String>? {
    guard let set = try subscriptionSet(key) else { return nil }
    let rows = try database.rows("SELECT name FROM subscriptions WHERE subscription_set=\(set)")
    var names: Set<String> = []
    while try rows.step() {
      names.insert(rows.text(0))
    }
    return names
  }

  package func hasSubscriptions(of identity: String) throws(Failure) -> Bool {
    try database.number(
      "SELECT count(*) FROM subscription_sets WHERE identity=\(identity)"
    ) ?? 0 > 0
  }

  /// Subscribes to the declared names when the license is new; returns the subscriptions.
  package func initialiseSubscriptions(
    _ key: SubscriptionKey,
    declared names: Set<String>
  ) throws(Failure) -> Set<String> {
    try database.transaction { () throws(Failure) in
      if let remembered = try subscriptions(key) { return remembered }
      try write(names, for: key)
      return names
    }
  }

  package func replaceSubscriptions(
    _ key: SubscriptionKey,
    by names: Set<String>
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      try write(names, for: key)
    }
  }

  private func write(_ names: Set<String>, for key: SubscriptionKey) throws(Failure) {
    try database.run(
      """
      INSERT OR IGNORE INTO subscription_sets (identity, license) VALUES (\(key.identity), \
      \(key.licenseFingerprint))
      """
    )
    guard let set = try subscriptionSet(key) else { return }
    try database.run("DELETE FROM subscriptions WHERE subscription_set=\(set)")
    let insertion = database.prepare(
      "INSERT INTO subscriptions (subscription_set, name) VALUES (?1, ?2)"
    )
    for name in names.sorted() {
      try insertion.run(set, name)
    }
  }

  private func subscriptionSet(_ key: SubscriptionKey) throws(Failure) -> Int64? {
    try database.number(
      """
      SELECT subscription_set FROM subscription_sets WHERE identity=\(key.identity) AND \
      license=\(key.licenseFingerprint)
      """
    )
  }
}
