/// The public keys that the configuration expects of hosts.
package struct PinTable: Hashable, Sendable {
  /// One entry of the configuration.
  package struct Rule: Hashable, Sendable {
    package var host: String
    package var includesSubdomains = false
    package var leaf: [ContentDigest]?
    package var authority: [ContentDigest]?
    package var onlyReports = false
    /// Past it the entry is ignored.
    package var expires: Instant?
    /// Where it stands: the path, and file and line where they are known.
    package var place: String

    package init(host: String = "", place: String = "") {
      self.host = host
      self.place = place
    }

    package func isOver(at now: Instant) -> Bool {
      expires.map { $0 <= now } ?? false
    }
  }

  /// By host, addresses in their shortest spelling.
  private var entries: [String: Rule] = [:]

  package init(_ entries: [Rule] = []) {
    for entry in entries { self.entries[Self.key(entry.host)] = entry }
  }

  package var isEmpty: Bool {
    entries.isEmpty
  }

  package var all: [Rule] {
    entries.values.sorted { $0.host < $1.host }
  }

  /// Every entry that speaks of a host.
  ///
  /// That is its own, and that of the one name above it where that includes its subdomains. A final
  /// dot changes nothing.
  package func entries(for host: String) -> [Rule] {
    guard !entries.isEmpty else { return [] }
    if let address = IPAddress(host: host) {
      return [entries[address.description]].compactMap(\.self)
    }
    let name = host.hasSuffix(".") ? host.dropLast() : host[...]
    var found = [entries[String(name)]].compactMap(\.self)
    if let dot = name.firstIndex(of: "."),
      let parent = entries[String(name[name.index(after: dot)...])], parent.includesSubdomains
    {
      found.append(parent)
    }
    return found
  }

  /// What a connection to a host must prove: at most one rule that holds and one that only reports,
  /// each of all entries together.
  package func rules(for host: String, at now: Instant) -> [PinRule] {
    let current = entries(for: host).filter { !$0.isOver(at: now) }
    return [false, true].compactMap { onlyReports in
      Self.union(of: current.filter { $0.onlyReports == onlyReports }, onlyReports: onlyReports)
    }
  }

  private static func union(of entries: [Rule], onlyReports: Bool) -> PinRule? {
    guard !entries.isEmpty else { return nil }
    let leaves = entries.compactMap(\.leaf)
    let authorities = entries.compactMap(\.authority)
    var rule = PinRule(
      leaf: leaves.isEmpty ? nil : leaves.reduce(into: []) { $0.formUnion($1) },
      authority: authorities.isEmpty ? nil : authorities.reduce(into: []) { $0.formUnion($1) },
      entries: entries.map(\.place)
    )
    rule.onlyReports = onlyReports
    return rule
  }

  private static func key(_ host: String) -> String {
    IPAddress(host)?.description ?? host
  }
}
