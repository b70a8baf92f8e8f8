import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// Items that `get` was asked for on the command line or by a manifest on standard input.
struct RequestedItems {
  var entries: [ManifestEntry] = []
  var rejected: [RejectedEntry] = []
  /// Whether the piped manifest refers to further documents, which a pipe does not bring.
  var isPartial = false
  var unknown: [String] = []
  private(set) var lists = ReadLists()
  private var segmentsWithoutStoredList: [String] = []
  /// URLs that the user typed; nil if all were.
  var typed: Set<String>? = []

  static func read(
    _ options: GetOptions,
    _ builder: RequestBuilder,
    in session: ItemSession
  ) throws(CommandExit) -> RequestedItems {
    let context = session.context
    if options.readsManifest { return try manifest(context, options, builder) }
    let store = try session.store()
    let lookup = ItemLookup(context: context)
    let ids = options.ids.flatMap { $0.split(separator: ",").map(String.init) }
    let names = options.items + ids.map { id in options.provider.map { "\($0)/\(id)" } ?? id }
    var requested = RequestedItems()
    for name in names {
      let record = try lookup.cached(name, in: store)
      let typed = try TypedURL.read(name, isKnown: record != nil, context)
      if let record, let url = try? WebURL(record.shownURL) {
        var entry = entry(url, record, now: context.clock.now().wall)
        entry.digests = typed?.digests ?? []
        if typed != nil { requested.typed?.insert(url.string) }
        requested.entries.append(entry)
      } else if let typed {
        var entry = ManifestEntry(url: typed.url)
        entry.digests = typed.digests
        requested.typed?.insert(entry.url.string)
        requested.entries.append(entry)
      } else if let declared = try lookup.declared(name, builder, in: store) {
        requested.entries.append(entry(declared))
      } else {
        requested.unknown.append(name)
      }
    }
    if !requested.unknown.isEmpty {
      let reading = ListReading(session: session, builder: builder)
      try requested.findUnknown(lookup, in: store, options.usesCacheOnly ? nil : reading, builder)
    }
    if let digest = options.digest { try requested.expect(digest, context) }
    if let type = options.type {
      for index in requested.entries.indices where requested.entries[index].type == nil {
        requested.entries[index].type = type
      }
    }
    if options.behavior == .thumbnails {
      try requested.replaceWithThumbnails(context, builder, store)
    }
    requested.rejected = refusals(of: &requested.entries, options)
    report(requested.rejected, isWithoutBase: false, context)
    // An unknown name does not keep the others from being fetched.
    guard requested.unknown.isEmpty || !requested.entries.isEmpty || !requested.rejected.isEmpty
    else {
      context.console.report(requested.lists.warnings)
      let missing = requested.unknown.map(requested.diagnostic(ofUnknown:))
      throw context.failed(requested.lists.status, missing)
    }
    return requested
  }

  private mutating func findUnknown(
    _ lookup: ItemLookup,
    in store: DiskStore?,
    _ reading: ListReading?,
    _ builder: RequestBuilder
  ) throws(CommandExit) {
    guard let reading else {
      segmentsWithoutStoredList = try lookup.context.reading { () throws(Failure) in
        try DeclaredItems.segmentsWithoutStoredList(by: builder, in: store)
      }
      return
    }
    lists = try reading.read()
    let names = unknown
    unknown = []
    for name in names {
      if let declared = try lookup.declared(name, builder, in: store, lists: lists) {
        entries.append(Self.entry(declared))
      } else {
        unknown.append(name)
      }
    }
  }

  private static func entry(_ declared: ManifestEntry) -> ManifestEntry {
    var entry = ManifestEntry(url: declared.url)
    entry.id = declared.id
    entry.provider = declared.provider
    entry.type = declared.type
    entry.zone = declared.zone
    return entry
  }

  /// Requires the digest of `--sha256`, which a URL's fragment may state as well.
  private mutating func expect(
    _ digest: ContentDigest,
    _ context: CommandContext
  ) throws(CommandExit) {
    let expected = ExpectedDigest(algorithm: .sha256, bytes: Array(digest.bytes))
    for index in entries.indices {
      let others = entries[index].digests
      guard !others.contains(where: { $0.algorithm == .sha256 && $0 != expected }) else {
        throw context.failed(
          .usage,
          "usage.conflict",
          "`--sha256` and the URL's own fragment name different bodies"
        )
      }
      entries[index].digests = [expected] + others.filter { $0 != expected }
    }
  }

  /// Replaces items by their thumbnails; an item without one counts as unknown.
  private mutating func replaceWithThumbnails(
    _ context: CommandContext,
    _ builder: RequestBuilder,
    _ store: DiskStore?
  ) throws(CommandExit) {
    let known = try context.reading { () throws(Failure) in
      try DeclaredItems(
        of: entries.map(\.url),
        by: builder,
        in: store,
        typed: typed,
        lists: lists
      )
    }
    var thumbnails: [ManifestEntry] = []
    for entry in entries {
      let stored = try context.reading { () throws(Failure) in
        try store?.record(url: entry.recordURL)?.thumbnail
      }
      if let thumbnail = known[entry.url].lazy.compactMap(\.entry.thumbnailEntry).first {
        thumbnails.append(thumbnail)
      } else if let stored, let url = try? WebURL(stored) {
        thumbnails.append(ManifestEntry(url: url))
      } else {
        unknown.append("\(Self.thumbnail)\(entry.url.redacted)")
      }
    }
    entries = thumbnails
  }

  private static let thumbnail = "the thumbnail of "

  func diagnostic(ofUnknown name: String) -> Diagnostic {
    if name.hasPrefix(Self.thumbnail) {
      return Diagnostic(
        "\(ErrorCode.notFound.rawValue)",
        "`\(SafeText.line(String(name.dropFirst(Self.thumbnail.count))))` has no thumbnail"
      )
    }
    return Self.diagnostic(ofUnknown: name, segmentsWithoutStoredList: segmentsWithoutStoredList)
  }

  static func diagnostic(
    ofUnknown name: String,
    segmentsWithoutStoredList: [String] = []
  ) -> Diagnostic {
    let code: ErrorCode = name.contains("/") ? .notInManifest : .notFound
    let names = segmentsWithoutStoredList.map { "`\($0)`" }.joined(separator: ", ")
    return Diagnostic(
      "\(code.rawValue)",
      "`\(SafeText.line(Redaction.url(name)))` is neither a URL nor the id of a known item"
        + (segmentsWithoutStoredList.isEmpty ? "" : "; no run has read the list of \(names)"),
      hint: segmentsWithoutStoredList.isEmpty ? nil : "leave out `--offline` to request it"
    )
  }

  private static func entry(
    _ url: WebURL,
    _ record: ContentRecord,
    now: Instant
  ) -> ManifestEntry {
    var entry = ManifestEntry(url: url)
    entry.id = record.id.isEmpty ? nil : record.id
    entry.provider = record.provider
    entry.type = record.type
    entry.zone = AdSpace.zone(ofRecord: record.url)
    if let expiry = record.expiresAt, now < expiry { entry.expires = expiry }
    return entry
  }

  private static func manifest(
    _ context: CommandContext,
    _ options: GetOptions,
    _ builder: RequestBuilder
  ) throws(CommandExit) -> RequestedItems {
    let base = options.base
    let source = ManifestSource(bytes: .file("-"), base: base, mime: nil, name: "standard input")
    StopSignals.beginReading()
    defer { StopSignals.endReading() }
    var manifest: Manifest
    do {
      let bytes = try FileReading.readStandardInput(limit: 512 << 20)
      manifest = try unsafe ManifestReader.read(bytes.span.bytes, source: source)
      manifest.furtherDocuments.removeAll(where: \.isOptional)
    } catch {
      let message =
        (error as? Failure)?.message ?? (error as? FileReading.Fault)?.reason ?? "\(error)"
      throw context.failed(
        .config,
        "manifest.invalid",
        "the manifest on standard input: \(message)"
      )
    }
    var entries = Array(manifest.entries)
    manifest.rejected += refusals(of: &entries, options)
    report(manifest, isWithoutBase: base == nil, context)
    let isWelcome =
      manifest.furtherDocuments.isEmpty && builder.configuration.defaults.declaration.allowsEmpty
    guard manifest.itemCount > 0 || isWelcome else {
      throw context.failed(.nothing, [nothing(in: manifest)])
    }
    return RequestedItems(
      entries: entries,
      rejected: manifest.rejected,
      isPartial: !manifest.furtherDocuments.isEmpty,
      typed: nil
    )
  }

  private static func refusals(
    of entries: inout [ManifestEntry],
    _ options: GetOptions
  ) -> [RejectedEntry] {
    guard let folder = Delivery.folder(options) else { return [] }
    var refused: [RejectedEntry] = []
    entries.removeAll { entry in
      do throws(Failure) {
        _ = try Delivery.name(of: entry, below: folder)
        return false
      } catch {
        refused.append(RejectedEntry(url: entry.url.string, id: entry.id, failure: error))
        return true
      }
    }
    return refused
  }

  /// Reports an empty manifest in a pipe: its writer failed or wrote something else.
  private static func nothing(in manifest: Manifest) -> Diagnostic {
    Diagnostic(
      "manifest.empty",
      manifest.furtherDocuments.isEmpty
        ? "the manifest on standard input names no items"
        : "the manifest on standard input names no items, only further documents",
      hint: manifest.furtherDocuments.isEmpty ? "check the program that wrote it" : nil
    )
  }

  private static func report(
    _ manifest: Manifest,
    isWithoutBase: Bool,
    _ context: CommandContext
  ) {
    context.console.report(manifest.warnings)
    report(manifest.rejected, isWithoutBase: isWithoutBase, context)
    if let further = manifest.furtherDocuments.first {
      let count = Amounts.count(Int64(manifest.furtherDocuments.count), "further document")
      context.console.report(
        "manifest.parts",
        "\(count) of the manifest on standard input, the first `\(further.url.redacted)`, cannot be requested",
        hint: "name the manifest by its URL in a segment of a configuration"
      )
    }
  }

  private static let mostRefusals = 20

  private static func report(
    _ rejected: [RejectedEntry],
    isWithoutBase: Bool,
    _ context: CommandContext
  ) {
    var isRelative = false
    // Counts the rest by code: a list of another kind may be wrong in every line.
    var others: [ErrorCode: Int] = [:]
    for (number, entry) in rejected.enumerated() {
      isRelative = isRelative || (isWithoutBase && !entry.url.contains("://"))
      guard number < mostRefusals else {
        others[entry.failure.code, default: 0] += 1
        continue
      }
      context.console.report(
        "\(entry.failure.code.rawValue)",
        "`\(SafeText.line(Redaction.url(entry.url)))`: \(entry.failure.message)"
      )
    }
    for (code, count) in others.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let items = Amounts.count(Int64(count), "more item")
      context.console.report("\(code.rawValue)", "\(items) refused in the same way")
    }
    if isRelative {
      context.console.report(
        "manifest.no-base",
        "the names on standard input are relative, and no base URL is set",
        hint: "give the URL of their folder: `--base-url https://example.org/folder/`"
      )
    }
  }
}
