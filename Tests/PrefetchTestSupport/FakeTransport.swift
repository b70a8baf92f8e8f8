package import PrefetchCore

/// A transport without a network: answers come from a table, or from a ``Site``, in the order asked.
package final class FakeTransport: Transport {
  package enum Answer: Sendable {
    case response(status: Int, headers: [HeaderField], body: [UInt8])
    case failure(Failure)
    /// A 200, or with a Content-Range a 206, whose body breaks off after these bytes.
    case broken(headers: [HeaderField], body: [UInt8], Failure)
    /// Never ends unless cancelled.
    case never
    /// Given back, since its host had trouble.
    case notSent
  }

  /// When something ends that is under way.
  package enum Moment: Sendable {
    case now
    /// It is over now, and told with the next ends.
    case untold
    case later
  }

  /// Every request, in the order in which they were started.
  package private(set) var requests: [TransferRequest] = []
  package private(set) var cancelled: [TransferID] = []
  /// How many transfers were running at one time at most.
  package private(set) var peakCount = 0
  /// Called with every deadline that `wait` is given, so that a test can move its clock.
  package var onWait: ((Duration?) -> Void)?

  /// When each ends that is under way; all do now without it.
  package var moment: (() -> Moment)?
  /// The order in which ends are told.
  package var order: (([TransferEvent]) -> [TransferEvent])?

  /// Where a server is, by its URL.
  package var address: ((WebURL) -> String?)?

  private let staging: any BodyStaging
  private let answer: (TransferRequest) -> Answer
  private var running: [(request: TransferRequest, answer: Answer)] = []
  private var ended: [TransferEvent] = []

  package init(staging: any BodyStaging, answer: @escaping (TransferRequest) -> Answer) {
    self.staging = staging
    self.answer = answer
  }

  /// Answers by URL, a list one by one and its last answer for ever; other URLs are 404.
  package convenience init(staging: any BodyStaging, answers: [String: [Answer]]) {
    var remaining = answers
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

  /// Answers as a site does, whatever the host.
  package convenience init(staging: any BodyStaging, site: Site) {
    self.init(staging: staging) { request in
      let target = request.url.path + (request.url.query.map { "?\($0)" } ?? "")
      let asked = LoopbackRequest(
        method: request.method.name,
        target: target,
        headers: HeaderBlock(request.headers + request.rangeFields)
      )
      let page = site.answer(to: asked)
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
  }

  /// Whether anything is under way, or over and not told.
  package var isBusy: Bool {
    !running.isEmpty || !ended.isEmpty
  }

  package func isUnderWay(_ id: TransferID) -> Bool {
    running.contains { $0.request.id == id }
      || ended.contains { if case .finished(id, _) = $0 { true } else { false } }
  }

  package func start(_ request: TransferRequest) {
    requests.append(request)
    running.append((request, answer(request)))
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
    var unanswered: [(request: TransferRequest, answer: Answer)] = []
    for (request, answer) in running {
      let moment = moment?() ?? .now
      guard moment != .later, let result = result(of: request, answer) else {
        unanswered.append((request, answer))
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

  private func result(of request: TransferRequest, _ answer: Answer) -> TransferResult? {
    var figures = TransferFigures()
    switch answer {
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

  /// What describes the body after an answer that brought a part of it, or told that it is whole.
  private func whole(
    _ headers: HeaderBlock,
    of request: TransferRequest,
    status: Int
  ) -> HeaderBlock {
    switch (status, request.continuedPart) {
    case (206, .some(var part)):
      part.wholeSize = ResumeRule.wholeSize(headers)
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
    plan.expectedSize = Int64(rest.count) + (plan.partial?.offset ?? 0)
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

  /// What asks for the rest of a kept part.
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
