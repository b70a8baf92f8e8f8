// Debug builds skip the compiler's noncopyable checks, which would take two thirds of the time.
#if DEBUG
package typealias Uncopied = Copyable
#else
package typealias Uncopied = ~Copyable
#endif

/// State machine of a run: takes events, makes every decision, returns effects, and does no I/O.
///
/// Work starts by ``Rank``, removals come last, every item settles exactly once, and nothing starts
/// after a halt. Not copyable, so no method can get a copy of it.
package struct Dispatcher: Uncopied {
  package struct Start: Sendable {
    package var request: RunRequest
    package var segments: [SegmentRecord]
    package var hasUnseenChanges: Bool
    package var seeksLostBodies: Bool
    package var partials: [String: PartialBody]
    package var gates: [HostGate]
    package var key: VarianceKey
    package var now: Moment
    package var seed: UInt64
    package var isBrief: Bool
    /// Function that makes an item's id from its URL, if the publisher gave none.
    package var identify: @Sendable (String) -> String

    package init(
      request: RunRequest,
      segments: [SegmentRecord],
      hasUnseenChanges: Bool = false,
      seeksLostBodies: Bool = false,
      partials: [String: PartialBody] = [:],
      gates: [HostGate] = [],
      key: VarianceKey = VarianceKey(),
      now: Moment,
      seed: UInt64,
      isBrief: Bool = false,
      identify: @escaping @Sendable (String) -> String
    ) {
      self.request = request
      self.segments = segments
      self.hasUnseenChanges = hasUnseenChanges
      self.seeksLostBodies = seeksLostBodies
      self.partials = partials
      self.gates = gates
      self.key = key
      self.now = now
      self.seed = seed
      self.isBrief = isBrief
      self.identify = identify
    }
  }

  enum Phase: Hashable, Sendable {
    case working
    /// The last commit is in progress, or the removals of a dry run are being read.
    case finishing
    case finished
  }

  /// Reason to start no new work in this run.
  enum Halt: Hashable, Sendable {
    case interrupted
    case deadline
    case store(Failure)

    /// Store failure that halts the run; nil if a later run can simply continue.
    var failure: Failure? {
      guard case .store(let failure) = self, !failure.isOfWaiting else { return nil }
      return failure
    }

    var deferral: Deferral? {
      switch self {
      case .deadline: Deferral(rule: .deadline)
      case .store(let failure) where failure.code == .locked: Deferral(rule: .lock)
      case .interrupted, .store: nil
      }
    }
  }

  /// Boxed, because the compiler checks each field of a noncopyable value at every use.
  let given: Shared<Start>
  // Inlined, so that reading one field does not copy the whole start value.
  var start: Start {
    @inline(__always) get { given.value }
  }
  var request: RunRequest {
    @inline(__always) get { given.value.request }
  }
  var now: Moment
  var effects: [Effect] = []
  /// Planner's facts; the inventory in them is empty until something has to be looked up.
  var facts: Planner.Facts
  var inventoryRequests = InventoryRequests()
  var phase = Phase.working
  var halt: Halt?
  /// Failure of a commit; once set, the store gets no further changes.
  var storeFailure: Failure?
  var segments: Segments
  var items = ItemTable()
  var bundles = Bundles()
  var responseCounts = ResponseCounts()
  var declared = DeclaredURLs()
  var settled = SettledItems()
  var declaredItems = 0
  /// Keys of items that `on_gone` removes, since their server no longer has them.
  var givenUp: Set<URLKey> = []
  var wire: Wire
  var begun = Obligations.Begun()
  var space: Space
  var connections: ConnectionTable
  var documents: Documents
  var batch: CommitBatch
  /// Bodies received in this run, by URL; filled only if a segment publishes a tree.
  var freshBodies: [URLKey: TreeBody] = [:]
  var claims = Claims()
  /// Planner's facts without requests, to judge bodies of other runs; made on first use.
  var keptFacts: Planner.Facts?
  var jitter: Jitter
  let deadline: Duration?
  /// Network rules of the run; nil if no rule restricts the network.
  var network: NetworkWatch?
  var awaitingConditions: [(segment: Int, rejected: [RejectedEntry])] = []
  var staleBarriers: Set<Int> = []
  var isCutOff = false
  var hasDiscovered = false
  var serverTime = ServerTime()

  package init(_ start: Start) {
    given = Shared(start)
    now = start.now
    facts = Planner.Facts(
      inventory: Inventory(),
      missing: [],
      policy: start.request.policy,
      now: start.now.wall,
      credentials: start.request.credentials,
      key: start.key
    )
    connections = ConnectionTable(start.request.policy)
    jitter = Jitter(seed: start.seed)
    space = Space(start.request.policy.room)
    bundles.roomLeft = start.request.streams.roomLeft
    batch =
      start.request.servesClients
      ? CommitBatch(delay: CommitBatch.clientDelay) : CommitBatch()
    deadline = start.request.policy.deadline.map { start.now.uptime + $0 }
    network = NetworkWatch.ifNeeded(start.request)
    wire = Wire(
      start.request.policy,
      // Network rules may close at any moment, so no request is handed over early.
      looksAhead: network == nil,
      gates: start.gates,
      deadline: deadline,
      now: start.now
    )
    segments = Segments(given)
    documents = Documents(start.request.segments)
  }

  package var isFinished: Bool {
    phase == .finished
  }

  package var namedResponseTimes: [String: ResponseTimes] { wire.namedResponseTimes }

  package var namedPaces: [String: HostPace] { wire.namedPaces }

  package func openGates(at now: Moment) -> [HostGate] { wire.openGates(at: now) }

  package var nextDeadline: Duration? {
    [
      wire.nextMoment, halt == nil ? deadline : nil, batch.due, networkDeadline,
    ]
    .compactMap(\.self).min()
  }

  package mutating func handle(_ event: Event, now: Moment, into effects: inout [Effect]) {
    self.now = now
    swap(&self.effects, &effects)
    handle(event)
    swap(&self.effects, &effects)
  }

  private mutating func handle(_ event: Event) {
    switch event {
    case .started: begin()
    case .joined: joined()
    case .controlled(let item, let control): controlled(item, control)
    case .conditionsRead(let reading): conditionsRead(reading)
    case .usageRecorded(let usage): usageRecorded(usage)
    case .memoryFailed(let failure): memoryFailed(failure)
    case .networkLost: networkLost()
    case .transferProgressed(let id, let advance):
      progressed(id, advance)
      announce(.bytesReceived(advance.bytes))
    case .transferFinished(let id, let result):
      transferFinished(id, result)
    case .transferJudged(let id, let outcome):
      transferJudged(id, outcome)
    case .connectionsFound(let host, let count): wire.setConnections(count, to: host)
    case .documentRead(let document, let result):
      documentRead(document, result)
    case .documentFound(let number, let isGranted, let found):
      documentFound(number, isGranted: isGranted, found)
    case .bundleRead(let item, let result):
      bundleRead(item, result)
    case .textsStaged(let item, let result):
      textsStaged(item, result)
    case .inventoryRead(let result): inventoryRead(result)
    case .planningResumed(let segment): planningResumed(segment)
    case .prepared(let preparations):
      for preparation in preparations { prepared(preparation) }
    case .removalsRead(let records): removalsRead(records)
    case .roomMeasured(let reading): roomMeasured(reading)
    case .published(let segment, let outcome): published(segment, outcome)
    case .treeFound(let segment, let outcome):
      treeFound(segment, outcome)
    case .committed(let removed, let reading): committed(removed, reading)
    case .commitRefused: commitRefused()
    case .commitFailed(let failure): commitFailed(failure)
    case .interrupted(let signal):
      announce(.interrupted(signal: signal))
      stop(.interrupted)
    case .timePassed: break
    }
  }

  /// Acts after a batch of events: starts what may start, commits what is due, ends a finished run.
  package mutating func advance(now: Moment, into effects: inout [Effect]) {
    self.now = now
    swap(&self.effects, &effects)
    advance()
    swap(&self.effects, &effects)
  }

  private mutating func advance() {
    if let deadline, halt == nil, now.uptime >= deadline, !isQuiescent(.work) {
      stop(.deadline)
    }
    watchNetwork()
    resumeWaiting()
    tryRoomAgain()
    shrinkRoom()
    startTransfers()
    // Follows ``startTransfers()``, which may settle the last open item without a request.
    predict()
    announceResponseCounts()
    // Rows are read for the plan of a document: before a commit, a damaged index can be replaced.
    let isIdle = isQuiescent([.wire, .documents])
    let isDue = batch.isDue(now: now.uptime, isIdle: isIdle)
    writeUsage(isIdle: isIdle || isDue)
    if isDue { flush() }
    releaseClaims()
    finishIfDone()
  }

  mutating func announce(_ fact: RunFact) {
    effects.append(.announce(fact))
  }

  private mutating func resumeWaiting() {
    guard halt == nil else { return }
    while let job = wire.resume(at: now.uptime) {
      if endIfStopped(job) { continue }
      if let deferral = deferral(of: job, isRetry: true) {
        settle(job, deferral)
      } else {
        enqueue(job)
      }
    }
  }

  mutating func stop(_ reason: Halt) {
    switch halt {
    case .interrupted, .store: return
    case .deadline, nil: halt = reason
    }
    for transfer in wire.transfers { effects.append(.cancelTransfer(transfer.id)) }
    let parked = space.queue.drain().filter { items[$0].state == .waiting }
    for job in wire.drain() + parked.map({ .item($0) }) { settleHalted(job) }
    wakeWaiting()
  }

  mutating func reask(_ job: Job) {
    guard halt == nil else { return settleHalted(job) }
    if let deferral = deferral(of: job) {
      return settle(job, deferral)
    }
    enqueue(job)
  }

  mutating func settleHalted(_ job: Job) {
    switch job {
    case .document(let number):
      settleManifestHalted(documents[number].segment)
    case .item(let item): settleItemHalted(item)
    }
  }

  // MARK: Active items

  /// Makes an item active and returns its object, which takes over the data of a simple item.
  @discardableResult
  mutating func activate(_ item: Int) -> ActiveItem {
    if let active = items.ifActive(item) { return active }
    let new = newActive(item)
    if items.isSimple(item) { promoteSimple(item, to: new) }
    items.activate(item, as: new)
    return new
  }
}

/// Work that takes a slot on the wire: items are numbered from 0 up, documents from -1 down.
enum Job: Hashable, Sendable {
  case document(Int)
  case item(Int)

  init(number: Int) {
    self = number < 0 ? .document(-number - 1) : .item(number)
  }

  var number: Int {
    switch self {
    case .document(let document): -document - 1
    case .item(let item): item
    }
  }
}
