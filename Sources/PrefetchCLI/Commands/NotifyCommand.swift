import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `notify`: starts a run for a push message that carries our marker.
struct NotifyCommand: Command {
  let context: CommandContext
  let options: NotifyOptions

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    let message = try message()
    context.pendingRun.begin(options.engine)
    let loaded = try context.configuration(isRequired: true, needsSources: true)
    let marker = loaded.configuration.pushMarker
    guard let message, let payload = PushPayload(message, marker: marker) else {
      return refuse(marker)
    }
    let locations = try context.locations(loaded)
    let segments = try segments(payload, loaded, locations)
    if let segments, segments.isEmpty {
      context.console.note("the payload names no segment that is declared: nothing was done")
      if context.shared.isJSON {
        context.console.print([
          "schema": "prefetch-notify/1", "exit": .exit(.ok, code: ExitStatus.ok.code),
          "segments": .array([]),
        ])
      }
      return ExitStatus.ok.code
    }
    if payload.renewsPolicy, loaded.configuration.registration.url != nil {
      _ = try RegisterCommand(context: context, options: RegisterOptions(shared: options.shared))
        .register(loaded, locations)
    }
    if !payload.purged.isEmpty { try purge(payload.purged, loaded, locations) }
    var engine = options.engine
    engine.refetchesAll = engine.refetchesAll || payload.refetches
    return try Reconciliation(
      context: context,
      loaded: loaded,
      locations: locations,
      engine: engine,
      selection: segments ?? []
    ).run()
  }

  /// Reports a foreign message, which is no error, only for `-v` or `--json`.
  private func refuse(_ marker: String) -> Int32 {
    let message = "the payload is not for prefetch: `\(SafeText.line(marker))` is not in it"
    guard context.shared.isJSON else {
      context.console.note(message)
      return ExitStatus.notOurs.code
    }
    return context.console.fail(
      .notOurs,
      [Diagnostic("notify.not-ours", message, severity: .note)]
    )
  }

  /// Returns nil if the payload is not JSON, and so from no known sender.
  private func message() throws(CommandExit) -> Node? {
    StopSignals.beginReading()
    defer { StopSignals.endReading() }
    do throws(FileReading.Fault) {
      let bytes = try FileReading.readStandardInput(limit: Self.limit)
      let outcome = DocumentReader.read(bytes, source: "payload", syntax: .json)
      return outcome.diagnostics.isEmpty ? outcome.node : nil
    } catch {
      throw context.failed(.io, "notify.unread", "the payload on standard input \(error.reason)")
    }
  }

  /// Limit in bytes; push services carry a few kilobytes.
  private static let limit = 1 << 20

  private func segments(
    _ payload: PushPayload,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) -> [String]? {
    guard let wanted = payload.segments else { return nil }
    let state = try context.readingState(locations)
    let known = try context.reading { () throws(Failure) in
      let subscribed = try Subscriptions.resolve(
        loaded,
        state: state,
        cache: locations.cache,
        mayWrite: false
      ).segments
      return Set(subscribed.map(\.name))
    }
    for name in wanted where !known.contains(name) {
      context.console.report(
        "notify.unknown-segment",
        "the payload names the segment `\(SafeText.line(name))`, which is not subscribed to",
        severity: .warning
      )
    }
    return wanted.filter(known.contains)
  }

  private func purge(
    _ names: [String],
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) {
    var items: [ContentRecord] = []
    for name in names {
      let store = try context.readingStore(locations)
      let record = try ItemLookup(context: context).cached(name, in: store)
      if let record, record.digest != nil { items.append(record) }
    }
    guard !items.isEmpty else { return }
    let durability = loaded.configuration.cache.durability
    try context.changingStore(locations, durability: durability) { store throws(Failure) in
      let locked = try store.locked(among: items.map(\.url))
      _ = try store.empty(items.filter { !locked.contains($0.url) })
    }
  }
}
