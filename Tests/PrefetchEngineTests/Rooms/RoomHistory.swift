import PrefetchCore
import PrefetchCrypto
import PrefetchEngine
import PrefetchTestSupport

/// Nights of a cache that is too small, from one seed.
///
/// Two configurations and single gets compete with items of all sizes, whose responses come in any
/// order.
final class RoomHistory {
  struct Sums {
    var nights = 0
    var fetched = 0
    var evictions = 0
    /// Items refused before the request, or when the server stated their size.
    var full = 0
    /// Items refused after their body arrived.
    var refusals = 0
    var wrongSizes = 0
    var gets = 0
    var lowered = 0
    /// Commits that the store refused because a `get` had taken the room.
    var conflicts = 0
  }

  private struct Item {
    var url: String
    /// Segments that name the item, with their configurations.
    var names: [(identity: Int, segment: Int)]
    var priority: Int?
    var declaresSize: Bool
    var isWrong: Bool
    var isChunked: Bool
    var body: [UInt8]
    var version = 0

    var declaredSize: Int64? {
      declaresSize ? Int64(body.count + (isWrong ? 3 : 0)) : nil
    }
  }

  private(set) var sums = Sums()
  private(set) var objections: [String] = []
  private(set) var print = StableHash()
  private var dice: Dice
  private var items: [Item] = []
  private var priorities: [[Int?]] = []
  private var limit: Int64
  private let store = WatchedStore()
  private let clock = FakeClock()
  private let seed: Int
  /// Whether a `get` fetches single items during the run.
  private var hasOtherRuns = false

  init(seed: Int) {
    self.seed = seed
    var dice = Dice(seed, 12, 6)
    for _ in 0..<2 { priorities.append((0..<2).map { _ in dice.pick([nil, nil, 1, 2, 7]) }) }
    for number in 0..<dice.number(3...9) {
      var names = [(identity: dice.happens(70) ? 0 : 1, segment: dice.number(0...1))]
      if dice.happens(25) { names.append((dice.number(0...1), dice.number(0...1))) }
      items.append(
        Item(
          url: "https://a.example/\(number)",
          names: names,
          priority: dice.pick([nil, nil, nil, 1, 5]),
          declaresSize: dice.happens(50),
          isWrong: dice.happens(8),
          isChunked: dice.happens(30),
          body: []
        )
      )
    }
    limit = Int64(dice.number(20...160))
    self.dice = dice
    for number in items.indices { renew(number) }
  }

  /// Changes an item's body, sometimes to another item's body.
  private func renew(_ number: Int) {
    items[number].version += 1
    if dice.happens(12) {
      items[number].body = dice.pick(items.map(\.body))
    } else {
      let size = dice.number(1...60)
      items[number].body = (0..<size).map { _ in UInt8(dice.number(0...255)) }
    }
  }

  func perform() throws {
    for _ in 0..<4 {
      clock.advance(by: .seconds(3_600))
      for number in items.indices where dice.happens(20) { renew(number) }
      if dice.happens(25) {
        let new = Int64(dice.number(10...180))
        if new < limit { sums.lowered += 1 }
        limit = new
      }
      if dice.happens(20) { try get() }
      let identity = dice.happens(70) ? 0 : 1
      try night(identity)
    }
  }

  // MARK: Nights

  private static let mostRepeats = 3

  private func night(_ identity: Int) throws {
    sums.nights += 1
    hasOtherRuns = true
    let first = try run(identity)
    hasOtherRuns = false
    sums.fetched += Int(first.totals.fetched + first.totals.updated)
    var again = first
    var before: [RoomModel.Stored]?
    // When a body was smaller than expected or left, the next run has room for others.
    for _ in 0..<Self.mostRepeats where before != store.bodies {
      before = store.bodies
      again = try run(identity)
    }
    let model = model(of: identity)
    if store.bodies != before {
      object("content comes and goes although nothing has changed")
    }
    if !model.isShrunk { object("\(model.used) bytes are stored, and something may go") }
    for item in again.items where item.failure?.code == .cacheFull {
      sums.full += 1
      guard let wanted = model.declared.first(where: { $0.url == item.url }) else { continue }
      if model.fits(wanted) { object("\(item.url) is refused and would fit") }
    }
  }

  /// Checks that missing items are reported and that the totals match the items.
  private func check(_ report: Report, of identity: Int, wasAlone: Bool) {
    let model = model(of: identity)
    let stored = Set(model.stored.flatMap(\.urls))
    // Another process may evict bodies before the run notices it, so only runs without company are
    // checked.
    for item in model.declared where wasAlone && !stored.contains(item.url) {
      let failure = report.items.first { $0.url == item.url }?.failure
      if failure == nil { object("\(item.url) is not stored, and nothing is said of it") }
    }
    for item in report.items where wasAlone && item.isUsable && !stored.contains(item.url) {
      object("\(item.url) is reported as stored, and is not")
    }
    let failures = report.items.count { $0.failure != nil }
    if report.totals.failed != Int64(failures) {
      object("\(report.totals.failed) failed in sum, \(failures) by themselves")
    }
    // A body that one segment keeps may contradict another segment's declaration and counts for
    // both.
    let overruled = report.items.count { $0.failure?.code == .corrupted && $0.attempts == 0 }
    if report.totals.items != Int64(model.declared.count + overruled) {
      object("\(report.totals.items) items in sum, \(model.declared.count) declared")
    }
    if failures > 0, report.segments.allSatisfy({ $0.state == .current }) {
      object("every segment is current, and \(failures) items are not here")
    }
  }

  private func get() throws {
    sums.gets += 1
    store.begin(limit: limit, identity: "me")
    try perform(try getting())
  }

  private func getting() throws -> RunRequest {
    var segment = SegmentDeclaration(name: "", source: .inline([]))
    let item = dice.pick(items)
    segment.source = .inline([try entry(item, sizes: false)])
    var request = RunRequest(mode: .get, identity: "me", segments: [segment], policy: policy)
    request.listsKept = true
    return request
  }

  /// Runs a concurrent process, which commits at any time.
  private func getMeanwhile() {
    guard hasOtherRuns, dice.happens(8) else { return }
    hasOtherRuns = false
    sums.gets += 1
    do { try perform(try getting()) } catch { object("\(error)") }
    hasOtherRuns = true
  }

  @discardableResult
  private func run(_ identity: Int) throws -> Report {
    let segments = try (0..<2).map { number in
      let own = items.filter { $0.names.contains { $0 == (identity, number) } }
      let entries = try own.map { try entry($0, sizes: true) }
      var segment = SegmentDeclaration(name: "s\(number)", source: .inline(entries))
      segment.priority = priorities[identity][number]
      return segment
    }
    let request = RunRequest(
      mode: .run,
      identity: Self.identities[identity],
      segments: segments,
      policy: policy
    )
    store.begin(limit: limit, identity: request.identity)
    let gets = sums.gets
    let report = try perform(request)
    sums.evictions += store.evictionCount
    sums.conflicts += store.refusedCount
    // A `get` may free space between the check and the commit.
    for objection in store.objections where gets == sums.gets || !objection.hasSuffix("in vain") {
      object(objection)
    }
    check(report, of: identity, wasAlone: gets == sums.gets)
    return report
  }

  private static let identities = ["me", "you"]

  @discardableResult
  private func perform(_ request: RunRequest) throws -> Report {
    let transport = RoomTransport(
      staging: store,
      dice: Dice(seed, sums.nights, dice.number(0...9_999))
    ) { [items] request in
      guard let item = items.first(where: { $0.url == request.url.string }) else {
        return .response(status: 404, headers: [], body: [])
      }
      let tag = "\"\(item.version)\""
      if request.headers.contains(where: { $0.name == "If-None-Match" && $0.value == tag }) {
        return .response(status: 304, headers: [HeaderField("ETag", tag)], body: [])
      }
      if item.isChunked, let most = request.sizeLimit, item.body.count > most {
        return .failure(Failure(.tooLarge, "it is larger than \(most) bytes"))
      }
      return .response(status: 200, headers: [HeaderField("ETag", tag)], body: item.body)
    }
    transport.meanwhile = { [unowned self] in getMeanwhile() }
    let engine = Engine(
      transport: transport,
      store: store,
      files: NoFiles(),
      clock: clock,
      stop: NoSignal()
    )
    let report = try engine.run(request, seed: UInt64(seed))
    print.combine(report)
    let moved = Set(transport.delivered)
    for item in report.items where item.failure?.code == .cacheFull && moved.contains(item.url) {
      sums.refusals += 1
    }
    for item in report.items where item.failure?.code == .corrupted {
      _ = item
      sums.wrongSizes += 1
    }
    if request.mode == .run, store.staging.bodyCount > 0 { object("a body was left lying about") }
    return report
  }

  private var policy: RunPolicy {
    var policy = RunPolicy()
    policy.room.limit = limit
    policy.concurrency = dice.number(1...6)
    policy.perHost = policy.concurrency
    policy.retries.count = 0
    return policy
  }

  private func entry(_ item: Item, sizes: Bool) throws -> ManifestEntry {
    var entry = ManifestEntry(url: try WebURL(item.url))
    entry.priority = item.priority
    if sizes { entry.size = item.declaredSize }
    return entry
  }

  // MARK: The model

  private func model(of identity: Int) -> RoomModel {
    var declared: [RoomModel.Item] = []
    for item in items {
      let positions = item.names.filter { $0.identity == identity }.map { name in
        let list = items.filter { $0.names.contains { $0 == (identity, name.segment) } }
        return [
          priorities[identity][name.segment] ?? .max, name.segment, item.priority ?? .max,
          list.firstIndex { $0.url == item.url } ?? 0,
        ]
      }
      guard let best = positions.min(by: { $0.lexicographicallyPrecedes($1) }) else { continue }
      // The stated size decides, even a wrong one; an unstated size counts as one byte.
      let size = item.declaredSize ?? max(1, Int64(item.body.count))
      declared.append(RoomModel.Item(url: item.url, position: best, size: size))
    }
    return RoomModel(
      limit: limit,
      declared: declared,
      stored: store.bodies,
      untouchable: store.bodiesHeld(excluding: Self.identities[identity])
    )
  }

  private func object(_ message: String) {
    objections.append("seed \(seed), night \(sums.nights): \(message)")
  }
}

/// A transport that completes requests one at a time in random order.
private final class RoomTransport: Transport {
  private let inner: FakeTransport
  private var dice: Dice
  private var running: [TransferRequest] = []
  /// URLs whose bodies arrived completely.
  private(set) var delivered: [String] = []
  var meanwhile: () -> Void = {}

  init(
    staging: any BodyStaging,
    dice: Dice,
    reply: @escaping (TransferRequest) -> FakeTransport.Reply
  ) {
    inner = FakeTransport(staging: staging, reply: reply)
    self.dice = dice
  }

  func start(_ request: TransferRequest) {
    running.append(request)
  }

  func cancel(_ id: TransferID) {
    guard let index = running.firstIndex(where: { $0.id == id }) else { return }
    inner.start(running.remove(at: index))
    inner.cancel(id)
  }

  func wait(until deadline: Duration?) -> [TransferEvent] {
    meanwhile()
    let ended = inner.wait(until: nil)
    guard ended.isEmpty, !running.isEmpty else { return ended }
    let request = running.remove(at: dice.number(0...running.count - 1))
    inner.start(request)
    let events = inner.wait(until: nil)
    for case .finished(_, let result) in events {
      if case .success(let response) = result.outcome, response.body != nil {
        delivered.append(request.url.string)
      }
    }
    return events
  }
}
