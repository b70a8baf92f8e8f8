extension Dispatcher {
  mutating func startTransfers() {
    // Room is measured first: a job that gave its slot back to wait would be overtaken.
    if needsRoomReading { return measureRoom(inDetail: false) }
    var preparations: [Preparation] = []
    var lastRead: Int?
    wire.release(at: now.uptime)
    renewBarriers()
    let limit = network?.transferLimit ?? .max
    while halt == nil, wire.transferCount + begun.count(of: .preparations) < limit,
      let (job, host) = wire.dequeue(at: now.uptime)
    {
      switch job {
      case .document(let number):
        documents[number].host = host
        if let look = lookBefore(requesting: number) {
          // The document keeps its slot until the look-up ends.
          documents[number].isBeingLookedUp = true
          begun.begin(.documents)
          effects.append(look)
          continue
        }
        send(.document(number))
      case .item(let item):
        if bundles.cannotComplete(item) {
          end(item, nil)
          wire.leave(job, on: host)
          continue
        }
        if settleIfProven(item) || endIfStopped(job) {
          wire.leave(job, on: host)
          continue
        }
        if needsClaim(item) {
          claim(item, from: host, into: &preparations)
          continue
        }
        let count = preparations.count
        if items.isSimple(item) || beginSimple(item, into: &preparations) {
          order(item, from: host, behind: &preparations)
          if preparations.count > count { lastRead = item }
          continue
        }
        let work = activate(item)
        work.host = host
        if work.exchange != nil, !awaitsAdoption(item) {
          send(.item(item))
        } else if work.prepared != nil {
          continueItem(item)
        } else if work.isBeingRead {
          items[item].state = .preparing
        } else if let preparation = preparation(of: item)
          ?? (preparations.isEmpty ? nil : Preparation(item: item, record: nil, digest: nil))
        {
          items[item].state = .preparing
          work.isBeingRead = true
          begun.begin(.preparations)
          preparations.append(preparation)
          lastRead = item
        } else {
          requestItem(item)
        }
      }
    }
    // Read ahead only after the jobs whose turn has come: items start in the order of reading.
    if let lastRead { prepareAhead(of: lastRead, into: &preparations) }
    if !preparations.isEmpty { effects.append(.prepare(preparations)) }
  }

  mutating func newTransfer(for job: Job) -> TransferID {
    wire.start(job)
  }

  // MARK: One way of asking

  func exchange(of job: Job) -> ExchangeBox? {
    switch job {
    case .document(let number): documents[number].exchange
    case .item(let item): !items.isActive(item) ? nil : items.active(item).exchange
    }
  }

  private func host(of job: Job) -> HostID? {
    switch job {
    case .document(let number): documents[number].host
    case .item(let item): items.active(item).host
    }
  }

  /// Returns the exchange of a piece's item, which holds the cookies.
  private func jar(of job: Job) -> ExchangeBox? {
    guard case .item(let item) = job, let parent = bundles.piece(item)?.bundle else { return nil }
    return items.isActive(parent) ? items.active(parent).exchange : nil
  }

  func requestingSegments(of job: Job) -> [Int] {
    switch job {
    case .document(let number): [documents[number].segment]
    case .item(let item): items.active(item).segments
    }
  }

  mutating func send(_ job: Job) {
    guard let exchange = exchange(of: job) else { return }
    if connections.rechecksPlainHTTP,
      let objection = connections.objection(to: exchange.value, at: now.wall)
    {
      leaveWire(job)
      return refuseJob(job, .failed(objection, status: nil))
    }
    let id = newTransfer(for: job)
    if let jar = jar(of: job) { exchange.value.cookies = jar.value.cookies }
    let request = exchange.value.nextRequest(id, under: &connections, at: now.wall)
    var held = allowed(request, of: segment(of: job))
    if case .item(let item) = job {
      items.active(item).result.attempts += 1
      items[item].state = .inFlight
      held.rateGroup = rateGroup(of: segment(of: job))
    }
    effects.append(.startTransfer(held))
  }

  mutating func leaveWire(_ job: Job) {
    guard let host = host(of: job) else { return }
    wire.leave(job, on: host)
  }

  func rateGroup(of segment: Int) -> TransferRequest.RateGroup? {
    segments[segment].declaration.rate.map { rate in
      TransferRequest.RateGroup(name: segments[segment].declaration.name, rate: rate)
    }
  }

  mutating func transferFinished(_ id: TransferID, _ result: TransferResult) {
    guard let job = wire.end(id) else { return }
    recordDate(of: result)
    if case .item(let item) = job, let outcome = judged(item, result),
      handleSimpleOutcome(item, outcome)
    {
      return
    }
    transferEnded(id, job, result)
  }

  mutating func transferEnded(_ id: TransferID, _ job: Job, _ transferResult: TransferResult) {
    var result = transferResult
    recordUsage(id, result, of: job)
    if case .item(let item) = job { _ = activate(item) }
    guard !result.wasNotSent else { return retryUnsent(job) }
    if isCutOff { result = explained(result, of: job) }
    announceDetails(result, of: job)
    guard let exchange = exchange(of: job), let host = host(of: job) else { return }
    wire.finished(job, on: host, result, at: now)
    if case .item(let item) = job { items.active(item).result.figures = result.figures }
    let (hop, isRetry) = (exchange.value.hop, exchange.value.isRetry)
    let rateLimit: Duration? =
      if case .success(let response) = result.outcome {
        exchange.value.rateLimit(in: response, at: now.wall)
      } else { nil }
    let jar = jar(of: job)
    if let jar { exchange.value.cookies = jar.value.cookies }
    let step = exchange.value.receive(
      result,
      policy: given.value.request.policy,
      now: now,
      deadline: deadline,
      random: jitter.next()
    )
    if let jar { jar.value.cookies = exchange.value.cookies }
    if isRetry || !countResponse(result, of: job) {
      announceRequest(result, hop, isRetry: isRetry, of: job)
    }
    recordResult(result, step, of: host, rateLimit: rateLimit)
    if case .document(let number) = job {
      documents[number].provenance = result.provenance(
        throughProxy: request.policy.connections.mayBeProxied
      )
      guard isWanted(document: number) else { return exchangeEnded(job, step) }
    }
    guard !settleIfStopped(job, step), !proceed(job, step) else { return }
    exchangeEnded(job, step, announced: result.announcedSize)
  }

  /// Counts an answer that no observer needs by itself; returns false for one with trouble.
  private mutating func countResponse(_ result: TransferResult, of job: Job) -> Bool {
    guard start.isBrief, case .item = job, let status = result.status, !result.isTrouble,
      !result.figures.isRemarkable
    else { return false }
    let requesting = requestingSegments(of: job)
    guard requesting.count == 1 else { return false }
    responseCounts.add(status, wireBytes: result.figures.wireBytes, of: requesting[0])
    return true
  }

  /// Takes back a request that never went out; it does not count as an attempt.
  private mutating func retryUnsent(_ job: Job) {
    guard let host = host(of: job) else { return }
    wire.releaseUnsent(job, from: host)
    exchange(of: job)?.value.undoRequest()
    switch job {
    case .document(let number):
      guard isWanted(document: number) else { return }
    case .item(let item):
      items.active(item).result.attempts -= 1
      if endIfStopped(job) { return }
    }
    reask(job)
  }

  private mutating func proceed(_ job: Job, _ step: Exchange.Step) -> Bool {
    guard halt == nil else { return false }
    switch step {
    case .request:
      if let deferral = deferral(of: job) {
        settle(job, deferral)
      } else {
        enqueue(job)
      }
      return true
    case .wait(let length):
      if let step = cutOff(job) {
        refuseJob(job, step)
        return true
      }
      announceWait(of: job, length)
      pause(job, until: now.uptime + length)
      return true
    case .responded, .failed, .deferred:
      return false
    }
  }

  private mutating func announceRequest(
    _ transferResult: TransferResult,
    _ hop: WebURL,
    isRetry: Bool,
    of job: Job
  ) {
    let requesting = requestingSegments(of: job)
    let result = RequestResult(
      url: hop,
      segments: requesting.count == 1
        ? segments[requesting[0]].names : requesting.map { segments[$0].declaration.name },
      status: transferResult.status,
      failure: transferResult.failure,
      isRetry: isRetry,
      figures: transferResult.figures
    )
    announce(.requestFinished(result))
  }
}
