/// Which items of a manifest a segment takes: `include`, `exclude` and `keep`.
///
/// A pattern is held against the published name of an item, or else against the path of its URL
/// without its percent-encoding.
package struct ManifestSelection: Sendable {
  private let included: [PathPattern]
  private let excluded: [PathPattern]
  private let kept: Int?

  package init(_ rules: ManifestRules) {
    included = rules.included.map { PathPattern($0) }
    excluded = rules.excluded.map { PathPattern($0) }
    kept = rules.kept
  }

  /// The entries that are taken, in the order of the manifest.
  package func apply(to entries: EntryTable) -> EntryTable {
    guard hasPatterns || kept.map({ $0 < entries.count }) ?? false else { return entries }
    var positions = Array(entries.indices)
    if hasPatterns { positions.removeAll { !takes(entries.name(at: $0)) } }
    if let kept, kept < positions.count {
      positions = newest(kept, of: positions, entries)
    } else if positions.count == entries.count {
      return entries
    }
    var selected = EntryTable()
    selected.append(entries, at: positions)
    return selected
  }

  /// The same for entries that break a rule: what is not taken breaks nothing.
  package func apply(to rejected: [RejectedEntry]) -> [RejectedEntry] {
    guard hasPatterns else { return rejected }
    return rejected.filter { takes(Self.path(ofText: $0.url)) }
  }

  private var hasPatterns: Bool {
    !included.isEmpty || !excluded.isEmpty
  }

  private func takes(_ name: String) -> Bool {
    let path = PathPattern.Path(name)
    return (included.isEmpty || included.contains { $0.matches(path) })
      && !excluded.contains { $0.matches(path) }
  }

  /// What does not say when it came out is older than all that does; of the same age the first counts.
  private func newest(_ count: Int, of positions: [Int], _ entries: EntryTable) -> [Int] {
    let ages = positions.map { entries.published(at: $0)?.milliseconds ?? .min }
    let ranked = positions.indices.sorted { (ages[$1], $0) < (ages[$0], $1) }
    return ranked.prefix(count).sorted().map { positions[$0] }
  }

  /// Of what may be no URL at all.
  private static func path(ofText text: String) -> String {
    let plain = text.prefix { $0 != "?" && $0 != "#" }
    guard let scheme = plain.firstRange(of: "://") else { return String(plain) }
    return String(plain[scheme.upperBound...].drop { $0 != "/" })
  }
}

extension EntryTable {
  /// By what patterns know an entry: its published name, or the path of its URL as it reads.
  package func name(at position: Int) -> String {
    if let path = path(at: position) { return path }
    let url = url(at: position)
    let rest = url.utf8.dropFirst(origin(at: position).originLength)
    let path = rest.prefix { $0 != UInt8(ascii: "?") }
    guard path.contains(UInt8(ascii: "%")) else { return String(decoding: path, as: UTF8.self) }
    return Hexadecimal.decodePercent(path)
  }
}
