/// Selection of the newest versions among many names, as `select` configures it.
///
/// Names of one version stay or go together, wherever they lie: `newest` counts versions.
package struct NewestVersions: Sendable {
  private let pattern: NamePattern
  private let count: Int
  private let order: VersionOrder

  /// Versions to keep per group are at least 1.
  package init(_ pattern: NamePattern, count: Int = 1, order: VersionOrder = .version) {
    self.pattern = pattern
    self.count = max(1, count)
    self.order = order
  }

  /// Returns nil for a name that is no pattern, which the configuration refuses.
  package init?(_ rules: VersionRules) {
    guard let pattern = try? NamePattern(rules.name) else { return nil }
    self.init(pattern, count: rules.newest, order: rules.order)
  }

  package func matches(_ name: String) -> Bool {
    pattern.match(name) != nil
  }

  /// Returns the reason why a name is not selected, for one that was left out.
  package func objection(to name: String) -> String? {
    guard let match = pattern.match(name) else { return "`select.name` does not match it" }
    return count == 1
      ? "`select` takes the newest version, and this is \(match.version)"
      : "`select` takes the newest \(count) versions, and this is \(match.version)"
  }

  package struct Selection: Sendable {
    /// Positions of the selected names, in the order of the list.
    package var positions: [Int] = []
    /// Newest version of each group.
    package var newest: [String: GroupVersion] = [:]
  }

  /// Selects names, which are decoded paths; `listed` returns the date that the list states.
  ///
  /// A version that is too young counts only in a group that has no other.
  package func select(
    from names: some Sequence<String>,
    listed: (Int) -> Instant? = { _ in nil },
    isTooYoung: (Int) -> Bool = { _ in false }
  ) -> Selection {
    var groups: [String: [Row]] = [:]
    for (position, name) in names.enumerated() {
      guard let match = pattern.match(name) else { continue }
      let date = order == .date ? listed(position) : nil
      groups[match.group, default: []].append(Row(position, match.version, date))
    }
    var selection = Selection()
    for (group, all) in groups {
      let young = Set(all.filter { isTooYoung($0.position) }.map(\.version))
      let old = all.filter { !young.contains($0.version) }
      let rows = old.isEmpty ? all : old
      let (ranking, order) = ranking(of: rows)
      var newest: Set<String> = []
      for index in ranking where newest.count < count { newest.insert(rows[index].version) }
      for row in rows where newest.contains(row.version) {
        selection.positions.append(row.position)
      }
      selection.newest[group] = ranking.first.map {
        GroupVersion(text: rows[$0].version, listed: rows[$0].listed, order: order)
      }
    }
    selection.positions.sort()
    return selection
  }

  private struct Row {
    var position: Int
    var version: String
    /// Date that the list states; only `date` needs it.
    var listed: Instant?

    init(_ position: Int, _ version: String, _ listed: Instant?) {
      (self.position, self.version, self.listed) = (position, version, listed)
    }
  }

  /// Returns the places of a group's rows, newest first, and the order that they have.
  private func ranking(of rows: [Row]) -> (places: [Int], order: VersionOrder) {
    let read = sortKeys(of: rows, by: order)
    let keys = read ?? sortKeys(of: rows, by: .natural) ?? []
    return (keys.indices.sorted { keys[$0] > keys[$1] }, read == nil ? .natural : order)
  }

  /// Returns the keys of a group; nil where the order cannot read one of the versions.
  private func sortKeys(of rows: [Row], by order: VersionOrder) -> [VersionKey]? {
    var keys: [VersionKey] = []
    keys.reserveCapacity(rows.count)
    for row in rows {
      guard var key = order.key(of: row.version, listed: row.listed) else { return nil }
      // Equal versions, such as 1.0 and 1.0.0, rank naturally and then by bytes.
      let bytes = ArraySlice(row.version.utf8)
      NaturalVersion.append(bytes, to: &key)
      key.append(text: bytes)
      keys.append(key)
    }
    return keys
  }
}
