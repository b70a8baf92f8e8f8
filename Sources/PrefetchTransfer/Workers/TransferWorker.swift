internal import CCurl
internal import PrefetchCore

/// Worker thread with a multi handle and its transfers; only the mailboxes are shared.
///
/// A structure needs no exclusivity checks of its fields.
struct TransferWorker {
  /// libcurl 7 may have read data of another stream already, so the worker must not sleep longer.
  private static let multiplexedWait: Duration = .milliseconds(10)
  private static let longestSleep: Duration = .seconds(60)
  private static let idleLaneLimit = 64
  private static let doze: Duration = .milliseconds(5)
  /// Longest delay of results while requests are queued.
  private static let batchTime: Duration = .milliseconds(1)
  private static let fewWaiting = 4

  let number: Int
  let settings: TransportSettings
  let staging: any BodyStaging
  private let orders: [Mailbox<WorkerOrder>]
  private let reports: Mailbox<WorkerReport>
  let multi: MultiHandle
  let sockets = OpenSockets()
  var pools: ConnectionPools
  let rates: RateControl
  let slots: Locked<WireSlots>
  let hosts: Locked<HostRates>
  private let silence: Locked<SummedSilence>
  var lines: [OriginLine] = []
  var running: [Lane] = []
  var idle: [[Lane]] = [[]]
  /// Bodies that arrive over several connections.
  var ranged: [RangedBody] = []
  /// Whether bytes of such a body wait for their hashing.
  var isHashing = false
  /// Origins whose queues wait for a shared slot, in turn.
  var starved: [Int] = []
  var waitingCount = 0
  var sharingCount = 0
  private var incoming: [WorkerOrder] = []
  private var outgoing: WorkerReport
  private var reportsDue: Duration?
  var mustReport = false
  var mayNeedHTTP1: Bool
  let mustUploadOverHTTP1: Bool
  private var nextInspection: Duration = .zero
  var mustPerform = false
  private var isStopping = false

  init(
    number: Int,
    settings: TransportSettings,
    staging: any BodyStaging & Sendable,
    orders: [Mailbox<WorkerOrder>],
    reports: Mailbox<WorkerReport>,
    buckets: Locked<RateBuckets>,
    slots: Locked<WireSlots>,
    hosts: Locked<HostRates>,
    silence: Locked<SummedSilence>
  ) throws(Failure) {
    self.number = number
    self.settings = settings
    mayNeedHTTP1 = settings.lessons[.openEnds] != nil
    self.staging = staging
    self.orders = orders
    self.reports = reports
    self.slots = slots
    self.hosts = hosts
    self.silence = silence
    outgoing = WorkerReport(worker: number)
    rates = RateControl(buckets)
    let library = LibraryVersion()
    mustUploadOverHTTP1 = library.mishandlesRefusedUpload
    pools = ConnectionPools(settings, library: library, sockets: sockets)
    multi = try MultiHandle(sockets)
    let connections = (settings.connectionsPerHost + orders.count - 1) / orders.count
    try multi.set(CURLMOPT_MAX_HOST_CONNECTIONS, max(1, connections))
    try multi.set(CURLMOPT_MAX_CONCURRENT_STREAMS, 8 * settings.connectionsPerHost)
  }

  mutating func run() {
    while true {
      obey()
      guard !isStopping else { break }
      rates.resume()
      startHeld()
      startStarved()
      if mustPerform { perform() }
      inspect()
      serveRanges()
      wakeWaiting()
      postReports()
      if !mustPerform, !isHashing { sleep() }
    }
    let reason = Failure(.cancelled, "the run ended")
    endRanges(of: Set(ranged.map(\.first.request.id))) { _ in reason }
    for lane in running {
      multi.remove(lane.handle)
      _ = lane.transfer?.result(.brokenOff(reason), TransferFigures())
    }
  }

  // MARK: Orders

  private mutating func obey() {
    orders[number].drain(into: &incoming)
    var cancelled: Set<TransferID> = []
    for order in incoming {
      switch order {
      case .start(let queued):
        enqueue(queued)
      case .order(let id, let order, let assignment):
        enqueue(QueuedRequest(order.request(id), assignment))
      case .cancel(let id):
        cancelled.insert(id)
      case .interrupt(let id):
        for lane in running where lane.transfer?.request.id == id { lane.transfer?.keepAnyPart() }
        cancelled.insert(id)
      case .stop:
        isStopping = true
      }
    }
    if !incoming.isEmpty {
      slots.withLock { [number] in $0.clearCall(number) }
    }
    incoming.removeAll(keepingCapacity: true)
    if !cancelled.isEmpty { cancel(cancelled) }
  }

  private func wakeWaiting() {
    guard orders.count > 1 else { return }
    guard let other = slots.withLock({ [number] in $0.nextWaiting(except: number) }) else {
      return
    }
    orders[other].bell.ring()
  }

  private mutating func postReports() {
    guard !outgoing.isEmpty else { return }
    if !mustReport, outgoing.count < WorkerReport.usualSize, waitingCount > 0 {
      let now = Uptime.now()
      let due = reportsDue ?? now + Self.batchTime
      reportsDue = due
      guard due <= now else { return }
    }
    mustReport = false
    reportsDue = nil
    var batch = [outgoing]
    outgoing = WorkerReport(worker: number)
    reports.post(&batch)
  }

  // MARK: The loop

  /// Takes libcurl a step further and settles what ended; each call checks every socket.
  private mutating func perform() {
    mustPerform = false
    do throws(Failure) {
      try multi.perform()
    } catch {
      return failAll(error)
    }
    while let (lane, result) = multi.nextCompletion() {
      finish(lane, result)
    }
  }

  private mutating func inspect() {
    guard !running.isEmpty else { return }
    let now = Uptime.now()
    guard now >= nextInspection else { return }
    nextInspection = now + TransferWatch.interval(settings)
    // Backwards: settling a lane moves the last lane to its index.
    for lane in running.reversed() {
      guard let transfer = lane.transfer else { continue }
      // A transfer paused by the rate control has not stalled.
      if lane.isPaused { transfer.hasActivity = true }
      if lane.mayShareConnection, !transfer.hasActivity, transfer.isRequested, !lane.isPaused,
        lane.pool.options.library.overlooksEndOfSession
      {
        lane.handle.lookAgain()
        mustPerform = true
      }
      let arrived = lane.watch.update(transfer, at: now)
      if arrived > 0 {
        outgoing.progressed(transfer.request.id, transfer.advance(by: arrived))
        let latency = lane.handle.latency
        let limit = slots.withLock {
          $0.record(arrived, from: lane.origin, latency: latency, at: now)
        }
        reportWindow(of: lane.origin, limit)
      }
      guard
        let failure = lane.watch.overdue(transfer, at: now)
          ?? lane.watch.exhausted(transfer, silence, at: now)
      else {
        considerRanges(lane, transfer, at: now)
        continue
      }
      transfer.giveUp(failure)
      settle(lane, .concluded(nil))
    }
    steerRanges(at: now)
  }

  private mutating func sleep() {
    // With queued requests, the end of a transfer makes the worker look for more orders.
    let isDozing = waitingCount > 0 || !outgoing.isEmpty
    guard orders[number].willSleep(isDozing ? .dozing : .asleep) else { return }
    var limit = Self.longestSleep
    if !running.isEmpty {
      limit = max(.milliseconds(1), nextInspection - Uptime.now())
    }
    for time in [rates.nextResumption, rates.nextStart].compactMap({ $0 }) {
      limit = min(limit, max(.milliseconds(1), time - Uptime.now()))
    }
    if sharingCount > 0 { limit = min(limit, Self.multiplexedWait) }
    if isDozing { limit = min(limit, outgoing.isEmpty ? Self.doze : Self.batchTime) }
    do throws(Failure) {
      let isMoving = try multi.poll(milliseconds: limit.milliseconds, wokenBy: orders[number].bell)
      // Data of one stream may have been read with another's; no socket reports that.
      mustPerform = isMoving || sharingCount > 0
    } catch {
      failAll(error)
    }
  }

  // MARK: Ends

  private mutating func finish(_ lane: Lane, _ result: CURLcode) {
    guard let transfer = lane.transfer else { return }
    let handle = lane.handle
    guard result != CURLE_OK else {
      return settle(lane, .concluded(nil))
    }
    let fault = CurlFault(
      code: result,
      phase: transfer.phase,
      detail: handle.lastError,
      systemError: handle.number(CURLINFO_OS_ERRNO),
      proxyStatus: handle.number(CURLINFO_HTTP_CONNECTCODE),
      proxy: (transfer.request.connection?.value.proxy ?? settings.proxy)
        .name(before: transfer.request.url)
    )
    let failure =
      lane.verdict(on: fault) ?? fault.failure(for: transfer.request.url, settings: settings)
    settle(lane, .concluded(failure))
  }

  mutating func settle(_ lane: Lane, _ completion: RunningTransfer.Completion) {
    guard let transfer = lane.transfer else { return }
    if let share = transfer.share { return settle(lane, share, completion) }
    let queued = transfer.queued
    let version = transfer.version
    let isCut = if case .brokenOff = completion { true } else { transfer.isGivenUp }
    let figures = figures(of: lane, transfer, isCut: isCut)
    recordArrival(of: transfer, on: lane, figures)
    var result = transfer.result(completion, figures)
    remove(lane)
    let origin = lane.origin
    if transfer.triesHTTP3 || lines[origin].avoidsHTTP3 {
      let lesson = lines[origin].recordHTTP3(
        wasTried: transfer.triesHTTP3,
        isRequested: transfer.isRequested,
        respondedVersion: version,
        failure: result.failure?.code
      )
      if lesson == .mustTryOlder { return start(queued) }
      if lesson == .didFallBack { result = result.teaching(.noHTTP3) }
    }
    if lane.isWithheld || transfer.hasOpenEnd || transfer.isOverHTTP1, case .concluded = completion
    {
      if repeatRequest(transfer, result, lane) { return }
      result = taught(result, queued)
    }
    releaseSlot(of: origin)
    if let version {
      lines[origin].recordResponse(isTextual: version.isTextual)
    }
    conclude(result, of: queued, from: origin)
  }

  func figures(of lane: Lane, _ transfer: RunningTransfer, isCut: Bool) -> TransferFigures {
    let version = transfer.version
    var figures = TransferFigures()
    figures.version = version
    figures.started = lane.startedAt
    lane.handle.measure(&figures, receivedSize: transfer.receivedSize)
    // libcurl reads the clock only at events.
    if isCut {
      figures.total = max(figures.total ?? .zero, Uptime.wallTime() - lane.startedAt)
    }
    figures.requestCount =
      max(transfer.requestCount, version == nil ? 0 : 1)
    if let repetition = transfer.queued.repetition {
      figures.requestCount += repetition.requestCount
      figures.wireBytes += repetition.wireBytes
    }
    figures.unexpectedKey = lane.pool.unexpectedKey(of: lane.origin)
    figures.trace = lane.trace
    return figures
  }

  mutating func remove(_ lane: Lane) {
    lane.rates?.end(lane)
    multi.remove(lane.handle)
    running[running.count - 1].position = lane.position
    running.swapAt(lane.position, running.count - 1)
    running.removeLast()
    if lane.mayShareConnection { sharingCount -= 1 }
    lane.unload()
    // A handle removed while paused might start its next transfer paused.
    let pool = lane.pool.number
    if !lane.isPaused, idle[pool].count < Self.idleLaneLimit { idle[pool].append(lane) }
  }

  /// Passes the end of a transfer to the loop, as an outcome where its order foresaw it.
  mutating func conclude(_ result: TransferResult, of queued: QueuedRequest, from origin: Int) {
    if let order = queued.request.expectedOutcome,
      let outcome = order.outcome(
        of: result.outcome,
        result.figures,
        confirming: queued.request.storedForConfirmation,
        at: Uptime.wallTime()
      )
    {
      outgoing.judged(queued.request.id, outcome, origin: queued.assignment.origin)
      return continueLine(with: origin)
    }
    let isTrouble = result.isTrouble
    report(result, of: queued, isTrouble: isTrouble)
    if isTrouble { hold(origin) }
    continueLine(with: origin)
  }

  private mutating func recordArrival(
    of transfer: RunningTransfer,
    on lane: Lane,
    _ figures: TransferFigures
  ) {
    guard transfer.version != nil else { return }
    let now = Uptime.now()
    let arrived = lane.watch.update(transfer, at: now)
    let limit = slots.withLock {
      $0.record(
        arrived,
        from: lane.origin,
        responses: 1,
        latency: figures.responseTime,
        at: now
      )
    }
    reportWindow(of: lane.origin, limit)
  }

  /// Reports to the loop how many connections the host gets, for the requests that it hands out.
  mutating func reportWindow(of origin: Int, _ limit: Int?) {
    guard settings.findsConnections, let limit else { return }
    outgoing.found(limit, of: origin)
    mustReport = true
  }

  private func taught(_ result: TransferResult, _ queued: QueuedRequest) -> TransferResult {
    let failures = ResponseFailures(host: queued.request.url.authority)
    switch queued.repetition?.mode {
    case .overHTTP1:
      if let refusal = result.http1Refusal {
        return result.failed(failures.openStream(refused: refusal))
      }
      return result.figures.version == nil ? result : result.teaching(.openEnds)
    case .overHTTP2(let refusal) where result.failure?.code == .truncated:
      return result.failed(failures.openStream(refused: refusal))
    case .overHTTP2, .asBefore, nil:
      return result
    }
  }

  private mutating func continueLine(with origin: Int) {
    advance(origin)
    if lines[origin].waitingCount <= Self.fewWaiting { mustReport = true }
  }

  mutating func report(
    _ result: TransferResult,
    of queued: QueuedRequest,
    isTrouble: Bool = false
  ) {
    let end = WorkerReport.End(origin: queued.assignment.origin, isTrouble: isTrouble)
    outgoing.finished(queued.request.id, result, end)
  }

  private mutating func failAll(_ failure: Failure) {
    for lane in running.reversed() {
      settle(lane, .brokenOff(failure))
    }
  }
}
