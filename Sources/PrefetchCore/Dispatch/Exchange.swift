/// One question to the network until it is answered: hops, attempts, conditions and credentials.
///
/// Every hop is a request of its own under the whole policy; nothing follows a redirect for us.
package struct Exchange: Sendable {
  /// What to do after a result.
  package enum Step: Sendable {
    /// Send the next request at once.
    case ask
    /// Send it after a pause.
    case wait(Duration)
    case answered(TransferResponse)
    case failed(Failure, status: Int?)
    /// The server wants to be left alone for longer than the run may wait.
    case deferred(Deferral, status: Int)
  }

  package let url: WebURL
  package private(set) var hop: WebURL
  package private(set) var redirects: [RedirectHop] = []
  package private(set) var attempts = 0
  private var method: TransferRequest.Method
  private var conditions: Validators
  /// Validators belong to the URL that gave them, which after redirects is not the first one.
  private var conditionURL: String?
  /// Private to the first origin.
  private let headers: [HeaderField]
  private let allowsCoding: Bool
  private let sizeLimit: Int64?
  private let expectedSize: Int64?
  private var algorithms: Set<DigestAlgorithm>
  /// Of the last request.
  private var askedAlgorithms: Set<DigestAlgorithm> = []

  package init(
    url: WebURL,
    method: TransferRequest.Method = .get,
    headers: [HeaderField] = [],
    conditions: Validators = Validators(),
    conditionURL: String? = nil,
    allowsCoding: Bool = true,
    sizeLimit: Int64? = nil,
    expectedSize: Int64? = nil,
    algorithms: Set<DigestAlgorithm> = []
  ) {
    self.url = url
    hop = url
    self.method = method
    self.headers = headers
    self.conditions = conditions
    self.conditionURL = conditionURL ?? url.string
    self.allowsCoding = allowsCoding
    self.sizeLimit = sizeLimit
    self.expectedSize = expectedSize
    self.algorithms = algorithms
  }

  package mutating func nextRequest(_ id: TransferID) -> TransferRequest {
    attempts += 1
    askedAlgorithms = algorithms
    return TransferRequest(
      id: id,
      method: method,
      url: hop,
      headers: hopHeaders,
      allowsCoding: allowsCoding,
      sizeLimit: sizeLimit,
      algorithms: algorithms,
      expectedSize: expectedSize
    )
  }

  /// Forgets the validators, for an answer that does not fit them.
  package mutating func dropConditions() {
    conditions = Validators()
  }

  /// Digests to take from the next request on.
  package mutating func require(_ more: Set<DigestAlgorithm>) {
    algorithms.formUnion(more)
  }

  /// Whether the answer to the last request comes with these digests.
  package func hasAsked(for wanted: Set<DigestAlgorithm>) -> Bool {
    wanted.isSubset(of: askedAlgorithms)
  }

  package var isConditional: Bool {
    !conditions.isEmpty && hop.string == conditionURL
  }

  package mutating func receive(
    _ outcome: Result<TransferResponse, Failure>,
    policy: RunPolicy,
    now: Instant,
    random: Double
  ) -> Step {
    switch outcome {
    case .failure(let failure):
      return retry(failure, status: nil, policy: policy.retries, random: random)
    case .success(let response):
      if Self.redirectStatuses.contains(response.status),
        let location = response.headers["Location"]
      {
        return follow(location, status: response.status, policy: policy, now: now)
      }
      if Self.busyStatuses.contains(response.status) {
        let told = RetryAfter.pause(response.headers["Retry-After"], now: now)
        return busy(response.status, told: told, policy: policy.retries, now: now, random: random)
      }
      return .answered(response)
    }
  }

  /// A server that says when gets asked then, or, where that is too long for this run, in a later one.
  private mutating func busy(
    _ status: Int,
    told: Duration?,
    policy: RetryPolicy,
    now: Instant,
    random: Double
  ) -> Step {
    if let told, told > policy.wait {
      return .deferred(Deferral(rule: .retryAfter, until: now + told), status: status)
    }
    let failure = Failure(
      .serverBusy,
      "`\(hop.authority)` answered \(status)",
      isTransient: true
    )
    let step = retry(failure, status: status, policy: policy, random: random)
    guard let told, case .wait(let pause) = step else { return step }
    return .wait(max(told, pause))
  }

  private mutating func retry(
    _ failure: Failure,
    status: Int?,
    policy: RetryPolicy,
    random: Double
  ) -> Step {
    let limit = failure.code == .dns ? policy.lookups : policy.count
    guard failure.isTransient, attempts - redirects.count <= limit else {
      return .failed(failure, status: status)
    }
    return .wait(policy.delay(beforeAttempt: attempts - redirects.count + 1, random: random))
  }

  private mutating func follow(
    _ location: String,
    status: Int,
    policy: RunPolicy,
    now: Instant
  ) -> Step {
    let rules = policy.redirects
    guard rules.isFollowing else {
      // Locations are often signed, so only their redacted form is told.
      let target = (try? hop.resolving(location)).map { "`\($0.redacted)`" } ?? "another place"
      return .failed(
        Failure(.redirected, "it is redirected to \(target), and `redirects.follow` is false"),
        status: status
      )
    }
    let target: WebURL
    do {
      target = try hop.resolving(location)
    } catch {
      let code: ErrorCode =
        if case .unsupportedScheme = error { .redirectForbidden } else { .badResponse }
      return .failed(Failure(code, "its redirect target \(error)"), status: status)
    }
    redirects.append(RedirectHop(status: status, url: target))
    if redirects.count > rules.maximum {
      return .failed(
        Failure(.redirectLimit, "more than \(rules.maximum) redirects"),
        status: status
      )
    }
    if target == url || redirects.dropLast().contains(where: { $0.url == target }) {
      return .failed(
        Failure(.redirectLimit, "its redirects come back to `\(target)`"),
        status: status
      )
    }
    if hop.scheme == .https, target.scheme == .http, !rules.allowsDowngrade {
      return .failed(
        Failure(.redirectForbidden, "a redirect leads from https to `\(target)`"),
        status: status
      )
    }
    if target.host != url.host, !rules.allowsCrossHost {
      return .failed(
        Failure(.redirectForbidden, "a redirect leads to another host, `\(target.host)`"),
        status: status
      )
    }
    if case .refused(_, let hint) = policy.transportSecurity.decide(target, at: now) {
      return .failed(
        Failure(.transportSecurity, "a redirect leads to `\(target)` over plain http; \(hint)"),
        status: status
      )
    }
    hop = target
    return .ask
  }

  /// Whether this hop sent something that proves who we are.
  package var carriesCredentials: Bool {
    hop.origin == url.origin
      && headers.contains { field in
        !RequestHeader.isHarmless(field.name)
      }
  }

  private var hopHeaders: [HeaderField] {
    var fields = hop.origin == url.origin ? headers : []
    guard isConditional else { return fields }
    if let tag = conditions.entityTag { fields.append(HeaderField("If-None-Match", tag)) }
    if let date = conditions.lastModified { fields.append(HeaderField("If-Modified-Since", date)) }
    // Past any shared cache on the way: the question is what the origin holds.
    fields.append(HeaderField("Cache-Control", "max-age=0"))
    return fields
  }

  private static let redirectStatuses: Set<Int> = [301, 302, 303, 307, 308]
  private static let busyStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
}
