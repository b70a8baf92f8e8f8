import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

struct ServeEvents {
  private let context: CommandContext
  private let stream: EventStream?
  private let hooks: HookLane?
  private let runID: String

  /// Opens stream and hooks; without a configuration (`--origin`) there are no hooks.
  init(
    _ options: ServeOptions,
    _ served: (loaded: LoadedConfiguration, locations: CacheLocations)?,
    context: CommandContext
  ) throws(Failure) {
    self.context = context
    let runID = RunIdentifier.make(at: context.clock.now().wall)
    self.runID = runID
    stream = try options.events.map { destination throws(Failure) in
      try EventStream(destination)
    }
    let hookSource = options.skipsHooks ? nil : served
    hooks = hookSource.flatMap { HookLane($0.loaded, $0.locations, runID: runID, context: context) }
  }

  func started(at address: String) {
    push("serve.started", address)
  }

  /// Waits briefly for the listeners; returns whether a required hook failed.
  func stopped(at address: String) -> Bool {
    push("serve.stopped", address)
    let result = hooks?.finish()
    let missed = stream?.finish() ?? []
    context.console.report((result?.diagnostics ?? []) + missed)
    return result?.hasFailed ?? false
  }

  private func push(_ name: String, _ address: String) {
    let now = context.clock.now().wall
    let value = EventLine(run: runID, time: now).line(name, [("url", .string(address))])
    let event = EventQueue.Event(name: name, line: JSONWriter.string(value))
    stream?.push(event)
    hooks?.push(event)
  }
}
