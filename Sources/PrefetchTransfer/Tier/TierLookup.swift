internal import PrefetchCore

/// Requests of one lookup in the second tier, step by step, up to the response.
struct TierLookup {
  enum Step {
    case record
    /// A request to the tier for a body, declared or named by a record.
    case body(ContentDigest, OriginResponse?)
    case origin(OriginResponse)
    /// The plain request to the origin, without the tier.
    case withoutTier
  }

  enum NextAction {
    case request(Step)
    case served(TransferResponse)
    case redirected(OriginResponse)
    /// The origin confirmed the record, and with `confirmsOwn` also the request's own validators.
    case renewed(OriginResponse, confirmsOwn: Bool)
    case ended
    case missed
    case refused(Failure)
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
    case .origin, .withoutTier: false
    }
  }

  /// Whether the tier is sending a body, which is accepted even after the tier was given up.
  var isBodyMoving: Bool {
    if case .body = step { hasMoved } else { false }
  }

  var isStaged: Bool {
    if case .record = step { false } else { true }
  }

  static func firstStep(of request: TransferRequest, isTrusted: Bool) -> Step? {
    guard let tierRequest = request.tierRequest, tierRequest.isFirstHop else { return nil }
    if let digest = tierRequest.digest { return .body(digest, nil) }
    return isTrusted && tierRequest.granted != nil ? .record : nil
  }

  static func mayUse(
    _ record: OriginResponse,
    for request: TransferRequest,
    at now: Instant
  ) -> Bool {
    guard let granted = request.tierRequest?.granted else { return false }
    return record.isFresh(under: granted, at: now)
  }

  // MARK: Next action

  func nextAction(
    after outcome: Result<TransferResponse, Failure>,
    at now: Instant,
    reading decode: ([UInt8], String) -> OriginResponse?
  ) -> NextAction {
    switch (step, outcome) {
    case (.withoutTier, _), (.origin, .failure): .ended
    case (.origin(let record), .success(let response)):
      nextAction(record, confirmedBy: response, at: now)
    case (_, .failure(let failure)): nextAction(failure)
    case (.record, .success(let response)):
      nextAction(response) { body in
        guard let body, let record = decode(body.prefix, request.url.string) else {
          return .lied(Failure(.badResponse, "a record of it cannot be read"))
        }
        return nextAction(record, at: now)
      }
    case (.body(let digest, let record), .success(let response)):
      nextAction(response) { body in
        nextAction(body, response, of: digest, record, at: now)
      }
    }
  }

  private func nextAction(_ given: Failure) -> NextAction {
    if given.code == .cancelled || given.code.category == .io { return .failed(given) }
    // A body that is too large is so from any source; the origin's response tells the size.
    if given.code == .tooLarge, isStaged { return .request(.withoutTier) }
    var failure = given
    failure.isTransient = false
    let isLie = given.code == .badResponse || given.code == .tooLarge
    return isLie ? .lied(failure) : .refused(failure)
  }

  private func nextAction(
    _ response: TransferResponse,
    _ found: (StagedBody?) -> NextAction
  ) -> NextAction {
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

  private func nextAction(_ record: OriginResponse, at now: Instant) -> NextAction {
    // A response that varies by headers may differ for this client.
    guard record.suitsAll else { return .request(.withoutTier) }
    guard Self.mayUse(record, for: request, at: now) else {
      let isAskable =
        request.method == .get && record.redirects.isEmpty && !record.validators.isEmpty
      return .request(isAskable ? .origin(record) : .withoutTier)
    }
    guard record.redirects.isEmpty else { return .redirected(record) }
    guard request.isConfirmed(by: record) else { return .request(.body(record.digest, record)) }
    return .served(record.response(304, body: nil, at: now))
  }

  private func nextAction(
    _ body: StagedBody?,
    _ response: TransferResponse,
    of digest: ContentDigest,
    _ record: OriginResponse?,
    at now: Instant
  ) -> NextAction {
    guard body.map({ $0.digest == digest }) ?? true else {
      let text = "a body of it does not have the digest that it is stored under"
      return .lied(Failure(.badResponse, text))
    }
    if let body, let record { return .served(record.response(200, body: body, at: now)) }
    // A dry run needs only the size.
    var headers = record?.response(200, body: nil, at: now).headers ?? HeaderBlock()
    if body == nil, let length = response.headers["Content-Length"] {
      headers = headers.filtered { !headers.isNamed($0, HeaderName("Content-Length")) }
      headers.append(HeaderField("Content-Length", length))
    }
    return .served(
      TransferResponse(
        status: 200,
        headers: headers,
        body: body,
        tierRespondedAt: record?.respondedAt ?? now,
        originWasLocal: record?.isFromHere ?? false
      )
    )
  }

  private func nextAction(
    _ record: OriginResponse,
    confirmedBy response: TransferResponse,
    at now: Instant
  ) -> NextAction {
    guard response.status == 304 else { return .ended }
    // A 304 for this request's own validators may not confirm the record of others.
    let confirmsOwn = request.isConditional
    guard !confirmsOwn || request.isConfirmed(by: record),
      Revalidation.confirms(response.headers, stored: record.validators)
    else { return confirmsOwn ? .ended : .request(.withoutTier) }
    var renewed = record
    renewed.headers =
      Revalidation.merge(stored: record.headers, confirmed: response.headers).headers
    renewed.respondedAt = now
    return .renewed(renewed, confirmsOwn: confirmsOwn)
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

extension OriginResponse {
  func response(_ status: Int, body: StagedBody?, at now: Instant) -> TransferResponse {
    TransferResponse(
      status: status,
      headers: headers(at: now),
      body: body,
      tierRespondedAt: respondedAt,
      originWasLocal: isFromHere
    )
  }

  func redirect(at now: Instant) -> TransferResponse? {
    redirects.first.map { redirect in
      TransferResponse(
        status: redirect.status,
        headers: Self.head(of: redirect, at: now),
        body: nil,
        tierRespondedAt: respondedAt
      )
    }
  }
}

extension TransferRequest {
  func revalidating(_ origin: OriginResponse) -> TransferRequest {
    guard !isConditional else { return self }
    var request = self
    let validators = origin.validators
    if let tag = validators.entityTag { request.headers.append(HeaderField("If-None-Match", tag)) }
    if let date = validators.lastModified {
      request.headers.append(HeaderField("If-Modified-Since", date))
    }
    return request
  }

  fileprivate var isConditional: Bool {
    value(of: "if-none-match") != nil || value(of: "if-modified-since") != nil
  }

  fileprivate func isConfirmed(by origin: OriginResponse) -> Bool {
    if let tag = value(of: "if-none-match") {
      return Revalidation.confirms(origin.headers, stored: Validators(entityTag: tag))
        && origin.validators.entityTag != nil
    }
    guard let date = value(of: "if-modified-since") else { return false }
    return origin.validators.lastModified == date
  }

  private func value(of name: String) -> String? {
    headers.first { $0.name.lowercased() == name }?.value
  }
}
