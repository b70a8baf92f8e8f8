/// What sets the folder of a mirror apart from other published trees: files have the times that their
/// servers state, names begin with the host only where there are several, and the cache lies within.
package struct MirrorRules: Hashable, Sendable {
  /// Whether names that come from URLs begin with the host; nil until it is known how many there are.
  package var namesHosts: Bool?
  /// How many folders every name loses at its front.
  package var cutFolders = 0
  /// Whether the list and its signature are files of the tree, too.
  package var includesList = false

  package init() {}

  /// Adds everything that no key of a configuration says.
  package func combine(into hash: inout StableHash) {
    hash.combine(namesHosts.map { $0 ? 1 : 0 })
    hash.combine(Int64(cutFolders))
    hash.combine(includesList ? 1 : 0)
  }

  /// The folder of the cache and the state, of which no list may name a file.
  package static let ownFolder = ".prefetch"

  /// The command that runs again over a cache with this file: a mirror's has no configuration.
  package static func runCommand(over path: String) -> String {
    PathText.parts(of: path).contains { $0 == ownFolder } ? "`prefetch mirror`" : "`prefetch run`"
  }

  /// Whether a list could reach that folder by the name, also where a file system takes large
  /// letters for small ones.
  package static func isInOwnFolder(_ name: String) -> Bool {
    PathText.parts(of: name).first.map { $0.lowercased() == ownFolder } ?? false
  }
}

extension PublishingRules {
  /// The same once all names are known that will stand beside each other.
  func decided(by entries: EntryTable) -> Self {
    guard let mirror, mirror.namesHosts == nil else { return self }
    var rules = self
    rules.mirror?.namesHosts = Self.haveSeveralHosts(entries)
    return rules
  }

  /// Of those that have no name besides their URL.
  private static func haveSeveralHosts(_ entries: EntryTable) -> Bool {
    var first: (origin: Int, authority: String)?
    for position in entries.indices where entries.path(at: position) == nil {
      let origin = entries.originNumber(at: position)
      guard let known = first else {
        first = (origin, entries.authority(at: position))
        continue
      }
      if origin != known.origin, entries.authority(at: position) != known.authority { return true }
    }
    return false
  }
}
