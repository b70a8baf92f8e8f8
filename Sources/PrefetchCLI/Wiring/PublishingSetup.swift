import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// Finds problems of published trees that the configuration shows before any fetch.
enum PublishingSetup {
  static func diagnostics(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations?
  ) -> [Diagnostic] {
    // Fast path without published trees: spares reading the entries a second time.
    guard loaded.configuration.segments.contains(where: { $0.declaration.publishing != nil }) else {
      return []
    }
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: EngineOptions(),
      environment: [:]
    )
    let segments = loaded.configuration.segments.map(builder.declaration)
    return segments.enumerated().flatMap { collisions(of: $1, at: "segments[\($0)].publish") }
      + sharedFolders(segments) + storeFolders(segments, locations)
  }

  static func folders(
    _ loaded: LoadedConfiguration,
    _ subscriptions: Subscriptions
  ) -> [SegmentKey: String] {
    (loaded.configuration.segments + subscriptions.segments).reduce(into: [:]) { folders, segment in
      folders[SegmentKey(identity: loaded.identity, name: segment.name)] =
        segment.declaration.publishing?.folder
    }
  }

  /// Finds name collisions in inline items; those in manifests fail at run time.
  private static func collisions(
    of segment: SegmentDeclaration,
    at path: String
  ) -> [Diagnostic] {
    guard case .inline(let entries) = segment.source, let rules = segment.publishing else {
      return []
    }
    let table = ManifestSelection(segment.manifestRules).apply(to: entries.value)
    let collisions = TreeNaming(of: table, rules: rules)
    guard !collisions.held.isEmpty else { return [] }
    return collisions.held.sorted().map { name in
      Diagnostic(
        "config.name-collision",
        "items of segment `\(segment.name)` collide as `\(name)` in its published tree",
        hint: "give them different names with `path`, or choose another `layout`",
        path: path
      )
    }
  }

  /// Refuses folders shared with an atomic tree, which is replaced as a whole.
  private static func sharedFolders(_ segments: [SegmentDeclaration]) -> [Diagnostic] {
    var diagnostics: [Diagnostic] = []
    for (index, segment) in segments.enumerated() {
      guard let rules = segment.publishing else { continue }
      let other = segments[..<index].first { other in
        guard let theirs = other.publishing, rules.isAtomic || theirs.isAtomic else { return false }
        return isOneInOther(rules.folder, theirs.folder)
      }
      guard let other, let theirs = other.publishing else { continue }
      let wording =
        theirs.folder == rules.folder
        ? "publish to `\(rules.folder)`"
        : "publish to `\(theirs.folder)` and `\(rules.folder)`, one inside the other"
      diagnostics.append(
        Diagnostic(
          "config.conflict",
          "segments `\(other.name)` and `\(segment.name)` \(wording), and an atomic tree cannot be shared",
          hint: "give each its own `publish.dir`",
          path: "segments[\(index)].publish"
        )
      )
    }
    return diagnostics
  }

  /// Refuses trees in the cache or state, since a manifest could then name files there.
  private static func storeFolders(
    _ segments: [SegmentDeclaration],
    _ locations: CacheLocations?
  ) -> [Diagnostic] {
    guard let locations else { return [] }
    var diagnostics: [Diagnostic] = []
    for (index, segment) in segments.enumerated() {
      guard let folder = segment.publishing?.folder else { continue }
      for (word, storeFolder) in [("cache", locations.cache), ("state", locations.state)]
      where !MirrorFolder.isOwn(storeFolder, of: segment.publishing)
        && isOneInOther(Self.real(folder), Self.real(storeFolder))
      {
        diagnostics.append(
          Diagnostic(
            "config.conflict",
            "segment `\(segment.name)` publishes to `\(folder)`, and the \(word) is in `\(storeFolder)`: neither may be inside the other",
            hint: "give `publish.dir` a folder of its own",
            path: "segments[\(index)].publish"
          )
        )
        break
      }
    }
    return diagnostics
  }

  private static func isOneInOther(_ a: String, _ b: String) -> Bool {
    [a, b].contains("/") || a == b || a.hasPrefix(b + "/") || b.hasPrefix(a + "/")
  }

  static func real(_ path: String) -> String {
    var missing: [Substring] = []
    var components = path.split(separator: "/")
    while !components.isEmpty {
      if let real = FileReading.realPath("/" + components.joined(separator: "/")) {
        return missing.isEmpty ? real : real + "/" + missing.reversed().joined(separator: "/")
      }
      missing.append(components.removeLast())
    }
    return path
  }
}
