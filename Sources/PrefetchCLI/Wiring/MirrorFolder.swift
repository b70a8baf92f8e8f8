import PrefetchConfig
import PrefetchCore
import PrefetchStore
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

  /// Returns the folder of the mirror that `rules` publish; nil for every other tree.
  private static func path(_ rules: PublishingRules?) -> String? {
    guard let rules, rules.mirror != nil else { return nil }
    return rules.isAtomic ? String(PathText.split(rules.folder).folder) : rules.folder
  }

  /// Returns the folder of the mirror that `loaded` declares; nil for every other configuration.
  static func path(_ loaded: LoadedConfiguration?) -> String? {
    loaded?.configuration.segments.lazy.compactMap { path($0.declaration.publishing) }.first
  }

  /// Whether a place is the one that a mirror keeps for itself.
  static func isOwn(_ place: String, of rules: PublishingRules?) -> Bool {
    path(rules).map { place == "\($0)/\(MirrorRules.ownFolder)" } ?? false
  }

  /// Returns the options that lead `explain` to an item of a mirror; none for every other run.
  ///
  /// The index remembers the list of a mirror only when it has a URL, so a local list is named.
  static func explanationOptions(_ loaded: LoadedConfiguration, _ places: Places) -> [String] {
    guard path(loaded) != nil else { return [] }
    var options = ["--cache-dir", places.cache, "--state-dir", places.state]
    for segment in loaded.configuration.segments {
      if case .local(let path)? = segment.manifest, !FileReading.isStream(path) {
        options += ["--set", "segments.\(self.segment).manifest=\(path)"]
      }
      if let base = segment.declaration.base {
        options += ["--set", "segments.\(self.segment).base=\(base.string)"]
      }
    }
    return options
  }

  /// Returns the configuration of the mirror whose cache `--cache-dir` names, as far as its index
  /// remembers it; nil for every other cache.
  static func remembered(
    _ context: CommandContext
  ) throws(CommandExit) -> (LoadedConfiguration, Places)? {
    guard context.namesMirror, let named = context.namedPlaces(nil) else { return nil }
    let store = try context.readingStore(named)
    let record = try context.reading { () throws(Failure) in
      try store?.segments().first { $0.key.name == segment }
    }
    guard let record else { return nil }
    let list = record.manifestURL.map {
      Override(
        path: "segments.\(segment).manifest",
        text: MirrorCommand.literal($0),
        source: "LIST"
      )
    }
    var loaded = try context.configuration(
      isRequired: false,
      declaring: [list].compactMap(\.self)
    )
    loaded.identity = record.key.identity
    return (loaded, try context.places(loaded))
  }
}
