import PrefetchConfig
import PrefetchCore

/// What is wrong with published trees before anything is fetched, as far as the configuration tells.
enum PublishingSetup {
  static func diagnostics(_ loaded: LoadedConfiguration) -> [Diagnostic] {
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: EngineOptions(),
      environment: [:]
    )
    let segments = loaded.configuration.segments.map(builder.declaration)
    return segments.enumerated().flatMap { collisions(of: $1, at: "segments[\($0)].publish") }
      + sharedFolders(segments)
  }

  /// Names that stand in the configuration itself; those of a manifest fail with their items.
  private static func collisions(
    of segment: SegmentDeclaration,
    at path: String
  ) -> [Diagnostic] {
    guard case .inline(let entries) = segment.source, let rules = segment.publishing else {
      return []
    }
    let table = EntryTable(entries)
    let collisions = TreeCollisions(in: table, rules: rules)
    guard !collisions.held.isEmpty else { return [] }
    return collisions.held.sorted().map { name in
      Diagnostic(
        "config.name-collision",
        "items of segment `\(segment.name)` would get in each other's way as `\(name)` in its published tree",
        hint: "give them different names with `path`, or choose another `layout`",
        path: path
      )
    }
  }

  /// An atomic tree is replaced as a whole, and so is nobody else's.
  private static func sharedFolders(_ segments: [SegmentDeclaration]) -> [Diagnostic] {
    var owners: [String: SegmentDeclaration] = [:]
    var diagnostics: [Diagnostic] = []
    for segment in segments {
      guard let rules = segment.publishing else { continue }
      guard let owner = owners[rules.folder] else {
        owners[rules.folder] = segment
        continue
      }
      guard rules.isAtomic || owner.publishing?.isAtomic == true else { continue }
      diagnostics.append(
        Diagnostic(
          "config.conflict",
          "segments `\(owner.name)` and `\(segment.name)` publish to `\(rules.folder)`, and an atomic tree cannot be shared",
          hint: "give each its own `publish.dir`"
        )
      )
    }
    return diagnostics
  }
}
