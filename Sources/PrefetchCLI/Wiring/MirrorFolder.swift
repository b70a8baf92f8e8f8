import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// The folder of a mirror, with cache and state inside unless the user wants them elsewhere.
struct MirrorFolder {
  /// What the one segment of a mirror is called.
  static let segment = "mirror"

  /// Absolute, and without links as far as it exists.
  let path: String

  init(_ name: String, in current: String) {
    let absolute = name.hasPrefix("/") ? name : "\(current)/\(name)"
    path = PublishingSetup.real(absolute)
  }

  var own: String {
    "\(path)/\(MirrorRules.ownFolder)"
  }

  /// The link to the tree that stands, where trees are switched as a whole.
  var current: String { "\(path)/current" }

  /// Makes what is missing; no other user has any business in what is the mirror's own.
  func make(withOwn hasOwn: Bool) throws(Failure) {
    try FolderCreation.make(path)
    if hasOwn { try FolderCreation.makePrivate(own) }
  }

  /// Whether a place is the one that a mirror keeps for itself.
  static func isOwn(_ place: String, of rules: PublishingRules?) -> Bool {
    guard let rules, rules.mirror != nil else { return false }
    let folder = rules.isAtomic ? String(PathText.split(rules.folder).folder) : rules.folder
    return place == "\(folder)/\(MirrorRules.ownFolder)"
  }

  /// The options that lead `explain` to an item of a mirror, whose cache is not where it would look;
  /// none for every other run.
  static func explanationOptions(_ loaded: LoadedConfiguration, _ places: Places) -> [String] {
    guard
      loaded.configuration.segments.contains(where: { $0.declaration.publishing?.mirror != nil })
    else { return [] }
    return ["--cache-dir", places.cache, "--state-dir", places.state]
  }
}
