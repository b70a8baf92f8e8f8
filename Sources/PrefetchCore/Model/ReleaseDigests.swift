/// Digests that checksum lists state for the assets of releases, joined by name.
package struct ReleaseDigests: Sendable {
  private struct Asset: Hashable {
    var folder: String
    var name: String
  }

  /// Digests of the assets; an empty list marks a name with contradicting digests.
  private var digests: [Asset: [ExpectedDigest]] = [:]

  package init() {}

  /// Adds the lines of a list, which may name its files below another folder.
  package mutating func add(_ lines: EntryTable, of list: ReleaseChecksums) {
    for line in lines where !line.digests.isEmpty {
      guard let name = list.subject ?? line.path?.split(separator: "/").last.map(String.init) else {
        continue
      }
      let asset = Asset(folder: list.folder, name: name)
      let known = digests[asset, default: line.digests]
      let isSame = line.digests.allSatisfy { digest in
        known.contains(digest) || !known.contains { $0.algorithm == digest.algorithm }
      }
      digests[asset] = isSame ? known + line.digests.filter { !known.contains($0) } : []
    }
  }

  /// Gives the digests to the assets that have none of their own.
  package func join(_ entries: inout EntryTable) {
    guard !digests.isEmpty else { return }
    var joined = EntryTable()
    joined.inheritIdentifierMaker(of: entries)
    for position in entries.indices {
      var entry = entries.entry(at: position, identified: false)
      if entry.digests.isEmpty, let asset = Self.asset(entry.path), let found = digests[asset] {
        entry.digests = found
      }
      joined.append(entry)
    }
    joined.addDuplicates(entries.duplicateCount)
    entries = joined
  }

  private static func asset(_ path: String?) -> Asset? {
    guard let path, let slash = path.lastIndex(of: "/") else { return nil }
    return Asset(folder: String(path[..<slash]), name: String(path[path.index(after: slash)...]))
  }
}
