internal import PrefetchCore

/// Bodies that arrive over several connections: each range takes a slot and a connection of its
/// host as a request does, and gives them back when requests wait.
extension TransferWorker {
  /// Part of a body below which bytes ahead are fetched again rather than asked around.
  private static let negligible: Int64 = 20
  /// Received bytes from which a transfer's rate says something.
  private static let pacedSize: Int64 = 1 << 20

  private enum RangedEnd {
    case complete
    case failed(Failure)
    /// Response to the only range in flight; the received bytes are kept.
    case refused(TransferResponse)
  }

  // MARK: Decisions

  /// Records a transfer's rate, and gives a slow large body more connections.
  mutating func considerRanges(_ lane: Lane, _ transfer: RunningTransfer, at now: Duration) {
    if let body = transfer.share?.body { return join(body, lane) }
    guard settings.ranges.connections > 1, transfer.arrivedSize >= Self.pacedSize else { return }
    if lane.wasPausedSinceLastLook() {
      transfer.rule = nil
      return
    }
    let id = transfer.request.id
    let origin = lane.origin
    let isFirstLook = !lane.pace.hasBegun
    let rate = lane.pace.rate(of: transfer.arrivedSize, at: now)
    if isFirstLook || rate != nil {
      hosts.withLock { $0.record(rate, of: id, host: origin, at: now) }
    }
    guard lines[origin].hasSpareConnection, var rule = transfer.rule ?? transfer.rangeRule()
    else { return }
    let (fastest, isRefused) = hosts.withLock { hosts in
      (hosts.fastest(of: origin, except: id, at: now), hosts.refusesRanges(of: origin))
    }
    guard !isRefused else { return }
    var observation = transfer.observation
    observation.fastestOther = fastest
    let decision = rule.observe(observation, at: now)
    transfer.rule = rule
    guard case .grow = decision else { return }
    guard let body = transfer.beginRanges(under: rule) else {
      transfer.rule?.limit(to: 1)
      return
    }
    join(body, lane)
    fill(body)
    body.rule.recordStart(connections: body.lanes.count)
  }

  private mutating func join(_ body: RangedBody, _ lane: Lane) {
    body.add(lane)
    if !ranged.contains(where: { $0 === body }) { ranged.append(body) }
  }

  /// Adjusts the number of each body's connections.
  mutating func steerRanges(at now: Duration) {
    for body in ranged where !body.lanes.isEmpty {
      if let failure = overdue(body, at: now) {
        end(body, .failed(failure))
        continue
      }
      if body.lanes.count > 1, isWanted(body.origin), let lane = body.lanes.last {
        drop(lane, of: body)
        advance(body.origin)
        continue
      }
      // A body that our own rates slow down needs no connections.
      if body.lanes.reduce(false, { $1.wasPausedSinceLastLook() || $0 }) { continue }
      switch body.rule.observe(body.observation, at: now) {
      case .wait: fill(body)
      case .grow:
        fill(body)
        body.rule.recordStart(connections: body.lanes.count)
      case .shrink(let count): shrink(body, to: count)
      }
    }
  }

  /// Returns whether a queued request could use a connection to the host, or its slot.
  ///
  /// Queues that wait only for connections of their own hosts have no use for either.
  private func isWanted(_ origin: Int) -> Bool {
    lines[origin].waitingCount > 0
      || slots.withLock { [number, starved] in
        $0.isAnotherWaiting(number) || !starved.isEmpty && $0.isWaiting(number)
      }
  }

  /// Returns the failure of a body that takes too long as a whole.
  private func overdue(_ body: RangedBody, at now: Duration) -> Failure? {
    guard body.lanes.first?.transfer !== body.first else { return nil }
    // Each lane watches for its own stalls.
    body.first.hasActivity = true
    _ = body.watch?.update(body.first, at: now)
    return body.watch?.overdue(body.first, at: now)
  }

  private mutating func fill(_ body: RangedBody) {
    let isRefused = hosts.withLock { $0.refusesRanges(of: body.origin) }
    while body.lanes.count < body.rule.target, !isRefused, startRange(of: body) {}
  }

  /// Leaves a body the oldest of its connections, from now on.
  private mutating func shrink(_ body: RangedBody, to count: Int, isChanged: Bool = false) {
    while body.lanes.count > count, let lane = body.lanes.last { drop(lane, of: body) }
    body.rule.limit(to: count)
    if count == 1, !isChanged { hosts.withLock { $0.refuseRanges(of: body.origin) } }
    guard count == 1, body.isLed else { return advance(body.origin) }
    let ahead = body.map.receivedSize - body.map.contiguousSize
    if isChanged || ahead <= body.map.size / Self.negligible { try? body.forgetSpans() }
    advance(body.origin)
  }

  private mutating func drop(_ lane: Lane, of body: RangedBody) {
    guard let transfer = lane.transfer else { return }
    let figures = figures(of: lane, transfer, isCut: true)
    body.remove(lane, figures)
    remove(lane)
    releaseSlot(of: body.origin)
  }

  // MARK: Requests

  private mutating func startRange(of body: RangedBody) -> Bool {
    let origin = body.origin
    guard let range = body.map.nextRange(smallest: settings.ranges.smallestRange) else {
      return false
    }
    let queued = body.request(for: range)
    if body.lanes.isEmpty {
      // The body is in flight, whatever the host said since.
      guard lines[origin].hasFreeConnection else { return false }
      let verdict = slots.withLock { [number] slots in
        slots.acquire(number, host: origin, knowing: slots.count(of: origin))
      }
      guard verdict == .granted else { return false }
    } else {
      guard lines[origin].hasSpareConnection else { return false }
      let isGranted = slots.withLock { [number] in
        $0.acquireSpare(number, host: origin, knowing: queued.assignment.troubles)
      }
      guard isGranted else { return false }
    }
    lines[origin].recordRange()
    body.map.begin(at: range.lowerBound)
    let share = RangeShare(body, from: range.lowerBound, responseEnd: range.upperBound)
    do throws(Failure) {
      body.add(try send(queued, for: share))
      return true
    } catch {
      body.map.stop(range.lowerBound)
      releaseSlot(of: origin)
      if body.lanes.isEmpty { end(body, .failed(error)) }
      return false
    }
  }

  /// Hashes bytes whose gap was closed, requests missing ones, and ends complete bodies.
  mutating func serveRanges() {
    isHashing = false
    guard !ranged.isEmpty else { return }
    for body in ranged {
      do throws(Failure) {
        if try body.hashSome() {
          isHashing = true
        } else if body.map.isComplete, body.lanes.isEmpty {
          end(body, .complete)
        } else if body.lanes.isEmpty {
          _ = startRange(of: body)
        }
      } catch {
        end(body, .failed(error))
      }
    }
  }

  // MARK: Ends

  mutating func settle(
    _ lane: Lane,
    _ share: RangeShare,
    _ completion: RunningTransfer.Completion
  ) {
    guard let transfer = lane.transfer else { return }
    let body = share.body
    join(body, lane)
    // The map forgets a connection without bytes, and with it what that one was to bring.
    let failure = failure(of: transfer, share, completion)
    let isCut = if case .brokenOff = completion { true } else { share.isCut }
    body.remove(lane, figures(of: lane, transfer, isCut: isCut))
    remove(lane)
    releaseSlot(of: body.origin)
    if let version = transfer.version {
      lines[body.origin].recordResponse(isTextual: version.isTextual)
    }
    if let refusal = share.refusal {
      receive(refusal, of: body)
    } else if let failure, !lane.isWithheld {
      receive(failure, of: body, isFirst: transfer === body.first)
    }
    if body.lanes.isEmpty, ranged.contains(where: { $0 === body }), !body.map.isComplete {
      _ = startRange(of: body)
    }
    advance(body.origin)
  }

  private func failure(
    of transfer: RunningTransfer,
    _ share: RangeShare,
    _ completion: RunningTransfer.Completion
  ) -> Failure? {
    switch completion {
    case .brokenOff(let reason): return reason
    case .concluded(let fault):
      guard !share.isCut, share.rest > 0 else { return nil }
      return transfer.failure ?? fault
        ?? ResponseFailures(host: transfer.request.url.authority).shortRest
    }
  }

  private mutating func receive(_ refusal: RangeShare.Refusal, of body: RangedBody) {
    let isChanged = if case .changed = refusal { true } else { false }
    guard body.lanes.isEmpty else { return shrink(body, to: 1, isChanged: isChanged) }
    switch refusal {
    case .changed(let failure), .wrong(let failure): end(body, .failed(failure))
    case .status(let response): end(body, .refused(response))
    }
  }

  private mutating func receive(_ failure: Failure, of body: RangedBody, isFirst: Bool) {
    // Nothing helps a body whose own writing failed, nor one whose head is lost.
    guard !isFirst, !body.lanes.isEmpty else { return end(body, .failed(failure)) }
    switch failure.code.category {
    case .connectivity: body.rule.limit(to: body.lanes.count)
    default:
      guard failure.code == .badResponse else { return end(body, .failed(failure)) }
      shrink(body, to: 1)
    }
  }

  private mutating func end(_ body: RangedBody, _ end: RangedEnd) {
    for lane in body.lanes { drop(lane, of: body) }
    ranged.removeAll { $0 === body }
    let figures = body.figures(at: Uptime.wallTime())
    let first = body.first
    let result =
      switch end {
      case .complete: first.result(.concluded(nil), figures)
      case .failed(let failure): first.result(.brokenOff(failure), figures)
      case .refused(let response):
        TransferResult(.success(response), figures: figures, partial: first.suspendRanges())
      }
    first.share = nil
    conclude(result, of: first.queued, from: body.origin)
  }

  mutating func endRanges(of ids: Set<TransferID>, _ reason: (TransferRequest) -> Failure) {
    for body in ranged where ids.contains(body.first.request.id) {
      end(body, .failed(reason(body.first.request)))
    }
  }
}
