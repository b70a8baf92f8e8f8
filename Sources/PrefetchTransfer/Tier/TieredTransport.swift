package import PrefetchCore

/// A transport that asks a second tier before it asks an origin, and leaves there what others may use.
///
/// Its requests go out as any others do, under the same limits; nothing that the tier says is believed
/// but bytes that have the right digest and, where it is trusted, what an origin said.
package final class TieredTransport: Transport, SecondTier {
  let terms: TierTerms
  let inner: any Transport
  /// Where its bodies arrive.
  private let staging: any BodyStaging
  private let clock: any Clock
  package internal(set) var figures: TierFigures
  private var lookups: [TransferID: TierLookup] = [:]
  private var chains = TierChains()
  private var standing: TierStanding
  /// What was known when it was asked for.
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
    standing = TierStanding(
      mayRead: objection == nil && settings.isRead,
      isRequired: settings.isRequired
    )
    writing.isOn = objection == nil && settings.isWritten
    if let objection { figures.note(objection) }
  }

  // MARK: Requests

  package func start(_ request: TransferRequest) {
    guard !begin(request, order: nil) else { return }
    inner.start(request)
  }

  package func start(_ id: TransferID, _ order: Order) {
    guard standing.mayRead, order.terms.request.tierQuestion != nil,
      begin(order.request(id), order: order)
    else { return inner.start(id, order) }
  }

  /// Whether the tier is asked first.
  private func begin(_ request: TransferRequest, order: Order?) -> Bool {
    guard standing.mayRead, let question = request.tierQuestion else { return false }
    guard question.isFirstHop else { return goOn(request) }
    let isTrusted = terms.settings.isTrusted
    guard let step = TierLookup.firstStep(of: request, isTrusted: isTrusted) else { return false }
    lookups[request.id] = TierLookup(request: request, order: order, step: step)
    ask(request.id, step)
    return true
  }

  /// The same for the target of a redirect that the tier told.
  private func goOn(_ request: TransferRequest) -> Bool {
    let now = clock.now().wall
    guard let answer = chains.take(request.url.string),
      TierLookup.mayUse(answer, for: request, at: now)
    else { return false }
    if let redirect = answer.redirect(at: now) {
      chains.note(answer)
      figures.answers += 1
      var unsent = TransferFigures()
      unsent.requestCount = 0
      ready.append(.finished(request.id, TransferResult(.success(redirect), figures: unsent)))
      return true
    }
    let step = TierLookup.Step.body(answer.digest, answer)
    lookups[request.id] = TierLookup(request: request, order: nil, step: step)
    ask(request.id, step)
    return true
  }

  private func ask(_ id: TransferID, _ step: TierLookup.Step) {
    lookups[id]?.step = step
    guard let lookup = lookups[id] else { return }
    switch step {
    case .record, .body:
      guard let request = terms.question(step, for: lookup.request) else { return }
      inner.start(request)
    case .origin(let answer): inner.start(lookup.request.asking(whether: answer))
    case .passed:
      if let order = lookup.order { inner.start(id, order) } else { inner.start(lookup.request) }
    }
  }

  package func cancel(_ id: TransferID) {
    lookups[id]?.isCancelled = true
    inner.cancel(id)
  }

  // MARK: Answers

  package func wait(until deadline: Duration?) -> [TransferEvent] {
    var told = ready
    ready = []
    let events = inner.wait(until: told.isEmpty ? deadline : clock.now().uptime)
    guard !lookups.isEmpty || writing.isUnderWay else { return told + events }
    told.reserveCapacity(told.count + events.count)
    for event in events {
      switch event {
      case .progressed(let id, _):
        if id.number >= 0 { told.append(event) }
      case .judged(let id, let outcome):
        let earlier = lookups.removeValue(forKey: id)?.wireBytes ?? 0
        told.append(earlier == 0 ? event : .judged(id, outcome.besides(earlier)))
      case .finished(let id, let result):
        if id.number < 0 {
          written(id, result)
        } else if lookups[id] == nil {
          told.append(event)
        } else if let end = received(id, result) {
          lookups[id] = nil
          told.append(.finished(id, end))
        }
      }
    }
    write()
    return told
  }

  /// What the request came to; nil where something else is asked first.
  private func received(_ id: TransferID, _ result: TransferResult) -> TransferResult? {
    guard let lookup = lookups[id] else { return nil }
    let earlier = lookup.wireBytes
    lookups[id]?.wireBytes += result.figures.wireBytes
    let end = { (outcome: Result<TransferResponse, Failure>) in
      result.answered(outcome, besides: earlier)
    }
    if lookup.isAtTier, result.wasNotSent || lookup.isAbandoned || !standing.mayRead {
      // What cannot do without it is asked for again.
      if result.wasNotSent, terms.settings.isRequired { return end(result.outcome) }
      discard(result, of: lookup)
      return goOn(id, .passed, end)
    }
    let now = clock.now().wall
    switch lookup.turn(after: result.outcome, at: now, reading: terms.decode) {
    case .ask(let step):
      return goOn(id, step, end)
    case .told(let response):
      note(response, of: lookup)
      return end(.success(response))
    case .redirected(let answer):
      figures.answers += 1
      chains.note(answer)
      return answer.redirect(at: now).map { end(.success($0)) }
    case .renewed(let answer, let isOurs):
      renew(answer)
      guard !isOurs else { return end(result.outcome) }
      return goOn(id, standing.mayRead ? .body(answer.digest, answer) : .passed, end)
    case .ended:
      return end(result.outcome)
    case .missed:
      discard(result, of: lookup)
      standing.noteTruth()
      figures.misses += 1
      if case .body(let digest, _) = lookup.step { writing.noteMissing(digest) }
      return goOn(id, .passed, end)
    case .refused(var failure):
      discard(result, of: lookup)
      figures.note(failure)
      if standing.note(failure) { giveUp(besides: id) }
      guard terms.settings.isRequired else { return goOn(id, .passed, end) }
      failure.message = "`cache.remote` is required: \(failure.message)"
      // However it refuses, what cannot do without it has no server.
      if ![.trust, .connectivity].contains(failure.code.category) { failure.code = .serverBusy }
      return end(.failure(failure))
    case .lied(let failure):
      discard(result, of: lookup)
      figures.note(failure)
      standing.noteAnswer()
      if standing.noteLie() { giveUp(besides: id) }
      return goOn(id, .passed, end)
    case .failed(let failure):
      return end(.failure(failure))
    }
  }

  /// Asks for what comes next, unless it was called back meanwhile.
  private func goOn(
    _ id: TransferID,
    _ step: TierLookup.Step,
    _ end: (Result<TransferResponse, Failure>) -> TransferResult
  ) -> TransferResult? {
    guard lookups[id]?.isCancelled == false else {
      return end(.failure(Failure(.cancelled, "it was called back")))
    }
    ask(id, step)
    return nil
  }

  private func note(_ response: TransferResponse, of lookup: TierLookup) {
    if case .body(let digest, let answer) = lookup.step {
      standing.noteTruth()
      writing.notePresent(digest)
      if answer != nil { figures.answers += 1 }
    } else {
      standing.noteAnswer()
      figures.answers += 1
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

  /// Nothing more is asked of it in this run.
  private func giveUp(besides ended: TransferID) {
    chains.drop()
    for (id, lookup) in lookups where lookup.isAtTier && id != ended {
      lookups[id]?.isAbandoned = true
      inner.cancel(id)
    }
  }
}
