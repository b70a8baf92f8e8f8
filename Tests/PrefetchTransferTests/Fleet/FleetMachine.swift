import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import PrefetchTransfer

/// Contents of a machine's cache when its night begins.
struct FleetCache {
  static let key = SegmentKey(identity: "fleet", name: "nightly")

  private(set) var segment: SegmentRecord?
  private var records: [String: ContentRecord] = [:]

  /// In the order of their numbers.
  var stored: [Shared<ContentRecord>] {
    records.sorted { $0.key < $1.key }.map { Shared($0.value) }
  }

  static func inventory(of stored: [Shared<ContentRecord>]) -> InventoryFacts {
    let rows = stored.enumerated().map { number, record in
      var row = Inventory.Row(record.value, item: Int64(number))
      row.holders = 1
      return row
    }
    return InventoryFacts(
      inventory: Inventory(rows: rows, holderSets: [[], [0]], segmentKeys: [key]),
      missing: []
    )
  }

  mutating func apply(_ changes: [StoreChange]) {
    for change in changes {
      switch change {
      case .arrived(let arrivals):
        for arrival in arrivals { records[arrival.url] = arrival.record }
      case .store(var record, let body, _, _):
        record.digest = body?.digest ?? record.digest
        record.size = body?.size ?? record.size
        records[record.url] = record
      case .segment(var record, let manifest):
        record.manifest = manifest?.digest ?? segment?.manifest
        segment = record
      default: break
      }
    }
  }
}

/// A run of one machine, or of many identical ones.
///
/// It connects the dispatcher with the tiered transport, as the engine does.
final class FleetMachine {
  /// Number of identical machines.
  let count: Int
  let start: Int64
  let wire: FleetWire
  var trace = FleetTrace()
  /// Time at which the machine acts without an event; nil when it only waits.
  private(set) var alarm: Int64?
  private(set) var report: Report?
  private(set) var changes: [StoreChange] = []

  private let clock = FakeClock(wall: FleetNight.epoch)
  private let transport: any Transport
  private let tier: TieredTransport?
  private let night: FleetNight
  private var dispatcher: Dispatcher
  private var builder: ReportBuilder
  private var effects: [Effect] = []
  private var time: Int64
  private var hasBegun = false
  private let keepsChanges: Bool

  init(_ night: FleetNight, start: Int64, count: Int, keepsChanges: Bool) {
    (self.night, self.start, self.count, self.keepsChanges) = (night, start, count, keepsChanges)
    var policy = RunPolicy()
    policy.lookAhead = 64 * policy.connectionsPerHost
    policy.tier = night.servers.plan.tierSettings
    var segment = SegmentDeclaration(name: FleetCache.key.name, source: .inline([]))
    if let url = try? WebURL(FleetServers.list) { segment.source = .remote(url) }
    var request = RunRequest(
      mode: .run,
      identity: FleetCache.key.identity,
      segments: [segment],
      policy: policy
    )
    request.keepsItems = false
    time = start
    clock.advance(by: .milliseconds(night.begin + start))
    dispatcher = Dispatcher(
      .init(
        request: request,
        segments: [night.segment].compactMap(\.self),
        now: clock.now(),
        seed: 1,
        isBrief: true,
        identify: { $0 }
      )
    )
    builder = ReportBuilder(
      mode: .run,
      identity: request.identity,
      segments: request.segments,
      listsKept: false,
      keepsItems: false,
      at: clock.now()
    )
    wire = FleetWire(policy, clock: clock)
    let settings = policy.tier
    guard let base = settings.url else {
      (transport, tier) = (wire, nil)
      return
    }
    let servers = night.servers
    let tiered = TieredTransport(
      wire,
      staging: MemoryStaging(),
      clock: clock,
      terms: TierTerms(
        settings: settings,
        base: base,
        addTerms: { _, _ in },
        encode: { servers.encode($0) },
        decode: { servers.decode($0, $1) },
        path: { $0.hexadecimal }
      )
    )
    (transport, tier) = (tiered, tiered)
  }

  /// Handles all events and performs their effects until nothing is left.
  func act(at time: Int64) {
    clock.advance(by: .milliseconds(time - self.time))
    self.time = time
    var events = transport.wait(until: nil).map(Event.init)
    guard report == nil else { return }
    if events.isEmpty { events = [hasBegun ? .timePassed : .started] }
    hasBegun = true
    repeat {
      let now = clock.now()
      for event in events { dispatcher.handle(event, now: now, into: &effects) }
      dispatcher.advance(now: now, into: &effects)
      events = perform()
    } while !events.isEmpty
    if dispatcher.isFinished { report = builder.finished(at: clock.now()) }
    let wait = dispatcher.nextDeadline.map { max($0 - clock.now().uptime, .zero) }
    alarm = report == nil ? wait.map { time + $0.milliseconds + 1 } : nil
  }

  var isDone: Bool {
    report != nil && tier?.isWriting != true
  }

  private func perform() -> [Event] {
    let given = effects
    effects = []
    return given.compactMap { perform($0) }
  }

  private func perform(_ effect: Effect) -> Event? {
    switch effect {
    case .startTransfer(let request): transport.start(request)
    case .startOrder(let id, let order): transport.start(id, order)
    case .cancelTransfer(let id), .interruptTransfer(let id): transport.cancel(id)
    case .announce(let fact): builder.fold(fact)
    case .share(let responses): tier?.offer(responses)
    case .readDocument(let number, _): return .documentRead(number, .success(night.manifest))
    case .readInventory: return .inventoryRead(.success(night.inventory))
    case .resumePlanning(let segment): return .planningResumed(segment: segment)
    case .measureRoom: return .roomMeasured(RoomReading())
    case .readConditions: return .conditionsRead(ConditionsReading(NetworkConditions()))
    case .prepare(let preparations):
      return .prepared(
        preparations.map { preparation in
          Prepared(
            item: preparation.item,
            stored: preparation.record.map { night.stored[Int($0)] },
            adoptedSize: nil
          )
        }
      )
    case .commit(let changes):
      if keepsChanges { self.changes += changes }
      return .committed(removed: [], RoomReading())
    // A fleet's machines never use these effects.
    case .record, .readBundle, .stageTexts, .claim, .release, .findDocument, .readRemovals,
      .publish, .findTree, .discard, .forgetPartial:
      break
    }
    return nil
  }
}

extension Event {
  fileprivate init(_ event: TransferEvent) {
    switch event {
    case .progressed(let id, let advance): self = .transferProgressed(id, advance)
    case .finished(let id, let result): self = .transferFinished(id, result)
    case .judged(let id, let outcome): self = .transferJudged(id, outcome)
    case .connectionsFound(let host, let count): self = .connectionsFound(host, count)
    }
  }
}
