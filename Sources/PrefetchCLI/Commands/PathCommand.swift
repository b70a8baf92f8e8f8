import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct PathCommand: Command {
  let context: CommandContext
  let options: PathOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations()
    let store = try context.readingStore(locations)
    let cached = try ItemLookup(context: context).cached(options.item, in: store)
    let typed = try TypedURL.read(options.item, isKnown: cached != nil, context)
    guard let store, let record = cached, let digest = record.digest,
      !Planner.isContradicted(typed?.digests ?? [], by: record),
      try !isOthers(record, loaded, locations, store)
    else { return try missing(loaded, store) }
    let path = store.objectPath(digest)
    guard FileReading.size(path) == record.size else { return try missing(loaded, store) }
    let isSpoilt = try context.reading { () throws(Failure) in try store.isSpoilt(digest) }
    guard !isSpoilt else { return try missing(loaded, store, isSpoilt: true) }
    let servedURL = options.server.flatMap { server in
      (try? WebURL(record.shownURL)).map { Self.servedURL(of: record, $0, under: server) }
    }
    return print(url: record.shownURL, path: path, shown: servedURL ?? path)
  }

  /// Returns the URL on a server that has every host below its root.
  private static func servedURL(
    of record: ContentRecord,
    _ url: WebURL,
    under server: WebURL
  ) -> String {
    let base = server.string.hasSuffix("/") ? server.string : server.string + "/"
    if !record.files.isEmpty {
      return base + ServedPath.path(of: record, ServedPath.mainName(of: record))
    }
    return base + url.string.drop { $0 != "/" }.dropFirst(2)
  }

  private func print(url: String, path: String?, shown: String) -> Int32 {
    var members: [(String, JSONValue)] = [
      ("schema", "prefetch-path/1"), ("url", .string(Redaction.url(url))),
      ("path", .optional(path)),
    ]
    if options.server != nil {
      members.append(("served", path == nil ? .null : .string(shown)))
    }
    if context.shared.isJSON {
      context.console.print(.object(members))
    } else {
      context.console.print(exactly: shown)
    }
    return ExitStatus.ok.code
  }

  private func isOthers(
    _ record: ContentRecord,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ store: DiskStore?
  ) throws(CommandExit) -> Bool {
    guard record.variance != nil, let url = try? WebURL(record.shownURL) else { return false }
    let builder = context.builder(loaded)
    let facts = try context.facts(loaded, builder, locations, store)
    let known = try context.reading { () throws(Failure) in
      try DeclaredItems(of: [url], by: builder, in: store)
    }
    let decisions = known[url].map {
      Planner.decide($0.entry, record: record, segment: $0.segment, facts: facts).reason
    }
    return !decisions.isEmpty && decisions.allSatisfy { $0 == .otherVariant }
  }

  private func missing(
    _ loaded: LoadedConfiguration,
    _ store: DiskStore?,
    isSpoilt: Bool = false
  ) throws(CommandExit) -> Int32 {
    if options.fallsBackToURL, let url = try url(loaded, store) {
      return print(url: url.string, path: nil, shown: url.string)
    }
    let name = SafeText.line(Redaction.url(options.item))
    guard isSpoilt else {
      throw context.failed(.nothing, "item.not-cached", "`\(name)` is not in the cache")
    }
    throw context.failed(
      .nothing,
      "store.damaged",
      "the stored body of `\(name)` is damaged",
      hint: "`prefetch verify --repair` drops it, and the next run fetches it again"
    )
  }

  private func url(
    _ loaded: LoadedConfiguration,
    _ store: DiskStore?
  ) throws(CommandExit) -> WebURL? {
    if let url = try? WebURL(options.item) { return url }
    let lookup = ItemLookup(context: context)
    if let record = try lookup.cached(options.item, in: store) {
      return try? WebURL(record.shownURL)
    }
    let builder = context.builder(loaded)
    return try lookup.declared(options.item, builder, in: store)?.url
  }
}

/// Finds the item that a word means: a URL, an id, or `PROVIDER/ID`.
struct ItemLookup {
  let context: CommandContext

  /// Returns a declared item, stored or not; nil if nothing declares it.
  func declared(
    _ name: String,
    _ builder: RequestBuilder,
    in store: DiskStore?,
    lists: ReadLists = ReadLists()
  ) throws(CommandExit) -> ManifestEntry? {
    let entries = try context.reading { () throws(Failure) in
      try DeclaredItems.entries(named: name, by: builder, in: store, lists: lists)
    }
    guard entries.count > 1 else { return entries.first }
    throw context.failed(
      .usage,
      "item.ambiguous",
      "`\(SafeText.line(name))` names several items",
      hint: "say which: \(entries.map { "`\($0.url.redacted)`" }.joined(separator: ", "))"
    )
  }

  func cached(_ name: String, in store: DiskStore?) throws(CommandExit) -> ContentRecord? {
    guard let store else { return nil }
    let canonical = (try? WebURL(name))?.string ?? name
    let records = try context.reading { () throws(Failure) in
      try store.records(named: canonical)
    }
    guard records.count > 1 else { return records.first }
    // Several providers use this id, so the meaning cannot be guessed.
    let names = records.map {
      "`\($0.provider.map { "\($0)/" } ?? "")\($0.id)` (\(Redaction.url($0.url)))"
    }
    throw context.failed(
      .usage,
      "item.ambiguous",
      "`\(SafeText.line(name))` names several items",
      hint: "say which: \(names.joined(separator: ", "))"
    )
  }
}
