internal import PrefetchCore

/// Requests of one lookup in the second tier, step by step, up to the response.
struct TierLookup {
  enum Step {
    /// A request to the tier for the record of the origin's last response.
    case record
    /// A request to the tier for a body, declared or named by a record.
    case body(ContentDigest, OriginAnswer?)
    /// A request to the origin to revalidate a record.
    case origin(OriginAnswer)
    /// The plain request to the origin, without the tier.
    case passed
  }

  enum Turn {
    case ask(Step)
    /// The tier had the response.
    case told(TransferResponse)
    /// The record begins with a redirect.
    case redirected(OriginAnswer)
    /// The origin confirmed the record, and with `isOurs` also the request's own validators.
    case renewed(OriginAnswer, isOurs: Bool)
    /// The response or failure of the origin is final.
    case ended
    /// The tier does not have the record or body.
    case missed
    /// The tier could not be reached, or refused to respond.
    case refused(Failure)
    /// The tier sent invalid content.
    case lied(Failure)
    /// A failure of this machine, such as a full disk or a cancellation; not the tier's fault.
    case failed(Failure)
  }

  let request: TransferRequest
  let order: Order?
  var step: Step
  /// Whether to go to the origin once the request in flight has ended.
  var isAbandoned = false
  var isCancelled = false
  var hasMoved = false
  var wireBytes: Int64 = 0

  var isAtTier: Bool {
    switch step {
    case .record, .body: true
    case .origin, .passed: false
    }
  }

  /// Whether the tier is sending a body, which is accepted even after the tier was given up.
  var isBodyMoving: Bool {
    if case .body = step { hasMoved } else { false }
  }

  /// Whether a received body is in the staging area.
  var isStaged: Bool {
    if case .record = step { false } else { true }
  }

  static func firstStep(of request: TransferRequest, isTrusted: Bool) -> Step? {
    guard let question = request.tierQuestion, question.isFirstHop else { return nil }
    if let digest = question.digest { return .body(digest, nil) }
    return isTrusted && question.granted != nil ? .record : nil
  }

  /// Returns whether a record may replace a request to the origin.
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
    // A body that is too large is so from any source; the origin's response tells the size.
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

  private func turn(_ answer: OriginAnswer, at now: Instant) -> Turn {
    // A response that varies by headers may differ for this client.
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

  /// Returns the next action for a body, which must have the right digest.
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
    // A dry run needs only the size.
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

  private func turn(
    _ answer: OriginAnswer,
    asked response: TransferResponse,
    at now: Instant
  ) -> Turn {
    guard response.status == 304 else { return .ended }
    // A 304 for this request's own validators may not confirm the record of others.
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
  func response(_ status: Int, body: StagedBody?, at now: Instant) -> TransferResponse {
    TransferResponse(
      status: status,
      headers: headers(at: now),
      body: body,
      toldByTierAt: answeredAt,
      isToldFromHere: isFromHere
    )
  }

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

  /// Returns whether the record confirms the request's validators.
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
