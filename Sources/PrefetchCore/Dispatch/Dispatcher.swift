/// The run as a value: events in, effects out.
///
/// It owns every decision and touches nothing. Manifests first, then items by segment priority,
/// then what is durable, then removals. Every item settles exactly once; after an interruption
/// nothing starts.
package struct Dispatcher: Sendable {
  /// What was known when the run began.
  package struct Start: Sendable {
    package var request: RunRequest
    package var facts: Planner.Facts
    package var segments: [SegmentRecord]
    package var uptime: Duration
    package var seed: UInt64

    package init(
      request: RunRequest,
      facts: Planner.Facts,
      segments: [SegmentRecord],
      uptime: Duration,
      seed: UInt64
    ) {
      self.request = request
      self.facts = facts
      self.segments = segments
      self.uptime = uptime
      self.seed = seed
    }
  }

  enum Phase: Hashable, Sendable {
    case working
    /// The last commit of the run is under way.
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
  let facts: Planner.Facts
  var phase = Phase.working
  var halt: Halt?
  /// Once the store has refused a commit, nothing more is given to it.
  var storeFailure: Failure?
  var segments: [SegmentWork]
  var items: [ItemWork] = []
  var itemByURL: [String: Int] = [:]
  var jobs: [Job] = []
  var queue: TransferQueue
  var inFlight: [TransferID: (job: Int, host: String)] = [:]
  var waiting = WaitingLine()
  var manifestExchanges: [Int: Exchange] = [:]
  var batch = CommitBatch()
  var jitter: Jitter
  let deadline: Duration?
  private var nextTransfer = 1

  package init(_ start: Start) {
    request = start.request
    facts = start.facts
    jitter = Jitter(seed: start.seed)
    deadline = start.request.policy.deadline.map { start.uptime + $0 }
    queue = TransferQueue(
      concurrency: start.request.policy.concurrency,
      perHost: start.request.policy.perHost
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
    [waiting.earliest, halt == nil ? deadline : nil, batch.due].compactMap(\.self).min()
  }

  package mutating func handle(_ event: Event, now: Moment, into effects: inout [Effect]) {
    switch event {
    case .started: begin(now: now, into: &effects)
    case .transferProgressed(_, let bytes): effects.append(.announce(.bytesReceived(bytes)))
    case .transferFinished(let id, let result):
      transferFinished(id, result, now: now, into: &effects)
    case .manifestRead(let segment, let result):
      manifestRead(segment, result, now: now, into: &effects)
    case .committed(let removed): committed(removed, into: &effects)
    case .commitFailed(let failure): commitFailed(failure, into: &effects)
    case .interrupted(let signal):
      effects.append(.announce(.interrupted(signal: signal)))
      stop(.interrupted, into: &effects)
    case .timePassed: break
    }
    advance(now: now, into: &effects)
  }

  private mutating func begin(now: Moment, into effects: inout [Effect]) {
    for index in segments.indices {
      discover(index, now: now, into: &effects)
    }
  }

  /// Whatever the event was: start what may start, write what is due, end when all is done.
  private mutating func advance(now: Moment, into effects: inout [Effect]) {
    if let deadline, halt == nil, now.uptime >= deadline, hasOpenWork {
      stop(.deadline, into: &effects)
    }
    resumeWaiting(now: now)
    startTransfers(into: &effects)
    let isIdle = inFlight.isEmpty && queue.count == 0
    if batch.isDue(now: now.uptime, isIdle: isIdle) { flush(into: &effects) }
    finishIfDone(now: now, into: &effects)
  }

  private var hasOpenWork: Bool {
    !inFlight.isEmpty || queue.count > 0 || !waiting.isEmpty
  }

  private mutating func resumeWaiting(now: Moment) {
    guard halt == nil else { return }
    while let job = waiting.take(at: now.uptime) { enqueue(job) }
  }

  private mutating func startTransfers(into effects: inout [Effect]) {
    while halt == nil, let (job, host) = queue.take() {
      let id = TransferID(nextTransfer)
      nextTransfer += 1
      inFlight[id] = (job, host)
      switch jobs[job] {
      case .manifest(let segment):
        guard let request = manifestExchanges[segment]?.nextRequest(id) else { continue }
        effects.append(.startTransfer(request))
      case .item(let item):
        guard let request = items[item].exchange?.nextRequest(id) else { continue }
        if items[item].result.attempts == 0 {
          let names = items[item].segments.map { segments[$0].declaration.name }
          effects.append(.announce(.itemStarted(items[item].entry.url, segments: names)))
        }
        items[item].result.attempts += 1
        items[item].state = .inFlight(id)
        effects.append(.startTransfer(request))
      }
    }
  }

  private mutating func transferFinished(
    _ id: TransferID,
    _ result: TransferResult,
    now: Moment,
    into effects: inout [Effect]
  ) {
    guard let (job, host) = inFlight.removeValue(forKey: id) else { return }
    queue.finished(on: host, httpVersion: result.figures.httpVersion)
    let status = try? result.outcome.get().status
    switch jobs[job] {
    case .manifest(let segment):
      guard var exchange = manifestExchanges[segment] else { return }
      announceRequest(status, result.figures, exchange, for: [segment], into: &effects)
      let step = exchange.receive(
        result.outcome,
        policy: request.policy,
        now: now.wall,
        random: jitter.next()
      )
      manifestExchanges[segment] = exchange
      guard !proceed(job, step, now: now) else { return }
      manifestAnswered(segment, step, now: now, into: &effects)
    case .item(let item):
      guard var exchange = items[item].exchange else { return }
      let asking = items[item].segments
      announceRequest(status, result.figures, exchange, for: asking, into: &effects)
      items[item].result.figures = result.figures
      let step = exchange.receive(
        result.outcome,
        policy: request.policy,
        now: now.wall,
        random: jitter.next()
      )
      items[item].exchange = exchange
      guard !proceed(job, step, now: now) else { return }
      itemAnswered(item, step, now: now, into: &effects)
    }
  }

  /// Whether the exchange goes on; after a halt it ends where it stands.
  private mutating func proceed(_ job: Int, _ step: Exchange.Step, now: Moment) -> Bool {
    guard halt == nil else { return false }
    switch step {
    case .ask:
      enqueue(job)
      return true
    case .wait(let pause):
      waiting.insert(job, until: now.uptime + pause)
      if case .item(let item) = jobs[job] {
        items[item].state = .waiting(until: now.uptime + pause)
      }
      return true
    case .answered, .failed, .deferred:
      return false
    }
  }

  private func announceRequest(
    _ status: Int?,
    _ figures: TransferFigures,
    _ exchange: Exchange,
    for asking: [Int],
    into effects: inout [Effect]
  ) {
    let result = RequestResult(
      url: exchange.hop,
      segments: asking.map { segments[$0].declaration.name },
      status: status,
      wireBytes: figures.wireBytes,
      isRetry: exchange.attempts - exchange.redirects.count > 1
    )
    effects.append(.announce(.requestFinished(result)))
  }

  /// Puts a job, new or going on, into the line for its present host.
  mutating func enqueue(_ job: Int) {
    switch jobs[job] {
    case .manifest(let segment):
      guard let exchange = manifestExchanges[segment] else { return }
      queue.append(job, host: exchange.hop.authority, rank: .init(priority: 0, order: 0))
    case .item(let item):
      guard let exchange = items[item].exchange else { return }
      items[item].state = .queued
      // What is already under way goes before what has not begun.
      let isUnderWay = exchange.attempts > 0
      let segment = items[item].segments[0]
      let rank = TransferQueue.Rank(priority: segments[segment].priority ?? 101, order: segment)
      queue.append(
        job,
        host: exchange.hop.authority,
        rank: isUnderWay ? .init(priority: 0, order: 1) : rank
      )
    }
  }

  /// Nothing new starts; what is on the wire is called back, what waits is settled as it is.
  mutating func stop(_ reason: Halt, into effects: inout [Effect]) {
    switch halt {
    case .interrupted, .store: return
    case .deadline, nil: halt = reason
    }
    for id in inFlight.keys.sorted() { effects.append(.cancelTransfer(id)) }
    for job in queue.drain() + waiting.drain() { settleHalted(job, into: &effects) }
  }

  /// Asks the same again at once, for an answer that did not fit the question.
  mutating func reask(_ job: Job, into effects: inout [Effect]) {
    jobs.append(job)
    guard halt == nil else { return settleHalted(jobs.count - 1, into: &effects) }
    enqueue(jobs.count - 1)
  }

  mutating func settleHalted(_ job: Int, into effects: inout [Effect]) {
    switch jobs[job] {
    case .manifest(let segment): settleManifestHalted(segment, into: &effects)
    case .item(let item): settleItemHalted(item, into: &effects)
    }
  }
}
