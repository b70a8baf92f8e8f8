/// Settings of `select`: the newest versions among the names of a list.
package struct VersionRules: Hashable, Sendable {
  /// Text of a ``NamePattern``.
  package var name: String
  /// Number of versions of each group.
  package var newest = 1
  package var order = VersionOrder.version

  package init(name: String) {
    self.name = name
  }
}

extension ManifestRules {
  /// Hash of the rules that decide which version of a list is the newest.
  var versionHash: UInt64 {
    var hash = StableHash()
    for texts in [[versions?.name ?? "", versions?.order.rawValue ?? ""], included, excluded] {
      hash.combine(Int64(texts.count))
      for text in texts { hash.combine(text) }
    }
    return hash.value
  }
}
