import PrefetchConfig
import PrefetchCore
import PrefetchCrypto
import PrefetchDocuments
import PrefetchEngine
import PrefetchManifests
import PrefetchStore
import PrefetchSystem
import PrefetchTransfer

/// `get`: bodies from the cache when fresh, else fetched under the same policy and kept.
struct GetCommand {
  let context: CommandContext
  let options: GetOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let entries = try wanted(places)
    let delivery = try Delivery(context: context, options: options, count: entries.count)
    let toFetch = try stale(entries, places)
    var report: Report?
    if !toFetch.isEmpty, !options.isOffline {
      report = try fetch(toFetch, loaded, places)
    }
    let delivered = try deliver(entries, delivery, places)
    return conclude(report, delivered: delivered, entries, loaded, places)
  }

  // MARK: What is wanted

  private func wanted(_ places: Places) throws(CommandExit) -> [ManifestEntry] {
    if options.readsManifest { return try manifestEntries() }
    let store = try context.readingStore(places)
    let names =
      options.items + options.ids.map { id in options.provider.map { "\($0)/\(id)" } ?? id }
    var entries: [ManifestEntry] = []
    var missing: [Diagnostic] = []
    for name in names {
      if let record = try ItemLookup(context: context).cached(name, in: store),
        let url = try? WebURL(record.url)
      {
        entries.append(ManifestEntry(url: url))
      } else if name.contains("://") {
        entries.append(ManifestEntry(url: try url(name)))
      } else {
        missing.append(
          Diagnostic(
            "item.not-found",
            "`\(name)` is neither a URL nor the id of an item that is known"
          )
        )
      }
    }
    guard missing.isEmpty else {
      throw CommandExit(status: context.console.fail(.nothing, missing))
    }
    return entries
  }

  private func url(_ text: String) throws(CommandExit) -> WebURL {
    do {
      return try WebURL(text)
    } catch {
      let diagnostic = Diagnostic("usage.bad-url", "`\(SafeText.line(text))` \(error)")
      throw CommandExit(status: context.console.fail(.usage, [diagnostic]))
    }
  }

  private func manifestEntries() throws(CommandExit) -> [ManifestEntry] {
    let source = ManifestSource(bytes: .file("-"), base: nil, mime: nil, name: "standard input")
    do {
      let bytes = try FileReading.readStandardInput(limit: 512 << 20)
      let manifest = try unsafe ManifestReader.read(bytes.span.bytes, source: source)
      for entry in manifest.rejected {
        context.console.report(
          Diagnostic(
            "\(entry.failure.code.rawValue)",
            "`\(SafeText.line(entry.url))`: \(entry.failure.message)"
          )
        )
      }
      return manifest.entries
    } catch {
      let message =
        (error as? Failure)?.message ?? (error as? FileReading.Fault)?.reason ?? "\(error)"
      let diagnostic = Diagnostic("manifest.invalid", "the manifest on standard input: \(message)")
      throw CommandExit(status: context.console.fail(.usage, [diagnostic]))
    }
  }

  // MARK: What the cache has

  /// Entries that the cache cannot answer by itself.
  private func stale(
    _ entries: [ManifestEntry],
    _ places: Places
  ) throws(CommandExit) -> [ManifestEntry] {
    guard let store = try context.readingStore(places) else { return entries }
    let now = context.clock.now().wall
    return try context.reading { () throws(Failure) in
      var stale: [ManifestEntry] = []
      for entry in entries {
        guard let record = try store.record(url: entry.url.string), isAcceptable(record, now: now)
        else {
          stale.append(entry)
          continue
        }
      }
      return stale
    }
  }

  private func isAcceptable(_ record: ContentRecord, now: Instant) -> Bool {
    guard record.digest != nil else { return false }
    guard !options.isOffline else { return true }
    guard !options.revalidates else { return false }
    if let limit = options.maximumAge, let confirmed = record.validatedAt, now - confirmed > limit {
      return false
    }
    let control = CacheControl(record.headers.combined("Cache-Control"))
    switch options.maximumStaleness {
    case .bare where !control.mustRevalidate: return true
    case .value(let limit) where !control.mustRevalidate:
      return record.freshUntil.map { now < $0 + limit } ?? false
    case .bare, .value, nil:
      return record.freshUntil.map { now < $0 } ?? false
    }
  }

  // MARK: What has to be fetched

  private func fetch(
    _ entries: [ManifestEntry],
    _ loaded: LoadedConfiguration,
    _ places: Places
  ) throws(CommandExit) -> Report {
    var engineOptions = EngineOptions()
    engineOptions.revalidatesAll = options.revalidates || options.maximumAge != nil
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: engineOptions
    )
    let named = entries.map { entry in
      var named = entry
      named.id = entry.id ?? ItemIdentifier.make(for: entry.url)
      return named
    }
    var request = RunRequest(
      mode: .get,
      identity: loaded.identity,
      segments: [SegmentDeclaration(name: "get", source: .inline(named))],
      policy: builder.policy
    )
    request.policy.revalidatesAll = engineOptions.revalidatesAll
    return try context.reading { () throws(Failure) in
      let store = try DiskStore.openForWriting(
        cache: places.cache,
        clockStart: context.clock.now().wall
      )
      context.console.report(store.diagnostics)
      let settings = builder.transportSettings { context.environment.variables[$0] }
      let engine = Engine(
        transport: try CurlTransport(settings: settings, staging: store, clock: context.clock),
        store: store,
        files: SystemFiles(),
        clock: context.clock,
        stop: ProcessStop()
      )
      let report = try engine.run(request, seed: UInt64.random(in: 0...UInt64.max))
      try store.close()
      return report
    }
  }

  // MARK: What comes out

  private func deliver(
    _ entries: [ManifestEntry],
    _ delivery: Delivery,
    _ places: Places
  ) throws(CommandExit) -> [DeliveredItem] {
    guard let store = try context.readingStore(places) else { return [] }
    var delivered: [DeliveredItem] = []
    for entry in entries {
      let found = try context.reading { () throws(Failure) -> ContentRecord? in
        guard let record = try store.record(url: entry.url.string), let digest = record.digest,
          try store.intactObject(digest) != nil
        else { return nil }
        return record
      }
      guard let record = found, let digest = record.digest else { continue }
      let path = DiskStore.objectPath(digest, cache: places.cache)
      let target = try context.reading { () throws(Failure) in
        try delivery.deliver(entry, digest: digest, path: path, from: store)
      }
      delivered.append(DeliveredItem(record: record, path: target ?? path))
    }
    markUsed(delivered, places)
    return delivered
  }

  /// A convenience for eviction later; where the state cannot be written it is not kept.
  private func markUsed(_ delivered: [DeliveredItem], _ places: Places) {
    guard !delivered.isEmpty, let state = try? StateStore.openForWriting(state: places.state) else {
      return
    }
    try? state.markUsed(delivered.map(\.record.url), at: context.clock.now().wall)
    try? state.close()
  }

  private func conclude(
    _ report: Report?,
    delivered: [DeliveredItem],
    _ entries: [ManifestEntry],
    _ loaded: LoadedConfiguration,
    _ places: Places
  ) -> Int32 {
    let failures = (report?.items ?? []).filter { $0.failure != nil }
    for item in failures {
      let url = Redaction.masked(
        Redaction.url(item.url),
        secrets: loaded.secrets
      )
      let message = item.failure?.message ?? ""
      context.console.report(
        Diagnostic("\(item.failure?.code.rawValue ?? "failed")", "`\(url)`: \(message)")
      )
    }
    let got = Set(delivered.map(\.record.url))
    let failed = Set(failures.map(\.url))
    for entry in entries where !got.contains(entry.url.string) && !failed.contains(entry.url.string)
    {
      context.console.report(
        Diagnostic("item.not-cached", "`\(entry.url.redacted)` is not in the cache")
      )
    }
    var status = report.map { ExitStatus($0) } ?? .ok
    if status == .ok, got.count < Set(entries.map(\.url.string)).count {
      status = got.isEmpty ? .nothing : .incomplete
    }
    if context.shared.isJSON {
      let items = delivered.map { item -> JSONValue in
        [
          "url": .string(item.record.url), "path": .string(item.path),
          "bytes": .integer(item.record.size),
        ]
      }
      context.console.print([
        "schema": "prefetch-get/1", "exit": .exit(status, code: status.code),
        "items": .array(items),
      ])
    }
    return status.code
  }
}

/// An item whose body came out, and where it lies now.
struct DeliveredItem {
  var record: ContentRecord
  var path: String
}
