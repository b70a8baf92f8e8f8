/// A segment's entries that can have their names, and those that cannot.
package struct TreeNaming: Sendable {
  package private(set) var entries: EntryTable
  package private(set) var refused: [RejectedEntry] = []
  /// Names under which whatever stands stays as it is.
  package let held: [String]
  /// As all the names together want them.
  package let rules: PublishingRules

  package init(of declared: EntryTable, rules: PublishingRules) {
    let rules = rules.decided(by: declared)
    self.rules = rules
    let collisions = TreeCollisions(in: declared, rules: rules)
    held = collisions.held
    entries = declared
    guard !collisions.failures.isEmpty else { return }
    entries = EntryTable(makeIdentifier: declared.makeIdentifier)
    for position in declared.indices {
      let entry = declared.entry(at: position, identified: false)
      if let failure = collisions.failures[position] {
        refused.append(
          RejectedEntry(
            url: entry.url.string,
            id: entry.id,
            failure: failure,
            isRequired: entry.isRequired
          )
        )
      } else {
        entries.append(entry)
      }
    }
  }
}
