/// Entries of a segment with valid names in its tree, and the refused ones.
package struct TreeNaming: Sendable {
  package private(set) var entries: EntryTable
  package private(set) var refused: [RejectedEntry] = []
  package let held: [String]
  package let rules: PublishingRules

  package init(of declared: EntryTable, rules: PublishingRules) {
    let rules = rules.decided(by: declared)
    self.rules = rules
    let declared = rules.layout == .hls ? Self.disambiguated(declared, rules) : declared
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

  /// Returns entries in which streams of equal names have their folder on the server as path.
  private static func disambiguated(_ declared: EntryTable, _ rules: PublishingRules) -> EntryTable
  {
    let naming = TreeName(rules)
    var counts: [String: Int] = [:]
    var names: [Int: String] = [:]
    for position in declared.indices {
      let entry = declared.entry(at: position, identified: false)
      guard entry.bundleForm == .stream, entry.path == nil,
        entry.id == nil || entry.isIdentifierMade,
        let name = (try? naming.make(of: entry, body: nil)) ?? nil
      else { continue }
      names[position] = name
      counts[name, default: 0] += 1
    }
    guard counts.values.contains(where: { $0 > 1 }) else { return declared }
    var entries = EntryTable(makeIdentifier: declared.makeIdentifier)
    for position in declared.indices {
      var entry = declared.entry(at: position, identified: false)
      let folder = PathText.components(of: entry.url.path).dropLast().last ?? ""
      if let name = names[position], counts[name, default: 0] > 1, !folder.isEmpty {
        entry.path = URLText.decoded(folder)
      }
      entries.append(entry)
    }
    return entries
  }
}
