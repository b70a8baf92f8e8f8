import PrefetchCore
import PrefetchSystem

/// Whoever listens while a run goes on: a progress line, an event log, a trace.
struct RunObservers {
  let all: [any RunObserver]
  private let events: EventSink?
  private let progress: ProgressLine?

  init(
    context: CommandContext,
    engine: EngineOptions,
    runID: String,
    hooks: HookLane?,
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
    progress = ProgressLine.isWanted(context) ? ProgressLine() : nil
    let trace: TraceLog? = context.shared.verbosity > 0 ? TraceLog(context.console) : nil
    let candidates: [(any RunObserver)?] = [events, progress, trace] + further
    all = candidates.compactMap { $0 }
  }

  /// A fact from outside the engine.
  func tell(_ fact: RunFact, at now: Moment) {
    for observer in all { observer.observe(fact, at: now) }
  }

  func finish(_ report: inout Report) {
    progress?.clear()
    events?.finish(&report)
  }
}

/// One line on a terminal that says how far the run is.
final class ProgressLine: RunObserver {
  let hearsOfEach = false
  private let stream = StandardOutput(descriptor: 2)
  private var progress = RunProgress()
  private var lastShown: Duration?
  private var isShown = false

  static func isWanted(_ context: CommandContext) -> Bool {
    guard !context.shared.isQuiet, context.shared.verbosity == 0 else { return false }
    switch context.shared.progress {
    case .always: return true
    case .never: return false
    case .auto:
      let variables = context.environment.variables
      return ProcessEnvironment.isTerminal(2) && variables["TERM"] != "dumb"
        && variables["CI"] == nil
    }
  }

  func observe(_ fact: RunFact, at now: Moment) {
    progress.note(fact)
    // Ten times a second is enough for eyes and nothing for the run.
    if let lastShown, now.uptime - lastShown < .milliseconds(100) { return }
    lastShown = now.uptime
    isShown = true
    stream.write(
      "\r\u{1B}[K\(progress.settled)/\(progress.discovered) items, \(Amounts.bytes(progress.received))"
    )
    _ = stream.flush()
  }

  func clear() {
    guard isShown else { return }
    stream.write("\r\u{1B}[K")
    _ = stream.flush()
  }
}

/// What `-v` tells: every manifest and every item as it ends; `-vv` each request too.
final class TraceLog: RunObserver {
  let hearsOfEach = true
  private let console: Console

  init(_ console: Console) {
    self.console = console
  }

  func observe(_ fact: RunFact, at now: Moment) {
    switch fact {
    case .manifestSettled(let segment, let manifest):
      let status = manifest.httpStatus.map { " (\($0))" } ?? ""
      console.detail("\(segment): manifest \(manifest.status.rawValue)\(status)")
    case .itemSettled(let item), .itemEvicted(let item, _):
      let url = Redaction.url(item.url)
      let status = item.status.map { " (\($0))" } ?? ""
      console.detail(
        "\(item.outcome?.rawValue ?? item.action.rawValue): \(url)\(status), \(item.reason)"
      )
      for source in item.sources {
        let word = source.failure.map { "\($0.code.rawValue): \($0.message)" } ?? "served it"
        console.detail("  tried \(Redaction.url(source.url.string)): \(word)")
      }
    case .segmentSettled(let segment):
      console.detail("\(segment.name): \(segment.state.rawValue)")
    case .treePublished(let segment, let tree):
      console.detail("\(segment): published, \(tree.placed) made, \(tree.removed) removed")
    case .requestFinished(let request) where console.shared.verbosity > 1:
      let status = request.status.map(String.init) ?? "no answer"
      let url = request.url?.redacted ?? ""
      let retry = request.isRetry ? ", a retry" : ""
      console.detail("request: \(url) \(status), \(request.wireBytes) bytes\(retry)")
    case .registration(let news):
      console.detail(news.text)
    case .conditionsRead(let conditions):
      let type = conditions.type?.rawValue ?? "unknown"
      console.detail("network: \(type) (\(conditions.typeReason))")
    case .qualityChanged(let quality):
      console.detail("network quality: \(quality.rawValue)")
    case .itemsDiscovered, .itemsKept, .itemsConfirmed, .itemsArrived, .itemStarted, .itemShared,
      .bytesReceived,
      .requestFinished, .requestsAnswered, .interrupted, .storeFailed:
      break
    }
  }
}
