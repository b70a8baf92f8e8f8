/// Rules for the folder of a mirror: files have their servers' times, names begin with the host
/// only if there are several, and the cache lies within.
package struct MirrorRules: Hashable, Sendable {
  /// Whether names made from URLs begin with the host; nil until the hosts are known.
  package var namesHosts: Bool?
  package var cutFolders = 0
  package var includesList = false

  package init() {}

  package func combine(into hash: inout StableHash) {
    hash.combine(namesHosts.map { $0 ? 1 : 0 })
    hash.combine(Int64(cutFolders))
    hash.combine(includesList ? 1 : 0)
  }

  /// Name of a mirror's only segment, with which its identity begins.
  package static let segment = "mirror"

  /// Returns the identity of a mirror; only in a shared cache or state does it name the folder.
  package static func identity(sharingPlacesFrom folder: String?) -> String {
    folder.map { "\(segment) \($0)" } ?? segment
  }

  /// Whether an identity is a mirror's, with the absolute path of its folder or without one.
  package static func isIdentity(_ identity: String) -> Bool {
    identity == segment || identity.hasPrefix("\(segment) /")
  }

  /// Folder of the cache and the state, in which no list may name a file.
  package static let ownFolder = ".prefetch"

  /// Returns the command that runs again over this cache; a mirror has no configuration.
  package static func runCommand(over path: String) -> String {
    PathText.components(of: path).contains { $0 == ownFolder }
      ? "`prefetch mirror`" : "`prefetch run`"
  }

  /// Whether a list could reach ``ownFolder`` by a name, also on a case-insensitive file system.
  package static func isInOwnFolder(_ name: String) -> Bool {
    PathText.components(of: name).first.map { $0.lowercased() == ownFolder } ?? false
  }
}

extension PublishingRules {
  func decided(by entries: EntryTable) -> Self {
    guard let mirror, mirror.namesHosts == nil else { return self }
    var rules = self
    rules.mirror?.namesHosts = Self.haveSeveralHosts(entries)
    return rules
  }

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
