// The compiler's check of what cannot be copied looks at every field at each use of it, which is
// two thirds of the time that a debug build of this module takes; a release is checked.
#if DEBUG
package typealias Uncopied = Copyable
#else
package typealias Uncopied = ~Copyable
#endif

/// The run as a value: events in, effects out.
///
/// It cannot be copied, so no method that only reads can be handed a copy of all it holds.
/// It owns every decision and touches nothing. Manifests and items by ``Rank``, then what is durable, then removals. Every item settles exactly once; after an interruption
/// nothing starts.
package struct Dispatcher: Uncopied {
  /// What was known when the run began.
  package struct Start: Sendable {
    package var request: RunRequest
    package var segments: [SegmentRecord]
    /// Whether the object folders changed since the last run looked.
    package var hasUnseenChanges: Bool
    /// Whether objects may be here that a lost index named.
    package var seeksLostBodies: Bool
    /// Parts of bodies that earlier runs kept, by the URL of their item.
    package var partials: [String: PartialBody]
    /// Hosts that asked earlier runs to stay away for a while.
    package var gates: [HostGate]
    /// Of the store's digests of request headers.
    package var key: VarianceKey
    package var now: Moment
    package var seed: UInt64
    /// Whether no observer wants to hear of every item and request by itself.
    package var isBrief: Bool
    /// The id of an item whose publisher gave it none.
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
    /// The last commit of the run is under way, or its removals are being read.
    case finishing
    case finished
  }

  /// Why nothing new starts any more.
  enum Halt: Hashable, Sendable {
    case interrupted
    case deadline
    case store(Failure)

    /// What failed for good; nil where time alone will bring what is left.
    var failure: Failure? {
      guard case .store(let failure) = self, !failure.isOfWaiting else { return nil }
      return failure
    }

    /// What is said of that which it puts off; nil where no rule did.
    var deferral: Deferral? {
      switch self {
      case .deadline: Deferral(rule: .deadline)
      case .store(let failure) where failure.code == .locked: Deferral(rule: .lock)
      case .interrupted, .store: nil
      }
    }
  }

  /// In one box: the compiler looks at every field of what cannot be copied, at each use of it.
  let given: Shared<Start>
  // Inlined, so that no caller gets a copy of all of it for one of its fields.
  var start: Start {
    @inline(__always) get { given.value }
  }
  var request: RunRequest {
    @inline(__always) get { given.value.request }
  }
  /// Of the event at hand, and what is to be done for it.
  var now: Moment
  var effects: [Effect] = []
  /// What the cache held; empty until something had to be looked up.
  var facts: Planner.Facts
  /// What waits for ``facts``.
  var inventoryQuestions = InventoryQuestions()
  var phase = Phase.working
  var halt: Halt?
  /// Once the store has refused a commit, nothing more is given to it.
  var storeFailure: Failure?
  var segments: Segments
  var items = ItemTable()
  var bundles = Bundles()
  var answerCounts = AnswerCounts()
  var declared = DeclaredURLs()
  /// How items ended that another segment may still name.
  var settled = SettledItems()
  var declaredItems = 0
  /// What proved to be gone from its server, and the configuration gives up then.
  var givenUp: Set<URLKey> = []
  var wire: Wire
  var begun = Obligations.Begun()
  var space: Space
  var connections: ConnectionTable
  var documents: Documents
  var batch: CommitBatch
  /// Bodies that came in this run, where a segment publishes any.
  var freshBodies: [URLKey: TreeBody] = [:]
  var claims = Claims()
  /// By which what another run has brought is judged, once there is any.
  var keptFacts: Planner.Facts?
  var jitter: Jitter
  let deadline: Duration?
  /// Nil where no rule of the network holds anything back.
  var network: NetworkWatch?
  /// Segments whose manifests ask something of a network that has not been looked at yet.
  var awaitingConditions: [(segment: Int, rejected: [RejectedEntry])] = []
  /// Segments of which it is to be looked at whether they still hold others back.
  var unsettledHoldbacks: Set<Int> = []
  /// Whether this machine has no network.
  var isCutOff = false
  /// Whether anything was asked about the segments themselves.
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
    bundles.spare = start.request.streams.spare
    batch =
      start.request.servesClients
      ? CommitBatch(patience: CommitBatch.patienceOfClients) : CommitBatch()
    deadline = start.request.policy.deadline.map { start.now.uptime + $0 }
    network = NetworkWatch.ifNeeded(start.request)
    wire = Wire(
      start.request.policy,
      // What could close at any moment is not handed over ahead of its turn.
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

  /// Of each host that answered.
  package var namedResponseTimes: [String: ResponseTimes] { wire.namedResponseTimes }

  /// Of each host that enough came from.
  package var namedPaces: [String: HostPace] { wire.namedPaces }

  /// The hosts that the next run must leave alone as well.
  package func openGates(at now: Moment) -> [HostGate] { wire.openGates(at: now) }

  /// When something has to happen even if nothing arrives.
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
    case .booked(let usage): booked(usage)
    case .memoryFailed(let failure): memoryFailed(failure)
    case .networkLost: networkLost()
    case .transferProgressed(let id, let advance):
      progressed(id, advance)
      announce(.bytesReceived(advance.bytes))
    case .transferFinished(let id, let result):
      transferFinished(id, result)
    case .transferJudged(let id, let outcome):
      transferJudged(id, outcome)
    case .documentRead(let document, let result):
      documentRead(document, result)
    case .documentFound(let number, let isOurs, let found):
      documentFound(number, isOurs: isOurs, found)
    case .bundleRead(let item, let result):
      bundleRead(item, result)
    case .textsStaged(let item, let result):
      textsStaged(item, result)
    case .inventoryTaken(let result): inventoryTaken(result)
    case .planningResumed(let segment): planningResumed(segment)
    case .prepared(let answers):
      for answer in answers { prepared(answer) }
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

  /// Whatever the events were: start what may start, write what is due, end when all is done.
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
    // Behind these, of which one may end without a request and be the last.
    foretell()
    announceAnswers()
    let isIdle = isQuiescent(.wire)
    let isDue = batch.isDue(now: now.uptime, isIdle: isIdle)
    keepBooks(isIdle: isIdle || isDue)
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
      if endsAsTold(job) { continue }
      if let deferral = deferral(of: job, isRetry: true) {
        settle(job, deferral)
      } else {
        enqueue(job)
      }
    }
  }

  /// Nothing new starts; what is on the wire is called back, what waits is settled as it is.
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

  /// Asks the same again at once, for an answer that did not fit the question.
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

  /// An item that is about to be looked at by itself.
  @discardableResult
  mutating func activate(_ item: Int) -> ActiveItem {
    if let active = items.ifActive(item) { return active }
    let new = newActive(item)
    if items.isPlain(item) { movePlain(item, to: new) }
    items.activate(item, as: new)
    return new
  }
}

/// Who asks for a place on the wire; items count up from zero, documents down from minus one.
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
