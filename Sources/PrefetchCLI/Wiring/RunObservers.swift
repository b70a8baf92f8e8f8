import PrefetchCore
import PrefetchSystem

/// Whoever listens while a run goes on: progress, an event log, a trace.
struct RunObservers {
  let all: [any RunObserver]
  private let events: EventSink?
  private let progress: ProgressDisplay?

  init(
    context: CommandContext,
    engine: EngineOptions,
    runID: String,
    hooks: HookLane?,
    mayDraw: Bool = true,
    further: [(any RunObserver)?] = []
  ) throws(Failure) {
    let stream = try engine.events.map { destination throws(Failure) in
      try EventStream(destination)
    }
    events = EventSink(
      stream: stream,
      hooks: hooks,
      runID: runID,
      start: context.clock.now().wall,
      console: context.console
    )
    progress = ProgressDisplay(context, mayDraw: mayDraw)
    let candidates: [(any RunObserver)?] = [events, progress, TraceLog(context)] + further
    all = candidates.compactMap { $0 }
  }

  /// A fact from outside the engine.
  func tell(_ fact: RunFact, at now: Moment) {
    for observer in all { observer.observe(fact, at: now) }
  }

  func finish(_ report: inout Report) {
    progress?.finish()
    events?.finish(&report)
  }
}
