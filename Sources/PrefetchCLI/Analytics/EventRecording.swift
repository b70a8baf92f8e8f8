import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct EventRecording {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let locations: CacheLocations

  // MARK: Events

  func record(
    _ action: EventOptions.Action,
    _ given: String
  ) throws(CommandExit) -> AnalyticsEvent {
    let setup = AnalyticsSetup(loaded, publisher: nil)
    let name = Redaction.masked(given, needles: context.console.needles)
    let now = context.clock.now().wall
    let event = try context.writingState(locations) { state throws(Failure) in
      try record(action, name, setup, in: state, at: now)
    }
    guard let event else {
      throw context.failed(.nothing, "event.not-open", "no event `\(SafeText.line(name))` is open")
    }
    context.console.report(PrivacyLint.diagnostics(ofEvent: name))
    return event
  }

  private func record(
    _ action: EventOptions.Action,
    _ name: String,
    _ setup: AnalyticsSetup,
    in state: StateStore,
    at now: Instant
  ) throws(Failure) -> AnalyticsEvent? {
    switch action {
    case .log:
      let event = AnalyticsEvent(new: .logged, name, at: now)
      try state.queue([event], of: setup.identity, within: setup.bounds, at: now)
      return event
    case .start:
      let event = AnalyticsEvent(new: .timed, name, at: now)
      let open = OpenEvent(name: name, id: event.id, started: now)
      if let before = try state.open(open, of: setup.identity, within: setup.bounds) {
        context.console.note(
          "`\(name)` was open since \(Timestamp.format(before)); it starts again"
        )
      }
      return event
    case .stop:
      let runs = try state.runs(of: setup.identity)
      return try state.end(name, of: setup.identity, within: setup.bounds, at: now) { open in
        .timed(open, until: now, among: runs)
      }
    }
  }

  // MARK: Consumption

  /// Part of an item that a person has seen.
  struct Consumption: Hashable {
    var item: String
    var start: Duration?
    var end: Duration?
    var length: Duration?
    var time: Instant?
  }

  func consume(_ seen: Consumption) throws(CommandExit) -> AnalyticsEvent {
    let setup = AnalyticsSetup(loaded, publisher: nil)
    let records = try NamedRecords(context: context, loaded: loaded, locations: locations)
      .find([seen.item], of: nil, storedOnly: false)
    guard let item = records.first else { throw CommandExit(status: ExitStatus.nothing.code) }
    let now = context.clock.now().wall
    let time = seen.time ?? now
    guard !Freshness.isFuture(time, at: now) else {
      throw context.failed(
        .usage,
        "usage.future",
        "`--at \(Timestamp.format(time))` is later than now, \(Timestamp.format(now))"
      )
    }
    let length = seen.length ?? StreamLength.of(item, in: locations.bodies)
    return try context.writingState(locations) { state throws(Failure) in
      try state.consume(
        item.url,
        .passed(from: seen.start ?? .zero, to: seen.end, of: length),
        fetchedAt: item.fetchedAt,
        of: setup.identity,
        within: setup.bounds,
        seenAt: time,
        at: now
      ) { quartiles in
        event(of: item, seen, length, quartiles, at: time)
      }
    }
  }

  private func event(
    of item: ContentRecord,
    _ seen: Consumption,
    _ length: Duration?,
    _ quartiles: Quartiles,
    at time: Instant
  ) -> AnalyticsEvent {
    let url = Redaction.masked(Redaction.url(item.shownURL), needles: context.console.needles)
    return AnalyticsEvent(
      new: .consumption,
      item.id.isEmpty ? nil : item.id,
      at: time,
      [
        ("url", .string(url)), ("provider", .optional(item.provider)),
        ("from_ms", .milliseconds(seen.start ?? .zero)),
        ("to_ms", .milliseconds(seen.end ?? length)),
        ("length_ms", .milliseconds(length)),
        ("quartiles", .array(quartiles.percents.map { .integer(Int64($0)) })),
      ]
    )
  }
}
