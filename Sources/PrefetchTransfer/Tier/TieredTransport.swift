package import PrefetchCore

/// Transport that asks a second tier before the origin, and uploads what others may use.
///
/// From the tier it accepts bodies with the right digest and, if trusted, records of origins.
package final class TieredTransport: Transport, SecondTier {
  let terms: TierTerms
  let inner: any Transport
  private let staging: any BodyStaging
  private let clock: any Clock
  package internal(set) var figures: TierFigures
  private var lookups: [TransferID: TierLookup] = [:]
  private var chains = TierChains()
  private var tierStatus: TierStatus
  private var ready: [TransferEvent] = []
  var writing = TierWriting()

  package init(
    _ inner: any Transport,
    staging: any BodyStaging,
    clock: any Clock,
    terms: TierTerms,
    objection: Failure? = nil
  ) {
    self.inner = inner
    self.staging = staging
    self.clock = clock
    self.terms = terms
    let settings = terms.settings
    figures = TierFigures(host: terms.base.authority)
    figures.isRequired = settings.isRequired
    tierStatus = TierStatus(mayRead: objection == nil && settings.isRead)
    writing.isOn = objection == nil && settings.isWritten
    if let objection { figures.recordFailure(objection) }
  }

  // MARK: Requests

  package func start(_ request: TransferRequest) {
    guard !begin(request, order: nil) else { return }
    inner.start(request)
  }

  package func start(_ id: TransferID, _ order: Order) {
    guard isConsulted, order.terms.request.tierRequest != nil,
      begin(order.request(id), order: order)
    else { return inner.start(id, order) }
  }

  /// Whether requests wait for the tier: a required one keeps them from the origin even if it failed.
  private var isConsulted: Bool {
    tierStatus.mayRead || terms.settings.isRequired && terms.settings.isRead
  }

  private func end(_ id: TransferID, _ trouble: TierTrouble) {
    var unsent = TransferFigures()
    unsent.requestCount = 0
    unsent.tierTrouble = trouble
    ready.append(.finished(id, TransferResult(.failure(failure(of: trouble)), figures: unsent)))
  }

  private func failure(of trouble: TierTrouble) -> Failure {
    switch trouble {
    case .refusal: refusal(figures.trouble ?? Failure(.serverBusy, "it was given up"))
    case .lostRecord: Failure(.notFound, "`cache.remote` does not have what its record names")
    }
  }

  private func refusal(_ reason: Failure) -> Failure {
    var failure = reason
    failure.message = "`cache.remote` is required: \(failure.message)"
    failure.isTransient = false
    // Items that need the tier have no server, however the tier refuses.
    if ![.trust, .connectivity].contains(failure.code.category) { failure.code = .serverBusy }
    return failure
  }

  /// Starts a lookup; returns false when the request should go to the origin.
  private func begin(_ request: TransferRequest, order: Order?) -> Bool {
    guard let tierRequest = request.tierRequest else { return false }
    guard tierRequest.isFirstHop else {
      if tierStatus.mayRead, followChain(request) { return true }
      if tierRequest.isLedByTier { end(request.id, .lostRecord) }
      return tierRequest.isLedByTier
    }
    let isTrusted = terms.settings.isTrusted
    guard isConsulted, let step = TierLookup.firstStep(of: request, isTrusted: isTrusted) else {
      return false
    }
    guard tierStatus.mayRead else {
      end(request.id, .refusal)
      return true
    }
    lookups[request.id] = TierLookup(request: request, order: order, step: step)
    send(request.id, step)
    return true
  }

  private func followChain(_ request: TransferRequest) -> Bool {
    let now = clock.now().wall
    guard let origin = chains.remove(request.url.string),
      TierLookup.mayUse(origin, for: request, at: now)
    else { return false }
    if let redirect = origin.redirect(at: now) {
      chains.add(origin)
      figures.originResponses += 1
      var unsent = TransferFigures()
      unsent.requestCount = 0
      ready.append(.finished(request.id, TransferResult(.success(redirect), figures: unsent)))
      return true
    }
    let step = TierLookup.Step.body(origin.digest, origin)
    lookups[request.id] = TierLookup(request: request, order: nil, step: step)
    send(request.id, step)
    return true
  }

  private func send(_ id: TransferID, _ step: TierLookup.Step) {
    lookups[id]?.step = step
    lookups[id]?.hasMoved = false
    guard let lookup = lookups[id] else { return }
    switch step {
    case .record, .body:
      guard let request = terms.makeRequest(step, for: lookup.request) else { return }
      inner.start(request)
    case .origin(let origin): inner.start(lookup.request.revalidating(origin))
    case .withoutTier:
      if let order = lookup.order { inner.start(id, order) } else { inner.start(lookup.request) }
    }
  }

  package func cancel(_ id: TransferID) {
    lookups[id]?.isCancelled = true
    inner.cancel(id)
  }

  package func interrupt(_ id: TransferID) {
    lookups[id]?.isCancelled = true
    inner.interrupt(id)
  }

  // MARK: Answers

  package func wait(until deadline: Duration?) -> [TransferEvent] {
    var finished = ready
    ready = []
    let events = inner.wait(until: finished.isEmpty ? deadline : clock.now().uptime)
    guard !lookups.isEmpty || writing.hasWork else { return finished + events }
    finished.reserveCapacity(finished.count + events.count)
    for event in events {
      switch event {
      case .connectionsFound: finished.append(event)
      case .progressed(let id, _):
        lookups[id]?.hasMoved = true
        if id.number >= 0 { finished.append(event) }
      case .judged(let id, let outcome):
        let earlier = lookups.removeValue(forKey: id)?.wireBytes ?? 0
        finished.append(earlier == 0 ? event : .judged(id, outcome.addingWastedBytes(earlier)))
      case .finished(let id, let result):
        if id.number < 0 {
          written(id, result)
        } else if lookups[id] == nil {
          finished.append(event)
        } else if let end = received(id, result) {
          lookups[id] = nil
          finished.append(.finished(id, end))
        }
      }
    }
    write()
    return finished
  }

  private func received(_ id: TransferID, _ result: TransferResult) -> TransferResult? {
    guard let lookup = lookups[id] else { return nil }
    let earlier = lookup.wireBytes
    lookups[id]?.wireBytes += result.figures.wireBytes
    let end = { (outcome: Result<TransferResponse, Failure>) in
      result.replacingOutcome(outcome, addingWireBytes: earlier)
    }
    let isLeft = lookup.isAbandoned || !tierStatus.mayRead && !lookup.isBodyMoving
    if lookup.isAtTier, result.wasNotSent || isLeft {
      if terms.settings.isRequired, isLeft {
        discard(result, of: lookup)
        return result.ended(by: .refusal, failure(of: .refusal), addingWireBytes: earlier)
      }
      // A request that needs the tier is sent again.
      if result.wasNotSent, terms.settings.isRequired { return end(result.outcome) }
      discard(result, of: lookup)
      return pass(id, result, end)
    }
    let now = clock.now().wall
    switch lookup.nextAction(after: result.outcome, at: now, reading: terms.decode) {
    case .request(let step):
      return continueLookup(id, step, end)
    case .served(let response):
      recordResponse(response, of: lookup)
      return end(.success(response))
    case .redirected(let origin):
      figures.originResponses += 1
      chains.add(origin)
      return origin.redirect(at: now).map { end(.success($0)) }
    case .renewed(let origin, let confirmsOwn):
      renew(origin)
      guard !confirmsOwn else { return end(result.outcome) }
      return continueLookup(
        id,
        tierStatus.mayRead ? .body(origin.digest, origin) : .withoutTier,
        end
      )
    case .ended:
      return end(result.outcome)
    case .missed:
      discard(result, of: lookup)
      tierStatus.recordTruth()
      figures.misses += 1
      if case .body(let digest, _) = lookup.step { writing.markMissing(digest) }
      return pass(id, result, end)
    case .refused(let failure):
      discard(result, of: lookup)
      figures.recordFailure(failure)
      if tierStatus.recordFailure(failure) { giveUp(except: id) }
      guard terms.settings.isRequired else { return pass(id, result, end) }
      return result.ended(by: .refusal, refusal(failure), addingWireBytes: earlier)
    case .lied(let failure):
      discard(result, of: lookup)
      figures.recordFailure(failure)
      tierStatus.recordResponse()
      if tierStatus.recordLie() { giveUp(except: id) }
      return pass(id, result, end)
    case .failed(let failure):
      return end(.failure(failure))
    }
  }

  /// Asks the origin; after a redirect from the tier, the declared URL is requested again.
  private func pass(
    _ id: TransferID,
    _ result: TransferResult,
    _ end: (Result<TransferResponse, Failure>) -> TransferResult
  ) -> TransferResult? {
    guard let lookup = lookups[id], !lookup.isCancelled,
      lookup.request.tierRequest?.isLedByTier == true
    else { return continueLookup(id, .withoutTier, end) }
    return result.ended(
      by: .lostRecord,
      failure(of: .lostRecord),
      addingWireBytes: lookup.wireBytes - result.figures.wireBytes
    )
  }

  /// Sends the next request, unless the transfer was cancelled.
  private func continueLookup(
    _ id: TransferID,
    _ step: TierLookup.Step,
    _ end: (Result<TransferResponse, Failure>) -> TransferResult
  ) -> TransferResult? {
    guard lookups[id]?.isCancelled == false else {
      return end(.failure(Failure(.cancelled, "it was cancelled")))
    }
    send(id, step)
    return nil
  }

  private func recordResponse(_ response: TransferResponse, of lookup: TierLookup) {
    if case .body(let digest, let origin) = lookup.step {
      tierStatus.recordTruth()
      writing.markPresent(digest)
      if origin != nil { figures.originResponses += 1 }
    } else {
      tierStatus.recordResponse()
      figures.originResponses += 1
    }
    guard let body = response.body else { return }
    figures.hits += 1
    figures.hitBytes += body.size
  }

  private func discard(_ result: TransferResult, of lookup: TierLookup) {
    guard lookup.isStaged, case .success(let response) = result.outcome, let body = response.body
    else { return }
    staging.discard(body)
  }

  private func giveUp(except ended: TransferID) {
    chains.drop()
    for (id, lookup) in lookups where lookup.isAtTier && id != ended && !lookup.isBodyMoving {
      lookups[id]?.isAbandoned = true
      inner.cancel(id)
    }
  }
}

extension TransferResult {
  /// Returns the result of a request that did not go to the origin.
  fileprivate func ended(
    by trouble: TierTrouble,
    _ failure: Failure,
    addingWireBytes wireBytes: Int64
  ) -> TransferResult {
    var figures = figures
    figures.wireBytes += wireBytes
    if wasNotSent { figures.requestCount = 0 }
    figures.tierTrouble = trouble
    return TransferResult(.failure(failure), figures: figures)
  }
}
