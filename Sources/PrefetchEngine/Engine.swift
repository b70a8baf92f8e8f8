package import PrefetchCore
import PrefetchManifests

/// Performs what the dispatcher decides and tells it what happened; the only loop there is.
package struct Engine {
  private let transport: any Transport
  private let store: any ContentStore
  private let files: any LocalFiles
  private let clock: any Clock
  private let stop: any StopSignal
  private let observers: [any RunObserver]

  package init(
    transport: any Transport,
    store: any ContentStore,
    files: any LocalFiles,
    clock: any Clock,
    stop: any StopSignal,
    observers: [any RunObserver] = []
  ) {
    self.transport = transport
    self.store = store
    self.files = files
    self.clock = clock
    self.stop = stop
    self.observers = observers
  }

  /// Runs to the end and reports. Only a store that cannot be read at all throws.
  package func run(_ request: RunRequest, seed: UInt64) throws(Failure) -> Report {
    let start = clock.now()
    let inventory = try store.inventory()
    let facts = Planner.Facts(
      inventory: inventory,
      missing: try store.missingObjects(of: inventory),
      policy: request.policy,
      now: start.wall
    )
    var dispatcher = Dispatcher(
      .init(request: request, facts: facts, segments: try store.segments(), uptime: start.uptime, seed: seed)
    )
    var report = ReportBuilder(
      mode: request.mode, identity: request.identity, segments: request.segments, at: start
    )
    var effects: [Effect] = []
    var events: [Event] = [.started]
    var hasStopped = false
    while true {
      let now = clock.now()
      if !hasStopped, let signal = stop.pending {
        hasStopped = true
        events.append(.interrupted(signal: signal))
      }
      for event in events {
        dispatcher.handle(event, now: now, into: &effects)
      }
      events = perform(&effects, report: &report, now: now)
      guard events.isEmpty else { continue }
      if dispatcher.isFinished { return report.finished(at: clock.now()) }
      events = transport.wait(until: dispatcher.nextDeadline).map(Event.init)
      if events.isEmpty { events = [.timePassed] }
    }
  }

  /// Does each effect in order; what comes of it at once is returned as events.
  private func perform(_ effects: inout [Effect], report: inout ReportBuilder, now: Moment) -> [Event] {
    var events: [Event] = []
    for effect in effects {
      switch effect {
      case .startTransfer(let request):
        transport.start(request)
      case .cancelTransfer(let id):
        transport.cancel(id)
      case .readManifest(let segment, let source):
        events.append(.manifestRead(segment: segment, read(source)))
      case .commit(let changes):
        events.append(commit(changes))
      case .discard(let body):
        store.discard(body)
      case .announce(let fact):
        report.fold(fact)
        for observer in observers { observer.observe(fact, at: now) }
      }
    }
    effects.removeAll(keepingCapacity: true)
    return events
  }

  private func commit(_ changes: [StoreChange]) -> Event {
    do {
      return .committed(removed: try store.commit(changes))
    } catch {
      return .commitFailed(error)
    }
  }

  private func read(_ source: ManifestSource) -> Result<Manifest, Failure> {
    do {
      return .success(try parse(source))
    } catch let failure as Failure {
      return .failure(failure)
    } catch {
      return .failure(Failure(.internal, "the manifest could not be read: \(error)"))
    }
  }

  private func parse(_ source: ManifestSource) throws -> Manifest {
    switch source.bytes {
    case .staged(let body):
      try store.withBytes(of: body) { try ManifestReader.read($0, source: source) }
    case .stored(let digest):
      try store.withObject(digest) { try ManifestReader.read($0, source: source) }
    case .file(let path):
      try ManifestReader.read(files.read(path, limit: 512 << 20).span.bytes, source: source)
    }
  }
}

extension Event {
  fileprivate init(_ event: TransferEvent) {
    switch event {
    case .progressed(let id, let bytes): self = .transferProgressed(id, bytes: bytes)
    case .finished(let id, let result): self = .transferFinished(id, result)
    }
  }
}
