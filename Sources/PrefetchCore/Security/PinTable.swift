/// Pinned public keys of the configuration by host.
package struct PinTable: Hashable, Sendable {
  package struct Rule: Hashable, Sendable {
    package var host: String
    package var includesSubdomains = false
    package var leaf: [ContentDigest]?
    package var authority: [ContentDigest]?
    package var onlyReports = false
    package var expires: Instant?
    package var location: String

    package init(host: String = "", location: String = "") {
      self.host = host
      self.location = location
    }

    package func isOver(at now: Instant) -> Bool {
      expires.map { $0 <= now } ?? false
    }
  }

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

  /// Returns the entries of a host and, with `includesSubdomains`, its parent; ignores a final dot.
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
      entries: entries.map(\.location)
    )
    rule.onlyReports = onlyReports
    return rule
  }

  private static func key(_ host: String) -> String {
    IPAddress(host)?.description ?? host
  }
}
