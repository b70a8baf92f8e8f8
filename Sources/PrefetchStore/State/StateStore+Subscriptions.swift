package import PrefetchCore

/// Whose subscriptions: a configuration under one license.
package struct SubscriptionKey: Hashable, Sendable {
  package var identity: String
  /// Stands for the license, which itself is never stored.
  package var licenseFingerprint: String

  package init(identity: String, licenseFingerprint: String) {
    self.identity = identity
    self.licenseFingerprint = licenseFingerprint
  }
}

extension StateStore {
  /// Nil until they were initialised or replaced for the first time; an empty set is an answer.
  package func subscriptions(_ key: SubscriptionKey) throws(Failure) -> Set<String>? {
    guard let set = try subscriptionSet(key) else { return nil }
    let rows = try database.prepare("SELECT name FROM subscriptions WHERE subscription_set=?1")
    try rows.bind(1, set)
    var names: Set<String> = []
    while try rows.step() {
      names.insert(rows.text(0))
    }
    return names
  }

  /// Joins the declared names the first time that a license is seen; afterwards they are ignored.
  ///
  /// Returns what is subscribed then.
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

  /// Within a transaction.
  private func write(_ names: Set<String>, for key: SubscriptionKey) throws(Failure) {
    let creation = try database.prepare(
      "INSERT OR IGNORE INTO subscription_sets (identity, license) VALUES (?1, ?2)"
    )
    try creation.bind(1, key.identity)
    try creation.bind(2, key.licenseFingerprint)
    try creation.run()
    guard let set = try subscriptionSet(key) else { return }
    let deletion = try database.prepare("DELETE FROM subscriptions WHERE subscription_set=?1")
    try deletion.bind(1, set)
    try deletion.run()
    let insertion = try database.prepare(
      "INSERT INTO subscriptions (subscription_set, name) VALUES (?1, ?2)"
    )
    for name in names.sorted() {
      try insertion.bind(1, set)
      try insertion.bind(2, name)
      try insertion.run()
    }
  }

  private func subscriptionSet(_ key: SubscriptionKey) throws(Failure) -> Int64? {
    let row = try database.prepare(
      "SELECT subscription_set FROM subscription_sets WHERE identity=?1 AND license=?2"
    )
    try row.bind(1, key.identity)
    try row.bind(2, key.licenseFingerprint)
    return try row.step() ? row.number(0) : nil
  }
}
