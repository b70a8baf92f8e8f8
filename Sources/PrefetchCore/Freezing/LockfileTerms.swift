/// Lock file of a run, and how strictly the run keeps to it.
package struct LockfileTerms: Sendable {
  private let lockfile: Shared<Lockfile>
  /// Hash of the file's text.
  private let fingerprint: UInt64
  /// Whether only locked items may be fetched, and stored lists suffice.
  package var isFrozen = false
  /// Patterns of URLs, or of their last parts, whose items take what their servers have now.
  package var lifted: [String]?

  package init(_ lockfile: Lockfile, fingerprint: UInt64) {
    self.lockfile = Shared(lockfile)
    self.fingerprint = fingerprint
  }

  package func combine(into hash: inout StableHash) {
    hash.combine(String(fingerprint))
    hash.combine(isFrozen ? "frozen" : "")
    for pattern in lifted ?? [] { hash.combine(pattern) }
    if lifted?.isEmpty == true { hash.combine("lifted") }
  }

  package func segment(_ name: String) -> LockedSegment? {
    lifted?.isEmpty == true ? nil : lockfile.value[name]
  }

  func isLifted(_ url: String) -> Bool {
    guard let lifted else { return false }
    let last = url.prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? url
    return lifted.contains { Glob.matches($0, url) || Glob.matches($0, last) }
  }
}

extension Planner.Facts {
  /// Whether the stored body is the one that an entry declares; a stream's is made of its files.
  package func isDeclared(_ entry: ManifestEntry, at position: Int) -> Bool {
    guard !inventory.hasFiles(position) else { return !lacksFile(of: position) }
    return Dispatcher.objection(
      size: inventory.rows[position].size,
      digest: inventory.rows[position].digest,
      strong: inventory.strongDigests(of: position),
      as: entry
    ) == nil
  }
}
