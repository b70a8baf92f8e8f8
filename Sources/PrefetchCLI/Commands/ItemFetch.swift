import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Fetches single items into the cache, and removes the ones that may not stay.
struct ItemFetch {
  let session: ItemSession
  let builder: RequestBuilder
  var stop: any StopSignal = ProcessStop()
  /// Whether the report lists successful items too; otherwise only the store shows them.
  var keepsItems = false
  var servesClients = false
  var bringsThumbnails = false
  var isWatched = false
  var mayBeStale = true
  var quality: StreamQuality?

  private var context: CommandContext { session.context }
  private var loaded: LoadedConfiguration { session.loaded }

  struct Fetched {
    var report: Report
    var start: Instant
    /// Whether each item's body, new or kept, satisfies all segments that declare it.
    var hasSucceeded: [Bool]
    var key: VarianceKey
  }

  func fetch(
    _ items: WantedItems,
    where isChosen: (Int) -> Bool = { _ in true },
    replacing damaged: [ContentDigest] = [],
    facts: Planner.Facts? = nil,
    observer: (any RunObserver)? = nil
  ) throws(CommandExit) -> Fetched {
    let chosen = items.segments(isChosen)
    var request = RunRequest(
      mode: .get,
      identity: builder.identity,
      segments: chosen.map(\.declaration),
      policy: builder.policy
    )
    request.lockfile = builder.lockfile
    if let quality {
      for index in request.segments.indices {
        request.segments[index].bundleRules.quality = quality.fixed
      }
      if quality == .auto {
        request.streams.downloads = (try? session.writingState().pastDownloads()) ?? [:]
      }
    }
    if !mayBeStale {
      request.policy.maximumStale = .zero
      for index in request.segments.indices { request.segments[index].maximumStale = .zero }
    }
    request.keepsItems = keepsItems
    request.listsKept = keepsItems
    request.servesClients = servesClients
    request.policy.wakesPaused = true
    request.policy.bringsThumbnails = bringsThumbnails
    let license = context.license(loaded, builder, session.locations)
    request.credentials = license.credentials
    request.unregisteredOrigin = license.withheld
    // The publisher's switch stops runs, not requests of users and clients.
    for index in request.segments.indices {
      request.segments[index].network?.isSwitchedOff = false
    }
    builder.applyNetwork(to: &request, publisher: builder.publisher?.network)
    let memory = session.hostMemory()
    request.streams.rates = memory.rates
    let wanted = request
    return try context.reading { () throws(Failure) in
      let start = context.clock.now().wall
      let store = try session.writingStore()
      if !damaged.isEmpty { try store.dropDamaged(damaged) }
      context.console.report(store.drainDiagnostics())
      let progress = isWatched ? ProgressDisplay(context) : nil
      defer { progress?.finish() }
      let observers: [(any RunObserver)?] = [
        progress, isWatched ? TraceLog(context) : nil, observer,
      ]
      let circumstances = MachineCircumstances(context: context, loaded: loaded) {
        () throws(Failure) in try session.writingState()
      }
      var run = EngineRun(
        context: context,
        builder: builder,
        store: store,
        bodies: store.bodyPaths,
        circumstances: circumstances
      )
      run.memory = memory
      run.session = session
      run.stop = stop
      run.observers = observers.compactMap { $0 }
      run.isTraced = isWatched && context.shared.verbosity > 0
      var report = try run.run(wanted)
      if wasHeldBack(report) { license.addResult(to: &report) }
      if let facts { try rememberAbsences(report, of: items, facts, in: store) }
      let hasSucceeded = try findSucceeded(
        chosen.map(\.items),
        of: items,
        report,
        since: start,
        in: store
      )
      let key = try store.varianceKey()
      context.console.report(store.drainDiagnostics())
      remember(report)
      return Fetched(report: report, start: start, hasSucceeded: hasSucceeded, key: key)
    }
  }

  private func wasHeldBack(_ report: Report) -> Bool {
    report.items.contains {
      $0.deferral?.rule == .registration || $0.failure?.code == .licenseRefused
    }
  }

  /// Remembers absent items, except those with a digest, which another server may have.
  private func rememberAbsences(
    _ report: Report,
    of items: WantedItems,
    _ facts: Planner.Facts,
    in store: DiskStore
  ) throws(Failure) {
    let lasting = loaded.configuration.cache.negativeTimeToLive
    var gone: [String: ItemResult] = [:]
    for item in report.items where item.failure?.code == .gone { gone[item.url] = item }
    guard !gone.isEmpty, lasting > .zero else { return }
    let now = context.clock.now().wall
    var facts = facts
    facts.key = try store.varianceKey()
    var absences: [String: Absence] = [:]
    for item in 0..<items.count {
      let url = items.url(item)
      guard let result = gone[url], !items.isPinned(item) else { continue }
      let absence = Absence(
        requestHash: items.fingerprint(item, facts),
        status: result.status ?? 404,
        since: now,
        until: result.absence?.end(under: [.atMost(lasting)], respondedAt: now) ?? now
      )
      if now < absence.until { absences[url] = absence }
    }
    try store.recordAbsences(absences, lasting: lasting)
  }

  /// Remembers facts about hosts; ignored if the state cannot be written.
  private func remember(_ report: Report) {
    guard HostMemory.hasNews(report), let state = try? session.writingState() else { return }
    try? HostMemory.remember(report, of: loaded, in: state)
  }

  private func findSucceeded(
    _ chosen: [[Int]],
    of items: WantedItems,
    _ report: Report,
    since start: Instant,
    in store: DiskStore
  ) throws(Failure) -> [Bool] {
    var hasSucceeded = [Bool](repeating: false, count: items.count)
    let unmet = Set(
      report.items.lazy.filter { item in
        item.failure != nil || item.outcome == .deferred && !item.keepsOlderBody
      }
      .map(\.url)
    )
    for items in chosen { for item in items { hasSucceeded[item] = true } }
    for (segment, numbers) in zip(report.segments, chosen) {
      let isWhole = segment.totals.items == Int64(numbers.count)
      for item in numbers where hasSucceeded[item] {
        let url = items.url(item)
        if unmet.contains(url) {
          hasSucceeded[item] = false
        } else if !isWhole {
          let confirmed = try store.record(url: items.recordURL(item))?.validatedAt
          hasSucceeded[item] = confirmed.map { start <= $0 } ?? false
        }
      }
    }
    for (item, first) in items.repeated { hasSucceeded[item] = hasSucceeded[first] }
    return hasSucceeded
  }

  func forget(_ urls: Set<String>) throws(CommandExit) {
    guard !urls.isEmpty else { return }
    try context.reading { () throws(Failure) in
      _ = try session.writingStore().remove(urls: urls.sorted(), isHeldToo: false)
    }
  }
}
