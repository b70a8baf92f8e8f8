import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct EventFlushCommand: Command {
  let context: CommandContext

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    let (loaded, locations) = try context.configurationAndLocations()
    try context.requireTrustFiles(loaded)
    let builder = context.builder(loaded)
    let flushed = try context.writingState(locations) { state throws(Failure) -> Flushed? in
      let license = try Registrar(context: context, loaded: loaded, builder: builder)
        .remembered(state)
      guard
        let sending = EventSending(
          context: context,
          loaded: loaded,
          builder: builder,
          locations: locations,
          license: license
        )
      else { return nil }
      let outcome = try sending.send(from: state, within: Self.sendingTimeout, isForced: true)
      return Flushed(
        outcome: outcome,
        waiting: try state.queuedCount(of: loaded.identity),
        collector: sending.collector,
        license: license
      )
    }
    guard let flushed else {
      let objection = Diagnostic(
        "config.no-collector",
        "no collector is configured, so events are sent nowhere",
        hint: "set `analytics.endpoint` and `analytics.enabled: true`",
        file: loaded.files.first
      )
      throw context.failed(.config, [objection])
    }
    printOutcome(flushed)
    return exit(flushed).code
  }

  private struct Flushed {
    var outcome: EventSending.Outcome
    var waiting: Int64
    var collector: WebURL
    var license: LicenseStatus
  }

  /// Time limit, long enough for a long queue over a slow line.
  private static let sendingTimeout: Duration = .seconds(600)

  private func exit(_ flushed: Flushed) -> ExitStatus {
    switch flushed.outcome.end {
    case .done: return .ok
    case .interrupted: return StopSignals.pending == 15 ? .terminated : .interrupted
    case .outOfTime, .busy, .paused: return .deferred
    case .withheld: return flushed.license.failure == nil ? .deferred : .denied
    case .failed(let failure, _):
      return switch failure.code.category {
      case .trust: .trust
      case .denied: .denied
      case .connectivity: .unavailable
      case .io: .io
      case .content: .incomplete
      }
    }
  }

  private func printOutcome(_ flushed: Flushed) {
    let outcome = flushed.outcome
    if case .withheld = outcome.end { context.console.report(flushed.license.diagnostics) }
    if let trouble = trouble(flushed) { context.console.report(trouble) }
    if context.shared.isJSON {
      context.console.print(document(flushed))
    } else if !context.shared.isQuiet {
      let count = Amounts.count(Int64(outcome.sent), "event")
      context.console.print(
        outcome.sent == 0 && flushed.waiting == 0
          ? "nothing waits" : "\(count) sent, \(flushed.waiting) left"
      )
    }
  }

  private func trouble(_ flushed: Flushed) -> Diagnostic? {
    switch flushed.outcome.end {
    case .done, .interrupted, .withheld, .paused: return nil
    case .outOfTime:
      return Diagnostic("analytics.slow", "the collector is slow; call again for the rest")
    case .busy:
      return Diagnostic("analytics.busy", "another process is sending the events")
    case .failed(let failure, _):
      return Diagnostic(
        "analytics.\(failure.code.rawValue)",
        "events were not sent to `\(flushed.collector.authority)`: \(failure.message)"
      )
    }
  }

  private func document(_ flushed: Flushed) -> JSONValue {
    let exit = exit(flushed)
    var failure: Failure?
    var until: Instant?
    if case .failed(let reason, let end) = flushed.outcome.end { (failure, until) = (reason, end) }
    return [
      "schema": "prefetch-event-flush/1",
      "exit": .exit(exit, code: exit.code, nextAllowedAt: nil),
      "collector": .string(
        Redaction.masked(flushed.collector.redacted, needles: context.console.needles)
      ),
      "sent": .integer(Int64(flushed.outcome.sent)),
      "waiting": .integer(flushed.waiting),
      "retry_at": .time(until),
      "error": .failure(failure) {
        Redaction.masked($0, needles: context.console.needles)
      },
    ]
  }
}
