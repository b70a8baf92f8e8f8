import PrefetchCore
import PrefetchSystem
import PrefetchTransfer

/// A POST to one server, under the rules of all requests.
struct PostCall {
  let url: WebURL
  let body: [UInt8]
  let headers: [HeaderField]
  /// Names for messages: receiver and content.
  let server: String
  let contentName: String
  let policy: RunPolicy
  let settings: TransportSettings
  let clock: SystemClock
  /// Timeout over all hops.
  let timeout: Duration
  /// Returns why the body may not be sent to a URL; nil if it may.
  let objection: (WebURL, Instant) -> Failure?

  struct Response {
    var status: Int
    var retryAfter: String?
    var body: [UInt8]
  }

  struct Outcome {
    var result: Result<Response, Failure>
    var requests: Int64 = 0
    var wireBytes: Int64 = 0
    var hasResponse = false
    var hadCredentials = false
  }

  static let largestReply = 64 << 10

  /// Returns nil if the program was asked to stop.
  func perform() throws(Failure) -> Outcome? {
    var outcome = Outcome(result: .failure(Failure(.internal, "nothing was asked")))
    let staging = ReplyStaging()
    let transport = try CurlTransport(settings: limitedSettings, staging: staging, clock: clock)
    defer { transport.finish() }
    var url = url
    var visited: Set<String> = []
    let end = clock.now().uptime + timeout
    for number in 0...policy.redirects.maximum {
      if let objection = objection(url, clock.now().wall) {
        outcome.result = .failure(objection)
        return outcome
      }
      visited.insert(url.string)
      let (request, hasCredentials) = request(TransferID(number + 1), to: url)
      outcome.hadCredentials = hasCredentials
      transport.start(request)
      guard let result = result(of: transport, until: end) else { return nil }
      outcome.requests += 1
      outcome.wireBytes += result.figures.wireBytes
      switch result.outcome {
      case .failure(let failure):
        outcome.result = .failure(failure)
        return outcome
      case .success(let response):
        outcome.hasResponse = !RetryPolicy.isBusy(response.status) && response.status < 500
        switch next(after: response, from: url, visited: visited) {
        case .success(let target?):
          url = target
        case .success(nil):
          outcome.result = .success(
            Response(
              status: response.status,
              retryAfter: response.headers[.retryAfter],
              body: response.body.map { staging.bytes(of: $0) } ?? []
            )
          )
          return outcome
        case .failure(let failure):
          outcome.result = .failure(failure)
          return outcome
        }
      }
    }
    outcome.result = .failure(
      Failure(.redirectLimit, "more than \(policy.redirects.maximum) redirects")
    )
    return outcome
  }

  private func request(_ id: TransferID, to url: WebURL) -> (TransferRequest, Bool) {
    var request = TransferRequest(
      id: id,
      method: .post(body: body),
      url: url,
      headers: headers + [
        HeaderField("Content-Type", "application/json"), HeaderField("Accept", "application/json"),
      ]
    )
    request.sizeLimit = Int64(Self.largestReply)
    var connections = ConnectionTable(policy)
    let hasCredentials = connections.addTerms(
      to: &request,
      for: .other,
      named: .local,
      isFirstOrigin: true,
      at: clock.now().wall
    )
    return (request, hasCredentials || !headers.isEmpty)
  }

  private var limitedSettings: TransportSettings {
    var limited = settings
    limited.workers = 1
    limited.itemTimeout = min(limited.itemTimeout ?? timeout, timeout)
    return limited
  }

  private func result(of transport: CurlTransport, until end: Duration) -> TransferResult? {
    while true {
      for case .finished(_, let result) in transport.wait(until: end) { return result }
      if StopSignals.pending != nil { return nil }
      guard clock.now().uptime < end else {
        let failure = Failure(
          .timeout,
          "\(server) took too long, with all its redirects",
          isTransient: true
        )
        return TransferResult(.failure(failure), figures: TransferFigures())
      }
    }
  }

  /// Returns the URL of a redirect with the same method, body and origin; nil for a final answer.
  private func next(
    after response: TransferResponse,
    from url: WebURL,
    visited: Set<String>
  ) -> Result<WebURL?, Failure> {
    guard [307, 308].contains(response.status), let location = response.headers["Location"] else {
      return .success(nil)
    }
    guard policy.redirects.isFollowing else {
      return .failure(
        Failure(.redirected, "\(server) redirects, and `redirects.follow` is false")
      )
    }
    let target: WebURL
    do {
      target = try url.resolving(location)
    } catch {
      return .failure(Failure(.badResponse, "\(server) redirects to no usable URL"))
    }
    if url.scheme == .https, target.scheme == .http, !policy.redirects.allowsDowngrade {
      return .failure(Failure(.redirectForbidden, "\(server) redirects from https to http"))
    }
    guard target.origin == self.url.origin else {
      return .failure(
        Failure(
          .redirected,
          "\(server) redirects to another origin, where \(contentName) is not sent"
        )
      )
    }
    guard !visited.contains(target.string) else {
      return .failure(Failure(.redirectLimit, "the redirects of \(server) lead in a circle"))
    }
    return .success(target)
  }
}
