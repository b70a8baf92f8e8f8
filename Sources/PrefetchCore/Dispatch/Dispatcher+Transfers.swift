/// Requests on their way out, and what comes back.
extension Dispatcher {
  mutating func startTransfers() {
    // A job that had to give a place back to wait for that would be overtaken.
    if needsRoomReading { return measureRoom(inDetail: false) }
    var preparations: [Preparation] = []
    var lastRead: Int?
    queue.release(at: now.uptime)
    renewHoldbacks()
    let limit = network?.transferLimit ?? .max
    while halt == nil, inFlight.count + begun.count(of: .preparations) < limit,
      let (number, host) = queue.take(at: now.uptime)
    {
      switch Job(number: number) {
      case .document(let number):
        documents[number].host = host
        if let look = lookBefore(asking: number) {
          // It keeps its place until then.
          documents[number].isBeingLookedUp = true
          begun.begin(.documents)
          effects.append(look)
          continue
        }
        if connections.watchesPlainHTTP, let exchange = documents[number].exchange,
          let objection = connections.objection(to: exchange, at: now.wall)
        {
          queue.finished(Job.document(number).number, on: host, httpVersion: nil)
          documentAnswered(number, .failed(objection, status: nil))
          continue
        }
        let id = newTransfer(for: .document(number))
        guard
          let request = documents[number].exchange?.nextRequest(
            id,
            under: &connections,
            at: now.wall
          )
        else { continue }
        effects.append(.startTransfer(allowed(request, of: documents[number].segment)))
      case .item(let item):
        if isForsaken(item) || isSpared(item) {
          queue.finished(item, on: host, httpVersion: nil)
          continue
        }
        if needsClaim(item) {
          claim(item, from: host, into: &preparations)
          continue
        }
        let count = preparations.count
        if isPlain(item) || beginPlain(item, into: &preparations) {
          order(item, from: host, behind: &preparations)
          if preparations.count > count { lastRead = item }
          continue
        }
        let slot = activate(item)
        active[slot].host = host
        if active[slot].exchange != nil {
          send(item)
        } else if active[slot].prepared != nil {
          goOn(item)
        } else if active[slot].isBeingRead {
          items[item].state = .preparing
        } else if let preparation = preparation(of: item)
          // What has nothing to be read for it overtakes no item whose turn came before.
          ?? (preparations.isEmpty ? nil : Preparation(item: item, record: nil, digest: nil))
        {
          items[item].state = .preparing
          active[slot].isBeingRead = true
          begun.begin(.preparations)
          preparations.append(preparation)
          lastRead = item
        } else {
          ask(item)
        }
      }
    }
    // Behind all whose turn it is: they go on in the order in which they are read.
    if let lastRead { prepareAhead(of: lastRead, into: &preparations) }
    if !preparations.isEmpty { effects.append(.prepare(preparations)) }
  }

  mutating func newTransfer(for job: Job) -> TransferID {
    inFlight.start(job)
  }

  /// Puts the item's next request on the wire, where a place is kept for it.
  mutating func send(_ item: Int) {
    let slot = Int(items[item].slot)
    if connections.watchesPlainHTTP, let exchange = active[slot].exchange,
      let objection = connections.objection(to: exchange.value, at: now.wall)
    {
      leaveWire(item)
      return turnAway(.item(item), .failed(objection, status: nil))
    }
    let id = newTransfer(for: .item(item))
    guard
      let request = active[slot].exchange?.value.nextRequest(id, under: &connections, at: now.wall)
    else { return }
    active[slot].result.attempts += 1
    items[item].state = .inFlight
    start(request, of: Int(items[item].segment))
  }

  /// Hands over a request, held to the rate of its segment and to what it may receive.
  mutating func start(_ request: TransferRequest, of segment: Int) {
    var held = allowed(request, of: segment)
    held.rateGroup = rateGroup(of: segment)
    effects.append(.startTransfer(held))
  }

  func rateGroup(of segment: Int) -> TransferRequest.RateGroup? {
    segments[segment].declaration.rate.map { rate in
      TransferRequest.RateGroup(name: segments[segment].declaration.name, rate: rate)
    }
  }

  mutating func transferFinished(_ id: TransferID, _ result: TransferResult) {
    guard let job = inFlight.end(id) else { return }
    advances[id] = nil
    noteDate(of: result)
    if case .item(let item) = job, let outcome = judged(item, result),
      isTaken(item, outcome)
    {
      return
    }
    transferEnded(id, job, result)
  }

  mutating func transferEnded(_ id: TransferID, _ job: Job, _ answer: TransferResult) {
    var result = answer
    book(id, result, of: job)
    if case .item(let item) = job { _ = activate(item) }
    guard !result.wasNotSent else { return takeBack(job) }
    if isCutOff { result = explained(result, of: job) }
    tell(result, of: job)
    let status: Int? =
      if case .success(let response) = result.outcome { response.status } else { nil }
    switch job {
    case .document(let number):
      guard var exchange = documents[number].exchange, let host = documents[number].host else {
        return
      }
      let segment = documents[number].segment
      queue.finished(job.number, on: host, result)
      note(result.figures.responseTime, of: host)
      announceRequest(
        result,
        status,
        exchange.hop,
        isRetry: exchange.isRetry,
        for: segments[segment].names
      )
      let step = exchange.receive(
        result,
        policy: request.policy,
        now: now,
        deadline: deadline,
        random: jitter.next()
      )
      documents[number].exchange = exchange
      documents[number].provenance = result.provenance(
        throughProxy: request.policy.connections.mayBeProxied
      )
      note(result, step, of: host)
      guard segments[segment].isGathering else { return drop(step) }
      guard !proceed(job, step) else { return }
      documentAnswered(number, step)
    case .item(let item):
      let slot = Int(items[item].slot)
      guard let host = active[slot].host else { return }
      queue.finished(job.number, on: host, result)
      note(result.figures.responseTime, of: host)
      active[slot].result.figures = result.figures
      // The hop and the try that this result belongs to, before the exchange goes on.
      let hop = active[slot].exchange?.value.hop
      let isRetry = active[slot].exchange?.value.isRetry ?? false
      guard
        let step = active[slot].exchange?.value.receive(
          result,
          policy: given.value.request.policy,
          now: now,
          deadline: deadline,
          random: jitter.next()
        )
      else { return }
      if isRetry || !countAnswer(result, status, of: active[slot].segments) {
        announceRequest(
          result,
          status,
          hop,
          isRetry: isRetry,
          for: Self.names(active[slot].segments, segments)
        )
      }
      note(result, step, of: host)
      guard !proceed(job, step) else { return }
      let announced = result.announcedSize
      itemAnswered(item, step, announced: announced)
    }
  }

  /// Whether an answer is one of many that no observer wants to hear of by itself; trouble is told
  /// with its host.
  private mutating func countAnswer(
    _ result: TransferResult,
    _ status: Int?,
    of asking: [Int]
  ) -> Bool {
    guard start.isBrief, let status, asking.count == 1, !result.isTrouble,
      !result.figures.isRemarkable
    else { return false }
    answerCounts.note(status, wireBytes: result.figures.wireBytes, of: asking[0])
    return true
  }

  /// A request that never went out: nothing happened, except that its host may have to be left alone.
  private mutating func takeBack(_ job: Job) {
    switch job {
    case .document(let number):
      guard let host = documents[number].host else { return }
      queue.tookBack(job.number, from: host)
      documents[number].exchange?.takeBack()
      guard segments[documents[number].segment].isGathering else { return }
    case .item(let item):
      let slot = Int(items[item].slot)
      guard let host = active[slot].host else { return }
      queue.tookBack(job.number, from: host)
      active[slot].exchange?.value.takeBack()
      active[slot].result.attempts -= 1
    }
    reask(job)
  }

  /// Whether the exchange goes on; after a halt it ends where it stands.
  private mutating func proceed(_ job: Job, _ step: Exchange.Step) -> Bool {
    guard halt == nil else { return false }
    switch step {
    case .ask:
      if let deferral = deferral(of: job) {
        settle(job, deferral)
      } else {
        enqueue(job)
      }
      return true
    case .wait(let length):
      if let step = cutOff(job) {
        turnAway(job, step)
        return true
      }
      tellWait(of: job, length)
      pause(job, until: now.uptime + length)
      return true
    case .answered, .failed, .deferred:
      return false
    }
  }

  /// Static, since a method of this value would be handed a copy of all of it.
  private mutating func announceRequest(
    _ answer: TransferResult,
    _ status: Int?,
    _ hop: WebURL?,
    isRetry: Bool,
    for segments: [String]
  ) {
    let result = RequestResult(
      url: hop,
      segments: segments,
      status: status,
      failure: answer.failure,
      isRetry: isRetry,
      figures: answer.figures
    )
    announce(.requestFinished(result))
  }

  private static func names(_ asking: [Int], _ segments: [SegmentWork]) -> [String] {
    asking.count == 1 ? segments[asking[0]].names : asking.map { segments[$0].declaration.name }
  }
}
