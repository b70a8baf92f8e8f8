import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Segments that `publish` or `env` work on, by the command line.
struct PublishingScope {
  let loaded: LoadedConfiguration
  let locations: CacheLocations
  let builder: RequestBuilder
  let segments: [SegmentDeclaration]
  let subscriptions: Subscriptions

  /// Resolves the segments; `needsSecrets` is false for a command that sends no secrets.
  init(
    _ context: CommandContext,
    _ patterns: [String],
    needsSecrets: Bool = true
  ) throws(CommandExit) {
    let loaded = try context.configuration(isRequired: false, allowsUnsetSecrets: !needsSecrets)
    let builder = context.builder(loaded)
    let locations = try context.locations(loaded)
    self.locations = locations
    let state = try context.readingState(locations)
    let joined = try context.reading { () throws(Failure) in
      try Subscriptions.resolve(loaded, state: state, cache: locations.cache, mayWrite: false)
    }
    let selection = SegmentSelection(patterns: patterns)
    let chosen = patterns.isEmpty ? [] : joined.missing.filter(selection.contains)
    let objections =
      selection.diagnostics(among: joined.segments.map(\.name) + joined.missing)
      + chosen.map { name in
        Diagnostic(
          "usage.not-subscribed",
          "segment `\(name)` is not subscribed",
          hint: "`prefetch subscribe \(name)` joins it"
        )
      }
    guard objections.isEmpty else {
      throw context.failed(.usage, objections)
    }
    segments = joined.segments.filter { selection.contains($0.name) }.map(builder.declaration)
    subscriptions = joined
    self.loaded = loaded
    self.builder = builder
  }

  /// Folders of the declared trees; nil without a configuration, for all trees.
  var folders: [SegmentKey: String]? {
    loaded.files.isEmpty ? nil : PublishingSetup.folders(loaded, subscriptions)
  }

  func key(_ segment: SegmentDeclaration) -> SegmentKey {
    SegmentKey(identity: loaded.identity, name: segment.name)
  }
}
