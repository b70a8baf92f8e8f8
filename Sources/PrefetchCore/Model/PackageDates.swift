/// Dates that a registry states for the files of a list, which has none.
package struct PackageDates: Sendable {
  private var dates: [URLKey: Instant] = [:]

  package init() {}

  /// Adds a document that was read for the versions of a package.
  mutating func add(_ entries: EntryTable) {
    for position in entries.indices {
      if let date = entries.published(at: position) { dates[entries.key(at: position)] = date }
    }
  }

  func join(_ entries: inout EntryTable) {
    guard !dates.isEmpty else { return }
    for position in entries.indices {
      if let date = dates[entries.key(at: position)] { entries.date(position, date) }
    }
  }
}

/// Facts of further documents that belong to entries of the whole list.
package struct ListSupplements: Sendable {
  var digests = ReleaseDigests()
  var dates = PackageDates()

  package init() {}

  package func join(_ entries: inout EntryTable) {
    digests.join(&entries)
    dates.join(&entries)
  }
}
