internal import PrefetchCore

/// What is asked in the place of one request to an origin, one step after another, until it has its end.
struct TierLookup {
  /// What is under way for it.
  enum Step {
    /// The tier is asked what the origin last said.
    case record
    /// The tier is asked for a body: one that was declared, or that of an answer.
    case body(ContentDigest, OriginAnswer?)
    /// The origin is asked whether its answer holds still.
    case origin(OriginAnswer)
    /// The origin is asked as if there were no tier.
    case passed
  }

  /// What is to be done next.
  enum Turn {
    case ask(Step)
    /// The tier had it.
    case told(TransferResponse)
    /// An answer that the tier had begins with a redirect.
    case redirected(OriginAnswer)
    /// The origin says that an answer holds still, and with that to us what was asked.
    case renewed(OriginAnswer, isOurs: Bool)
    /// The origin's own end.
    case ended
    /// The tier does not have it.
    case missed
    /// It could not be asked, or refused to answer.
    case refused(Failure)
    /// It gave what it should not.
    case lied(Failure)
    /// What this machine has no room for, or called back, is no trouble of the tier's.
    case failed(Failure)
  }

  let request: TransferRequest
  /// Where the transport makes the request itself.
  let order: Order?
  var step: Step
  /// Whether the tier is passed by when what is under way has ended.
  var isAbandoned = false
  var isCancelled = false
  /// Whether bytes of a body have come from the tier.
  var hasMoved = false
  /// Received for it so far.
  var wireBytes: Int64 = 0

  var isAtTier: Bool {
    switch step {
    case .record, .body: true
    case .origin, .passed: false
    }
  }

  /// Whether the tier is giving a body, which is taken even where the tier is asked for nothing more.
  var isBodyMoving: Bool {
    if case .body = step { hasMoved } else { false }
  }

  /// Whether a body that came is in the staging.
  var isStaged: Bool {
    if case .record = step { false } else { true }
  }

  /// How it begins; nil where the tier has nothing to say.
  static func firstStep(of request: TransferRequest, isTrusted: Bool) -> Step? {
    guard let question = request.tierQuestion, question.isFirstHop else { return nil }
    if let digest = question.digest { return .body(digest, nil) }
    return isTrusted && question.granted != nil ? .record : nil
  }

  /// Whether what the tier knows may stand in for a question to the origin.
  static func mayUse(_ answer: OriginAnswer, for request: TransferRequest, at now: Instant) -> Bool
  {
    guard let granted = request.tierQuestion?.granted else { return false }
    return answer.isFresh(under: granted, at: now)
  }

  // MARK: Turns

  func turn(
    after outcome: Result<TransferResponse, Failure>,
    at now: Instant,
    reading decode: ([UInt8], String) -> OriginAnswer?
  ) -> Turn {
    switch (step, outcome) {
    case (.passed, _), (.origin, .failure): .ended
    case (.origin(let answer), .success(let response)): turn(answer, asked: response, at: now)
    case (_, .failure(let failure)): turn(failure)
    case (.record, .success(let response)):
      turn(response) { body in
        guard let body, let answer = decode(body.prefix, request.url.string) else {
          return .lied(Failure(.badResponse, "a record of it cannot be read"))
        }
        return turn(answer, at: now)
      }
    case (.body(let digest, let answer), .success(let response)):
      turn(response) { body in
        turn(body, response, of: digest, answer, at: now)
      }
    }
  }

  private func turn(_ given: Failure) -> Turn {
    if given.code == .cancelled || given.code.category == .io { return .failed(given) }
    // A body that is too large for the item is so wherever it comes from; the origin is asked how large.
    if given.code == .tooLarge, isStaged { return .ask(.passed) }
    var failure = given
    failure.isTransient = false
    let isLie = given.code == .badResponse || given.code == .tooLarge
    return isLie ? .lied(failure) : .refused(failure)
  }

  private func turn(_ response: TransferResponse, _ found: (StagedBody?) -> Turn) -> Turn {
    switch response.status {
    case 200:
      guard response.body != nil || request.method == .head else {
        return .lied(Failure(.badResponse, "it sent an answer without a body"))
      }
      return found(response.body)
    case 404, 410: return .missed
    default: return .refused(Self.failure(of: response.status))
    }
  }

  /// What the origin last said, as the tier has it.
  private func turn(_ answer: OriginAnswer, at now: Instant) -> Turn {
    // What others were told by their headers is not what we would be.
    guard answer.suitsAll else { return .ask(.passed) }
    guard Self.mayUse(answer, for: request, at: now) else {
      let isAskable =
        request.method == .get && answer.redirects.isEmpty && !answer.validators.isEmpty
      return .ask(isAskable ? .origin(answer) : .passed)
    }
    guard answer.redirects.isEmpty else { return .redirected(answer) }
    guard request.isConfirmed(by: answer) else { return .ask(.body(answer.digest, answer)) }
    return .told(answer.response(304, body: nil, at: now))
  }

  /// A body is what it should be or nothing.
  private func turn(
    _ body: StagedBody?,
    _ response: TransferResponse,
    of digest: ContentDigest,
    _ answer: OriginAnswer?,
    at now: Instant
  ) -> Turn {
    guard body.map({ $0.digest == digest }) ?? true else {
      let text = "a body of it does not have the digest that it is stored under"
      return .lied(Failure(.badResponse, text))
    }
    if let body, let answer { return .told(answer.response(200, body: body, at: now)) }
    // A dry run asks no more than how large it is.
    var headers = answer?.response(200, body: nil, at: now).headers ?? HeaderBlock()
    if body == nil, let length = response.headers["Content-Length"] {
      headers = headers.filtered { !headers.isNamed($0, HeaderName("Content-Length")) }
      headers.append(HeaderField("Content-Length", length))
    }
    return .told(
      TransferResponse(
        status: 200,
        headers: headers,
        body: body,
        toldByTierAt: answer?.answeredAt ?? now,
        isToldFromHere: answer?.isFromHere ?? false
      )
    )
  }

  /// What the origin said when it was asked by what the tier knows of it.
  private func turn(
    _ answer: OriginAnswer,
    asked response: TransferResponse,
    at now: Instant
  ) -> Turn {
    guard response.status == 304 else { return .ended }
    // It confirmed what we hold, which may not be what others were told.
    let isOurs = request.isConditional
    guard !isOurs || request.isConfirmed(by: answer),
      Revalidation.confirms(response.headers, stored: answer.validators)
    else { return isOurs ? .ended : .ask(.passed) }
    var renewed = answer
    renewed.headers =
      Revalidation.merge(stored: answer.headers, confirmed: response.headers).headers
    renewed.answeredAt = now
    return .renewed(renewed, isOurs: isOurs)
  }

  static func failure(of status: Int) -> Failure {
    switch status {
    case 401, 403: Failure(.credentialsRefused, "it answered \(status); look at its `credentials`")
    case 300..<400:
      Failure(.redirected, "it answered \(status), and redirects of it are not followed")
    default: Failure(.serverBusy, "it answered \(status)")
    }
  }
}

extension OriginAnswer {
  /// As it comes from the origin through a cache.
  func response(_ status: Int, body: StagedBody?, at now: Instant) -> TransferResponse {
    TransferResponse(
      status: status,
      headers: headers(at: now),
      body: body,
      toldByTierAt: answeredAt,
      isToldFromHere: isFromHere
    )
  }

  /// Its first redirect; nil where it has none.
  func redirect(at now: Instant) -> TransferResponse? {
    redirects.first.map { redirect in
      TransferResponse(
        status: redirect.status,
        headers: Self.head(of: redirect, at: now),
        body: nil,
        toldByTierAt: answeredAt
      )
    }
  }
}

extension TransferRequest {
  /// Asked by what an answer says of itself.
  func asking(whether answer: OriginAnswer) -> TransferRequest {
    guard !isConditional else { return self }
    var request = self
    let validators = answer.validators
    if let tag = validators.entityTag { request.headers.append(HeaderField("If-None-Match", tag)) }
    if let date = validators.lastModified {
      request.headers.append(HeaderField("If-Modified-Since", date))
    }
    return request
  }

  fileprivate var isConditional: Bool {
    value(of: "if-none-match") != nil || value(of: "if-modified-since") != nil
  }

  /// Whether an answer says that what it asks about holds still.
  fileprivate func isConfirmed(by answer: OriginAnswer) -> Bool {
    if let tag = value(of: "if-none-match") {
      return Revalidation.confirms(answer.headers, stored: Validators(entityTag: tag))
        && answer.validators.entityTag != nil
    }
    guard let date = value(of: "if-modified-since") else { return false }
    return answer.validators.lastModified == date
  }

  private func value(of name: String) -> String? {
    headers.first { $0.name.lowercased() == name }?.value
  }
}
