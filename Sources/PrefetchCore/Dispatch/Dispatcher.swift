/// The run as a value: events in, effects out.
///
/// It owns every decision and touches nothing. Manifests first, then items by segment priority,
/// then what is durable, then removals. Every item settles exactly once; after an interruption
/// nothing starts.
package struct Dispatcher: Sendable {
  /// What was known when the run began.
  package struct Start: Sendable {
    package var request: RunRequest
    package var segments: [SegmentRecord]
    /// Whether the object folders changed since the last run looked.
    package var hasUnseenChanges: Bool
    /// Parts of bodies that earlier runs kept, by the URL of their item.
    package var partials: [String: PartialBody]
    /// Hosts that asked earlier runs to stay away for a while.
    package var gates: [HostGate]
    package var now: Moment
    package var seed: UInt64
    /// The id of an item whose publisher gave it none.
    package var identify: @Sendable (String) -> String

    package init(
      request: RunRequest,
      segments: [SegmentRecord],
      hasUnseenChanges: Bool = false,
      partials: [String: PartialBody] = [:],
      gates: [HostGate] = [],
      now: Moment,
      seed: UInt64,
      identify: @escaping @Sendable (String) -> String
    ) {
      self.request = request
      self.segments = segments
      self.hasUnseenChanges = hasUnseenChanges
      self.partials = partials
      self.gates = gates
      self.now = now
      self.seed = seed
      self.identify = identify
    }
  }

  enum Phase: Hashable, Sendable {
    case working
    /// The last commit of the run is under way, or its removals are being read.
    case finishing
    case finished
  }

  /// Why nothing new starts any more.
  enum Halt: Hashable, Sendable {
    case interrupted
    case deadline
    case store(Failure)
  }

  let request: RunRequest
  let start: Start
  /// What the cache held; empty until something had to be looked up.
  var facts: Planner.Facts
  /// What waits for ``facts``.
  var awaitingInventory: [InventoryQuestion] = []
  var hasInventory = false
  var phase = Phase.working
  var halt: Halt?
  /// Once the store has refused a commit, nothing more is given to it.
  var storeFailure: Failure?
  var segments: [SegmentWork]
  var items: [ItemWork] = []
  var active: [ActiveItem] = []
  private var freeSlots: [Int32] = []
  var declared = DeclaredURLs()
  /// How items ended that another segment may still name.
  var settled = SettledItems()
  var declaredItems = 0
  var queue: TransferQueue
  var limits: HostLimits
  var inFlight: [TransferID: Job] = [:]
  var preparing = 0
  /// Declared sizes of what is under way and not in the store yet.
  var reservedBytes: Int64 = 0
  var waiting = WaitingLine()
  var manifestExchanges: [Int: Exchange] = [:]
  private var manifestHosts: [Int: HostID] = [:]
  var batch = CommitBatch()
  var jitter: Jitter
  let deadline: Duration?
  private var nextTransfer = 1

  package init(_ start: Start) {
    self.start = start
    request = start.request
    facts = Planner.Facts(
      inventory: Inventory(),
      missing: [],
      policy: start.request.policy,
      now: start.now.wall
    )
    jitter = Jitter(seed: start.seed)
    deadline = start.request.policy.deadline.map { start.now.uptime + $0 }
    queue = TransferQueue(
      concurrency: start.request.policy.concurrency,
      perHost: start.request.policy.perHost,
      lookAhead: start.request.policy.lookAhead
    )
    var gates: [HostLimits.Gate] = []
    for gate in start.gates {
      gates.append(HostLimits.Gate(host: queue.table.host(gate.host), until: gate.until))
    }
    limits = HostLimits(
      retries: start.request.policy.retries,
      deadline: deadline,
      remembered: gates,
      now: start.now
    )
    let records = Dictionary(start.segments.map { ($0.key, $0) }) { first, _ in first }
    segments = start.request.segments.map { declaration in
      let key = SegmentKey(identity: start.request.identity, name: declaration.name)
      let url: String? =
        switch declaration.source {
        case .inline: nil
        case .remote(let url): url.string
        case .file(let path): path
        }
      return SegmentWork(
        declaration: declaration,
        key: key,
        recorded: records[key],
        manifest: ManifestResult(url: url, status: url == nil ? .inline : .skipped)
      )
    }
  }

  package var isFinished: Bool {
    phase == .finished
  }

  /// When something has to happen even if nothing arrives.
  package var nextDeadline: Duration? {
    [waiting.earliest, halt == nil ? deadline : nil, batch.due, queue.nextRelease]
      .compactMap(\.self).min()
  }

  package mutating func handle(_ event: Event, now: Moment, into effects: inout [Effect]) {
    switch event {
    case .started:
      for index in segments.indices { discover(index, now: now, into: &effects) }
    case .transferProgressed(_, let bytes): effects.append(.announce(.bytesReceived(bytes)))
    case .transferFinished(let id, let result):
      transferFinished(id, result, now: now, into: &effects)
    case .manifestRead(let segment, let result):
      manifestRead(segment, result, now: now, into: &effects)
    case .inventoryTaken(let result): inventoryTaken(result, now: now, into: &effects)
    case .planningResumed(let segment): takeSteps(segment, now: now, into: &effects)
    case .prepared(let answers):
      for answer in answers { prepared(answer, now: now, into: &effects) }
    case .removalsRead(let records): removalsRead(records, into: &effects)
    case .committed(let removed): committed(removed, into: &effects)
    case .commitFailed(let failure): commitFailed(failure, into: &effects)
    case .interrupted(let signal):
      effects.append(.announce(.interrupted(signal: signal)))
      stop(.interrupted, into: &effects)
    case .timePassed: break
    }
  }

  /// Whatever the events were: start what may start, write what is due, end when all is done.
  package mutating func advance(now: Moment, into effects: inout [Effect]) {
    if let deadline, halt == nil, now.uptime >= deadline, hasOpenWork {
      stop(.deadline, into: &effects)
    }
    resumeWaiting(now: now, into: &effects)
    startTransfers(now: now, into: &effects)
    let isIdle = inFlight.isEmpty && queue.count == 0 && preparing == 0 && !isPlanning
    if batch.isDue(now: now.uptime, isIdle: isIdle) { flush(into: &effects) }
    finishIfDone(now: now, into: &effects)
  }

  var isPlanning: Bool {
    segments.contains { $0.phase == .planning } || !awaitingInventory.isEmpty
  }

  private var hasOpenWork: Bool {
    !inFlight.isEmpty || queue.count > 0 || !waiting.isEmpty || preparing > 0 || isPlanning
  }

  private mutating func resumeWaiting(now: Moment, into effects: inout [Effect]) {
    guard halt == nil else { return }
    while let job = waiting.take(at: now.uptime) {
      enqueue(Job(number: job), now: now, into: &effects)
    }
  }

  // MARK: Transfers

  private mutating func startTransfers(now: Moment, into effects: inout [Effect]) {
    var preparations: [Preparation] = []
    while halt == nil, let (number, host) = queue.take(at: now.uptime) {
      switch Job(number: number) {
      case .manifest(let segment):
        let id = newTransfer(for: .manifest(segment: segment))
        manifestHosts[segment] = host
        guard let request = manifestExchanges[segment]?.nextRequest(id) else { continue }
        effects.append(.startTransfer(request))
      case .item(let item):
        let slot = activate(item)
        active[slot].host = host
        if active[slot].exchange != nil {
          send(item, into: &effects)
        } else if active[slot].prepared != nil {
          goOn(item, now: now, into: &effects)
        } else if let preparation = preparation(of: item) {
          items[item].state = .preparing
          preparing += 1
          preparations.append(preparation)
          if preparations.count == 1 { prepareAhead(of: item, into: &preparations) }
        } else {
          ask(item, into: &effects)
        }
      }
    }
    if !preparations.isEmpty { effects.append(.prepare(preparations)) }
  }

  private mutating func newTransfer(for job: Job) -> TransferID {
    let id = TransferID(nextTransfer)
    nextTransfer += 1
    inFlight[id] = job
    return id
  }

  /// Puts the item's next request on the wire, where a place is kept for it.
  mutating func send(_ item: Int, into effects: inout [Effect]) {
    let slot = Int(items[item].slot)
    let id = newTransfer(for: .item(item))
    guard var request = active[slot].exchange?.nextRequest(id) else { return }
    let segment = Int(items[item].segment)
    if let rate = segments[segment].declaration.rate {
      request.rateGroup = .init(name: segments[segment].declaration.name, rate: rate)
    }
    if !active[slot].isAnnounced {
      active[slot].isAnnounced = true
      effects.append(
        .announce(
          .itemStarted(
            active[slot].entry.url,
            segments: Self.names(active[slot].segments, segments)
          )
        )
      )
    }
    active[slot].result.attempts += 1
    items[item].state = .inFlight
    effects.append(.startTransfer(request))
  }

  private mutating func transferFinished(
    _ id: TransferID,
    _ result: TransferResult,
    now: Moment,
    into effects: inout [Effect]
  ) {
    guard let job = inFlight.removeValue(forKey: id) else { return }
    guard !result.wasNotSent else { return takeBack(job, now: now, into: &effects) }
    let status: Int? =
      if case .success(let response) = result.outcome { response.status } else { nil }
    switch job {
    case .manifest(let segment):
      guard var exchange = manifestExchanges[segment], let host = manifestHosts[segment] else {
        return
      }
      queue.finished(on: host, result)
      Self.announceRequest(
        status,
        result.figures,
        exchange.hop,
        isRetry: exchange.isRetry,
        for: segments[segment].names,
        into: &effects
      )
      let step = exchange.receive(
        result,
        policy: request.policy,
        now: now,
        deadline: deadline,
        random: jitter.next()
      )
      manifestExchanges[segment] = exchange
      note(result, step, of: host, now: now, into: &effects)
      guard !proceed(job, step, now: now, into: &effects) else { return }
      manifestAnswered(segment, step, now: now, into: &effects)
    case .item(let item):
      let slot = Int(items[item].slot)
      guard let host = active[slot].host else { return }
      queue.finished(on: host, result)
      active[slot].result.figures = result.figures
      // The hop and the try that this result belongs to, before the exchange goes on.
      let hop = active[slot].exchange?.hop
      let isRetry = active[slot].exchange?.isRetry ?? false
      guard
        let step = active[slot].exchange?.receive(
          result,
          policy: request.policy,
          now: now,
          deadline: deadline,
          random: jitter.next()
        )
      else { return }
      Self.announceRequest(
        status,
        result.figures,
        hop,
        isRetry: isRetry,
        for: Self.names(active[slot].segments, segments),
        into: &effects
      )
      note(result, step, of: host, now: now, into: &effects)
      guard !proceed(job, step, now: now, into: &effects) else { return }
      itemAnswered(item, step, now: now, into: &effects)
    }
  }

  /// A request that never went out: nothing happened, except that its host may have to be left alone.
  private mutating func takeBack(_ job: Job, now: Moment, into effects: inout [Effect]) {
    switch job {
    case .manifest(let segment):
      guard let host = manifestHosts[segment] else { return }
      queue.tookBack(from: host)
      manifestExchanges[segment]?.takeBack()
    case .item(let item):
      let slot = Int(items[item].slot)
      guard let host = active[slot].host else { return }
      queue.tookBack(from: host)
      active[slot].exchange?.takeBack()
      active[slot].result.attempts -= 1
    }
    reask(job, now: now, into: &effects)
  }

  /// Whether the exchange goes on; after a halt it ends where it stands.
  private mutating func proceed(
    _ job: Job,
    _ step: Exchange.Step,
    now: Moment,
    into effects: inout [Effect]
  ) -> Bool {
    guard halt == nil else { return false }
    switch step {
    case .ask:
      enqueue(job, now: now, into: &effects)
      return true
    case .wait(let pause):
      waiting.insert(job.number, until: now.uptime + pause)
      if case .item(let item) = job { items[item].state = .waiting }
      return true
    case .answered, .failed, .deferred:
      return false
    }
  }

  /// Static, since a method of this value would be handed a copy of all of it.
  private static func announceRequest(
    _ status: Int?,
    _ figures: TransferFigures,
    _ hop: WebURL?,
    isRetry: Bool,
    for segments: [String],
    into effects: inout [Effect]
  ) {
    let result = RequestResult(
      url: hop,
      segments: segments,
      status: status,
      wireBytes: figures.wireBytes,
      isRetry: isRetry
    )
    effects.append(.announce(.requestFinished(result)))
  }

  private static func names(_ asking: [Int], _ segments: [SegmentWork]) -> [String] {
    asking.count == 1 ? segments[asking[0]].names : asking.map { segments[$0].declaration.name }
  }

  /// Nothing new starts; what is on the wire is called back, what waits is settled as it is.
  mutating func stop(_ reason: Halt, into effects: inout [Effect]) {
    switch halt {
    case .interrupted, .store: return
    case .deadline, nil: halt = reason
    }
    for id in inFlight.keys.sorted() { effects.append(.cancelTransfer(id)) }
    for number in queue.drain() + waiting.drain() {
      settleHalted(Job(number: number), into: &effects)
    }
  }

  /// Asks the same again at once, for an answer that did not fit the question.
  mutating func reask(_ job: Job, now: Moment, into effects: inout [Effect]) {
    guard halt == nil else { return settleHalted(job, into: &effects) }
    enqueue(job, now: now, into: &effects)
  }

  mutating func settleHalted(_ job: Job, into effects: inout [Effect]) {
    switch job {
    case .manifest(let segment): settleManifestHalted(segment, into: &effects)
    case .item(let item): settleItemHalted(item, into: &effects)
    }
  }

  // MARK: Active items

  /// The slot of an item that is about to be worked on.
  mutating func activate(_ item: Int) -> Int {
    if items[item].slot >= 0 { return Int(items[item].slot) }
    let new = newActive(item)
    if let slot = freeSlots.popLast() {
      active[Int(slot)] = new
      items[item].slot = slot
    } else {
      items[item].slot = Int32(active.count)
      active.append(new)
    }
    return Int(items[item].slot)
  }

  /// Gives the slot back; what was in it stays until it is used again.
  mutating func deactivate(_ item: Int) {
    guard items[item].slot >= 0 else { return }
    active[Int(items[item].slot)].exchange = nil
    active[Int(items[item].slot)].record = nil
    active[Int(items[item].slot)].prepared = nil
    freeSlots.append(items[item].slot)
    items[item].slot = -1
  }
}

/// Who asks for a place on the wire; items count up from zero, manifests down from minus one.
enum Job: Hashable, Sendable {
  case manifest(segment: Int)
  case item(Int)

  init(number: Int) {
    self = number < 0 ? .manifest(segment: -number - 1) : .item(number)
  }

  var number: Int {
    switch self {
    case .manifest(let segment): -segment - 1
    case .item(let item): item
    }
  }
}
