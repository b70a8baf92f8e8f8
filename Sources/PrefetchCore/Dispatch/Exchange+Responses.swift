extension Exchange {
  /// Returns the next step after a result; `deadline` is the end of the run as uptime.
  package mutating func receive(
    _ result: TransferResult,
    policy: RunPolicy,
    now: Moment,
    deadline: Duration?,
    random: Double
  ) -> Step {
    let context = ReceptionContext(now: now, deadline: deadline, random: random)
    switch result.outcome {
    case .failure(let failure):
      switch result.figures.tierTrouble {
      case .lostRecord where chain.isLedByTier:
        fallBackToOrigin()
        return .request
      // No other source replaces a required tier.
      case .refusal: return gravestStep(after: .failed(failure, status: nil))
      case .lostRecord, nil: break
      }
      if part.wasSent, failure.isTransient, Self.isObjectionToPart(failure), dropPart() {
        return .request
      }
      keepPart(of: result)
      return retry(failure, status: nil, retryPause: nil, policy: policy, context)
    case .success(let response):
      // A range of the body was refused; the others stay.
      if result.partial != nil { keepPart(of: result) }
      return receive(response, result.figures, policy: policy, context)
    }
  }

  /// Judges a response; for `again` and `elsewhere` the exchange holds the next request to send.
  package mutating func conclude(
    _ response: TransferResponse,
    expecting expected: Expectation,
    policy: RunPolicy,
    now: Instant
  ) -> Conclusion {
    if response.status == 304, isConditional, let stored = expected.stored {
      if !expected.isContradicted, Revalidation.confirms(response.headers, stored: stored) {
        return .confirmed
      }
      dropConditions()
      return .again
    }
    // Another segment required a digest during the transfer, so it was not computed.
    if response.body != nil, !computesDigests(for: expected.algorithms) { return .again }
    guard let objection = expected.objection else {
      return response.body.map { .body($0) } ?? .bodiless
    }
    // Fallbacks for a wrong body: the origin behind a second tier, the whole body, the next source.
    if response.tierRespondedAt != nil {
      fallBackToOrigin()
      return .again
    }
    if part.wasSent, [206, 416].contains(response.status), dropPart() { return .again }
    let step = Step.failed(objection, status: response.status)
    if expected.maySeekElsewhere, nextAlternate(after: step, policy: policy, now: now) {
      return .elsewhere
    }
    return .refused(objection)
  }

  /// Moves to the next allowed source after `step` ended this one; returns false if none is left.
  package mutating func nextAlternate(after step: Step, policy: RunPolicy, now: Instant) -> Bool {
    let ended = sources.gravestEnd.map { Self.graver($0, step) } ?? step
    var sourceURL = source
    var result = SourceResult(url: sourceURL, step)
    while sources.number < alternates.count {
      sources.number += 1
      sources.results.append(result)
      sourceURL = source
      if let refusal = policy.refusal(
        of: sourceURL,
        for: terms.purpose,
        named: terms.provenance,
        at: now
      ) {
        result = SourceResult(url: sourceURL, failure: refusal)
        continue
      }
      sources.gravestEnd = ended
      attemptCounts.beginSource()
      returnToSource()
      return true
    }
    if !alternates.isEmpty, !sources.isExhausted { sources.results.append(result) }
    sources.isExhausted = true
    return false
  }

  private struct ReceptionContext {
    var now: Moment
    var deadline: Duration?
    var random: Double
  }

  private mutating func receive(
    _ response: TransferResponse,
    _ figures: TransferFigures,
    policy: RunPolicy,
    _ context: ReceptionContext
  ) -> Step {
    let status = response.status
    // The cookies in a second tier's answer were set for another machine.
    if response.tierRespondedAt == nil {
      cookies.store(response.headers, from: hop, at: context.now.wall)
    }
    if Self.redirectStatuses.contains(status), let location = response.headers["Location"] {
      let timing = Freshness.Timing(context.now.wall, figures)
      let hopTerms = terms(of: response.headers, at: timing, agent: policy.agent)
      let step = follow(
        HeaderText.escaped(location),
        status: status,
        from: response.provenance(figures, throughProxy: policy.connections.mayBeProxied),
        policy: policy,
        now: context.now.wall
      )
      if response.tierRespondedAt != nil {
        // The origin may redirect us elsewhere than others, but a forbidden target stays forbidden.
        if case .failed(let failure, _) = step, failure.code != .redirectForbidden {
          fallBackToOrigin()
          return .request
        }
        chain.isLedByTier = true
      }
      if case .request = step {
        attemptCounts.isFollowUp = true
        chain.terms.append(hopTerms)
        if !OriginResponse.isForAll(response.headers) { isAnonymous = false }
      }
      return step
    }
    if let pause = rateLimit(in: response, at: context.now.wall) {
      return busy(status, pause, policy: policy, context)
    }
    if policy.retries.isBusy(status) {
      let pause = RetryAfter.pause(response.headers[.retryAfter], now: context.now.wall)
      return busy(status, pause, policy: policy, context)
    }
    // A 416 with a body means that the part was the whole.
    if status == 416, response.body == nil, part.wasSent, dropPart() { return .request }
    if Self.isAbsence(status), startOver() { return .request }
    // A server without HEAD may still have the body.
    let isOfMethod = status == 501 && !requestsBody
    guard [404, 410].contains(status) || status >= 500 && !isOfMethod else {
      return .responded(response)
    }
    return end(.responded(response), policy: policy, context)
  }

  /// Returns the pause that a rate limit of the present hop demands; nil for other responses.
  func rateLimit(in response: TransferResponse, at now: Instant) -> Duration? {
    RetryAfter.rateLimit(
      response.status,
      response.headers,
      atReleaseAPI: terms.isReleaseAPI && isAtFirstOrigin,
      now: now
    )
  }

  /// Waits as long as a busy server demands, or defers the job if the run cannot wait so long.
  private mutating func busy(
    _ status: Int,
    _ retryPause: Duration?,
    policy: RunPolicy,
    _ context: ReceptionContext
  ) -> Step {
    if let retryPause, retryPause > policy.retries.wait {
      let deferral = Deferral(rule: .retryAfter, until: context.now.wall + retryPause)
      return end(.deferred(deferral, status: status), policy: policy, context)
    }
    let failure = Failure(
      .serverBusy,
      "`\(hop.authority)` answered \(status)",
      isTransient: true
    )
    return retry(failure, status: status, retryPause: retryPause, policy: policy, context)
  }

  private mutating func retry(
    _ failure: Failure,
    status: Int?,
    retryPause: Duration?,
    policy: RunPolicy,
    _ context: ReceptionContext
  ) -> Step {
    let limit = terms.isLookup ? policy.retries.lookups : policy.retries.count
    let cap = Self.mostRounds * (limit + 1)
    guard failure.isTransient, limit > 0, attemptCounts.sinceProgress <= limit,
      attemptCounts.atSource < cap
    else {
      let isElsewhereBetter = failure.isTransient || failure.code.category == .connectivity
      let step = Step.failed(failure, status: status)
      return isElsewhereBetter ? end(step, policy: policy, context) : gravestStep(after: step)
    }
    let jitter = policy.retries.delay(
      beforeAttempt: attemptCounts.sinceProgress + 1,
      isLookup: terms.isLookup,
      random: context.random
    )
    // At the time that the server named, retries come before the requests behind them.
    let pause = retryPause.flatMap { $0 > .zero ? $0 : nil } ?? jitter
    guard let deadline = context.deadline, context.now.uptime + pause >= deadline else {
      return .wait(pause)
    }
    let deferral =
      retryPause.map { Deferral(rule: .retryAfter, until: context.now.wall + $0) }
      ?? Deferral(rule: .deadline)
    return gravestStep(after: .deferred(deferral, status: status))
  }

  private mutating func end(_ step: Step, policy: RunPolicy, _ context: ReceptionContext) -> Step {
    nextAlternate(after: step, policy: policy, now: context.now.wall)
      ? .request : gravestStep(after: step)
  }

  package func sources(lastFailure failure: Failure?, status: Int?) -> [SourceResult] {
    guard !sources.results.isEmpty, !sources.isExhausted else { return sources.results }
    return sources.results + [SourceResult(url: source, status: status, failure: failure)]
  }

  func gravestStep(after step: Step) -> Step {
    // The caller that cancelled knows why.
    if case .failed(let failure, _) = step, failure.code == .cancelled { return step }
    return sources.gravestEnd.map { Self.graver($0, step) } ?? step
  }

  /// Returns the graver step: a breach of trust, then a deferral, then the first.
  private static func graver(_ first: Step, _ second: Step) -> Step {
    for step in [first, second] {
      if case .failed(let failure, _) = step, failure.code.category == .trust { return step }
    }
    for step in [first, second] {
      if case .deferred = step { return step }
    }
    return first
  }

  private mutating func returnToSource() {
    chain = Chain(hop: source, provenance: terms.provenance)
  }

  /// Restarts the chain once, since the signature in a redirect's target may have expired.
  private mutating func startOver() -> Bool {
    if chain.isLedByTier {
      fallBackToOrigin()
      return true
    }
    guard !redirects.isEmpty, attemptCounts.sinceProgress > 1, !attemptCounts.hasStartedOver else {
      return false
    }
    attemptCounts.hasStartedOver = true
    attemptCounts.isFollowUp = true
    returnToSource()
    return true
  }

  /// Sends the request to the origin instead of the second tier, from the first hop.
  private mutating func fallBackToOrigin() {
    tierRequest = nil
    attemptCounts.isFollowUp = true
    if chain.isLedByTier { returnToSource() }
  }

  private static func isAbsence(_ status: Int) -> Bool {
    [400, 401, 403, 404, 410].contains(status)
  }

  private static let redirectStatuses: Set<Int> = [301, 302, 303, 307, 308]
  private static let mostRounds = 25
}

/// Times and headers that a 304 renews of a stored response, of which nothing else changes.
enum Renewal: Sendable {
  /// The response repeats the stored headers, which state no lifetime.
  case repeated
  case times(Freshness, HeaderBlock)

  var freshness: Freshness {
    switch self {
    case .repeated: .undeclared(until: .distantFuture)
    case .times(let freshness, _): freshness
    }
  }

  /// Headers of the response that differ from the stored ones.
  var headers: HeaderBlock? {
    if case .times(_, let headers) = self { headers } else { nil }
  }
}

extension Confirmable {
  /// Returns nil for a response that does not confirm the body, or that changes more than times.
  func renewal(by response: TransferResponse, at timing: Freshness.Timing) -> Renewal? {
    guard response.status == 304,
      Revalidation.confirms(response.headers, stored: validators)
    else { return nil }
    if Revalidation.repeats(stored: headers, confirmed: response.headers) { return .repeated }
    if Revalidation.restates(stored: headers, confirmed: response.headers) {
      return .times(Freshness(response.headers, at: timing), response.headers)
    }
    let (merged, isChanged) = Revalidation.merge(stored: headers, confirmed: response.headers)
    guard !isChanged, !merged.has(.vary),
      Revalidation.renewed(validators, by: response.headers) == validators
    else { return nil }
    return .times(Freshness(merged, at: timing), response.headers)
  }
}

extension SourceResult {
  fileprivate init(url: WebURL, _ step: Exchange.Step) {
    self.init(url: url)
    switch step {
    case .request, .wait: break
    case .failed(let failure, let status):
      self.failure = failure
      self.status = status
    case .deferred(let deferral, let status):
      failure = Failure(.serverBusy, "deferred by \(deferral.rule.rawValue)", isTransient: true)
      self.status = status
    case .responded(let response):
      failure = Dispatcher.failure(status: response.status, carriesCredentials: false)
      status = response.status
    }
  }
}
