package import PrefetchCore

/// A transport without a network: a table or a ``Site`` gives responses, in the order of requests.
package final class FakeTransport: Transport {
  package enum Reply: Sendable {
    case response(status: Int, headers: [HeaderField], body: [UInt8])
    case failure(Failure)
    /// A 200, or with a Content-Range a 206, whose body breaks off after these bytes.
    case broken(headers: [HeaderField], body: [UInt8], Failure)
    /// A transfer that ends only when it is cancelled.
    case never
    /// A request that is returned unsent because its host had trouble.
    case notSent
  }

  /// Moment at which a transfer in flight ends.
  package enum Moment: Sendable {
    case now
    /// The transfer ends now and is reported with the next ends.
    case untold
    case later
  }

  package private(set) var requests: [TransferRequest] = []
  package private(set) var cancelled: [TransferID] = []
  /// Largest number of transfers in flight at a time.
  package private(set) var peakCount = 0
  /// Called with every deadline that `wait` receives, so that a test can move its clock.
  package var onWait: ((Duration?) -> Void)?

  /// Returns when each transfer in flight ends; nil lets all end at once.
  package var moment: (() -> Moment)?
  /// Reorders the ends before they are reported.
  package var order: (([TransferEvent]) -> [TransferEvent])?

  /// Returns the address of a URL's server.
  package var address: ((WebURL) -> String?)?

  private let staging: any BodyStaging
  private let reply: (TransferRequest) -> Reply
  private var running: [(request: TransferRequest, reply: Reply)] = []
  private var ended: [TransferEvent] = []

  package init(staging: any BodyStaging, reply: @escaping (TransferRequest) -> Reply) {
    self.staging = staging
    self.reply = reply
  }

  /// Scripts responses by URL: each list is used in order and repeats its last; other URLs get 404.
  package convenience init(staging: any BodyStaging, replies: [String: [Reply]]) {
    var remaining = replies
    self.init(staging: staging) { request in
      guard var list = remaining[request.url.string], let next = list.first else {
        return .response(status: 404, headers: [], body: [])
      }
      if list.count > 1 {
        list.removeFirst()
        remaining[request.url.string] = list
      }
      return next
    }
  }

  /// Answers from a site, whatever the host.
  package convenience init(staging: any BodyStaging, site: Site) {
    self.init(staging: staging) { request in
      let target = request.url.path + (request.url.query.map { "?\($0)" } ?? "")
      let loopback = LoopbackRequest(
        method: request.method.name,
        target: target,
        headers: HeaderBlock(request.headers + request.rangeFields)
      )
      let page = site.page(for: loopback)
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
  }

  /// Whether any transfer is in flight, or ended and not yet reported.
  package var isBusy: Bool {
    !running.isEmpty || !ended.isEmpty
  }

  package func isInFlight(_ id: TransferID) -> Bool {
    running.contains { $0.request.id == id }
      || ended.contains { if case .finished(id, _) = $0 { true } else { false } }
  }

  package func start(_ request: TransferRequest) {
    requests.append(request)
    running.append((request, reply(request)))
    peakCount = max(peakCount, running.count)
  }

  package func cancel(_ id: TransferID) {
    guard let index = running.firstIndex(where: { $0.request.id == id }) else { return }
    running.remove(at: index)
    cancelled.append(id)
    ended.append(
      .finished(
        id,
        TransferResult(.failure(Failure(.cancelled, "cancelled")), figures: TransferFigures())
      )
    )
  }

  package func wait(until deadline: Duration?) -> [TransferEvent] {
    var events = ended
    ended = []
    var unanswered: [(request: TransferRequest, reply: Reply)] = []
    for (request, reply) in running {
      let moment = moment?() ?? .now
      guard moment != .later, let result = result(of: request, reply) else {
        unanswered.append((request, reply))
        continue
      }
      let end = TransferEvent.finished(request.id, result)
      if moment == .now { events.append(end) } else { ended.append(end) }
    }
    running = unanswered
    if events.isEmpty {
      onWait?(deadline)
    }
    return order?(events) ?? events
  }

  private func result(of request: TransferRequest, _ reply: Reply) -> TransferResult? {
    var figures = TransferFigures()
    switch reply {
    case .never:
      return nil
    case .notSent:
      return TransferResult(notSent: Failure(.connect, "its host had trouble"))
    case .failure(let failure):
      return TransferResult(.failure(failure), figures: figures)
    case .broken(let headers, let body, let failure):
      return broken(request, HeaderBlock(headers), body, failure)
    case .response(let status, let headers, let body):
      figures.httpVersion = "1.1"
      figures.remoteAddress = address?(request.url)
      figures.wireBytes = Int64(body.count)
      let headers = HeaderBlock(headers)
      do throws(Failure) {
        let staged = try stage(body, of: request, status: status, headers)
        let response = TransferResponse(
          status: status,
          headers: staged == nil ? headers : whole(headers, of: request, status: status),
          body: staged
        )
        return TransferResult(.success(response), figures: figures)
      } catch {
        let size = error.code == .tooLarge ? Int64(body.count) : nil
        return TransferResult(.failure(error), figures: figures, announcedSize: size)
      }
    }
  }

  /// Returns the headers of the whole body after a partial response or a confirmation.
  private func whole(
    _ headers: HeaderBlock,
    of request: TransferRequest,
    status: Int
  ) -> HeaderBlock {
    switch (status, request.continuedPart) {
    case (206, .some(var part)):
      part.wholeSize = ResumeRule.wholeSize(of: part, by: headers)
      return ResumeRule.head(of: part, continuedBy: headers)
    case (416, .some(let part)): return ResumeRule.headers(ofWhole: part, by: headers)
    default: return headers
    }
  }

  private func stage(
    _ body: [UInt8],
    of request: TransferRequest,
    status: Int,
    _ headers: HeaderBlock
  ) throws(Failure) -> StagedBody? {
    guard request.method == .get else { return nil }
    var plan = BodyPlan(algorithms: request.algorithms, partialKey: request.partialKey)
    plan.keepsBytes = request.keepsBody
    plan.prefixLength = request.prefixLength
    var rest = body
    switch (status, request.continuedPart) {
    case (206, .some(let part)):
      guard ResumeRule.objection(to: headers, continuing: part) == nil else {
        throw Failure(.badResponse, "another part than was asked for", isTransient: true)
      }
      plan.resumption = .with(part)
    case (416, .some(let part)):
      guard ResumeRule.isWhole(part, by: headers) else { return nil }
      plan.resumption = .with(part)
      rest = []
    case (200, _), (203, _), (206, nil):
      break
    default:
      return nil
    }
    plan.expectedSize = Int64(rest.count) + (plan.givenPart?.offset ?? 0)
    if let limit = request.sizeLimit, plan.expectedSize ?? 0 > limit {
      throw Failure(.tooLarge, "the body is larger than \(limit) bytes")
    }
    let sink = try staging.beginBody(plan)
    unsafe try sink.append(rest.span.bytes)
    return try sink.finish()
  }

  private func broken(
    _ request: TransferRequest,
    _ headers: HeaderBlock,
    _ body: [UInt8],
    _ failure: Failure
  ) -> TransferResult {
    let figures = TransferFigures()
    let continued = headers.has("Content-Range") ? request.continuedPart : nil
    guard let key = request.partialKey,
      let validator = continued?.validator ?? ResumeRule.validator(headers)
    else { return TransferResult(.failure(failure), figures: figures) }
    let part = PartialBody(
      source: request.url.string,
      validator: validator,
      offset: continued?.offset ?? 0,
      head: continued == nil ? headers : whole(headers, of: request, status: 206)
    )
    do throws(Failure) {
      let plan = BodyPlan(algorithms: request.algorithms, partialKey: key, resumption: .with(part))
      let sink = try staging.beginBody(plan)
      unsafe try sink.append(body.span.bytes)
      return TransferResult(.failure(failure), figures: figures, partial: sink.suspend())
    } catch {
      return TransferResult(.failure(error), figures: figures)
    }
  }
}

extension TransferRequest {
  fileprivate var continuedPart: PartialBody? {
    partial.flatMap { $0.source == url.string && partialKey != nil ? $0 : nil }
  }

  /// Headers that request the rest of a stored part.
  fileprivate var rangeFields: [HeaderField] {
    guard let part = continuedPart else { return [] }
    return [
      HeaderField("Range", "bytes=\(part.offset)-"), HeaderField("If-Range", part.validator),
    ]
  }
}

extension TransferRequest.Method {
  fileprivate var name: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    }
  }
}
