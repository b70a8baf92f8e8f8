/// Entries, by position, that cannot have their names in a tree.
package struct TreeCollisions: Sendable {
  package private(set) var failures: [Int: Failure] = [:]
  /// Names shared by several entries; existing files there stay unchanged.
  package private(set) var held: [String] = []

  private let entries: EntryTable
  private let naming: TreeName

  package init(in entries: EntryTable, rules: PublishingRules) {
    self.entries = entries
    naming = TreeName(rules)
    // Keys are compared first: a million names as strings would need much memory.
    var known = KeyTable()
    var keys: [URLKey] = []
    var positions: [UInt32] = []
    var suspects: Set<URLKey> = []
    for position in entries.indices {
      guard let name = name(at: position) else { continue }
      let key = URLKey(name)
      if known.insert(key, at: keys.count, keyAt: { keys[$0] }) != nil {
        suspects.insert(key)
      } else {
        keys.append(key)
      }
      positions.append(UInt32(position))
    }
    // Layouts by digest have no nested names.
    let mayNest = ![.npm, .bazel, .hf].contains(rules.layout)
    if mayNest { findFolders(positions, &suspects) { known.position(of: $0) { keys[$0] } != nil } }
    // In the cache of a hub a name is that of a content, which several items may have.
    guard !suspects.isEmpty, rules.layout != .hf else { return }
    judge(positions, suspects, mayNest: mayNest)
  }

  private mutating func name(at position: Int) -> String? {
    do throws(Failure) {
      return try naming.make(of: entries.entry(at: position, identified: false), body: nil)
    } catch {
      failures[position] = error
      return nil
    }
  }

  private func safeName(at position: UInt32) -> String {
    let entry = entries.entry(at: Int(position), identified: false)
    return ((try? naming.make(of: entry, body: nil)) ?? nil) ?? ""
  }

  private func findFolders(
    _ positions: [UInt32],
    _ suspects: inout Set<URLKey>,
    isName: (URLKey) -> Bool
  ) {
    var last = ""
    for position in positions {
      let name = safeName(at: position)
      let folder = PathText.split(name).folder
      guard !folder.isEmpty, !folder.utf8.elementsEqual(last.utf8) else { continue }
      last = String(folder)
      for folder in PathText.folders(of: name) {
        let key = URLKey(folder)
        if isName(key) { suspects.insert(key) }
      }
    }
  }

  private mutating func judge(_ positions: [UInt32], _ suspects: Set<URLKey>, mayNest: Bool) {
    // Keys, since Swift treats canonically equivalent names as equal and the kernel does not.
    var holders: [URLKey: (name: String, positions: [Int])] = [:]
    var inside: [URLKey: (name: String, positions: [Int])] = [:]
    for position in positions {
      let name = safeName(at: position)
      let key = URLKey(name)
      if suspects.contains(key) {
        holders[key, default: (name, [])].positions.append(Int(position))
      }
      guard mayNest else { continue }
      for folder in PathText.folders(of: name).map({ URLKey($0) }) where suspects.contains(folder) {
        inside[folder, default: (name, [])].positions.append(Int(position))
      }
    }
    for (key, (name, positions)) in holders {
      if let (other, others) = inside[key] {
        fail(positions, name, "the name `\(name)` is also a folder, that of `\(other)`")
        for position in others {
          let own = safeName(at: UInt32(position))
          fail([position], own, "its folder `\(name)` is also the name of another item")
        }
      } else if positions.count > 1, !isOneBody(positions) {
        let first = entries.url(at: positions[0])
        let shown = (try? WebURL(first))?.redacted ?? ""
        fail(positions, name, "\(positions.count) items are called `\(name)`, the first \(shown)")
      }
    }
  }

  private mutating func fail(_ positions: [Int], _ name: String, _ message: String) {
    held.append(name)
    for position in positions {
      failures[position] = Failure(.nameCollision, message + "; `path` can tell them apart")
    }
  }

  private func isOneBody(_ positions: [Int]) -> Bool {
    let digests = positions.map { position in
      entries.entry(at: position, identified: false).digests
        .filter(\.algorithm.isTrustworthy).max { $0.algorithm < $1.algorithm }
    }
    return digests.allSatisfy { $0 != nil && $0 == digests[0] }
  }
}
