import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Folder of a mirror; cache and state are inside unless placed elsewhere.
struct MirrorFolder {
  static let segment = MirrorRules.segment

  /// Absolute path, with links resolved as far as it exists.
  let path: String

  init(_ name: String, in current: String) {
    let absolute = name.hasPrefix("/") ? name : "\(current)/\(name)"
    path = PublishingSetup.real(absolute)
  }

  var own: String {
    "\(path)/\(MirrorRules.ownFolder)"
  }

  var current: String { "\(path)/current" }

  /// Creates missing folders; the mirror's own are private.
  func make(withOwn hasOwn: Bool) throws(Failure) {
    try FolderCreation.make(path)
    if hasOwn { try FolderCreation.makePrivate(own) }
  }

  /// Returns the folder of the mirror that `rules` publish; nil for every other tree.
  private static func path(_ rules: PublishingRules?) -> String? {
    guard let rules, rules.mirror != nil else { return nil }
    return rules.isAtomic ? String(PathText.split(rules.folder).folder) : rules.folder
  }

  static func path(_ loaded: LoadedConfiguration?) -> String? {
    loaded?.configuration.segments.lazy.compactMap { path($0.declaration.publishing) }.first
  }

  static func isOwn(_ folder: String, of rules: PublishingRules?) -> Bool {
    path(rules).map { folder == "\($0)/\(MirrorRules.ownFolder)" } ?? false
  }

  /// Returns the options for `explain`; a local list is named, since the index has only URLs.
  static func explanationOptions(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) -> [String] {
    guard path(loaded) != nil else { return [] }
    var options = ["--cache-dir", locations.cache, "--state-dir", locations.state]
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

  /// Returns the configuration of the mirror whose cache is named, from its index and the options
  /// of its last run; nil for others.
  static func remembered(
    _ context: CommandContext
  ) throws(CommandExit) -> (LoadedConfiguration, CacheLocations)? {
    guard context.namesMirror, let named = context.namedLocations(nil) else { return nil }
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
    let state = try context.readingState(named)
    let options = try context.reading { () throws(Failure) in
      try state.flatMap { state throws(Failure) in
        try MirrorRecord.read(from: state, of: record.key.identity)
      }
    }
    if options == nil {
      context.console.note("the options of the mirror are not known: repeat each `--set` here")
    }
    var loaded = try context.configuration(
      isRequired: false,
      allowsUnsetSecrets: true,
      declaring: [list].compactMap(\.self) + (options?.options(under: context.shared) ?? [])
    )
    loaded.identity = record.key.identity
    return (loaded, try context.locations(loaded))
  }
}
