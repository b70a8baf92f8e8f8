import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `path`: where the body of an item lies, for any program to read.
struct PathCommand {
  let context: CommandContext
  let options: PathOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let store = try context.readingStore(places)
    guard let record = try ItemLookup(context: context).cached(options.item, in: store),
      let digest = record.digest, try !isOthers(record, loaded, places, store)
    else { return missing() }
    let path = DiskStore.objectPath(digest, cache: places.cache)
    guard FileReading.size(path) == record.size else { return missing() }
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-path/1", "url": .string(record.url), "path": .string(path),
      ])
    } else {
      context.console.print(path)
    }
    return ExitStatus.ok.code
  }

  /// Whether the configuration declares it and would not get this body: the answer to whoever asked
  /// with other headers.
  private func isOthers(
    _ record: ContentRecord,
    _ loaded: LoadedConfiguration,
    _ places: Places,
    _ store: DiskStore?
  ) throws(CommandExit) -> Bool {
    guard record.variance != nil, let url = try? WebURL(record.url) else { return false }
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: EngineOptions(),
      environment: context.environment.variables
    )
    let facts = try context.facts(loaded, builder, places, store)
    let known = try context.reading { () throws(Failure) in
      try DeclaredItems(
        of: [url],
        segments: loaded.configuration.segments.map { builder.declaration($0) },
        identity: loaded.identity,
        manifestLimit: builder.policy.maximumManifestSize,
        store: store
      )
    }
    let decisions = known[url].map {
      Planner.decide($0.entry, record: record, segment: $0.segment, facts: facts).reason
    }
    return !decisions.isEmpty && decisions.allSatisfy { $0 == .otherVariant }
  }

  private func missing() -> Int32 {
    if options.fallsBackToURL, let url = try? WebURL(options.item) {
      if context.shared.isJSON {
        context.console.print([
          "schema": "prefetch-path/1", "url": .string(url.string), "path": .null,
        ])
      } else {
        context.console.print(url.string)
      }
      return ExitStatus.ok.code
    }
    return context.console.fail(
      .nothing,
      [Diagnostic("item.not-cached", "`\(options.item)` is not in the cache")]
    )
  }
}

/// Finds the one item that a word means: a URL, an id, or `PROVIDER/ID`.
struct ItemLookup {
  let context: CommandContext

  /// Where an item lies that is declared and need not be stored; nil where nothing says so.
  func declared(
    _ name: String,
    _ builder: RequestBuilder,
    in store: DiskStore?
  ) throws(CommandExit) -> WebURL? {
    let urls = try context.reading { () throws(Failure) in
      try DeclaredItems.urls(
        named: name,
        segments: builder.configuration.segments.map { builder.declaration($0) },
        identity: builder.identity,
        manifestLimit: builder.policy.maximumManifestSize,
        store: store
      )
    }
    guard urls.count > 1 else { return urls.first }
    let diagnostic = Diagnostic(
      "item.ambiguous",
      "`\(SafeText.line(name))` names several items",
      hint: "say which: \(urls.map { "`\($0.redacted)`" }.joined(separator: ", "))"
    )
    throw CommandExit(status: context.console.fail(.usage, [diagnostic]))
  }

  func cached(_ name: String, in store: DiskStore?) throws(CommandExit) -> ContentRecord? {
    guard let store else { return nil }
    let canonical = (try? WebURL(name))?.string ?? name
    let records = try context.reading { () throws(Failure) in
      try store.records(named: canonical)
    }
    guard records.count > 1 else { return records.first }
    // The same id under several providers: which one is meant cannot be guessed.
    let names = records.map { "`\($0.provider.map { "\($0)/" } ?? "")\($0.id)` (\($0.url))" }
    let diagnostic = Diagnostic(
      "item.ambiguous",
      "`\(name)` names several items",
      hint: "say which: \(names.joined(separator: ", "))"
    )
    throw CommandExit(status: context.console.fail(.usage, [diagnostic]))
  }
}
