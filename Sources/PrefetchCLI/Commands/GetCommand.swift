import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// `get`: bodies from the cache when fresh, else fetched under the same policy and kept.
struct GetCommand {
  let context: CommandContext
  let options: GetOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let builder = builder(loaded)
    let request = try AskedItems.read(
      context: context,
      options: options,
      builder: builder,
      places: places
    )
    let delivery = try Delivery(
      context: context,
      options: options,
      entries: request.entries,
      durability: Durability(loaded.configuration.cache.durability)
    )
    let items = try declared(request, builder, places)
    let network = ItemFetch(context: context, loaded: loaded, builder: builder, places: places)
    let (look, facts) = try look(at: items, loaded, builder, places)
    let toFetch = items.filter { look.toFetch.contains($0.entry.url.string) }
    var report: Report?
    if !toFetch.isEmpty, !options.isOffline {
      report = try network.fetch(toFetch, replacing: look.damaged.values.sorted(), facts: facts)
    }
    let fetched = ItemFetch.answered(report)
    let unanswered = look.toFetch.subtracting(fetched).union(look.absent.keys)
    let transient = try network.unkept(fetched)
    let outcome: Result<[DeliveredItem], CommandExit>
    do throws(CommandExit) {
      outcome = .success(
        try deliver(
          items,
          delivery,
          facts,
          places,
          withheld: unanswered,
          transient: transient
        )
      )
    } catch {
      outcome = .failure(error)
    }
    try network.forget(transient)
    let delivered: [DeliveredItem]
    switch outcome {
    case .success(let items): delivered = items
    case .failure(let exit): throw exit
    }
    markUsed(delivered, places)
    return conclude(report, delivered: delivered, request, loaded, look, transient: transient)
  }

  private func builder(_ loaded: LoadedConfiguration) -> RequestBuilder {
    var engine = EngineOptions()
    engine.revalidatesAll = options.revalidates || options.maximumAge != nil
    var builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: engine,
      environment: context.environment.variables
    )
    builder.netrc = context.netrc(loaded.configuration)
    return builder
  }

  // MARK: What is wanted

  /// Everything that is declared of the items, so that they are fetched as a run would fetch them.
  private func declared(
    _ asked: AskedItems,
    _ builder: RequestBuilder,
    _ places: Places
  ) throws(CommandExit) -> [WantedItem] {
    let store = try context.readingStore(places)
    let known = try context.reading { () throws(Failure) in
      try DeclaredItems(
        of: asked.entries.map(\.url),
        segments: builder.configuration.segments.map { builder.declaration($0) },
        identity: builder.identity,
        manifestLimit: builder.policy.maximumManifestSize,
        store: store,
        typed: asked.typed
      )
    }
    context.console.report(known.warnings)
    let anonymous = SegmentDeclaration(name: "", source: .inline([]))
    return asked.entries.map { entry in
      var declarations = known[entry.url]
      if declarations.isEmpty || options.readsManifest {
        var own = entry
        own.id = entry.id ?? ItemIdentifier.make(for: entry.url)
        declarations.append(DeclaredItems.Declaration(segment: anonymous, entry: own))
      }
      // Of segments that ask for it differently the first has it; what is pinned is the same for all.
      let asked = Set(declarations[0].entry.headers)
      declarations.removeAll { $0.entry.digests.isEmpty && Set($0.entry.headers) != asked }
      return WantedItem(entry: entry, declarations: declarations)
    }
  }

  // MARK: What the cache has

  /// How the wanted items stand before anybody is asked.
  private struct Look {
    /// Those that the cache cannot answer by itself.
    var toFetch: Set<String> = []
    /// Bodies that would do, and are not what their names say.
    var damaged: [String: ContentDigest] = [:]
    /// Those of which a server said not long ago that it does not have them.
    var absent: [String: Absence] = [:]
  }

  /// The store is let go of: one process cannot have it open for reading and for writing.
  private func look(
    at items: [WantedItem],
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ places: Places
  ) throws(CommandExit) -> (Look, Planner.Facts) {
    let store = try context.readingStore(places)
    let facts = try context.facts(loaded, builder, places, store)
    let kept = KeptFacts(facts)
    var look = Look()
    guard let store else {
      look.toFetch = Set(items.map(\.entry.url.string))
      return (look, facts)
    }
    let lasting = loaded.configuration.cache.negativeTimeToLive
    return try context.reading { () throws(Failure) in
      for item in items {
        let url = item.entry.url.string
        let record = try store.record(url: url)
        if let record, let digest = record.digest, item.isSatisfied(by: record, kept) {
          if try store.intactObject(digest) == nil {
            look.damaged[url] = digest
          } else if isAcceptable(record, as: item, kept) {
            continue
          }
        }
        if !item.isPinned, let absence = try store.absence(of: url),
          absence.asked == item.fingerprint(facts),
          isTelling(absence, until: absence.since + lasting, besides: record, facts.now)
        {
          look.absent[url] = absence
          continue
        }
        look.toFetch.insert(url)
      }
      return (look, facts)
    }
  }

  /// Whether nobody is asked again; a later answer of another run speaks against it.
  private func isTelling(
    _ absence: Absence,
    until end: Instant,
    besides record: ContentRecord?,
    _ now: Instant
  ) -> Bool {
    guard !options.revalidates, now < end else { return false }
    if let limit = options.maximumAge, now - absence.since > limit { return false }
    return record?.validatedAt.map { $0 < absence.since } ?? true
  }

  private func isAcceptable(
    _ record: ContentRecord,
    as item: WantedItem,
    _ kept: KeptFacts
  ) -> Bool {
    guard !options.isOffline else { return true }
    guard !options.revalidates else { return false }
    if let limit = options.maximumAge, let confirmed = record.validatedAt,
      kept.asking.now - confirmed > limit
    {
      return false
    }
    return item.isFresh(record, kept) || mayServeStale(record, as: item, kept.asking)
  }

  private func mayServeStale(
    _ record: ContentRecord,
    as item: WantedItem,
    _ facts: Planner.Facts
  ) -> Bool {
    switch options.maximumStaleness {
    case nil: false
    case .bare: item.mayServeStale(record, within: .seconds(Int64.max / 2), facts)
    case .value(let limit): item.mayServeStale(record, within: limit, facts)
    }
  }

  // MARK: What comes out

  /// `withheld` are items whose fetch failed: their old bodies come out only where staleness is
  /// allowed.
  private func deliver(
    _ items: [WantedItem],
    _ delivery: Delivery,
    _ facts: Planner.Facts,
    _ places: Places,
    withheld: Set<String>,
    transient: Set<String>
  ) throws(CommandExit) -> [DeliveredItem] {
    guard let store = try context.readingStore(places) else { return [] }
    var facts = facts
    facts.key = try context.reading { () throws(Failure) in try store.varianceKey() }
    let kept = KeptFacts(facts)
    var folder: DeliveredFolder?
    var delivered: [DeliveredItem] = []
    // What came before something that cannot be written gets its name all the same.
    defer { try? folder?.finish() }
    for item in items {
      let url = item.entry.url.string
      if options.printsPaths, transient.contains(url) { continue }
      let found = try context.reading { () throws(Failure) -> ContentRecord? in
        guard let record = try store.record(url: url), let digest = record.digest,
          item.isSatisfied(by: record, kept),
          !withheld.contains(url) || mayServeStale(record, as: item, facts),
          try store.intactObject(digest) != nil
        else { return nil }
        return record
      }
      guard let record = found, let digest = record.digest else { continue }
      let path = DiskStore.objectPath(digest, cache: places.cache)
      let target = try context.reading { () throws(Failure) in
        if folder == nil { folder = try delivery.folder(of: store) }
        return try delivery.deliver(
          item.entry,
          digest,
          size: record.size,
          path: path,
          from: store,
          into: folder
        )
      }
      delivered.append(
        DeliveredItem(record: record, path: target ?? path, isStale: withheld.contains(url))
      )
    }
    try context.reading { () throws(Failure) in try folder?.finish() }
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
    _ asked: AskedItems,
    _ loaded: LoadedConfiguration,
    _ look: Look,
    transient: Set<String>
  ) -> Int32 {
    let troubles = troubles(report, delivered: delivered, asked, loaded, look, transient: transient)
    context.console.report(troubles.diagnostics)
    let isDamaged = options.isOffline && !look.damaged.isEmpty
    let status = isDamaged ? .io : status(report, delivered: delivered, asked)
    if context.shared.isJSON {
      let items = delivered.map { item -> JSONValue in
        [
          "url": .string(item.record.url), "path": .string(item.path),
          "bytes": .integer(item.record.size),
        ]
      }
      context.console.print([
        "schema": "prefetch-get/1",
        "exit": .exit(
          status,
          code: status.code,
          isRetryable: status.isRetryable && troubles.isRetryable
        ),
        "items": .array(items), "failures": troubles.document,
      ])
    }
    return status.code
  }

  private func troubles(
    _ report: Report?,
    delivered: [DeliveredItem],
    _ asked: AskedItems,
    _ loaded: LoadedConfiguration,
    _ look: Look,
    transient: Set<String>
  ) -> GetTroubles {
    var troubles = GetTroubles(of: loaded)
    var failed: Set<String> = []
    for item in report?.items ?? [] {
      guard let failure = item.failure else { continue }
      failed.insert(item.url)
      troubles.add(failure, of: item.url)
    }
    let got = Set(delivered.map(\.record.url))
    let interrupted = Set((report?.items ?? []).filter(\.isInterrupted).map(\.url))
    let deferred = (report?.items ?? []).reduce(into: [:]) { found, item in
      found[item.url] = item.deferral.map { (rule: $0, reason: item.reason) }
    }
    for entry in asked.entries where !got.contains(entry.url.string) {
      let url = entry.url
      if transient.contains(url.string) {
        troubles.addUnkept(url)
      } else if let (deferral, reason) = deferred[url.string] {
        troubles.add(deferral, reason, of: url)
      } else if interrupted.contains(url.string) {
        troubles.addInterrupted(url)
      } else if let absence = look.absent[url.string] {
        troubles.add(absence, of: url)
      } else if options.isOffline, look.damaged[url.string] != nil {
        troubles.addDamaged(url)
      } else if !failed.contains(url.string) {
        troubles.addMissing(url)
      }
    }
    for name in asked.unknown { troubles.note(unknown: name) }
    return troubles
  }

  private func status(
    _ report: Report?,
    delivered: [DeliveredItem],
    _ asked: AskedItems
  ) -> ExitStatus {
    var report = report
    // Whoever allows a stale copy and got one misses nothing; trust is another matter.
    let stale = Set(delivered.filter(\.isStale).map(\.record.url))
    for index in report?.items.indices ?? 0..<0 {
      guard let url = report?.items[index].url, stale.contains(url) else { continue }
      report?.items[index].isRequired = false
    }
    let status = report.map { ExitStatus($0) } ?? .ok
    switch status {
    case .ok, .incomplete, .nothing: break
    case .failed, .changes, .trust, .notOurs, .usage, .unavailable, .io, .deferred, .denied,
      .config, .interrupted, .terminated:
      return status
    }
    if asked.rejected.contains(where: { $0.failure.code.category == .trust }) { return .trust }
    let got = Set(delivered.map(\.record.url))
    let isComplete =
      status == .ok && asked.rejected.isEmpty && asked.unknown.isEmpty && !asked.isPartial
      && asked.entries.allSatisfy { got.contains($0.url.string) }
    if isComplete { return .ok }
    return got.isEmpty ? .nothing : .incomplete
  }
}

/// An item whose body came out, and where it lies now.
struct DeliveredItem {
  var record: ContentRecord
  var path: String
  /// Its fetch failed, and the old copy would do.
  var isStale: Bool
}
