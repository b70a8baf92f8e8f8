import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct EventCommand: Command {
  let context: CommandContext
  let options: EventOptions
  let action: EventOptions.Action

  func run() throws(CommandExit) -> Int32 {
    // A user who records an event may lack the secrets that a run needs.
    let (loaded, locations) = try context.configurationAndLocations(allowsUnsetSecrets: true)
    let recording = EventRecording(context: context, loaded: loaded, locations: locations)
    let event = try recording.record(action, options.name)
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-event/1", "action": .string(action.rawValue),
        "event": event.document,
      ])
    }
    return ExitStatus.ok.code
  }
}

extension AnalyticsEvent {
  /// Returns the event with the runs that ended meanwhile, so that their traffic can be separated.
  static func timed(
    _ open: OpenEvent,
    until end: Instant,
    among runs: [RunRecord],
    status: Int32? = nil
  ) -> AnalyticsEvent {
    let meanwhile = runs.filter { open.started <= $0.finished && $0.finished <= end }
    return AnalyticsEvent(
      new: .timed,
      open.name,
      at: open.started,
      id: open.id,
      [
        ("duration_ms", .integer(max(0, (end - open.started).milliseconds))),
        ("status", .optional(status.map { Int64($0) })),
        ("runs", .strings(meanwhile.suffix(mostRuns).map(\.id))),
      ]
    )
  }

  private static let mostRuns = 20
}

struct EventRunCommand: Command {
  let context: CommandContext
  let options: EventRunOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations(allowsUnsetSecrets: true)
    let name = Redaction.masked(options.words[0], needles: context.console.needles)
    context.console.report(PrivacyLint.diagnostics(ofEvent: name))
    let open = OpenEvent(
      name: name,
      id: EventIdentifier.make(),
      started: context.clock.now().wall
    )
    let began = context.clock.now().uptime
    let end = ChildProcess.run(
      Array(options.words.dropFirst()),
      environment: context.environment.variables
    )
    switch end {
    case .failure(let fault):
      let program = SafeText.line(options.words[1])
      throw context.failed(.failed, "event.not-started", "`\(program)` \(fault.reason)")
    case .success(let status):
      // The duration is measured by uptime, so a change of the clock does not matter.
      let finished = open.started + (context.clock.now().uptime - began)
      record(open, until: finished, status, AnalyticsSetup(loaded, publisher: nil), locations)
      return status
    }
  }

  /// Records the event; a failure is only reported, so the program's exit status stays.
  private func record(
    _ open: OpenEvent,
    until end: Instant,
    _ status: Int32,
    _ setup: AnalyticsSetup,
    _ locations: CacheLocations
  ) {
    do throws(Failure) {
      let state = try StateStore.openForWriting(state: locations.state)
      state.believesClock = { context.believesClock(locations) }
      context.console.report(state.diagnostics)
      let event = AnalyticsEvent.timed(
        open,
        until: end,
        among: try state.runs(of: setup.identity),
        status: status
      )
      try state.queue([event], of: setup.identity, within: setup.bounds, at: end)
      try state.close()
    } catch {
      context.console.report(
        "event.not-recorded",
        "the event `\(SafeText.line(open.name))` was not recorded: \(error.message)",
        severity: .warning
      )
    }
  }
}
