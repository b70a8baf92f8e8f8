import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

struct GetCommand: Command {
  let context: CommandContext
  let options: GetOptions
  var isSilent = false

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    let (loaded, locations) = try context.configurationAndLocations()
    if !options.isOffline { try context.requireTrustFiles(loaded) }
    var builder = builder(loaded)
    builder.typedHosts = Set(options.items.compactMap { (try? WebURL($0))?.host })
    let session = ItemSession(context: context, loaded: loaded, locations: locations)
    defer { try? session.close() }
    builder.lockfile = try session.lockfile()
    let request = try RequestedItems.read(options, builder, in: session)
    let delivery = try Delivery(
      context: context,
      options: options,
      entries: request.entries,
      durability: loaded.configuration.cache.durability
    )
    var items = try declared(request, builder, session)
    var network = ItemFetch(session: session, builder: builder)
    network.isWatched = true
    network.bringsThumbnails = options.behavior == .all
    network.mayBeStale = !options.revalidates
    network.quality = options.quality
    let facts = try look(at: &items, loaded, builder, session)
    try fetch(&items, network, facts)
    let outcome: CommandExit?
    do throws(CommandExit) {
      try deliver(&items, delivery, facts, session)
      // Bodies that turned out damaged or missing at delivery are fetched.
      for _ in 1...Self.mostRounds
      where !options.usesCacheOnly
        && items.statuses.contains(where: { $0 == .damaged || $0 == .missing })
      {
        try fetch(&items, network, facts)
        try deliver(&items, delivery, facts, session)
        items.delivered.sort { $0.number < $1.number }
      }
      if options.usesCacheOnly, !items.damaged.isEmpty {
        // Another process may have replaced a body since this one opened the index.
        session.reopenForReading()
        try deliver(&items, delivery, facts, session)
        items.delivered.sort { $0.number < $1.number }
      }
      outcome = nil
    } catch {
      outcome = error
    }
    try network.forget(items.transient)
    if let outcome { throw outcome }
    // The fetched body stays cached for the next attempt, which names a destination.
    if let refusal = delivery.refusal.value {
      markUsed(items, session, AnalyticsSetup(loaded, publisher: builder.publisher))
      return context.console.fail(.usage, [refusal])
    }
    if options.printsPaths, !context.shared.isJSON, !isSilent {
      for item in items.delivered { context.console.print(exactly: item.path) }
    }
    markUsed(items, session, AnalyticsSetup(loaded, publisher: builder.publisher))
    try context.reading { () throws(Failure) in try session.close() }
    return conclude(items, request, loaded)
  }

  /// Rounds of fetch and delivery, in case other runs remove items meanwhile.
  private static let mostRounds = 3

  private func builder(_ loaded: LoadedConfiguration) -> RequestBuilder {
    var engine = EngineOptions()
    engine.revalidatesAll = options.revalidates || options.maximumAge != nil
    return context.builder(loaded, engine)
  }

  // MARK: What is wanted

  /// Looks up all declarations of the items, so that they are fetched as by a run.
  private func declared(
    _ requested: RequestedItems,
    _ builder: RequestBuilder,
    _ session: ItemSession
  ) throws(CommandExit) -> ItemGathering {
    let store = try session.store()
    let known = try context.reading { () throws(Failure) in
      try DeclaredItems(
        of: requested.entries.map(\.url),
        zones: requested.entries.compactMap(\.zone),
        by: builder,
        in: store,
        typed: requested.typed,
        lists: requested.lists
      )
    }
    context.console.report(requested.lists.warnings + known.warnings)
    let isListed = options.readsManifest
    return ItemGathering(
      of: WantedItems(requested.entries, declared: known, isListed: isListed),
      loose: options.usesCacheOnly
        ? WantedItems(requested.entries, declared: known.withoutBodies, isListed: isListed) : nil
    )
  }

  // MARK: What the cache has

  private func look(
    at items: inout ItemGathering,
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ session: ItemSession
  ) throws(CommandExit) -> Planner.Facts {
    let store = try session.store()
    let facts = try context.facts(loaded, builder, session.locations, store)
    guard let store else { return facts }
    var kept = KeptItems(items.wanted, facts)
    let lasting = loaded.configuration.cache.negativeTimeToLive
    try context.reading { () throws(Failure) in
      for item in 0..<items.wanted.count {
        let url = items.wanted.url(item)
        let record = try store.record(url: items.wanted.recordURL(item))
        let isSatisfied = record.map { kept.isSatisfied(item, by: $0) } ?? false
        if let record, isSatisfied, isFresh(record, as: item, &kept, facts) {
          items.statuses[item] = .kept
        } else if let absence = try store.absence(of: url), !items.wanted.isPinned(item),
          absence.requestHash == items.wanted.fingerprint(item, facts),
          savesRequest(absence, until: absence.end(lasting: lasting), after: record, facts.now)
        {
          items.statuses[item] = .absent
          items.absences[item] = absence
        } else if let record, isSatisfied,
          options.maximumAge.map({ isWithin($0, record, facts) }) ?? true,
          mayServeStale(record, as: item, items.wanted, facts)
        {
          items.statuses[item] = .kept
        }
      }
    }
    return facts
  }

  /// Whether a remembered absence still saves a request; a later answer overrides it.
  private func savesRequest(
    _ absence: Absence,
    until end: Instant,
    after record: ContentRecord?,
    _ now: Instant
  ) -> Bool {
    guard !options.revalidates, now < end else { return false }
    if let limit = options.maximumAge, now - absence.since > limit { return false }
    return record?.validatedAt.map { $0 < absence.since } ?? true
  }

  /// Whether the cache may answer without a request: only a fresh copy, but offline any copy.
  private func isFresh(
    _ record: ContentRecord,
    as item: Int,
    _ kept: inout KeptItems,
    _ facts: Planner.Facts
  ) -> Bool {
    guard !options.usesCacheOnly else { return true }
    guard !options.revalidates else { return false }
    if let limit = options.maximumAge, !isWithin(limit, record, facts) { return false }
    return kept.isFresh(item, record)
  }

  private func isWithin(
    _ limit: Duration,
    _ record: ContentRecord,
    _ facts: Planner.Facts
  ) -> Bool {
    record.validatedAt.map { facts.now - $0 <= limit } ?? true
  }

  func mayServeStale(
    _ record: ContentRecord,
    as item: Int,
    _ items: WantedItems,
    _ facts: Planner.Facts
  ) -> Bool {
    switch options.maximumStaleness {
    case nil: false
    case _ where options.revalidates: false
    case .bare: items.mayServeStale(record, as: item, within: .seconds(Int64.max / 2), facts)
    case .value(let limit): items.mayServeStale(record, as: item, within: limit, facts)
    }
  }

  // MARK: What is asked for

  private func fetch(
    _ items: inout ItemGathering,
    _ network: ItemFetch,
    _ facts: Planner.Facts
  ) throws(CommandExit) {
    let needsFetch = items.statuses.map { $0 == .missing || $0 == .damaged }
    guard !options.usesCacheOnly, needsFetch.contains(true) else { return }
    let fetched = try network.fetch(
      items.wanted,
      where: { needsFetch[$0] },
      replacing: items.damaged.values.sorted(),
      facts: facts
    )
    items.reports.append(fetched.report)
    items.damaged = [:]
    let gone = Set(fetched.report.items.lazy.filter { $0.failure?.code == .gone }.map(\.url))
    for item in needsFetch.indices where needsFetch[item] {
      items.statuses[item] =
        fetched.hasSucceeded[item]
        ? .fetched : gone.contains(items.wanted.url(item)) ? .gone : .withheld
      if !fetched.hasSucceeded[item], try isLeftOver(item, items, since: fetched.start, network) {
        items.transient.insert(items.wanted.url(item))
      }
    }
  }

  private func isLeftOver(
    _ item: Int,
    _ items: ItemGathering,
    since start: Instant,
    _ network: ItemFetch
  ) throws(CommandExit) -> Bool {
    guard !items.wanted.isKept(item), let store = try network.session.store() else { return false }
    let url = items.wanted.recordURL(item)
    let record = try context.reading { () throws(Failure) in try store.record(url: url) }
    return record?.fetchedAt.map { start <= $0 } ?? false
  }

  /// Records the use for eviction; ignored if the state cannot be written.
  private func markUsed(_ items: ItemGathering, _ session: ItemSession, _ setup: AnalyticsSetup) {
    let missed = items.statuses.indices.filter { items.statuses[$0] != .delivered }
    guard !items.delivered.isEmpty || setup.collector != nil && !missed.isEmpty,
      let state = try? session.writingState()
    else { return }
    let now = context.clock.now().wall
    try? state.markUsed(
      items.delivered.lazy.map { items.wanted.recordURL($0.number) },
      at: now
    )
    if setup.collector != nil {
      var tally = CacheTally(setup.prefixes)
      for item in items.delivered {
        tally.count(items.wanted.url(item.number), isHit: !item.isFetched)
      }
      for item in missed { tally.count(items.wanted.entries[item].url.string, isHit: false) }
      try? state.queue(
        tally.drain().events(at: now, hiding: context.console.needles),
        of: setup.identity,
        within: setup.bounds,
        at: now
      )
    }
  }

  private func conclude(
    _ items: ItemGathering,
    _ requested: RequestedItems,
    _ loaded: LoadedConfiguration
  ) -> Int32 {
    let results = Dictionary(items.reports.flatMap(\.items).map { ($0.url, $0) }) { $1 }
    let older = items.delivered.filter {
      $0.isStale || results[items.wanted.url($0.number)]?.outcome == .stale
    }
    for item in older {
      let url = items.wanted.entries[item.number].url
      let result = results[url.string]
      let reason = result?.failure?.message ?? result?.reason ?? "it could not be confirmed"
      context.console.report(
        "get.stale",
        "`\(url.redacted)` is an older copy: \(reason)",
        severity: .warning
      )
    }
    let troubles = troubles(items, requested, results, loaded)
    context.console.report(troubles.diagnostics)
    let status = status(items, requested)
    if context.shared.isJSON, !isSilent {
      let stale = Set(older.map(\.number))
      let documents = items.delivered.map { item -> JSONValue in
        [
          "url": .string(Redaction.url(items.wanted.url(item.number))),
          "path": .string(item.path),
          "bytes": .integer(item.size),
          "stale": .bool(stale.contains(item.number)),
        ]
      }
      context.console.print([
        "schema": "prefetch-get/1",
        "exit": .exit(
          status,
          code: status.code,
          isRetryable: status.isRetryable && troubles.isRetryable
        ),
        "items": .array(documents), "failures": troubles.document,
      ])
    }
    return status.code
  }

  private func troubles(
    _ items: ItemGathering,
    _ requested: RequestedItems,
    _ results: [String: ItemResult],
    _ loaded: LoadedConfiguration
  ) -> GetTroubles {
    var troubles = GetTroubles(of: loaded)
    let delivered = Set(items.delivered.map { items.wanted.url($0.number) })
    for result in items.reports.flatMap(\.items) where !delivered.contains(result.url) {
      if let failure = result.failure { troubles.add(failure, of: result.url) }
    }
    for (item, itemStatus) in items.statuses.enumerated() where itemStatus != .delivered {
      let url = items.wanted.entries[item].url
      let result = results[url.string]
      if items.transient.contains(url.string) {
        troubles.addUnkept(url)
      } else if let result, let deferral = result.deferral {
        troubles.add(deferral, result.reason, of: url)
      } else if result?.isInterrupted == true {
        troubles.addInterrupted(url)
      } else if let absence = items.absences[item] {
        troubles.add(absence, of: url)
      } else if itemStatus == .damaged {
        troubles.addDamaged(url, isFetchable: options.usesCacheOnly)
      } else if result?.failure == nil {
        troubles.addMissing(url)
      }
    }
    for name in requested.unknown {
      troubles.addUnknownName(name, requested.diagnostic(ofUnknown: name))
    }
    return troubles
  }

  private func status(_ items: ItemGathering, _ requested: RequestedItems) -> ExitStatus {
    // A stale copy that the user allows is no failure; a trust failure still is.
    let stale = Set(items.delivered.filter(\.isStale).map { items.wanted.url($0.number) })
    var isWhole = !requested.isPartial && requested.rejected.isEmpty && requested.unknown.isEmpty
    for var report in items.reports {
      for index in report.items.indices where stale.contains(report.items[index].url) {
        report.items[index].isRequired = false
      }
      switch ExitStatus(report) {
      case .ok: break
      case .incomplete, .nothing: isWhole = false
      case let status: return status
      }
    }
    if requested.rejected.contains(where: { $0.failure.code.category == .trust }) { return .trust }
    if !items.damaged.isEmpty { return .io }
    if isWhole, items.statuses.allSatisfy({ $0 == .delivered }) { return .ok }
    return items.delivered.isEmpty ? .nothing : .incomplete
  }
}
