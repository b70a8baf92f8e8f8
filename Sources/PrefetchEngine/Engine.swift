package import PrefetchCore
import PrefetchManifests

/// Runs the loop: performs the dispatcher's effects and reports events to it.
package struct Engine {
  private let transport: any Transport
  private let store: any ContentStore
  private let files: any LocalFiles
  private let clock: any Clock
  private let stop: any StopSignal
  private let circumstances: (any Circumstances)?
  private let trees: (any TreePublisher)?
  private let adopter: (any FileAdopter)?
  private let tier: (any SecondTier)?
  private let observers: [any RunObserver]

  package init(
    transport: any Transport,
    store: any ContentStore,
    files: any LocalFiles,
    clock: any Clock,
    stop: any StopSignal,
    circumstances: (any Circumstances)? = nil,
    trees: (any TreePublisher)? = nil,
    adopter: (any FileAdopter)? = nil,
    tier: (any SecondTier)? = nil,
    observers: [any RunObserver] = []
  ) {
    self.transport = transport
    self.store = store
    self.files = files
    self.clock = clock
    self.stop = stop
    self.circumstances = circumstances
    self.trees = trees
    self.adopter = adopter
    self.tier = tier
    self.observers = observers
  }

  /// Runs to the end and returns the report; throws only when the store cannot be read.
  package func run(
    _ request: RunRequest,
    gates: [HostGate] = [],
    seed: UInt64
  ) throws(Failure) -> Report {
    let start = clock.now()
    let writes = request.mode.writes
    // Claims begin before the first read: from then on, other runs claim whatever they write.
    if writes { try store.beginClaims() }
    defer { store.endClaims() }
    if writes, request.policy.room.minimumFree != 0, let disk = try store.diskSpace() {
      store.staging.keepFree(request.policy.room.minimumFree(of: disk.size))
    }
    var dispatcher = Dispatcher(
      .init(
        request: request,
        segments: try store.segments(),
        // Only runs of whole segments may skip an unchanged segment.
        hasUnseenChanges: request.mode.isOfSegments ? try store.hasUnseenChanges() : true,
        seeksLostBodies: try store.seeksLostBodies(),
        partials: try store.partials(),
        gates: gates,
        key: try store.varianceKey(),
        now: start,
        seed: seed,
        isBrief: !request.listsKept && observers.allSatisfy { !$0.needsEachFact },
        identify: { ItemIdentifier.make(for: $0) }
      )
    )
    var report = ReportBuilder(
      mode: request.mode,
      identity: request.identity,
      segments: request.segments,
      listsKept: request.listsKept,
      keepsItems: request.keepsItems,
      retries: request.policy.retries,
      at: start
    )
    var effects: [Effect] = []
    var events: [Event] = [.started]
    var hasStopped = false
    var isCutOff = false
    var hasOtherRuns = false
    var schedule = ObserverSchedule(observers)
    var controls = ControlWatch()
    while true {
      let now = clock.now()
      if schedule.isDue(at: now) {
        let status = dispatcher.status(at: now, expectsBytes: schedule.needExpectations)
        schedule.report(at: status, now)
      }
      if !hasStopped, let signal = stop.pending {
        hasStopped = true
        events.append(.interrupted(signal: signal))
      }
      if writes, !hasOtherRuns, try store.hasOtherRuns() {
        hasOtherRuns = true
        events.insert(.joined, at: 0)
      }
      if hasOtherRuns, controls.isDue(at: now) {
        events += controls.look(at: dispatcher.stoppable, in: store, now)
      }
      for index in events.indices { dispatcher.handle(events[index], now: now, into: &effects) }
      dispatcher.advance(now: now, into: &effects)
      events = perform(&effects, of: request, report: &report, now: now)
      guard events.isEmpty else { continue }
      if dispatcher.isFinished {
        finishWriting(until: request.policy.deadline.map { start.uptime + $0 })
        let end = clock.now()
        return report.finished(
          at: end,
          tier: tier?.figures,
          gates: dispatcher.openGates(at: end),
          responseTimes: dispatcher.namedResponseTimes,
          paces: dispatcher.namedPaces
        )
      }
      var deadline = dispatcher.nextDeadline
      if writes {
        // Other runs that have arrived wait until this loop notices them.
        let look = hasOtherRuns ? controls.due : clock.now().uptime + Self.longestAbsence
        deadline = min(deadline ?? look, look)
      }
      events = transport.wait(until: deadline).map(Event.init)
      if events.isEmpty { events = [.timePassed] }
      // The event precedes the results of requests, which it explains.
      if !isCutOff, events.contains(where: \.mayMeanNoNetwork), circumstances?.hasNetwork() == false
      {
        isCutOff = true
        events.insert(.networkLost, at: 0)
      }
    }
  }

  private func finishWriting(until deadline: Duration?) {
    guard let tier else { return }
    while tier.isWriting, stop.pending == nil {
      let now = clock.now().uptime
      if let deadline, now >= deadline { return }
      _ = transport.wait(until: now + Self.longestAbsence)
    }
  }

  private static let longestAbsence: Duration = .milliseconds(100)

  /// Performs the effects in order; returns their immediate results as events.
  private func perform(
    _ effects: inout [Effect],
    of request: RunRequest,
    report: inout ReportBuilder,
    now: Moment
  ) -> [Event] {
    var events: [Event] = []
    let limit = request.policy.maximumManifestSize
    for effect in effects {
      switch effect {
      case .readConditions(let aspects, let hasMemory):
        events.append(.conditionsRead(conditions(aspects, hasMemory: hasMemory)))
      case .record(let memory):
        if let event = record(memory) { events.append(event) }
      case .startTransfer(let transfer):
        transport.start(transfer)
      case .startOrder(let id, let order):
        transport.start(id, order)
      case .cancelTransfer(let id):
        transport.cancel(id)
      case .interruptTransfer(let id):
        transport.interrupt(id)
      case .readDocument(let number, let source):
        events.append(.documentRead(number, read(source, limit: limit)))
      case .readBundle(let item, let documents, let rules):
        events.append(.bundleRead(item, read(documents, rules, limit: limit)))
      case .stageTexts(let item, let texts):
        events.append(.textsStaged(item, stage(texts)))
      case .readInventory:
        events.append(.inventoryRead(readInventory(for: request)))
      case .resumePlanning(let segment):
        events.append(.planningResumed(segment: segment))
      case .claim(let urls):
        _ = try? store.claim(urls)
      case .release(let urls):
        store.release(urls)
      case .findDocument(let number, let url, let requestHash, let isClaim):
        let isGranted = !isClaim || (try? store.claim([url]).first) ?? true
        let found =
          isGranted ? (try? store.document(at: url, requestHash: requestHash)) ?? nil : nil
        events.append(.documentFound(number, isGranted: isGranted, found))
      case .prepare(let preparations):
        events.append(prepare(preparations))
      case .measureRoom(let inDetail):
        events.append(.roomMeasured(measure(request.policy.room, inDetail: inDetail)))
      case .readRemovals(let items):
        events.append(.removalsRead(((try? store.stored(items)) ?? []).map { $0?.record }))
      case .commit(let changes):
        events.append(commit(changes, request.policy.room))
      case .publish(let segment, let given):
        var plan = given
        let clashes = plan.addBundleFiles { url in
          ((try? store.stored(url: url)) ?? nil)?.record?.files ?? []
        }
        let missing = plan.readLists { source throws(Failure) in try listContent(source) }
        var outcome = trees?.publish(plan) ?? TreeOutcome(folder: plan.rules.folder)
        outcome.troubles += clashes + missing
        events.append(.published(segment: segment, outcome))
      case .findTree(let segment, let key, let rules):
        // A tree whose state is unknown must be inspected.
        let found = (try? trees?.untouched(key, rules)) ?? nil
        events.append(.treeFound(segment: segment, found))
      case .discard(let body):
        store.discard(body)
      case .share(let responses):
        tier?.offer(responses)
      case .forgetPartial(let key):
        store.forgetPartial(key)
      case .announce(let fact):
        report.fold(fact)
        for observer in observers { observer.observe(fact, at: now) }
      }
    }
    effects.removeAll(keepingCapacity: true)
    return events
  }

  private func conditions(
    _ aspects: Set<NetworkConditions.Aspect>,
    hasMemory: Bool
  ) -> ConditionsReading {
    guard let circumstances else { return ConditionsReading(NetworkConditions()) }
    do throws(Failure) {
      let memory = hasMemory ? nil : try circumstances.memory()
      return ConditionsReading(circumstances.conditions(aspects), memory: memory)
    } catch {
      return ConditionsReading(NetworkConditions(), failure: error)
    }
  }

  private func record(_ memory: NetworkMemory) -> Event? {
    do throws(Failure) {
      guard let circumstances else { return nil }
      return .usageRecorded(try circumstances.record(memory))
    } catch {
      return .memoryFailed(error)
    }
  }

  private func readInventory(for request: RunRequest) -> Result<InventoryFacts, Failure> {
    do throws(Failure) {
      let inventory = try store.readInventory(of: request.fewURLs)
      let missing = try store.missingObjects(of: inventory)
      return .success(InventoryFacts(inventory: inventory, missing: missing))
    } catch {
      return .failure(error)
    }
  }

  /// A record or object that cannot be read counts as missing.
  private func prepare(_ preparations: [Preparation]) -> Event {
    let numbers = preparations.compactMap(\.record)
    var found = (numbers.isEmpty ? [] : (try? store.stored(numbers)) ?? [])[...]
    let claimed = preparations.compactMap(\.claimed)
    var claims = (claimed.isEmpty ? [] : (try? store.claim(claimed)) ?? [])[...]
    let prepared = preparations.map { preparation in
      var stored = preparation.record == nil ? nil : found.popFirst() ?? nil
      var isClaimed: Bool?
      if let url = preparation.claimed {
        isClaimed = claims.popFirst() ?? true
        stored = isClaimed == true ? (try? store.stored(url: url)) ?? nil : nil
      }
      let size = preparation.digest.flatMap { (try? store.intactObject($0)) ?? nil }
      var reply = Prepared(item: preparation.item, stored: stored, adoptedSize: size)
      if size == nil { find(preparation, &reply) }
      reply.isClaimed = isClaimed
      if isClaimed == true, let url = preparation.claimed {
        reply.partial = (try? store.partial(url)) ?? nil
      }
      return reply
    }
    return .prepared(prepared)
  }

  private func find(_ preparation: Preparation, _ reply: inout Prepared) {
    do throws(Failure) {
      if let file = preparation.adoptable { reply.found = try adopter?.adopt(file) }
    } catch {
      reply.adoptionFailure = error
    }
    guard reply.found?.digest == nil, !preparation.lost.isEmpty,
      let body = (try? store.lostBody(preparation.lost)) ?? nil
    else { return }
    reply.found = body
  }

  /// Unknown free space is not an error here; the commit will fail if there is none.
  private func measure(_ rules: Room.Rules, inDetail: Bool) -> RoomReading {
    var reading = RoomReading()
    // The version is read first, so that later writes of other runs count as unseen.
    if rules.limit != nil { reading.version = (try? store.dataVersion()) ?? nil }
    if inDetail { reading.stock = try? store.readStock() }
    if rules.limit != nil { reading.used = try? reading.stock?.used ?? store.usedBytes() }
    if rules.minimumFree != 0 { reading.disk = (try? store.diskSpace()) ?? nil }
    return reading
  }

  private func commit(_ changes: [StoreChange], _ rules: Room.Rules) -> Event {
    do {
      let removed = try store.commit(changes, within: rules.limit)
      return .committed(removed: removed, measure(rules, inDetail: false))
    } catch {
      if error.code == .cacheFull { return .commitRefused }
      for body in changes.flatMap(\.bodies) { store.discard(body) }
      return .commitFailed(error)
    }
  }

  private func read(_ source: ManifestSource, limit: Int64) -> Result<Manifest, Failure> {
    guard let proof = source.proof else {
      return withBytes(source.bytes, limit: limit) { ManifestReader.reading($0, source) }
    }
    let copied = withBytes(proof.bytes, limit: SignatureDemand.sizeLimit) { bytes in
      Result<[UInt8], Failure>.success(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    }
    switch copied {
    case .success(let signature):
      return withBytes(source.bytes, limit: limit) {
        ManifestReader.reading($0, source, signedBy: (proof, signature))
      }
    case .failure(let failure):
      guard case .file = proof.bytes else { return .failure(failure) }
      return .failure(Failure(.signature, "it is not signed: \(failure.message)"))
    }
  }

  private func listContent(_ source: ManifestSource.Bytes) throws(Failure) -> TreeFile.Content {
    if case .stored(let digest) = source {
      guard let size = try store.intactObject(digest) else {
        throw Failure(.storeDamaged, "the stored list `\(digest)` is missing")
      }
      return .body(digest, size: size)
    }
    return try withBytes(source, limit: .max) { bytes in
      .success(.bytes(unsafe bytes.withUnsafeBytes { unsafe Array($0) }))
    }.get()
  }

  private func withBytes<Value>(
    _ location: ManifestSource.Bytes,
    limit: Int64,
    _ read: (RawSpan) -> Result<Value, Failure>
  ) -> Result<Value, Failure> {
    stop.beginReading()
    defer { stop.endReading() }
    do {
      switch location {
      case .staged(let body): return try store.withBytes(of: body, read)
      case .stored(let digest): return try store.withObject(digest, read)
      case .file(let path): return try files.withBytes(of: path, limit: limit, read)
      case .nothing: return read(RawSpan())
      }
    } catch let failure as Failure {
      return .failure(failure)
    } catch {
      return .failure(Failure(.internal, "the manifest could not be read: \(error)"))
    }
  }

  private func read(
    _ documents: [BundleDocument],
    _ rules: BundleRules,
    limit: Int64
  ) -> Result<BundleReading, Failure> {
    var contents: [BundleContent] = []
    let read = { (bytes: ManifestSource.Bytes) in
      self.withBytes(bytes, limit: limit) { bytes in
        Result<[UInt8], Failure>.success(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
      }
    }
    for document in documents {
      switch read(document.bytes) {
      case .failure(let failure): return .failure(failure)
      case .success(let bytes):
        contents.append(
          BundleContent(
            url: document.url,
            base: document.base,
            bytes: bytes,
            earlier: document.earlier.map { try? read(.stored($0)).get() }
          )
        )
      }
    }
    do throws(Failure) {
      return .success(try BundleReader.read(contents, rules))
    } catch {
      return .failure(error)
    }
  }

  private func stage(_ texts: [BundleText]) -> Result<[StagedBody], Failure> {
    var bodies: [StagedBody] = []
    do throws(Failure) {
      for text in texts {
        let sink = try store.beginBody(BodyPlan(expectedSize: Int64(text.bytes.count)))
        try unsafe sink.append(text.bytes.span.bytes)
        bodies.append(try sink.finish())
      }
      return .success(bodies)
    } catch {
      for body in bodies { store.discard(body) }
      return .failure(error)
    }
  }
}

private struct ObserverSchedule {
  private let observers: [any RunObserver]
  private let pause: Duration
  let needExpectations: Bool
  private var next: Duration = .zero

  init(_ observers: [any RunObserver]) {
    self.observers = observers.filter { $0.pauseBetweenLooks != nil }
    needExpectations = self.observers.contains(where: \.needsExpectations)
    pause = self.observers.compactMap(\.pauseBetweenLooks).min() ?? .zero
  }

  func isDue(at now: Moment) -> Bool {
    !observers.isEmpty && next <= now.uptime
  }

  mutating func report(at status: RunStatus, _ now: Moment) {
    next = now.uptime + pause
    for observer in observers { observer.show(status, now) }
  }
}

/// Checks users' controls of items in flight, once another process has announced itself.
private struct ControlWatch {
  private(set) var due: Duration = .zero
  private var version: Int64?

  private static let pause: Duration = .milliseconds(500)

  func isDue(at now: Moment) -> Bool { due <= now.uptime }

  /// Returns the controls as events; `items` is evaluated only after other processes wrote.
  mutating func look(
    at items: @autoclosure () -> [(item: Int, url: String)],
    in store: any ContentStore,
    _ now: Moment
  ) -> [Event] {
    due = now.uptime + Self.pause
    let newest = (try? store.dataVersion()) ?? nil
    guard newest != version else { return [] }
    let items = items()
    // The next check retries after a failed read.
    guard let controls = items.isEmpty ? [] : try? store.controls(of: items.map(\.url)) else {
      return []
    }
    version = newest
    return zip(items, controls).compactMap { item, control in
      control.map { .controlled(item: item.item, $0) }
    }
  }
}

extension Event {
  fileprivate var mayMeanNoNetwork: Bool {
    guard case .transferFinished(_, let result) = self else { return false }
    return result.failure?.mayMeanNoNetwork == true
  }

  fileprivate init(_ event: TransferEvent) {
    switch event {
    case .progressed(let id, let advance): self = .transferProgressed(id, advance)
    case .finished(let id, let result): self = .transferFinished(id, result)
    case .judged(let id, let outcome): self = .transferJudged(id, outcome)
    case .connectionsFound(let host, let count): self = .connectionsFound(host, count)
    }
  }
}

extension RunRequest {
  /// URLs of the request when it names few items and no segment; nil otherwise.
  fileprivate var fewURLs: [String]? {
    guard !mode.isOfSegments, !policy.bringsThumbnails else { return nil }
    var urls: [String] = []
    for segment in segments {
      guard case .inline(let entries) = segment.source else { return nil }
      urls += entries.value.indices.prefix(Self.few + 1).map { entries.value.url(at: $0) }
      if urls.count > Self.few { return nil }
    }
    return urls
  }

  private static let few = 500
}
