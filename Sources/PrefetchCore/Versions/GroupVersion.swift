/// Newest version of a group of names.
package struct GroupVersion: Hashable, Sendable {
  package var text: String
  /// Date that the list states.
  package var listed: Instant?
  /// Order that the group has: `natural` where `version` cannot read all its versions.
  ///
  /// Only the order of an offered version counts.
  package var order: VersionOrder

  package init(text: String, listed: Instant? = nil, order: VersionOrder = .natural) {
    self.text = text
    self.listed = listed
    self.order = order
  }

  /// Whether the version is older than the held one in this group's order; equal ones are not.
  fileprivate func isOlder(than held: Self) -> Bool {
    for order in [order, .natural] {
      if let mine = order.key(of: text, listed: listed),
        let other = order.key(of: held.text, listed: held.listed)
      {
        return mine < other
      }
    }
    return false
  }
}

/// Newest versions of a list, and a hash of the rules that chose them.
package struct HeldVersions: Hashable, Sendable {
  package var rules: UInt64
  package var groups: [String: GroupVersion]

  package init(rules: UInt64, groups: [String: GroupVersion]) {
    self.rules = rules
    self.groups = groups
  }
}

/// Group whose newest offered version is older than the held one.
package struct StepBack: Hashable, Sendable {
  package var group: String
  package var held: String
  package var offered: String

  /// Returns the groups that a list would take back, by name.
  ///
  /// A group that is missing from the list is no step back, since other guards count removals. Nor
  /// is one that other rules chose, since they may leave out newer versions on purpose.
  package static func all(
    from held: HeldVersions?,
    to offered: HeldVersions?
  ) -> [StepBack] {
    guard let held, let offered, held.rules == offered.rules else { return [] }
    let steps = offered.groups.compactMap { group, version -> StepBack? in
      guard let held = held.groups[group], version.isOlder(than: held) else { return nil }
      return StepBack(group: group, held: held.text, offered: version.text)
    }
    return steps.sorted { $0.group < $1.group }
  }
}
