/// Selection of a manifest's items by `include`, `exclude`, `select`, `keep`, sources and categories.
///
/// Patterns match the published name or the decoded URL path; thumbnails are added first.
package struct ManifestSelection: Sendable {
  private let included: [PathPattern]
  private let excluded: [PathPattern]
  private let versions: NewestVersions?
  private let versionRules: UInt64
  private let kept: Int?
  private let sources: [String: Bool]
  private let categories: [String: Bool]
  private let countPerCategory: Int?
  private let behavior: ItemBehavior

  package init(_ rules: ManifestRules) {
    included = rules.included.map { PathPattern($0) }
    excluded = rules.excluded.map { PathPattern($0) }
    versions = rules.versions.flatMap { NewestVersions($0) }
    versionRules = rules.versionHash
    kept = rules.kept
    sources = rules.sources
    categories = rules.categories
    countPerCategory = rules.countPerCategory
    behavior = rules.behavior
  }

  package func apply(to entries: EntryTable) -> EntryTable {
    select(from: entries).entries
  }

  /// Selects the entries, and names the newest version of each group that `select` makes.
  ///
  /// A version that `isTooYoung` is not one of the newest yet.
  package func select(
    from entries: EntryTable,
    isTooYoung: (Int) -> Bool = { _ in false }
  ) -> (entries: EntryTable, newest: HeldVersions?) {
    var positions = Array(entries.indices)
    if hasPatterns { positions.removeAll { !selects(entries.name(at: $0)) } }
    var newest: HeldVersions?
    if let versions {
      let selection = versions.select(positions, of: entries, isTooYoung)
      positions = selection.positions
      newest = HeldVersions(rules: versionRules, groups: selection.newest)
    }
    return (narrowed(positions, of: entries), newest)
  }

  /// Returns the entries that sources, categories and `keep` leave of the given positions.
  private func narrowed(_ matching: [Int], of entries: EntryTable) -> EntryTable {
    var positions = matching
    if !sources.isEmpty {
      positions.removeAll { position in
        entries.provider(at: position).map { sources[$0] == false } ?? false
      }
    }
    let most = [countPerCategory, entries.countPerCategory].compactMap(\.self).min()
    if entries.hasCategories, !categories.isEmpty || most != nil {
      positions = chosen(positions, of: entries, atMost: most)
    }
    if let kept, kept < positions.count { positions = newest(kept, of: positions, entries) }
    guard positions.count < entries.count || entries.hasThumbnails else { return entries }
    var selected = EntryTable()
    if entries.hasThumbnails {
      for var thumbnail in thumbnails(of: positions, entries) {
        // A thumbnail that is also an entry keeps that entry's properties.
        if let position = entries.position(of: URLKey(thumbnail.url.string)),
          let index = positions.firstIndex(of: position)
        {
          thumbnail = entries[position]
          thumbnail.isThumbnail = true
          positions.remove(at: index)
        }
        selected.append(thumbnail)
      }
    }
    selected.append(entries, at: positions)
    return selected
  }

  /// Returns a table with the entries that the user does not want, and perhaps selected ones.
  ///
  /// An older version is wanted until the newer one is stored.
  package func unwanted(of entries: EntryTable) -> EntryTable {
    guard let versions else { return entries }
    let positions = entries.indices.filter { position in
      let name = entries.name(at: position)
      return hasPatterns && !selects(name) || !versions.matches(name)
    }
    var unwanted = EntryTable()
    unwanted.append(entries, at: positions)
    return unwanted
  }

  private func thumbnails(of positions: [Int], _ entries: EntryTable) -> [ManifestEntry] {
    var thumbnails: [ManifestEntry] = []
    var indices: [String: Int] = [:]
    for position in positions where entries.hasExtras(at: position) {
      guard let thumbnail = entries[position].thumbnailEntry else { continue }
      if let index = indices[thumbnail.url.string] {
        thumbnails[index].share(with: thumbnail, under: behavior)
      } else {
        indices[thumbnail.url.string] = thumbnails.count
        thumbnails.append(thumbnail)
      }
    }
    return thumbnails
  }

  package func objection(to entry: ManifestEntry, of entries: EntryTable) -> String? {
    guard hasRules || entries.countPerCategory != nil,
      apply(to: entries).position(of: URLKey(entry.url.string)) == nil
    else {
      return nil
    }
    if let provider = entry.provider, sources[provider] == false {
      return "its source `\(provider)` is switched off"
    }
    let names = entry.categories
    if !names.isEmpty, names.allSatisfy({ !isOn($0, entries.categoryParents) }) {
      let quoted = "`\(names.joined(separator: ", "))`"
      return names.count == 1
        ? "its category \(quoted) is switched off" : "its categories \(quoted) are switched off"
    }
    if let position = entries.position(of: URLKey(entry.url.string)),
      !selects(entries.name(at: position))
    {
      return "`include` or `exclude` does not match it"
    }
    if let versions, let position = entries.position(of: URLKey(entry.url.string)),
      let reason = versions.objection(to: entries.name(at: position))
    {
      return reason
    }
    if let most = [countPerCategory, entries.countPerCategory].compactMap(\.self).min(),
      !names.isEmpty, kept == nil
    {
      return "`items_per_category: \(most)` takes the first \(most) of a category"
    }
    guard let kept else { return "its category has enough items" }
    return "`keep: \(kept)` takes the newest \(kept)"
  }

  private var hasRules: Bool {
    hasPatterns || versions != nil || kept != nil || countPerCategory != nil || !sources.isEmpty
      || !categories.isEmpty
  }

  /// Returns the entries without categories or within the first `most` of an enabled category.
  private func chosen(_ positions: [Int], of entries: EntryTable, atMost most: Int?) -> [Int] {
    var counts: [String: Int] = [:]
    return positions.filter { position in
      guard entries.hasExtras(at: position) else { return true }
      let all = entries[position].categories
      guard !all.isEmpty else { return true }
      let on = all.filter { isOn($0, entries.categoryParents) }
      guard let most else { return !on.isEmpty }
      let open = on.filter { counts[$0, default: 0] < most }
      if !open.isEmpty { for category in on { counts[category, default: 0] += 1 } }
      return !open.isEmpty
    }
  }

  /// Whether a category is enabled by its own setting or the nearest parent's.
  package func isOn(_ category: String, _ parents: [String: String]) -> Bool {
    var name = category
    for _ in 0..<Self.deepest {
      if let said = categories[name] { return said }
      guard let parent = parents[name] else { return true }
      name = parent
    }
    return true
  }

  /// Limit of parent steps, since manifests may have cycles.
  private static let deepest = 32

  package func apply(to rejected: [RejectedEntry]) -> [RejectedEntry] {
    guard hasPatterns || versions != nil else { return rejected }
    return rejected.filter { entry in
      let name = Self.path(ofText: entry.url)
      return selects(name) && versions?.matches(name) ?? true
    }
  }

  private var hasPatterns: Bool {
    !included.isEmpty || !excluded.isEmpty
  }

  private func selects(_ name: String) -> Bool {
    let path = PathPattern.Path(name)
    return (included.isEmpty || included.contains { $0.matches(path) })
      && !excluded.contains { $0.matches(path) }
  }

  private func newest(_ count: Int, of positions: [Int], _ entries: EntryTable) -> [Int] {
    let ages = positions.map { entries.published(at: $0)?.milliseconds ?? .min }
    let ranked = positions.indices.sorted { (ages[$1], $0) < (ages[$0], $1) }
    return ranked.prefix(count).sorted().map { positions[$0] }
  }

  private static func path(ofText text: String) -> String {
    let withoutQuery = text.prefix { $0 != "?" && $0 != "#" }
    guard let scheme = withoutQuery.firstRange(of: "://") else { return String(withoutQuery) }
    return String(withoutQuery[scheme.upperBound...].drop { $0 != "/" })
  }
}

extension NewestVersions {
  /// Selects among the entries at some positions.
  fileprivate func select(
    _ positions: [Int],
    of entries: EntryTable,
    _ isTooYoung: (Int) -> Bool
  ) -> Selection {
    var selection = select(
      from: positions.lazy.map { entries.name(at: $0) },
      listed: { entries.published(at: positions[$0]) },
      isTooYoung: { isTooYoung(positions[$0]) }
    )
    selection.positions = selection.positions.map { positions[$0] }
    return selection
  }
}

extension EntryTable {
  package func name(at position: Int) -> String {
    if let path = path(at: position) { return path }
    let url = url(at: position)
    let rest = url.utf8.dropFirst(origin(at: position).originLength)
    let path = rest.prefix { $0 != UInt8(ascii: "?") }
    guard path.contains(UInt8(ascii: "%")) else { return String(decoding: path, as: UTF8.self) }
    return Hexadecimal.decodePercent(path)
  }
}
