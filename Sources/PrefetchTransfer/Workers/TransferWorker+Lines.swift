internal import PrefetchCore

extension TransferWorker {
  mutating func enqueue(_ queued: QueuedRequest) {
    let origin = queued.assignment.origin
    while lines.count <= origin {
      lines.append(OriginLine(sharing: .unknown))
    }
    line(up: queued)
    advance(origin)
  }

  private mutating func line(up queued: QueuedRequest, atFront: Bool = false) {
    let origin = queued.assignment.origin
    let pool = pool(of: queued, overHTTP1: needsHTTP1(queued))
    if !pool.options.of(queued.request.url.scheme).mayShareConnection {
      lines[origin].recordResponse(isTextual: true)
    }
    lines[origin].enqueue(queued, pool: pool.number, atFront: atFront)
    waitingCount += 1
  }

  private func needsHTTP1(_ queued: QueuedRequest) -> Bool {
    mayNeedHTTP1 && lacksEndOverHTTP2(queued)
  }

  // Inlining would copy the request.
  @inline(never)
  private func lacksEndOverHTTP2(_ queued: QueuedRequest) -> Bool {
    switch queued.repetition?.mode {
    case .overHTTP1: return true
    case .overHTTP2: return false
    case .asBefore, nil: break
    }
    guard
      lines[queued.assignment.origin].hasOpenEnds
        || settings.has(.openEnds, of: queued.request.url)
    else { return false }
    return queued.needsKnownEnd
  }

  private mutating func pool(of queued: QueuedRequest, overHTTP1: Bool) -> ConnectionPool {
    guard overHTTP1 || (mustUploadOverHTTP1 && queued.isUpload) else {
      return pools.pool(for: queued.request.connection)
    }
    return pools.textualPool(for: queued.request.connection)
  }

  /// Repeats a request unknown to the loop; returns false when there is no reason to.
  mutating func repeatRequest(
    _ ended: RunningTransfer,
    _ result: TransferResult,
    _ lane: Lane
  ) -> Bool {
    let queued = ended.queued
    if lane.isWithheld {
      // The request keeps its slot.
      start(queued.repeated(isOnFreshConnection: true, after: result.figures))
      return true
    }
    let origin = queued.assignment.origin
    let next: QueuedRequest
    switch queued.repetition?.mode {
    case nil, .asBefore:
      if ended.hasOpenEnd {
        lines[origin].hasOpenEnds = true
        mayNeedHTTP1 = true
        next = queued.repeated(.overHTTP1, after: result.figures)
      } else if ended.isOverHTTP1, let refusal = result.http1Refusal {
        // A lesson from an earlier run may be outdated.
        next = queued.repeated(.overHTTP2(refusal: refusal), after: result.figures)
      } else {
        return false
      }
    case .overHTTP1, .overHTTP2:
      return false
    }
    // Another pool may have no connection left for it.
    releaseSlot(of: origin)
    line(up: next, atFront: true)
    advance(origin)
    return true
  }

  /// Starts requests of a queue; queues that wait for a shared slot go first.
  mutating func advance(_ origin: Int) {
    guard starved.isEmpty else {
      starve(origin)
      return startStarved()
    }
    while startNext(of: origin) == .started {}
  }

  private mutating func starve(_ origin: Int) {
    guard !lines[origin].isStarved, lines[origin].waitingCount > 0 else { return }
    lines[origin].isStarved = true
    starved.append(origin)
  }

  private enum Start {
    case started
    /// Nothing waits, or the worker's own connections are in use.
    case nothing
    case hostFull
    case full
  }

  /// Starts requests of starved queues in turn, one each, while there are slots.
  mutating func startStarved() {
    // Queues of full hosts since the last start: once all are, nothing can start.
    var passed = 0
    while passed < starved.count {
      let origin = starved.removeFirst()
      lines[origin].isStarved = false
      switch startNext(of: origin) {
      case .started:
        passed = 0
        starve(origin)
      case .nothing: break
      case .hostFull: passed += 1
      case .full:
        // The queue went to the end, but is still first.
        starved.removeLast()
        starved.insert(origin, at: 0)
        return
      }
    }
  }

  private mutating func startNext(of origin: Int) -> Start {
    while let (queued, index) = lines[origin].next(rates.mayStart) {
      let isStream = lines[origin].sharing == .multiplexed
      let verdict = slots.withLock { [number] in
        $0.acquire(
          number,
          host: origin,
          knowing: queued.assignment.troubles,
          isStream: isStream
        )
      }
      switch verdict {
      case .granted:
        waitingCount -= 1
        start(queued)
        return .started
      case .outdated:
        waitingCount -= 1
        lines[origin].recordEnd()
        giveBack(queued)
      case .full, .hostFull:
        lines[origin].putBack(queued, at: index)
        starve(origin)
        return verdict == .full ? .full : .hostFull
      }
    }
    return .nothing
  }

  private mutating func giveBack(_ queued: QueuedRequest) {
    let reason = Failure(
      .cancelled,
      "`\(queued.request.url.authority)` was not contacted after its last response"
    )
    report(TransferResult(notSent: reason), of: queued)
    mustReport = true
  }

  mutating func startHeld() {
    guard rates.mayStartHeld() else { return }
    for origin in lines.indices {
      advance(origin)
    }
  }

  mutating func start(_ queued: QueuedRequest) {
    do throws(Failure) {
      _ = try send(queued)
    } catch {
      releaseSlot(of: queued.assignment.origin)
      report(TransferResult(.failure(error), figures: TransferFigures()), of: queued)
    }
  }

  mutating func send(
    _ queued: QueuedRequest,
    for share: RangeShare? = nil
  ) throws(Failure) -> Lane {
    let origin = queued.assignment.origin
    let isOverHTTP1 = needsHTTP1(queued)
    let pool = pool(of: queued, overHTTP1: isOverHTTP1)
    let options = pool.options
    if lines[origin].isMixed { shutIdle(of: origin, except: pool) }
    if let objection = pool.objection { throw objection }
    let lane = try acquireLane(for: origin, in: pool)
    let heldBy = rates.holds(queued.request) ? rates : nil
    let transfer = lane.load(queued, staging: staging, heldBy: heldBy)
    transfer.share = share
    transfer.isOverHTTP1 = isOverHTTP1
    transfer.triesHTTP3 = !lines[origin].avoidsHTTP3 && options.triesHTTP3(queued.request.url)
    transfer.mayShareConnection = options.of(queued.request.url.scheme).mayShareConnection
    try lane.handle.prepare(transfer, options)
    lane.handle.demandFreshConnection(queued.repetition?.isOnFreshConnection == true)
    try lane.settleProxy(before: queued.request.url)
    try multi.add(lane.handle)
    mustPerform = true
    lane.watch = TransferWatch(settings: settings, now: .zero)
    lane.position = running.count
    lane.mayShareConnection =
      lines[origin].sharing != .single || (lines[origin].isMixed && transfer.mayShareConnection)
    if lane.mayShareConnection { sharingCount += 1 }
    running.append(lane)
    return lane
  }

  /// Returns an idle lane, if possible the origin's last one, which needs the least change.
  private mutating func acquireLane(
    for origin: Int,
    in pool: ConnectionPool
  ) throws(Failure) -> Lane {
    let number = pool.number
    while idle.count <= number { idle.append([]) }
    for index in idle[number].indices.suffix(4) where idle[number][index].origin == origin {
      idle[number].swapAt(index, idle[number].count - 1)
    }
    if let lane = idle[number].popLast() { return lane }
    return try Lane(pool)
  }

  /// Closes idle connections in other pools, which count towards the host's limit.
  private func shutIdle(of origin: Int, except pool: ConnectionPool) {
    sockets.shutIdle(of: origin, except: pool.number) { connection in
      running.contains { lane in
        // The connection of a lane is unknown at first.
        lane.connection.map { $0 === connection } ?? (ObjectIdentifier(lane) == connection.opener)
      }
    }
  }

  /// Cancels queued requests first, so that they do not start in place of the dropped ones.
  mutating func cancel(_ ids: Set<TransferID>) {
    mustReport = true
    for origin in lines.indices where lines[origin].waitingCount > 0 {
      for queued in lines[origin].removeAll(in: ids) {
        waitingCount -= 1
        report(TransferResult(notSent: Self.cancellation(of: queued.request)), of: queued)
      }
    }
    endRanges(of: ids, Self.cancellation)
    for lane in running {
      guard let transfer = lane.transfer, ids.contains(transfer.request.id) else { continue }
      settle(
        lane,
        transfer.isWhole
          ? .concluded(nil) : .brokenOff(Self.cancellation(of: transfer.request))
      )
    }
  }

  private static func cancellation(of request: TransferRequest) -> Failure {
    Failure(.cancelled, "the transfer from `\(request.url.authority)` was cancelled")
  }

  mutating func releaseSlot(of origin: Int) {
    lines[origin].recordEnd()
    slots.withLock { [number] in $0.giveBack(number, host: origin) }
  }

  /// Returns all queued requests of a host to the loop, which must learn of the trouble first.
  mutating func hold(_ origin: Int) {
    let now = Uptime.now()
    let limit = slots.withLock { $0.recordTrouble(of: origin, at: now) }
    reportWindow(of: origin, limit)
    let unsent = lines[origin].removeAll()
    waitingCount -= unsent.count
    for queued in unsent { giveBack(queued) }
    mustReport = true
  }
}
