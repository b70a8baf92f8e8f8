internal import CCurl
internal import PrefetchCore

/// What the loop tells a worker.
enum WorkerOrder: Sendable {
  case start(TransferRequest, HostShares.Assignment)
  case cancel(TransferID)
  case stop
}

/// What a worker tells the loop.
struct WorkerReport: Sendable {
  var event: TransferEvent
  var origin: Int
  var worker: Int
  /// Whether it counts among the host's troubles.
  var isTrouble = false
}

/// One thread's transfers: a set of libcurl's handles, and all that is done with what they bring.
///
/// Nothing of it is touched by any other thread once `run` has begun; the mailboxes are the doors.
final class TransferWorker {
  /// libcurl 7 may sleep on data that it has read already for another stream of a connection.
  private static let multiplexedWait: Duration = .milliseconds(10)
  private static let longestSleep: Duration = .seconds(60)
  private static let idleLaneLimit = 64
  /// How long it may be before new orders are seen that cannot start at once.
  private static let doze: Duration = .milliseconds(5)
  /// Results are handed over by the batch as long as requests are left to send meanwhile.
  private static let batchSize = 32
  private static let batchTime: Duration = .milliseconds(1)
  private static let fewWaiting = 4

  private let number: Int
  private let settings: TransportSettings
  private let staging: any BodyStaging
  /// Of all workers.
  private let orders: [Mailbox<WorkerOrder>]
  private let reports: Mailbox<WorkerReport>
  private let options: RequestOptions
  private let multi: MultiHandle
  private let rates: RateControl
  private let places: Locked<WirePlaces>
  private var lines: [OriginLine] = []
  private var running: [Lane] = []
  private var idle: [Lane] = []
  /// Lines that wait for what all workers may have together, in turn.
  private var starved: [Int] = []
  private var waitingCount = 0
  private var sharingCount = 0
  private var incoming: [WorkerOrder] = []
  private var outgoing: [WorkerReport] = []
  /// When what is outgoing must be handed over.
  private var reportsDue: Duration?
  private var mustReport = false
  private var nextInspection: Duration = .zero
  /// When the first request that waits for a rate may begin.
  private var nextStart: Duration?
  private var mustPerform = false
  private var isStopping = false

  init(
    number: Int,
    settings: TransportSettings,
    staging: any BodyStaging & Sendable,
    orders: [Mailbox<WorkerOrder>],
    reports: Mailbox<WorkerReport>,
    buckets: Locked<RateBuckets>,
    places: Locked<WirePlaces>
  ) throws(Failure) {
    self.number = number
    self.settings = settings
    self.staging = staging
    self.orders = orders
    self.reports = reports
    self.places = places
    rates = RateControl(buckets)
    options = RequestOptions(settings, library: LibraryVersion())
    multi = try MultiHandle()
    let connections = (settings.connectionsPerHost + orders.count - 1) / orders.count
    try multi.set(CURLMOPT_MAX_HOST_CONNECTIONS, max(1, connections))
    try multi.set(CURLMOPT_MAX_CONCURRENT_STREAMS, 8 * settings.connectionsPerHost)
  }

  /// Works until told to stop; then whatever is under way is broken off.
  func run() {
    while true {
      obey()
      guard !isStopping else { break }
      rates.resume()
      startHeld()
      startStarved()
      if mustPerform { perform() }
      inspect()
      wakeWaiting()
      postReports()
      // What has just begun can be sent at once.
      if !mustPerform { sleep() }
    }
    for lane in running {
      multi.remove(lane.handle)
      _ = lane.exchange?.breakOff(Failure(.cancelled, "the run ended"))
    }
  }

  // MARK: Orders

  private func obey() {
    orders[number].take(into: &incoming)
    var cancelled: Set<TransferID> = []
    for order in incoming {
      switch order {
      case .start(let request, let assignment):
        enqueue(request, assignment)
      case .cancel(let id):
        cancelled.insert(id)
      case .stop:
        isStopping = true
      }
    }
    incoming.removeAll(keepingCapacity: true)
    if !cancelled.isEmpty { cancel(cancelled) }
  }

  private func enqueue(_ request: TransferRequest, _ assignment: HostShares.Assignment) {
    while lines.count <= assignment.origin {
      lines.append(OriginLine(sharing: .unknown))
    }
    if !options.mayShareConnection(request.url.scheme) {
      lines[assignment.origin].sharing = .single
    }
    lines[assignment.origin].enqueue(request, assignment)
    waitingCount += 1
    advance(assignment.origin)
  }

  /// Starts what may start; whoever waits longer for a place that all share goes first.
  private func advance(_ origin: Int) {
    guard starved.isEmpty else {
      starve(origin)
      return startStarved()
    }
    while startNext(of: origin) {}
  }

  private func starve(_ origin: Int) {
    guard !lines[origin].isStarved, lines[origin].waitingCount > 0 else { return }
    lines[origin].isStarved = true
    starved.append(origin)
  }

  /// The starved lines take turns, one request each, as long as there are places.
  private func startStarved() {
    while let origin = starved.first {
      starved.removeFirst()
      lines[origin].isStarved = false
      if startNext(of: origin) {
        starve(origin)
      } else if lines[origin].isStarved {
        // It went to the end, but it is still its turn.
        starved.removeLast()
        starved.insert(origin, at: 0)
        return
      }
    }
  }

  /// False when nothing of the line may start now.
  private func startNext(of origin: Int) -> Bool {
    while let waiting = lines[origin].next(mayStart) {
      let number = number
      let answer = places.withLock {
        $0.take(number, host: origin, knowing: waiting.troubles)
      }
      switch answer {
      case .granted:
        waitingCount -= 1
        start(waiting.request, origin: origin)
        return true
      case .outdated:
        waitingCount -= 1
        lines[origin].noteEnd()
        giveBack(waiting.request, origin)
      case .full:
        lines[origin].putBack(waiting)
        starve(origin)
        return false
      }
    }
    return false
  }

  /// Whoever handed it over decides again.
  private func giveBack(_ request: TransferRequest, _ origin: Int) {
    let reason = Failure(
      .cancelled,
      "`\(request.url.authority)` was not asked after its last answer"
    )
    report(TransferResult(notSent: reason), of: request.id, origin)
    mustReport = true
  }

  /// What one worker does not need any more, another may wait for.
  private func wakeWaiting() {
    guard orders.count > 1 else { return }
    let number = number
    guard let other = places.withLock({ $0.nextWaiting(besides: number) }) else { return }
    orders[other].bell.ring()
  }

  /// As long as there is work in hand nobody has to hear of every single result.
  private func postReports() {
    guard !outgoing.isEmpty else { return }
    if !mustReport, outgoing.count < Self.batchSize, waitingCount > 0 {
      let now = Uptime.now()
      let due = reportsDue ?? now + Self.batchTime
      reportsDue = due
      guard due <= now else { return }
    }
    mustReport = false
    reportsDue = nil
    reports.post(&outgoing)
  }

  /// Whether nothing is owed to a rate that the request is held to.
  private func mayStart(_ request: TransferRequest) -> Bool {
    guard rates.holds(request) else { return true }
    let now = Uptime.now()
    let readyAt = rates.readyAt(request, now: now)
    guard readyAt > now else { return true }
    nextStart = min(nextStart ?? readyAt, readyAt)
    return false
  }

  /// Begins what waited for a rate.
  private func startHeld() {
    guard let due = nextStart, due <= Uptime.now() else { return }
    nextStart = nil
    for origin in lines.indices {
      advance(origin)
    }
  }

  private func start(_ request: TransferRequest, origin: Int) {
    let exchange = WireExchange(request, staging: staging)
    exchange.triesHTTP3 = !lines[origin].avoidsHTTP3 && options.triesHTTP3(request.url)
    do throws(Failure) {
      let lane = try takeLane(for: origin)
      lane.load(exchange, origin: origin, heldBy: rates.holds(request) ? rates : nil)
      try lane.handle.prepare(exchange, options)
      try multi.add(lane.handle)
      mustPerform = true
      lane.watch = TransferWatch(settings: settings, now: .zero)
      lane.position = running.count
      lane.mayShareConnection = lines[origin].sharing != .single
      if lane.mayShareConnection { sharingCount += 1 }
      running.append(lane)
    } catch {
      endPlace(of: origin)
      report(TransferResult(.failure(error), figures: TransferFigures()), of: request.id, origin)
    }
  }

  /// A handle that asked the same origin before has the least to change.
  private func takeLane(for origin: Int) throws(Failure) -> Lane {
    for index in idle.indices.suffix(4) where idle[index].origin == origin {
      idle.swapAt(index, idle.count - 1)
    }
    if let lane = idle.popLast() { return lane }
    return try Lane(options)
  }

  /// Those in line go first, lest they start in the place of those that are broken off.
  private func cancel(_ ids: Set<TransferID>) {
    mustReport = true
    for origin in lines.indices where lines[origin].waitingCount > 0 {
      for request in lines[origin].removeAll(in: ids) {
        waitingCount -= 1
        let result = TransferResult(notSent: Self.cancellation(of: request))
        report(result, of: request.id, origin)
      }
    }
    for lane in running {
      guard let exchange = lane.exchange, ids.contains(exchange.request.id) else { continue }
      settle(lane, exchange.breakOff(Self.cancellation(of: exchange.request)))
    }
  }

  private static func cancellation(of request: TransferRequest) -> Failure {
    Failure(.cancelled, "the transfer from `\(request.url.authority)` was cancelled")
  }

  // MARK: The loop

  /// Each call asks the system for every socket in use, so it is made only when it may bring news.
  private func perform() {
    mustPerform = false
    do throws(Failure) {
      try multi.perform()
    } catch {
      return failAll(error)
    }
    while let completion = multi.nextCompletion() {
      guard let lane = completion.lane else { continue }
      finish(lane, completion.result)
    }
  }

  private func inspect() {
    guard !running.isEmpty else { return }
    let now = Uptime.now()
    guard now >= nextInspection else { return }
    nextInspection = now + TransferWatch.interval(settings)
    // Backwards, since a lane that settles gives its place to the last one.
    for lane in running.reversed() {
      guard let exchange = lane.exchange else { continue }
      // Who is kept waiting by us has not stalled.
      if lane.isPaused { exchange.hasActivity = true }
      let arrived = lane.watch.note(exchange, at: now)
      if arrived > 0 {
        let event = TransferEvent.progressed(exchange.request.id, bytes: arrived)
        outgoing.append(WorkerReport(event: event, origin: lane.origin, worker: number))
      }
      guard let failure = lane.watch.overdue(exchange, at: now) else { continue }
      exchange.giveUp(failure)
      settle(lane, exchange.conclude(nil))
    }
  }

  private func sleep() {
    // Who has requests in line looks for more whenever one of those on the wire ends.
    let isDozing = waitingCount > 0 || !outgoing.isEmpty
    guard orders[number].willSleep(isDozing ? .dozing : .asleep) else { return }
    var limit = Self.longestSleep
    if !running.isEmpty {
      limit = max(.milliseconds(1), nextInspection - Uptime.now())
    }
    for time in [rates.nextResumption, nextStart].compactMap({ $0 }) {
      limit = min(limit, max(.milliseconds(1), time - Uptime.now()))
    }
    if sharingCount > 0 { limit = min(limit, Self.multiplexedWait) }
    if isDozing { limit = min(limit, outgoing.isEmpty ? Self.doze : Self.batchTime) }
    do throws(Failure) {
      let isMoving = try multi.poll(milliseconds: limit.milliseconds, wokenBy: orders[number].bell)
      // Data for one stream may have been read with another's; then no socket ever tells of it.
      mustPerform = isMoving || sharingCount > 0
    } catch {
      failAll(error)
    }
  }

  // MARK: Ends

  private func finish(_ lane: Lane, _ result: CURLcode) {
    guard let exchange = lane.exchange else { return }
    let handle = lane.handle
    if exchange.isDecoding { exchange.wireSize = handle.wireSize }
    guard result != CURLE_OK else {
      return settle(lane, exchange.conclude(nil))
    }
    let fault = CurlFault(
      code: result,
      phase: exchange.phase,
      detail: handle.lastError,
      systemError: handle.number(CURLINFO_OS_ERRNO),
      proxyStatus: handle.number(CURLINFO_HTTP_CONNECTCODE)
    )
    let failure = fault.failure(for: exchange.request.url, settings: settings)
    settle(lane, exchange.conclude(failure))
  }

  private func settle(_ lane: Lane, _ result: TransferResult) {
    guard let exchange = lane.exchange else { return }
    var result = result
    result.figures = lane.handle.figures(httpVersion: exchange.head?.version)
    lane.rates?.end(lane)
    multi.remove(lane.handle)
    running[running.count - 1].position = lane.position
    running.swapAt(lane.position, running.count - 1)
    running.removeLast()
    if lane.mayShareConnection { sharingCount -= 1 }
    lane.unload()
    // A handle that is taken out while it pauses might begin its next transfer so.
    if idle.count < Self.idleLaneLimit, !lane.isPaused { idle.append(lane) }
    let origin = lane.origin
    endPlace(of: origin)
    if let head = exchange.head {
      lines[origin].sharing = head.version.hasPrefix("1.") ? .single : .multiplexed
      if exchange.triesHTTP3, head.version != "3" {
        lines[origin].avoidsHTTP3 = true
        result.figures.didFallBackFromHTTP3 = true
      }
    }
    let isTrouble = result.isTrouble
    report(result, of: exchange.request.id, origin, isTrouble: isTrouble)
    if isTrouble { hold(origin) }
    advance(origin)
    if lines[origin].waitingCount <= Self.fewWaiting { mustReport = true }
  }

  private func endPlace(of origin: Int) {
    lines[origin].noteEnd()
    let number = number
    places.withLock { $0.giveBack(number) }
  }

  /// Nothing that was meant for the host goes out before its trouble is known to whoever decides.
  private func hold(_ origin: Int) {
    places.withLock { $0.noteTrouble(of: origin) }
    let unsent = lines[origin].removeAll()
    waitingCount -= unsent.count
    for request in unsent { giveBack(request, origin) }
    mustReport = true
  }

  private func report(
    _ result: TransferResult,
    of id: TransferID,
    _ origin: Int,
    isTrouble: Bool = false
  ) {
    outgoing.append(
      WorkerReport(
        event: .finished(id, result),
        origin: origin,
        worker: number,
        isTrouble: isTrouble
      )
    )
  }

  private func failAll(_ failure: Failure) {
    for lane in running.reversed() {
      guard let exchange = lane.exchange else { continue }
      settle(lane, exchange.breakOff(failure))
    }
  }
}
