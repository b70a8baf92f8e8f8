import PrefetchCore
import PrefetchTestSupport

extension SeededRandom {
  init(seed: UInt64) {
    self.init(seed &* 0x2545_F491_4F6C_DD1D)
  }
}

/// A network, store and clock that respond to a dispatcher at random and check its requests.
struct SimulatedWorld {
  private(set) var generator: SeededRandom
  private(set) var problems: [String] = []
  private(set) var report: ReportBuilder
  private(set) var now: Moment

  private let request: RunRequest
  private let pool: WorldPool
  private let start: Dispatcher.Start
  private let inventory: InventoryFacts
  /// Records by the numbers of the inventory's rows.
  private let records: [ContentRecord]
  private var transfers: [TransferRequest] = []
  /// Transfers in flight.
  private var sent: Set<TransferID> = []
  /// Transfers returned unsent because their host had trouble.
  private var unsent: [TransferRequest] = []
  private var cancelled: Set<TransferID> = []
  private var internalEvents: [Event] = []
  private var liveBodies: Set<Int> = []
  private var nextBody = 1
  private var hasHalted = false
  private var committed: Set<ContentDigest> = []
  /// Network situation as reported to the dispatcher.
  private var situation = NetworkSituation()
  /// HEAD requests of a dry run, which no budget counts.
  private var probes: Set<TransferID> = []
  private var begun: Set<String> = []
  private var isMultiplexed: Set<String> = []

  /// How often an item of several files was stored as a whole.
  private(set) var wholeCount = 0
  private(set) var tally = WorldTally()
  private(set) var order = OrderWitness()
  private var commits = 0
  /// How often the further documents of a manifest were written.
  private(set) var documentCommits = 0
  /// Items of the index whose times were renewed, and URLs whose records were written.
  private(set) var confirmations: [Int64] = []
  private(set) var stored: [String] = []
  /// Every request, in order.
  private(set) var requests: [String] = []
  private var failsAtCommit: Int?
  /// Random source of another run on the same cache, separate so that it changes no other draw.
  private var guest: SeededRandom
  private var hasGuest = false
  /// URLs claimed by this run, with the number of claims.
  private var claimed: [String: Int] = [:]
  /// Host on which no server responds.
  private let lostHost: String?

  /// Creates the world of a seed; `isBrief` overrides the seed's choice.
  init(seed: UInt64, pool: WorldPool, isBrief: Bool? = nil) {
    var generator = SeededRandom(seed: seed)
    guest = SeededRandom(seed: ~seed)
    now = Moment(wall: Instant(seconds: 1_700_000_000), uptime: .seconds(100))
    self.pool = pool
    var start = pool.start(seed: seed, now: now, generator: &generator)
    start.isBrief = (isBrief ?? start.isBrief) && !start.request.listsKept
    start.request.keepsItems = !seed.isMultiple(of: 2)
    self.start = start
    (inventory, records) = pool.inventory(&generator)
    request = start.request
    report = ReportBuilder(
      mode: request.mode,
      identity: request.identity,
      segments: request.segments,
      listsKept: request.listsKept,
      keepsItems: request.keepsItems,
      at: now
    )
    failsAtCommit = generator.happens(15) ? Int.random(in: 1...3, using: &generator) : nil
    let losesOne = pool.losesHosts && generator.happens(20)
    lostHost = losesOne ? WorldPool.urls.randomElement(using: &generator)?.host : nil
    self.generator = generator
  }

  /// Runs to the end and returns the report, or nil when the run never ended.
  mutating func run() -> Report? {
    var dispatcher = Dispatcher(start)
    var effects: [Effect] = []
    deliver(.started, to: &dispatcher, &effects)
    let interruption = generator.happens(25) ? Int.random(in: 0..<30, using: &generator) : nil
    let joining = guest.happens(30) ? Int.random(in: 0..<40, using: &guest) : nil
    for step in 0..<5000 {
      if dispatcher.isFinished {
        if !claimed.isEmpty { problems.append("\(claimed) stay claimed") }
        return finish()
      }
      if step == joining, request.mode != .plan {
        hasGuest = true
        deliver(.joined, to: &dispatcher, &effects)
      }
      if step == interruption {
        deliver(.interrupted(signal: 15), to: &dispatcher, &effects)
        hasHalted = true
        continue
      }
      guard let event = nextEvent(dispatcher) else {
        problems.append("stuck at step \(step)")
        return nil
      }
      deliver(event, to: &dispatcher, &effects)
    }
    problems.append("endless")
    return nil
  }

  private mutating func deliver(
    _ event: Event,
    to dispatcher: inout Dispatcher,
    _ effects: inout [Effect]
  ) {
    learn(event)
    tally.record(event)
    dispatcher.handle(event, now: now, into: &effects)
    dispatcher.advance(now: now, into: &effects)
    order.look(&dispatcher, now: now)
    for effect in effects { perform(effect) }
    effects = []
  }

  private mutating func nextEvent(_ dispatcher: borrowing Dispatcher) -> Event? {
    if generator.happens(20) {
      now.wall = now.wall + .milliseconds(400)
      now.uptime += .milliseconds(400)
    }
    if let back = unsent.popLast() {
      return .transferFinished(back.id, TransferResult(notSent: Failure(.cancelled, "not sent")))
    }
    if !internalEvents.isEmpty, transfers.isEmpty || generator.happens(60) {
      return internalEvents.remove(at: Int.random(in: internalEvents.indices, using: &generator))
    }
    if !transfers.isEmpty {
      send()
      let mayEnd = transfers.indices.filter { index in
        sent.contains(transfers[index].id) || cancelled.contains(transfers[index].id)
      }
      let index = mayEnd[Int.random(in: mayEnd.indices, using: &generator)]
      let transfer = transfers.remove(at: index)
      return .transferFinished(transfer.id, endResult(of: transfer))
    }
    guard let deadline = dispatcher.nextDeadline else { return nil }
    let pause = max(deadline - now.uptime, .milliseconds(1))
    now.wall = now.wall + pause
    now.uptime += pause
    return .timePassed
  }

  private mutating func perform(_ effect: Effect) {
    switch effect {
    case .readConditions:
      let conditions = WorldPool.conditions(&generator)
      internalEvents.append(.conditionsRead(ConditionsReading(conditions)))
    case .record: break
    case .startTransfer(let transfer): begin(transfer)
    case .startOrder(let id, let order): begin(order.request(id))
    case .cancelTransfer(let id), .interruptTransfer(let id):
      cancelled.insert(id)
    case .readDocument(let number, let source):
      internalEvents.append(.documentRead(number, reading(of: source)))
    case .readBundle(let item, let documents, _):
      internalEvents.append(.bundleRead(item, reading(after: documents)))
    case .stageTexts(let item, let texts):
      internalEvents.append(.textsStaged(item, .success(texts.map { _ in stage() })))
    case .readInventory:
      internalEvents.append(.inventoryRead(.success(inventory)))
    case .resumePlanning(let segment):
      internalEvents.append(.planningResumed(segment: segment))
    case .findDocument(let number, let url, _, let isClaim):
      internalEvents.append(look(for: number, url, isClaim: isClaim))
    case .prepare(let preparations):
      internalEvents.append(.prepared(preparations.map { prepare($0) }))
    case .claim(let urls):
      for url in urls { claimed[url, default: 0] += 1 }
    case .release(let urls):
      for url in urls {
        guard let count = claimed[url] else {
          problems.append("\(url) was released without an owner")
          continue
        }
        claimed[url] = count > 1 ? count - 1 : nil
      }
    case .readRemovals(let items):
      internalEvents.append(.removalsRead(items.map { records[Int($0)] }))
    case .measureRoom: internalEvents.append(.roomMeasured(RoomReading()))
    case .commit(let changes): commit(changes)
    case .publish(let segment, let plan):
      internalEvents.append(.published(segment: segment, published(plan)))
    case .findTree(let segment, _, let rules):
      let outcome = generator.happens(50) ? TreeOutcome(folder: rules.folder) : nil
      internalEvents.append(.treeFound(segment: segment, outcome))
    case .discard(let body): release(body)
    case .forgetPartial, .share: break
    case .announce(let fact):
      report.fold(fact)
      tally.record(fact, in: request.mode)
    }
  }

  private mutating func prepare(_ preparation: Preparation) -> Prepared {
    var prepared = Prepared(
      item: preparation.item,
      stored: preparation.record.map { Shared(records[Int($0)]) },
      adoptedSize: preparation.digest != nil && generator.happens(20) ? 10 : nil
    )
    guard let url = preparation.claimed else { return prepared }
    if !hasGuest { problems.append("\(url) was claimed without another run") }
    prepared.isClaimed = guest.happens(70)
    guard prepared.isClaimed == true else {
      prepared.stored = nil
      return prepared
    }
    claimed[url, default: 0] += 1
    if prepared.stored == nil || guest.happens(20) {
      prepared.stored = brought(url).map { Shared($0) }
    }
    return prepared
  }

  private mutating func look(for number: Int, _ url: String, isClaim: Bool) -> Event {
    if !hasGuest { problems.append("\(url) was looked up without another run") }
    guard !isClaim || guest.happens(70) else {
      return .documentFound(number, isGranted: false, nil)
    }
    if isClaim { claimed[url, default: 0] += 1 }
    guard guest.happens(50) else { return .documentFound(number, isGranted: true, nil) }
    let digest = WorldPool.digest(UInt8.random(in: 1...9, using: &guest))
    var found = DocumentRecord(url: url, digest: digest)
    found.validators.entityTag = "\"theirs\""
    return .documentFound(number, isGranted: true, found)
  }

  /// Returns the record that another run may have stored meanwhile.
  private mutating func brought(_ url: String) -> ContentRecord? {
    guard guest.happens(40) else { return nil }
    var record = ContentRecord(url: url, id: "")
    record.state = .cached
    record.digest = ContentDigest(
      bytes: (0..<32).map { _ in UInt8.random(in: 1...255, using: &guest) }
    )
    record.size = 10
    record.validatedAt = guest.happens(70) ? now.wall : nil
    return record
  }

  private mutating func begin(_ transfer: TransferRequest) {
    transfers.append(transfer)
    requests.append(transfer.url.string)
    if request.mode == .plan, transfer.method == .head { probes.insert(transfer.id) }
    if hasHalted { problems.append("\(transfer.url) was started after the interruption") }
    let ahead = request.policy.lookAhead
    if transfers.count > request.policy.concurrency + ahead {
      problems.append("over the concurrency")
    }
    let host = transfer.url.authority
    if transfers.count(where: { $0.url.authority == host }) > slots(of: host) + ahead {
      problems.append("over the cap of \(host)")
    }
    if request.isOffline { problems.append("asked while offline") }
    checkNetwork(transfer)
  }

  /// Keeps the state that the dispatcher should have after an event.
  private mutating func learn(_ event: Event) {
    switch event {
    case .conditionsRead(let reading): situation.conditions = reading.conditions
    case .transferFinished(let id, let result) where !probes.contains(id):
      let day = TransferUsage.day(at: now.wall, in: .utc)
      let segment = SegmentKey(identity: "me", name: "any")
      let key = TransferUsage.Key(day: day, type: situation.conditions.type, segment: segment)
      situation.usage.add(result.figures.wireBytes, key)
    default: break
    }
  }

  /// Checks that a new transfer is permitted; a begun one may go on while a budget is left.
  private mutating func checkNetwork(_ transfer: TransferRequest) {
    let isDeclared = WorldPool.urls.contains(transfer.url)
    let isNew = begun.insert(transfer.partialKey ?? transfer.url.string).inserted
    let rules = request.policy.network
    guard let deferral = rules.verdict(in: situation, at: now.wall).deferral,
      isDeclared && isNew || rules.isExhausted(in: situation, at: now.wall)
    else { return }
    problems.append("\(transfer.url) began although deferred by \(deferral.rule)")
  }

  private func slots(of host: String) -> Int {
    request.policy.assuredPerHost * (isMultiplexed.contains(host) ? 8 : 1)
  }

  /// Sends queued transfers in order while there are places.
  private mutating func send() {
    for transfer in transfers where !sent.contains(transfer.id) {
      let onWire = transfers.filter { sent.contains($0.id) }
      let host = transfer.url.authority
      guard onWire.count < request.policy.concurrency,
        onWire.count(where: { $0.url.authority == host }) < slots(of: host)
      else { continue }
      sent.insert(transfer.id)
    }
  }

  /// Returns the end of a transfer; trouble also returns its host's unsent ones.
  private mutating func endResult(of transfer: TransferRequest) -> TransferResult {
    guard sent.contains(transfer.id) else {
      return TransferResult(notSent: Failure(.cancelled, "cancelled"))
    }
    let result = result(of: transfer)
    guard result.isTrouble else { return result }
    let host = transfer.url.authority
    let isBack = { [sent] (other: TransferRequest) in
      other.url.authority == host && !sent.contains(other.id)
    }
    unsent += transfers.filter(isBack)
    transfers.removeAll(where: isBack)
    return result
  }

  private mutating func commit(_ changes: [StoreChange]) {
    commits += 1
    if request.mode == .plan { problems.append("a dry run wrote") }
    for change in changes {
      for body in change.bodies { release(body) }
      switch change {
      case .arrived(let arrivals):
        for arrival in arrivals {
          stored.append(arrival.url)
          committed.insert(arrival.body.digest)
        }
      case .confirm(let all): confirmations += all.map(\.item)
      case .documents(_, let records, _):
        documentCommits += 1
        if Set(records.map(\.url)).count < records.count { problems.append("a document twice") }
      case .store(let record, _, _, _):
        stored.append(record.url)
        if !record.files.isEmpty, record.digest != nil { wholeCount += 1 }
        let isKept = request.segments.contains(where: \.isStored)
        if !isKept { problems.append("\(record.url) was recorded, and nothing is kept") }
        if let digest = record.digest { committed.insert(digest) }
        if record.digest == nil,
          records.contains(where: { $0.url == record.url && $0.digest != nil })
        {
          problems.append("the body of \(record.url) was forgotten")
        }
      default: break
      }
    }
    let fails = failsAtCommit == commits
    if !fails { tally.recordCommitted(changes) }
    internalEvents.append(
      fails ? .commitFailed(Failure(.diskFull, "full")) : .committed(removed: [], RoomReading())
    )
  }

  private mutating func release(_ body: StagedBody) {
    if liveBodies.remove(body.id) == nil { problems.append("body \(body.id) was released twice") }
  }

  /// Checks that published files are stored, not only in flight.
  private mutating func published(_ plan: TreePlan) -> TreeOutcome {
    if hasHalted { problems.append("a tree is made after a halt") }
    // A plan looks at its trees, and makes none.
    if request.mode != .run, request.mode != .plan {
      problems.append("\(request.mode): a tree is made")
    }
    let known = Set(inventory.inventory.rows.map(\.digest)).union(committed)
    for index in plan.indices {
      guard let file = plan.file(at: index), case .body(let digest, _) = file.content else {
        continue
      }
      if !known.contains(digest) {
        problems.append("\(file.name) is published before it is stored")
      }
    }
    var outcome = TreeOutcome(folder: plan.rules.folder)
    if generator.happens(10) {
      outcome.troubles.append(.init(failure: Failure(.failed, "foreign")))
    }
    return outcome
  }

  private mutating func finish() -> Report {
    if !unsent.isEmpty { problems.append("unsent requests outlive the run") }
    if !transfers.isEmpty { problems.append("\(transfers.count) transfers outlive the run") }
    if !internalEvents.isEmpty { problems.append("events outlive the run") }
    if !liveBodies.isEmpty {
      problems.append("\(request.mode): bodies \(liveBodies.sorted()) leaked")
    }
    let report = report.finished(at: now)
    problems += order.problems
    problems += tally.problems(of: report, segments: request.segments.map(\.name))
    return report
  }
}

// MARK: - Answers

extension SimulatedWorld {
  private mutating func result(of transfer: TransferRequest) -> TransferResult {
    var figures = TransferFigures()
    if cancelled.contains(transfer.id), generator.happens(80) {
      return TransferResult(.failure(Failure(.cancelled, "cancelled")), figures: figures)
    }
    if transfer.url.host == lostHost {
      let failure = Failure(.connect, "no server", isTransient: generator.happens(50))
      return TransferResult(.failure(failure), figures: figures)
    }
    let isConditional = transfer.headers.contains { $0.name == "If-None-Match" }
    if pool.isWarm, isConditional, generator.happens(75) {
      figures.wireBytes = 10
      return TransferResult(.success(makeResponse(304, [])), figures: figures)
    }
    let dice = Int.random(in: 0..<100, using: &generator)
    if dice < 10 {
      return TransferResult(
        .failure(Failure(.reset, "reset", isTransient: true)),
        figures: figures
      )
    }
    if dice < 13 {
      return TransferResult(.failure(Failure(.certificate, "wrong")), figures: figures)
    }
    if generator.happens(10) { isMultiplexed.insert(transfer.url.authority) }
    figures.httpVersion = isMultiplexed.contains(transfer.url.authority) ? "2" : "1.1"
    figures.wireBytes = 10
    let response =
      switch dice {
      case ..<23: makeResponse(503, [])
      case ..<30: makeResponse(404, [])
      case ..<33: makeResponse(403, [])
      case ..<42: makeResponse(302, [HeaderField("Location", redirectTarget())])
      case ..<60 where isConditional:
        makeResponse(304, generator.happens(30) ? [HeaderField("ETag", "\"other\"")] : [])
      case ..<62: makeResponse(304, [])
      default: full(transfer)
      }
    return TransferResult(.success(response), figures: figures)
  }

  private func makeResponse(_ status: Int, _ headers: [HeaderField]) -> TransferResponse {
    TransferResponse(status: status, headers: HeaderBlock(headers), body: nil)
  }

  private mutating func redirectTarget() -> String {
    let targets = [
      "/elsewhere", "https://b.example/moved", "https://c.example/x", "http://a.example/",
    ]
    return targets.randomElement(using: &generator) ?? "/"
  }

  private mutating func full(_ transfer: TransferRequest) -> TransferResponse {
    var headers = [HeaderField("ETag", "\"1\""), HeaderField("Cache-Control", "max-age=60")]
    if generator.happens(5) { headers.append(HeaderField("Content-Type", "text/html")) }
    guard transfer.method == .get else { return makeResponse(200, headers) }
    let digest = WorldPool.digest(generator.happens(80) ? 1 : 2)
    let others = transfer.algorithms.map { ($0, [UInt8](repeating: 1, count: $0.byteCount)) }
    let body = StagedBody(
      id: nextBody,
      digest: digest,
      size: 10,
      otherDigests: Dictionary(uniqueKeysWithValues: others)
    )
    liveBodies.insert(nextBody)
    nextBody += 1
    let status = generator.happens(5) ? 206 : 200
    return TransferResponse(status: status, headers: HeaderBlock(headers), body: body)
  }

  /// Returns the reading of a multi-file item's documents.
  private mutating func reading(
    after documents: [BundleDocument]
  ) -> Result<BundleReading, Failure> {
    if generator.happens(10) { return .failure(Failure(.drm, "locked")) }
    if generator.happens(5) { return .failure(Failure(.empty, "no ad")) }
    var reading = BundleReading()
    if documents.count < 4, generator.happens(40) {
      reading.documents = someURLs().map { BundleRequest(url: $0, alternates: [], type: "hls") }
    }
    guard reading.documents.isEmpty else { return .success(reading) }
    reading.pieces = someURLs().map { BundlePiece(url: $0, role: .media, name: $0.path) }
    if generator.happens(10) {
      for index in reading.pieces.indices { reading.pieces[index].needed = 11 }
    }
    reading.texts = [BundleText(name: "main", bytes: [1], mime: "text/plain")]
    if generator.happens(30) {
      for index in reading.pieces.indices where generator.happens(50) {
        reading.pieces[index].role = .extra
      }
      reading.mainPiece = reading.pieces.firstIndex { $0.role == .media }
    }
    reading.isPartial = generator.happens(20)
    return .success(reading)
  }

  private mutating func someURLs() -> [WebURL] {
    let count = Int.random(in: 0...3, using: &generator)
    return Array(WorldPool.urls.shuffled(using: &generator).prefix(count))
  }

  private mutating func stage() -> StagedBody {
    liveBodies.insert(nextBody)
    nextBody += 1
    return StagedBody(id: nextBody - 1, digest: WorldPool.digest(9), size: 1)
  }

  private mutating func reading(of source: ManifestSource) -> Result<Manifest, Failure> {
    if source.proof != nil, generator.happens(10) {
      return .failure(Failure(.signature, "of another publisher"))
    }
    switch Int.random(in: 0..<100, using: &generator) {
    case ..<8: return .failure(Failure(.manifestInvalid, "line 1, column 1: no"))
    case ..<12: return .failure(Failure(.manifestGuard, "HTML"))
    case ..<18: return .failure(Failure(.storeDamaged, "gone"))
    default:
      var manifest = Manifest(entries: pool.table(&generator))
      manifest.network = pool.manifestRules(&generator)
      if pool.isVaried { vary(&manifest, source) }
      if generator.happens(20) {
        let failure = Failure(.badURL, "bad")
        manifest.rejected = [RejectedEntry(url: "ftp://x", failure: failure)]
      }
      return .success(manifest)
    }
  }
}

extension SimulatedWorld {
  /// Further documents, signed times, mirrors.
  private mutating func vary(_ manifest: inout Manifest, _ source: ManifestSource) {
    if source.proof != nil, generator.happens(90) {
      manifest.generated = Instant(seconds: 1_600_000_000)
      manifest.expires = Instant(seconds: generator.happens(95) ? 1_800_000_000 : 1)
    }
    if generator.happens(30) { manifest.alternates = WebURL.some("https://c.example/") }
    let level: Int? =
      switch source.documentRole {
      case nil: 1
      case .sitemap(let level): level + 1
      case .page, .packageIndex, .moduleSource, .checksums, .dates, .hubTree: nil
      }
    guard let level, generator.happens(60) else { return }
    if generator.happens(30) {
      let list = FurtherDocument.Role.checksums(ReleaseChecksums(folder: "v1"))
      for url in WebURL.some("https://b.example/sums/\(level)") {
        manifest.furtherDocuments.append(FurtherDocument(url: url, kind: list))
      }
    }
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let number = Int.random(in: 0..<40, using: &generator)
      let host = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
      for url in WebURL.some("https://\(host).example/part/\(number)") {
        manifest.furtherDocuments.append(FurtherDocument(url: url, kind: .sitemap(level: level)))
      }
    }
  }
}

extension WebURL {
  fileprivate static func some(_ text: String) -> [WebURL] {
    [try? WebURL(text)].compactMap(\.self)
  }
}

extension RunRequest {
  fileprivate var isOffline: Bool { policy.isOffline }
}
