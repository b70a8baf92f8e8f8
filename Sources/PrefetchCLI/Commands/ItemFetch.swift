import PrefetchConfig
import PrefetchCore
import PrefetchEngine
import PrefetchStore
import PrefetchSystem
import PrefetchTransfer

/// Single items from the network into the cache, and out of it again where they may not stay.
struct ItemFetch {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let builder: RequestBuilder
  let places: Places

  /// `damaged` are bodies of theirs that are not what they were: they go before anything is asked.
  ///
  /// What a server does not have is remembered under `facts`.
  func fetch(
    _ items: [WantedItem],
    replacing damaged: [ContentDigest] = [],
    facts: Planner.Facts? = nil
  ) throws(CommandExit) -> Report {
    var request = RunRequest(
      mode: .get,
      identity: builder.identity,
      segments: WantedItem.segments(of: items),
      policy: builder.policy
    )
    // Whoever asked wants to hear of each, unchanged or not.
    request.listsKept = true
    let license = context.license(loaded, builder, places)
    request.credentials = license.credentials
    request.withheld = license.withheld
    NetworkRequest(
      loaded.configuration,
      identity: builder.identity,
      zone: context.zones.zone(named:)
    ).apply(to: &request, of: loaded.configuration.segments)
    let wanted = request
    let memory = memory
    return try context.reading { () throws(Failure) in
      let store = try DiskStore.openForWriting(
        cache: places.cache,
        clockStart: context.clock.now().wall,
        durability: Durability(builder.configuration.cache.durability)
      )
      if !damaged.isEmpty { try store.dropDamaged(damaged) }
      context.console.report(store.takeDiagnostics())
      var settings = builder.transportSettings()
      settings.http3Failures = memory.http3Failures
      var state: StateStore?
      let circumstances = MachineCircumstances(context: context, loaded: loaded) {
        () throws(Failure) in
        if state == nil { state = try StateStore.openForWriting(state: places.state) }
        return state
      }
      let engine = Engine(
        transport: try CurlTransport(
          settings: settings,
          staging: store.staging,
          clock: context.clock
        ),
        store: store,
        files: SystemFiles(),
        clock: context.clock,
        stop: ProcessStop(),
        circumstances: circumstances
      )
      var report = try engine.run(
        wanted,
        gates: memory.gates,
        seed: UInt64.random(in: 0...UInt64.max)
      )
      if wasHeldBack(report) { license.note(in: &report) }
      if let facts { try rememberAbsences(report, of: items, facts, in: store) }
      try store.close()
      try state?.close()
      remember(report)
      return report
    }
  }

  /// A state that cannot be read is none: an item is not refused for it.
  private var memory: HostMemory {
    var reports: [Diagnostic] = []
    guard
      let state = try? StateStore.openForReading(state: places.state, reports: &reports),
      let memory = try? HostMemory(state, of: loaded, at: context.clock.now().wall)
    else { return .none }
    return memory
  }

  /// Whether any item waits for the license.
  private func wasHeldBack(_ report: Report) -> Bool {
    report.items.contains {
      $0.deferral?.rule == .registration || $0.failure?.code == .licenseRefused
    }
  }

  /// What a server does not have is not asked for again for a while, unless its bytes are declared:
  /// then somebody has them.
  private func rememberAbsences(
    _ report: Report,
    of items: [WantedItem],
    _ facts: Planner.Facts,
    in store: DiskStore
  ) throws(Failure) {
    let lasting = loaded.configuration.cache.negativeTimeToLive
    var gone: [String: Int] = [:]
    for item in report.items where item.failure?.code == .gone {
      gone[item.url] = item.status ?? 404
    }
    guard !gone.isEmpty, lasting > .zero else { return }
    let now = context.clock.now().wall
    var facts = facts
    facts.key = try store.varianceKey()
    var absences: [String: Absence] = [:]
    for item in items where !item.isPinned {
      let url = item.entry.url.string
      guard let status = gone[url] else { continue }
      absences[url] = Absence(asked: item.fingerprint(facts), status: status, since: now)
    }
    try store.note(absences, lasting: lasting)
  }

  private func remember(_ report: Report) {
    guard !report.gates.isEmpty || !report.http3Failures.isEmpty,
      let state = try? StateStore.openForWriting(state: places.state)
    else { return }
    try? HostMemory.remember(report, of: loaded, in: state)
    try? state.close()
  }

  /// The URLs whose every declaration was met by what came.
  static func answered(_ report: Report?) -> Set<String> {
    let items = report?.items ?? []
    let unmet = items.filter { $0.failure != nil || $0.outcome == .deferred || !$0.isUsable }
    return Set(items.map(\.url)).subtracting(unmet.map(\.url))
  }

  // MARK: What may not be kept

  /// What came with `no-store` and belongs to no segment.
  func unkept(_ fetched: Set<String>) throws(CommandExit) -> Set<String> {
    guard !fetched.isEmpty, let store = try context.readingStore(places) else { return [] }
    return try context.reading { () throws(Failure) in
      var unkept: Set<String> = []
      for url in fetched {
        guard let record = try store.record(url: url),
          CacheControl(record.headers.combined(.cacheControl)).hasNoStore,
          try store.segmentsHolding(url: url).isEmpty
        else { continue }
        unkept.insert(url)
      }
      return unkept
    }
  }

  func forget(_ urls: Set<String>) throws(CommandExit) {
    guard !urls.isEmpty else { return }
    try context.reading { () throws(Failure) in
      let store = try DiskStore.openForWriting(
        cache: places.cache,
        clockStart: context.clock.now().wall
      )
      _ = try store.remove(urls: urls.sorted())
      try store.close()
    }
  }
}
