import PrefetchCore
import PrefetchDocuments
import PrefetchSystem
import PrefetchTransfer

/// One question to the registration endpoint, under the rules that hold for every request.
struct RegistrationCall {
  let setup: LicenseSetup
  let segments: [String]
  let policy: RunPolicy
  let settings: TransportSettings
  let clock: SystemClock

  struct Outcome {
    var answer: RegistrationAnswer
    var requests: Int64 = 0
    var wireBytes: Int64 = 0
    /// Whether a server said anything but "not now".
    var hasAnswer = false
  }

  /// Nil when somebody asked the program to stop.
  func perform() throws(Failure) -> Outcome? {
    var outcome = Outcome(answer: .failed(Failure(.internal, "nothing was asked")))
    let staging = ReplyStaging()
    let transport = try CurlTransport(settings: patient, staging: staging, clock: clock)
    defer { transport.finish() }
    var url = setup.url
    var asked: Set<String> = []
    let end = clock.now().uptime + patience
    for number in 0...policy.redirects.maximum {
      if let objection = Self.objection(to: url, policy, at: clock.now().wall) {
        outcome.answer = .failed(objection)
        return outcome
      }
      asked.insert(url.string)
      transport.start(request(TransferID(number + 1), to: url))
      guard let result = result(of: transport, until: end) else { return nil }
      outcome.requests += 1
      outcome.wireBytes += result.figures.wireBytes
      switch result.outcome {
      case .failure(let failure):
        outcome.answer = .failed(failure)
        return outcome
      case .success(let response):
        outcome.hasAnswer = !RetryPolicy.isBusy(response.status) && response.status < 500
        switch next(after: response, from: url, asked: asked) {
        case .success(let target?):
          url = target
        case .success(nil):
          outcome.answer = answer(response, staging)
          return outcome
        case .failure(let failure):
          outcome.answer = .failed(failure)
          return outcome
        }
      }
    }
    outcome.answer = .failed(
      Failure(.redirectLimit, "more than \(policy.redirects.maximum) redirects")
    )
    return outcome
  }

  /// Why the license may not be sent there; nil where it may.
  static func objection(
    to url: WebURL,
    _ policy: RunPolicy,
    at now: Instant
  ) -> Failure? {
    if let refusal = policy.refusal(of: url, for: .other, named: .local, at: now) {
      return refusal
    }
    // What is asked of that origin later is looked at when it is asked.
    guard policy.connections.isReadByProxy(url, method: .post(body: [])) else { return nil }
    return .licenseInClear(host: url.host)
  }

  private func request(_ id: TransferID, to url: WebURL) -> TransferRequest {
    let tool: JSONValue = [
      "name": .string(ToolVersions.name), "version": .string(ToolVersions.version),
    ]
    let body: JSONValue = [
      "bundle_id": .optional(setup.bundleID), "tool": tool, "segments": .strings(segments),
    ]
    var request = TransferRequest(
      id: id,
      method: .post(body: JSONWriter.bytes(body)),
      url: url,
      headers: [
        HeaderField("Authorization", "Bearer \(setup.key.value)"),
        HeaderField("Content-Type", "application/json"),
        HeaderField("Accept", "application/json"),
      ],
      sizeLimit: Int64(RegistrationReply.largest)
    )
    var connections = ConnectionTable(policy)
    _ = connections.equip(
      &request,
      for: .other,
      named: .local,
      isFirstOrigin: true,
      at: clock.now().wall
    )
    return request
  }

  /// Whoever lets a run wait for its registration does not let it wait for long.
  private var patient: TransportSettings {
    var patient = settings
    patient.workers = 1
    patient.itemTimeout = min(patient.itemTimeout ?? Self.longest, Self.longest)
    return patient
  }

  /// For all hops together.
  private var patience: Duration {
    min(policy.deadline ?? Self.longest, Self.longest)
  }

  private static let longest: Duration = .seconds(60)

  private func result(of transport: CurlTransport, until end: Duration) -> TransferResult? {
    while true {
      for case .finished(_, let result) in transport.wait(until: end) { return result }
      if StopSignals.pending != nil { return nil }
      guard clock.now().uptime < end else {
        let failure = Failure(
          .timeout,
          "the registration server took too long, with all its redirects",
          isTransient: true
        )
        return TransferResult(.failure(failure), figures: TransferFigures())
      }
    }
  }

  /// Where the question has to be put again; nil where this was the answer.
  ///
  /// Only a redirect that keeps method and body is one, and the key stays with its origin.
  private func next(
    after response: TransferResponse,
    from url: WebURL,
    asked: Set<String>
  ) -> Result<WebURL?, Failure> {
    guard [307, 308].contains(response.status), let location = response.headers["Location"] else {
      return .success(nil)
    }
    guard policy.redirects.isFollowing else {
      return .failure(
        Failure(.redirected, "the registration server redirects, and `redirects.follow` is false")
      )
    }
    let target: WebURL
    do {
      target = try url.resolving(location)
    } catch {
      return .failure(Failure(.badResponse, "the registration server redirects to no usable URL"))
    }
    if url.scheme == .https, target.scheme == .http, !policy.redirects.allowsDowngrade {
      return .failure(
        Failure(.redirectForbidden, "the registration server redirects from https to http")
      )
    }
    guard target.origin == setup.url.origin else {
      return .failure(
        Failure(
          .redirected,
          "the registration server redirects to another origin, where the license is not sent"
        )
      )
    }
    guard !asked.contains(target.string) else {
      return .failure(
        Failure(.redirectLimit, "the redirects of the registration server lead in a circle")
      )
    }
    return .success(target)
  }

  private func answer(_ response: TransferResponse, _ staging: ReplyStaging) -> RegistrationAnswer {
    let now = clock.now().wall
    guard response.status == 200 else {
      return .status(
        response.status,
        retryAfter: RetryAfter.pause(response.headers[.retryAfter], now: now)
      )
    }
    return RegistrationReply.read(response.body.map { staging.bytes(of: $0) } ?? [], at: now)
  }
}
