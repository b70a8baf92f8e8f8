import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// Sends queued events to the collector, oldest first, in batches that it takes as a whole.
struct EventSending {
  enum End {
    case done
    case outOfTime
    case interrupted
    case busy
    case paused(until: Instant)
    /// The license is not registered yet at its origin, or was refused there.
    case withheld
    /// The collector did not take a batch; the next attempt may start at `until`.
    case failed(Failure, until: Instant?)
  }

  struct Outcome {
    var end = End.done
    var sent = 0
    var requests: Int64 = 0
    var wireBytes: Int64 = 0
    var hasResponse = false
  }

  let context: CommandContext
  let loaded: LoadedConfiguration
  let builder: RequestBuilder
  let locations: CacheLocations
  let license: LicenseStatus
  let setup: AnalyticsSetup
  let collector: WebURL

  /// Returns nil where the configuration names no collector.
  init?(
    context: CommandContext,
    loaded: LoadedConfiguration,
    builder: RequestBuilder,
    locations: CacheLocations,
    license: LicenseStatus
  ) {
    let setup = AnalyticsSetup(loaded, publisher: license.publisher)
    guard let collector = setup.collector else { return nil }
    self.context = context
    self.loaded = loaded
    self.builder = builder
    self.locations = locations
    self.license = license
    self.setup = setup
    self.collector = collector
  }

  /// Sends until the queue is empty; `isForced` ignores a pause that the collector asked for.
  func send(
    from state: StateStore,
    within timeout: Duration,
    isForced: Bool = false
  ) throws(Failure) -> Outcome {
    var outcome = Outcome()
    try state.expireQueued(of: setup.identity, within: setup.bounds, at: now)
    guard try state.queuedCount(of: setup.identity) > 0 else { return outcome }
    let pause = try state.queueStatus(of: setup.identity).pause
    if !isForced, !pause.isOver(at: now), let until = pause.until {
      outcome.end = .paused(until: until)
      return outcome
    }
    guard license.withheld?.origin != collector.origin else {
      outcome.end = .withheld
      return outcome
    }
    guard let lock = try SendingLock.acquire(state: locations.state) else {
      outcome.end = .busy
      return outcome
    }
    defer { withExtendedLifetime(lock) {} }
    let end = context.clock.now().uptime + timeout
    while true {
      let events = try batch(of: state)
      guard !events.isEmpty else { return outcome }
      let left = end - context.clock.now().uptime
      guard left > .zero else {
        outcome.end = .outOfTime
        return outcome
      }
      guard let call = try call(events, of: state, within: left).perform() else {
        outcome.end = .interrupted
        return outcome
      }
      outcome.requests += call.requests
      outcome.wireBytes += call.wireBytes
      outcome.hasResponse = outcome.hasResponse || call.hasResponse
      if let (failure, retryAfter) = refusal(call) {
        let next = pause.afterFailure(at: now, retryAfter: retryAfter)
        try state.setPause(next, of: setup.identity)
        outcome.end = .failed(failure, until: next.until)
        return outcome
      }
      try state.removeSent(events, of: setup.identity)
      outcome.sent += events.count
    }
  }

  private var now: Instant {
    context.clock.now().wall
  }

  // MARK: A batch

  private static let mostEvents = 200
  private static let mostBytes = 256 << 10

  private func batch(of state: StateStore) throws(Failure) -> [QueuedEvent] {
    let events = try state.queued(of: setup.identity, atMost: Self.mostEvents)
    var size = 0
    let fitting = events.prefix { event in
      size += event.event.details.utf8.count + (event.event.name?.utf8.count ?? 0) + 128
      return size <= Self.mostBytes
    }
    return Array(fitting.isEmpty ? events.prefix(1) : fitting)
  }

  private func call(
    _ events: [QueuedEvent],
    of state: StateStore,
    within timeout: Duration
  ) throws(Failure) -> PostCall {
    let status = try state.queueStatus(of: setup.identity)
    let batch: JSONValue = [
      "schema": "prefetch-analytics/1",
      "tool": ["name": .string(ToolVersions.name), "version": .string(ToolVersions.version)],
      "configuration": .optional(loaded.configuration.name),
      "bundle_id": .optional(loaded.configuration.bundleID),
      "sent": .time(now),
      "dropped": .integer(status.dropped),
      "expired": .integer(status.expired),
      "events": .array(events.map(\.event.document)),
    ]
    let credentials = license.credentials?.value
    let isKnown = credentials?.origin == collector.origin
    return PostCall(
      url: collector,
      body: JSONWriter.bytes(batch),
      headers: isKnown ? [credentials?.field].compactMap(\.self) : [],
      server: "the collector",
      contentName: "the batch",
      policy: builder.policy,
      settings: builder.transportSettings(),
      clock: context.clock,
      timeout: timeout,
      objection: { [policy = builder.policy] url, now in
        isKnown
          ? RegistrationCall.objection(to: url, policy, at: now)
          : policy.refusal(of: url, for: .other, named: .local, at: now)
      }
    )
  }

  private func refusal(_ call: PostCall.Outcome) -> (Failure, Duration?)? {
    switch call.result {
    case .failure(let failure): return (failure, nil)
    case .success(let response):
      guard !(200..<300).contains(response.status) else { return nil }
      let isBusy = RetryPolicy.isBusy(response.status) || response.status >= 500
      let isDenial = [401, 403, 407].contains(response.status) && call.hadCredentials
      let code: ErrorCode = isBusy ? .serverBusy : isDenial ? .credentialsRefused : .http
      return (
        Failure(code, "the collector answered \(response.status)", isTransient: isBusy),
        RetryAfter.pause(response.retryAfter, now: now)
      )
    }
  }
}
