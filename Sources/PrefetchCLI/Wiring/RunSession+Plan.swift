import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

extension RunSession {
  func plan(_ events: EventSink?) throws(Failure) -> Report {
    var reports: [Diagnostic] = []
    let state = try StateStore.openForReading(state: places.state, reports: &reports)
    console.report(reports)
    let subscriptions = try Subscriptions.resolve(
      loaded,
      state: state,
      cache: places.cache,
      mayWrite: false
    )
    console.report(subscriptions.warnings)
    guard
      let store = try DiskStore.openForReading(
        cache: places.cache,
        below: places.lower,
        clockStart: context.clock.now().wall
      )
    else {
      return try perform(
        subscriptions,
        state: state,
        store: AbsentStore(at: places.cache),
        memory: .none,
        history: nil,
        events: events
      )
    }
    defer { console.report(store.takeDiagnostics()) }
    let memory = try memory(state)
    var report = try perform(
      subscriptions,
      state: state,
      store: store,
      memory: memory,
      history: nil,
      events: events
    )
    if shard == nil, let state { try noteChangedTrees(subscriptions, state, store, in: &report) }
    return report
  }

  /// Names published trees that a run would repair, since the plan has no lines for their files.
  private func noteChangedTrees(
    _ subscriptions: Subscriptions,
    _ state: StateStore,
    _ store: DiskStore,
    in report: inout Report
  ) throws(Failure) {
    let folders = PublishingSetup.folders(loaded, subscriptions).filter { isSelected($0.key.name) }
    guard !folders.isEmpty else { return }
    let inspection = try PublishedTrees.inspect(
      state,
      of: store,
      declared: folders,
      asRunsDo: true,
      isCancelled: { StopSignals.pending != nil }
    )
    for segment in folders.keys.map(\.name).sorted() {
      let damages = inspection.bad.filter { $0.segment == segment }
      guard let first = damages.first else { continue }
      let kinds: [(TreeInspection.Damage.Problem, String)] = [
        (.missing, "missing"), (.changed, "changed"), (.foreign, "replaced by another file"),
      ]
      let counts = kinds.compactMap { problem, word in
        let count = damages.count { $0.problem == problem }
        return count > 0 ? "\(count) \(word)" : nil
      }
      report.diagnostics.append(
        Diagnostic(
          "publish.differs",
          "files of segment `\(segment)` are not as published: \(counts.joined(separator: ", ")), the first `\(first.path)`",
          severity: .warning,
          hint: "a run publishes what is missing again, and leaves what another file has replaced"
        )
      )
    }
  }
}
