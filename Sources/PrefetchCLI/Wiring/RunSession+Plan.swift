import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension RunSession {
  func plan(_ events: EventSink?) throws(Failure) -> Report {
    var reports: [Diagnostic] = []
    let state = try StateStore.openForReading(state: locations.state, reports: &reports)
    console.report(reports)
    let subscriptions = try Subscriptions.resolve(
      loaded,
      state: state,
      cache: locations.cache,
      mayWrite: false
    )
    console.report(subscriptions.warnings)
    let store = try DiskStore.openForReading(
      cache: locations.cache,
      below: locations.lower,
      clockStart: context.clock.now().wall
    )
    let foresight = try TreeForesight(
      state: state,
      store: store,
      declared: PublishingSetup.folders(loaded, subscriptions),
      isCancelled: { StopSignals.pending != nil }
    )
    guard let store else {
      return try perform(
        subscriptions,
        state: state,
        store: AbsentStore(at: locations.cache),
        foresight: foresight,
        memory: .none,
        history: nil,
        events: events
      )
    }
    defer { console.report(store.drainDiagnostics()) }
    let memory = try memory(state)
    var report = try perform(
      subscriptions,
      state: state,
      store: store,
      foresight: foresight,
      memory: memory,
      history: nil,
      events: events
    )
    if shard == nil, let state { try addChangedTrees(subscriptions, state, store, in: &report) }
    return report
  }

  /// Names published trees that a run would repair, since the plan has no lines for their files.
  private func addChangedTrees(
    _ subscriptions: Subscriptions,
    _ state: StateStore,
    _ store: DiskStore,
    in report: inout Report
  ) throws(Failure) {
    let folders = PublishingSetup.folders(loaded, subscriptions).filter { isSelected($0.key.name) }
    guard !folders.isEmpty else { return }
    let changes = try ChangedTrees(state, store, declared: folders, depth: .asRuns)
    for segment in changes.names {
      // The report has the troubles that the plan foresees for single files.
      let isForeseen = report.segments.contains { $0.name == segment && $0.tree?.hasFailed == true }
      report.diagnostics += changes.warnings(of: segment, isForeseen ? [.missing] : nil)
    }
  }
}
