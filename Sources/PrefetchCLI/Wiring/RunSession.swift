import PrefetchConfig
import PrefetchCore
import PrefetchCrypto
import PrefetchDocuments
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// A run from its lock to its report; `run`, `plan`, `subscribe` and `unsubscribe` share it.
struct RunSession {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let locations: CacheLocations
  let engine: EngineOptions
  var selection: [String] = []
  var isPlan = false
  var probesItems = true
  var listsKept = false
  /// Shard that the run does; nil for all items.
  var shard: Shard?
  var lockfile: LockfileTerms?
  var keepsItems = true
  var printsPlan = false
  var transfers: TransferRecord?
  var files = SystemFiles()
  let runID: String

  var console: Console { context.console }

  func run() throws(CommandExit) -> Report {
    limitLockWaits()
    let events = try context.reading { () throws(Failure) in try sink() }
    do throws(Failure) {
      var report = try isPlan ? plan(events) : reconcile(events)
      // Scripts and hooks also hear the end of a run that could not begin.
      events?.finish(&report)
      return report
    } catch {
      let exit = context.storeFailed(error)
      let status = ExitStatus(rawValue: exit.status) ?? .failed
      console.report(events?.finish(status, at: context.clock.now().wall).diagnostics ?? [])
      throw exit
    }
  }

  private func sink() throws(Failure) -> EventSink? {
    let stream = try engine.events.map { destination throws(Failure) in
      try EventStream(destination)
    }
    return EventSink(
      stream: stream,
      hooks: isPlan || engine.skipsHooks
        ? nil
        : HookLane(loaded, locations, runID: runID, context: context),
      runID: runID,
      console: console,
      reportsChanges: !isPlan
    )
  }

  private func reconcile(_ events: EventSink?) throws(Failure) -> Report {
    do throws(Failure) {
      return try reconcileWithRoom(events)
    } catch {
      switch error.code {
      case .diskFull: return unbegunReport(error)
      case .locked: return lockedReport(because: error.message)
      default: throw error
      }
    }
  }

  private func reconcileWithRoom(_ events: EventSink?) throws(Failure) -> Report {
    guard let lock = try context.runLock(locations, of: lockName, wait: engine.wait) else {
      return lockedReport(
        because: "\(context.lockHolder(locations, lockName)); `--wait` waits for it"
      )
    }
    let state = try StateStore.openForWriting(state: locations.state)
    console.report(state.diagnostics)
    try state.recordBeginning(of: loaded.identity)
    let subscriptions = try Subscriptions.resolve(
      loaded,
      state: state,
      cache: locations.cache,
      mayWrite: true
    )
    console.report(subscriptions.warnings)
    for name in subscriptions.missing {
      console.note(
        "segment `\(name)` is declared but not subscribed; `prefetch subscribe \(name)` joins it"
      )
    }
    let store = try context.writingStore(
      locations,
      durability: loaded.configuration.cache.durability,
      by: lock
    )
    if locations.isDefault, loaded.configuration.name == nil { try warnOfPath(store) }
    console.report(
      SharedNameLints(
        loaded: loaded,
        records: try store.segments(),
        currentDirectory: context.environment.currentDirectory
      ).diagnostics
    )
    store.orderRoom { state }
    state.believesClock = { [weak store] in ((try? store?.believesClock()) ?? nil) ?? true }
    let memory = try memory(state)
    // Without a history of runs, changes are not recorded either.
    let remembersRuns = loaded.configuration.report.history > 0
    let history = HistoryRecorder(
      state,
      runID: runID,
      limit: remembersRuns ? StateStore.changesPerItem : 0
    )
    let trees = try PublishedTrees(
      store: store,
      state: state,
      durability: loaded.configuration.cache.durability,
      declared: PublishingSetup.folders(loaded, subscriptions),
      isCancelled: { StopSignals.pending != nil }
    )
    var report = try perform(
      subscriptions,
      state: state,
      store: store,
      trees: trees,
      memory: memory,
      history: history,
      events: events
    )
    do throws(Failure) {
      if store.hasSeenOthers { try markLostBodies(from: store, in: &report) }
      try store.finishRun()
      try store.close()
      console.report(store.drainDiagnostics())
      try remember(report, in: state)
      try history.finish()
      try state.close()
    } catch {
      // The work is done; only the failure to store the state is added.
      report.recordStoreFailure(error)
    }
    return report
  }

  /// Names a mirror by its short address, since all mirrors have the same segment.
  private var titles: [String: String] {
    var titles: [String: String] = [:]
    for segment in loaded.configuration.segments where segment.name == MirrorFolder.segment {
      if case .short(let address) = segment.manifest { titles[segment.name] = address.text }
    }
    return titles
  }

  /// Warns once of a configuration without `name`: its path is its identity.
  private func warnOfPath(_ store: DiskStore) throws(Failure) {
    let identities = Set(try store.segments().map(\.key.identity))
    guard !identities.isEmpty, !identities.contains(loaded.identity), loaded.identity != "" else {
      return
    }
    console.report(
      Diagnostic(
        "store.shared-without-name",
        "other configurations use `\(locations.cache)` too, and this one is identified only by its path",
        severity: .warning,
        hint: "set `name`, which identifies it wherever its file is"
      )
    )
  }

  private func markLostBodies(from store: DiskStore, in report: inout Report) throws(Failure) {
    // Another process may have removed the older copy of a failed item.
    for (index, item) in report.items.enumerated()
    where item.state == .cached && (item.failure != nil || item.outcome == .deferred) {
      if try store.record(url: item.url)?.digest == nil { report.items[index].loseBody() }
    }
    let keys = report.segments.map { SegmentKey(identity: loaded.identity, name: $0.name) }
    // Deferred items have no body either; without individual items they cannot be distinguished.
    guard keepsItems || report.totals.deferred == 0 else { return }
    var holders: [String: [String]] = [:]
    for (key, url) in try store.emptied(of: keys) { holders[url, default: []].append(key.name) }
    let lost = holders.sorted { $0.key < $1.key }.map { url, segments in
      var item = ItemResult(
        url: url,
        id: ItemIdentifier.make(for: url),
        segments: segments,
        state: .failed,
        action: .fail,
        reason: "another process has removed its body"
      )
      item.outcome = .failed
      item.failure = Failure(
        .notFound,
        "another process has removed its body; the next run fetches it"
      )
      return item
    }
    report.recordLostBodies(lost)
  }

  func memory(_ state: StateStore?) throws(Failure) -> HostMemory {
    try HostMemory(state, of: loaded, at: context.clock.now().wall)
  }

  func perform(
    _ subscriptions: Subscriptions,
    state: StateStore?,
    store: any ContentStore,
    trees: PublishedTrees? = nil,
    foresight: TreeForesight? = nil,
    memory: HostMemory,
    history: HistoryRecorder?,
    events: EventSink?
  ) throws(Failure) -> Report {
    var builder = context.builder(loaded, engine, looksAtState: false)
    builder.lockfile = lockfile
    let selected = subscriptions.segments.filter { isSelected($0.name) }
    let registrar = Registrar(context: context, loaded: loaded, builder: builder)
    var license = try registrar.remembered(state)
    let printer = PlanPrinter(
      segments: selected.map(\.name),
      listsKept: listsKept,
      mayEvict: builder.policy.room.limit != nil,
      secrets: console.needles,
      isClosed: { [console] in console.isClosed },
      print: { [console] in console.print(bytes: $0) }
    )
    let observers = RunObservers(
      context: context,
      events: events,
      // The plan's lines on the same terminal would interfere with the display.
      mayDraw: !printsPlan || !ProcessEnvironment.isTerminal(1),
      titles: titles,
      further: [printsPlan ? printer : nil, history, transfers]
    )
    var waited = Duration.zero
    if let state, !isPlan, mayContactOthers {
      let began = context.clock.now().uptime
      license = try registrar.settle(
        state,
        segments: subscriptions.segments.map(\.name),
        isDeferred: { () throws(Failure) in try isDeferred(selected, state) },
        announce: { observers.notify(.registration($0), at: context.clock.now()) }
      )
      waited = context.clock.now().uptime - began
    }
    builder.publisher = license.publisher
    var request = builder.request(
      mode: isPlan ? .plan : .run,
      segments: selected,
      forgotten: selection.isEmpty && shard == nil ? try forgotten(subscriptions, store) : [],
      probesItems: probesItems
    )
    if shard != nil {
      // A shard cannot publish a whole tree.
      for index in request.segments.indices { request.segments[index].publishing = nil }
    }
    builder.applyNetwork(to: &request, publisher: builder.publisher?.networkOfRuns)
    if selected.count < subscriptions.segments.count {
      let names = Set(selected.map(\.name))
      var precedingSelectedCount = 0
      for segment in subscriptions.segments {
        guard !names.contains(segment.name) else {
          precedingSelectedCount += 1
          continue
        }
        request.unselected[segment.name] = RunRequest.Unselected(
          declaration: builder.declaration(segment),
          precedingSelectedCount: precedingSelectedCount
        )
      }
    }
    request.listsKept = listsKept
    request.keepsItems = keepsItems
    request.shard = shard.map { ShardRule($0) { SHA256.digest(of: $0) } }
    request.rulesHash = rules(for: request)
    if request.segments.contains(where: { $0.bundleRules.quality == nil }) {
      request.streams.downloads = (try? state?.pastDownloads()) ?? [:]
      request.streams.rates = memory.rates
      if !memory.rates.isEmpty {
        request.streams.roomLeft = roomLeft(in: store, request.policy.room)
      }
    }
    request.policy.deadline = request.policy.deadline.map { max(.zero, $0 - waited) }
    // Offline runs never wait for the license.
    if self.engine.isOffline, license.failure == nil { license = .none }
    request.credentials = license.credentials
    request.unregisteredOrigin = license.withheld
    let circumstances = MachineCircumstances(context: context, loaded: loaded) { state }
    var run = EngineRun(
      context: context,
      builder: builder,
      store: store,
      bodies: locations.bodies,
      circumstances: circumstances
    )
    run.memory = memory
    run.files = files
    run.trees = trees
    run.foresight = foresight
    run.observers = observers.all
    run.isTraced = context.shared.verbosity > 0
    run.isDry = isPlan
    defer { if printsPlan { printer.finish() } }
    observers.begin(at: context.clock.now().wall)
    var report = try run.run(request)
    license.addResult(to: &report)
    if let state, !isPlan { sendEvents(state, selected, builder, license, telling: &report) }
    if let trees { try addUnchangedTrees(request.segments, trees, in: &report) }
    if selection.isEmpty { report.segments += unsubscribed(subscriptions) }
    // The report shows the network even if no rule needs it, unless a program would be started.
    if keepsItems, report.network == nil { report.network = circumstances.glance }
    observers.finish(&report)
    return report
  }

  /// Returns the bytes left in cache and disk; nil if neither is limited.
  private func roomLeft(in store: any ContentStore, _ rules: Room.Rules) -> Int64? {
    var left: Int64?
    if let limit = rules.limit {
      left = (try? store.usedBytes()).map { max(0, limit - $0) } ?? 0
    }
    if rules.minimumFree != 0, let disk = (try? store.diskSpace()) ?? nil {
      left = min(left ?? .max, max(0, disk.free - rules.minimumFree(of: disk.size)))
    }
    return left
  }

  private func addUnchangedTrees(
    _ segments: [SegmentDeclaration],
    _ trees: PublishedTrees,
    in report: inout Report
  ) throws(Failure) {
    for index in report.segments.indices where report.segments[index].tree == nil {
      let name = report.segments[index].name
      guard let rules = segments.first(where: { $0.name == name })?.publishing else { continue }
      let key = SegmentKey(identity: loaded.identity, name: name)
      report.segments[index].tree = try trees.existingTree(of: key, rules)
    }
  }

  func isDeferred(_ selected: [Segment], _ state: StateStore) throws(Failure) -> Bool {
    let names = Set(selected.map(\.name))
    let view = try NetworkView(context: context, loaded: loaded, state: state, looksAtAll: false)
    let networkSegments = view.segments.filter { names.contains($0.name) }
    return !networkSegments.isEmpty && networkSegments.allSatisfy { $0.verdict.deferral != nil }
  }

  /// Whether other servers, of license or collector, may be contacted.
  var mayContactOthers: Bool {
    !engine.isOffline && loaded.configuration.hasRuns && StopSignals.pending == nil
  }

  /// Returns a hash of configuration, selection and version, to detect changes since a run.
  private func rules(for request: RunRequest) -> UInt64 {
    let hasManifests = request.segments.contains { segment in
      if case .remote = segment.source { true } else { false }
    }
    guard hasManifests else { return 0 }
    var hash = StableHash()
    hash.combine(ToolVersions.version)
    hash.combine(JSONWriter.string(loaded.declared))
    for segment in request.segments {
      hash.combine(segment.name)
      // Mirror rules are in no key of the configuration.
      segment.publishing?.mirror?.combine(into: &hash)
    }
    if let shard { hash.combine(shard.text) }
    lockfile?.combine(into: &hash)
    hash.combine(request.policy.maximumFileSize)
    hash.combine(request.segments.first?.manifestRules.countPerCategory.map { Int64($0) })
    return hash.value
  }

  /// Returns declared segments that are not subscribed; they do not affect the exit status.
  private func unsubscribed(_ subscriptions: Subscriptions) -> [Report.Segment] {
    subscriptions.missing.map { name in
      var entry = Report.Segment(
        name: name,
        state: .unsubscribed,
        manifest: ManifestResult(url: nil, status: .skipped)
      )
      entry.isRequired = false
      return entry
    }
  }

  func isSelected(_ name: String) -> Bool {
    selection.isEmpty || selection.contains { Glob.matches($0, name) }
  }

  private func forgotten(
    _ subscriptions: Subscriptions,
    _ store: any ContentStore
  ) throws(Failure) -> [SegmentKey] {
    let kept = Set(subscriptions.segments.map(\.name))
    return try store.segments().map(\.key).filter {
      $0.identity == loaded.identity && !kept.contains($0.name)
    }
  }

  /// Lock name; shards of one configuration may run at the same time.
  private var lockName: String {
    shard.map { "\(loaded.identity) shard \($0.text)" } ?? loaded.identity
  }

  /// Limits waiting for other processes to that for a busy server, and to the deadline.
  private func limitLockWaits() {
    let policy = context.builder(loaded, engine, looksAtState: false).policy
    WaitPolicy.current.limit = policy.retries.wait
    WaitPolicy.current.end = policy.deadline.map { .now + $0 }
  }

  /// Returns the outcomes of segments; a segment that a signal ended early keeps its earlier one.
  private func outcomes(_ report: Report) -> [String: SegmentOutcome] {
    let distrusted = ExitStatus.distrustedSegments(in: report)
    let ended = report.segments.filter { !$0.isInterrupted || distrusted.contains($0.name) }
    return Dictionary(
      ended.map { segment in
        let outcome = SegmentOutcome(
          state: segment.state,
          brokeTrust: distrusted.contains(segment.name),
          deferral: segment.deferral,
          // A command that reads it later may not know the secrets.
          reason: reason(of: segment, report).map {
            Redaction.masked($0, needles: console.needles)
          }
        )
        return (segment.name, outcome)
      }
    ) { first, _ in first }
  }

  /// Returns the first failure of a segment, as monitoring shows it.
  private func reason(of segment: Report.Segment, _ report: Report) -> String? {
    if let failure = segment.manifest.failure { return failure.message }
    let failed = report.items.lazy.filter {
      $0.failure != nil && $0.segments.contains(segment.name)
    }
    if let item = failed.first, let failure = item.failure {
      return "`\(Redaction.url(item.url))`: \(failure.message)"
    }
    return segment.tree?.troubles.first { !$0.isMended }?.failure.message
  }

  private func remember(_ report: Report, in state: StateStore) throws(Failure) {
    let status = ExitStatus(report)
    try HostMemory.remember(report, of: loaded, in: state)
    try state.recordOutcomes(outcomes(report), of: report.identity)
    if MirrorFolder.path(loaded) != nil {
      try MirrorRecord(of: loaded).write(to: state, of: loaded.identity)
    }
    var record = RunRecord(
      id: runID,
      identity: loaded.identity,
      mode: report.mode.rawValue,
      started: report.started,
      finished: report.finished,
      exitCode: Int(status.code),
      exitName: status.name,
      totals: ReportJSON.totalsText(report.totals)
    )
    record.segments = report.segments.filter { $0.state != .unsubscribed }.map { segment in
      SegmentRun(
        name: segment.name,
        state: segment.state,
        items: segment.totals.items,
        changed: segment.totals.fetched + segment.totals.updated + segment.totals.removed,
        failed: segment.totals.failed
      )
    }
    record.isPartial = !selection.isEmpty
    record.responseTimes = report.responseTimes
    try state.recordRun(record, keeping: loaded.configuration.report.history)
  }
}
