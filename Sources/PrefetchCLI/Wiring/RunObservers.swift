import PrefetchCore
import PrefetchSystem

struct RunObservers {
  let all: [any RunObserver]
  private let events: EventSink?
  private let progress: ProgressDisplay?

  init(
    context: CommandContext,
    events: EventSink?,
    mayDraw: Bool = true,
    titles: [String: String] = [:],
    further: [(any RunObserver)?] = []
  ) {
    self.events = events
    progress = ProgressDisplay(context, mayDraw: mayDraw, titles: titles)
    let candidates: [(any RunObserver)?] =
      [events, progress, TraceLog(context), WarningLines(context.console)] + further
    all = candidates.compactMap { $0 }
  }

  func begin(at start: Instant) {
    events?.begin(at: start)
  }

  func notify(_ fact: RunFact, at now: Moment) {
    for observer in all { observer.observe(fact, at: now) }
  }

  func finish(_ report: inout Report) {
    progress?.finish()
    events?.finish(&report)
  }
}

/// Reports urgent warnings during the run.
final class WarningLines: RunObserver {
  let needsEachFact = false
  private let console: Console

  init(_ console: Console) {
    self.console = console
  }

  func observe(_ fact: RunFact, at now: Moment) {
    if case .warned(let warning) = fact { console.reportNow(warning) }
  }
}

final class TransferRecord: RunObserver {
  let needsEachFact = true
  private(set) var log = TransferLog()
  private let start: Instant

  init(startingAt start: Instant) {
    self.start = start
  }

  func observe(_ fact: RunFact, at now: Moment) {
    if case .requestFinished(let request) = fact { log.add(request, in: start) }
  }
}
