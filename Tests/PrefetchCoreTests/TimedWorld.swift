@testable import PrefetchCore

/// Slow servers and a dispatcher with simulated time.
struct TimedWorld {
  /// A server's response to a request.
  struct Reply {
    var status = 200
    var after: Duration = .milliseconds(100)
    var retryAfter: Int?

    static let success = Reply()

    static func slow(_ seconds: Int) -> Reply { Reply(after: .seconds(seconds)) }
    static func refusal(_ status: Int) -> Reply { Reply(status: status) }
    static func gate(_ seconds: Int) -> Reply { Reply(status: 503, retryAfter: seconds) }
  }

  /// A request that went out.
  struct Sent: Hashable, CustomStringConvertible {
    var path: String
    /// Milliseconds since the run began.
    var at: Int

    var description: String { "\(at) \(path)" }
  }

  private struct Transfer {
    var request: TransferRequest
    /// End of the transfer; nil while it is queued.
    var end: Duration?
  }

  private static let start = Moment(
    wall: Instant(seconds: 1_700_000_000),
    uptime: .seconds(100)
  )

  /// Responses by URL, one per request; the last one repeats.
  var replies: [String: [Reply]] = [:]
  var manifests: [String: [ManifestEntry]] = [:]
  var policy = RunPolicy()
  var segments: [SegmentDeclaration] = []
  /// Segment records of the last run.
  var records: [SegmentRecord] = []
  var mode = RunRequest.Mode.run

  private(set) var log: [Sent] = []
  private var now = Self.start
  private var transfers: [Transfer] = []
  private var bodies: [Int: String] = [:]
  private var events: [Event] = [.started]
  private var report: ReportBuilder?

  init() {
    policy.concurrency = 8
    policy.perHost = 4
    policy.lookAhead = 64
    policy.retries.delay = .seconds(1)
    policy.retries.maximumDelay = .seconds(1)
  }

  /// Runs to the end; returns nil when the run does not end.
  mutating func run() -> Report? {
    let request = RunRequest(mode: mode, identity: "me", segments: segments, policy: policy)
    var dispatcher = Dispatcher(
      .init(request: request, segments: records, now: now, seed: 1, identify: { $0 })
    )
    report = ReportBuilder(
      mode: mode,
      identity: "me",
      segments: segments,
      listsKept: false,
      at: now
    )
    var effects: [Effect] = []
    for _ in 0..<100_000 {
      let due = events
      events = []
      for event in due { dispatcher.handle(event, now: now, into: &effects) }
      dispatcher.advance(now: now, into: &effects)
      for effect in effects { perform(effect) }
      effects = []
      guard events.isEmpty else { continue }
      if dispatcher.isFinished { return report?.finished(at: now) }
      send()
      guard let next = nextMoment(dispatcher.nextDeadline) else { return nil }
      now.wall = now.wall + (next - now.uptime)
      now.uptime = next
      endTransfers()
      if events.isEmpty { events = [.timePassed] }
    }
    return nil
  }

  private func nextMoment(_ deadline: Duration?) -> Duration? {
    (transfers.compactMap(\.end) + [deadline].compactMap(\.self)).min().map { max($0, now.uptime) }
  }

  /// Sends queued transfers in order while there are places.
  private mutating func send() {
    for index in transfers.indices where transfers[index].end == nil {
      let host = transfers[index].request.url.authority
      let onWire = transfers.filter { $0.end != nil }
      guard onWire.count < policy.concurrency,
        onWire.count(where: { $0.request.url.authority == host }) < policy.assuredPerHost
      else { continue }
      let url = transfers[index].request.url.string
      let reply = replies[url]?.first ?? .success
      transfers[index].end = now.uptime + reply.after
      let time = Int((now.uptime - Self.start.uptime) / .milliseconds(1))
      log.append(Sent(path: String(url.dropFirst("https://".count)), at: time))
    }
  }

  private mutating func endTransfers() {
    let over = transfers.indices.filter { transfers[$0].end.map { $0 <= now.uptime } ?? false }
    for index in over.sorted(by: { endsBefore($0, $1) }) {
      events.append(
        .transferFinished(transfers[index].request.id, respond(transfers[index].request))
      )
    }
    transfers.removeAll { $0.end.map { $0 <= now.uptime } ?? false }
    // Trouble returns the transfers that were not sent yet.
    for case .transferFinished(_, let result) in events where result.isTrouble { giveBack() }
  }

  private func endsBefore(_ a: Int, _ b: Int) -> Bool {
    (transfers[a].end ?? .zero, a) < (transfers[b].end ?? .zero, b)
  }

  private mutating func giveBack() {
    for transfer in transfers where transfer.end == nil {
      let result = TransferResult(notSent: Failure(.cancelled, "not sent"))
      events.append(.transferFinished(transfer.request.id, result))
    }
    transfers.removeAll { $0.end == nil }
  }

  private mutating func respond(_ request: TransferRequest) -> TransferResult {
    let url = request.url.string
    let reply = replies[url]?.first ?? .success
    if let line = replies[url], line.count > 1 { replies[url] = Array(line.dropFirst()) }
    var figures = TransferFigures()
    figures.httpVersion = "1.1"
    figures.wireBytes = 10
    var headers = [HeaderField("ETag", "\"1\"")]
    if let seconds = reply.retryAfter { headers.append(HeaderField("Retry-After", "\(seconds)")) }
    var body: StagedBody?
    if reply.status == 200, request.method == .get {
      bodies[bodies.count] = url
      body = StagedBody(id: bodies.count - 1, digest: WorldPool.digest(1), size: 10)
    }
    let response = TransferResponse(
      status: reply.status,
      headers: HeaderBlock(headers),
      body: body
    )
    return TransferResult(.success(response), figures: figures)
  }

  private mutating func perform(_ effect: Effect) {
    switch effect {
    case .startTransfer(let request): transfers.append(Transfer(request: request))
    case .startOrder(let id, let order): transfers.append(Transfer(request: order.request(id)))
    case .cancelTransfer(let id), .interruptTransfer(let id): cancel(id)
    case .readDocument(let number, let source):
      guard case .staged(let body) = source.bytes, let url = bodies[body.id] else { return }
      events.append(
        .documentRead(number, .success(Manifest(entries: EntryTable(manifests[url] ?? []))))
      )
    case .readInventory:
      let inventory = Inventory(rows: [], holderSets: [[]], segmentKeys: [])
      events.append(.inventoryRead(.success(InventoryFacts(inventory: inventory, missing: []))))
    case .resumePlanning(let segment): events.append(.planningResumed(segment: segment))
    case .prepare(let preparations):
      let prepared = preparations.map { Prepared(item: $0.item, stored: nil, adoptedSize: nil) }
      events.append(.prepared(prepared))
    case .measureRoom: events.append(.roomMeasured(RoomReading()))
    case .commit: events.append(.committed(removed: [], RoomReading()))
    case .announce(let fact): report?.fold(fact)
    case .readConditions, .record, .readRemovals, .publish, .findTree, .discard, .forgetPartial,
      .share,
      .claim, .release, .findDocument, .readBundle, .stageTexts:
      break
    }
  }

  private mutating func cancel(_ id: TransferID) {
    guard let index = transfers.firstIndex(where: { $0.request.id == id }) else { return }
    let transfer = transfers.remove(at: index)
    let failure = Failure(.cancelled, "cancelled")
    let result =
      transfer.end == nil
      ? TransferResult(notSent: failure)
      : TransferResult(.failure(failure), figures: TransferFigures())
    events.append(.transferFinished(id, result))
  }
}
