import PrefetchCore
import Testing

/// A dispatcher with an empty, faultless store, whose transfers end when the test says so.
private final class Stage {
  var now = Moment(wall: Instant(seconds: 1_700_000_000), uptime: .seconds(100))
  /// Result of reading the network; nil keeps every job waiting.
  var reading: ConditionsReading?
  private(set) var started: [TransferID] = []
  private(set) var cancelled: [TransferID] = []
  private(set) var settled: [ItemResult] = []
  private(set) var manifests: [ManifestResult] = []
  private var dispatcher: Dispatcher

  init(_ segments: [SegmentDeclaration], policy: RunPolicy, reading: ConditionsReading) {
    let request = RunRequest(mode: .run, identity: "me", segments: segments, policy: policy)
    dispatcher = Dispatcher(
      .init(request: request, segments: [], now: now, seed: 1, identify: { $0 })
    )
    self.reading = reading
  }

  var isFinished: Bool { dispatcher.isFinished }

  func send(_ event: Event) {
    var events = [event]
    while let event = events.popLast() {
      var effects: [Effect] = []
      dispatcher.handle(event, now: now, into: &effects)
      dispatcher.advance(now: now, into: &effects)
      events = effects.compactMap { perform($0) }.reversed() + events
    }
  }

  private func perform(_ effect: Effect) -> Event? {
    switch effect {
    case .readConditions: return reading.map { .conditionsRead($0) }
    case .readInventory:
      return .inventoryRead(.success(InventoryFacts(inventory: Inventory(), missing: [])))
    case .resumePlanning(let segment): return .planningResumed(segment: segment)
    case .prepare(let all):
      return .prepared(all.map { Prepared(item: $0.item, stored: nil, adoptedSize: nil) })
    case .commit: return .committed(removed: [], RoomReading())
    case .startTransfer(let transfer): started.append(transfer.id)
    case .startOrder(let id, _): started.append(id)
    case .cancelTransfer(let id): cancelled.append(id)
    case .announce(.itemSettled(let item)): settled.append(item)
    case .announce(.manifestSettled(_, let manifest)): manifests.append(manifest)
    default: break
    }
    return nil
  }
}

@Suite struct NetworkBudgetTests {
  private var ethernet: ConditionsReading {
    var conditions = NetworkConditions()
    conditions.type = .ethernet
    return ConditionsReading(conditions, memory: NetworkMemory())
  }

  @Test("A used budget cancels a transfer that began in an open window")
  func windowFirst() throws {
    var policy = RunPolicy()
    // The clock stands at 22:13:20.
    policy.network.hours = [
      OpeningHours(windows: [try ClockWindow("22:00-22:14")], zone: .utc)
    ]
    policy.network.budgets = [ByteBudget(period: .day, limit: 100)]
    let entry = ManifestEntry(url: try WebURL("https://a.example/large"))
    let segment = SegmentDeclaration(name: "s", source: .inline([entry]))
    let stage = Stage([segment], policy: policy, reading: ethernet)
    stage.send(.started)
    #expect(stage.started.count == 1)
    let id = try #require(stage.started.first)
    stage.now.wall = stage.now.wall + .seconds(60)
    stage.now.uptime += .seconds(60)
    stage.send(.timePassed)
    let advance = { TransferAdvance(bytes: $0, arrived: $1, position: $1) }
    stage.send(.transferProgressed(id, advance(99, 99)))
    #expect(stage.cancelled == [])
    stage.send(.transferProgressed(id, advance(1, 100)))
    #expect(stage.cancelled == [id])
    let failure = Failure(.cancelled, "cancelled")
    stage.send(.transferFinished(id, TransferResult(.failure(failure), figures: .init())))
    #expect(stage.started.count == 1 && stage.isFinished)
    #expect(stage.settled.map(\.deferral?.rule) == [.window])
  }

  @Test(
    "An unreadable usage record ends a run whose manifest waits for it",
    arguments: [false, true]
  )
  func unreadableUsage(isInterrupted: Bool) throws {
    let segment = SegmentDeclaration(name: "s", source: .file("/manifest"))
    let stage = Stage([segment], policy: RunPolicy(), reading: ethernet)
    stage.reading = nil
    stage.send(.started)
    var manifest = Manifest()
    manifest.entries = EntryTable([ManifestEntry(url: try WebURL("https://a.example/x"))])
    manifest.network = NetworkPolicy()
    manifest.network?.budgets = [ByteBudget(period: .day, limit: 100)]
    stage.send(.documentRead(0, .success(manifest)))
    if isInterrupted { stage.send(.interrupted(signal: 15)) }
    #expect(!stage.isFinished)
    let failure = Failure(.disk, "no state")
    stage.send(.conditionsRead(ConditionsReading(NetworkConditions(), failure: failure)))
    #expect(stage.isFinished && stage.started == [])
    #expect(stage.manifests.map(\.failure?.code) == [isInterrupted ? nil : .disk])
  }
}
