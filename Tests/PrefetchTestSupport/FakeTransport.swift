package import PrefetchCore

/// A transport without a network: answers come from a table, or from a ``Site``, in the order asked.
package final class FakeTransport: Transport {
  package enum Answer: Sendable {
    case response(status: Int, headers: [HeaderField], body: [UInt8])
    case failure(Failure)
    /// Never ends unless cancelled.
    case never
  }

  /// Every request, in the order in which they were started.
  package private(set) var requests: [TransferRequest] = []
  package private(set) var cancelled: [TransferID] = []
  /// How many transfers were running at one time at most.
  package private(set) var peakCount = 0
  /// Called with every deadline that `wait` is given, so that a test can move its clock.
  package var onWait: ((Duration?) -> Void)?

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
        headers: HeaderBlock(request.headers)
      )
      let page = site.answer(to: asked)
      return .response(status: page.status, headers: page.headers, body: page.body)
    }
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
      if let result = result(of: request, answer) {
        events.append(.finished(request.id, result))
      } else {
        unanswered.append((request, answer))
      }
    }
    running = unanswered
    if events.isEmpty {
      onWait?(deadline)
    }
    return events
  }

  private func result(of request: TransferRequest, _ answer: Answer) -> TransferResult? {
    var figures = TransferFigures()
    switch answer {
    case .never:
      return nil
    case .failure(let failure):
      return TransferResult(.failure(failure), figures: figures)
    case .response(let status, let headers, let body):
      figures.httpVersion = "1.1"
      figures.wireBytes = Int64(body.count)
      let wantsBody = request.method == .get && [200, 203, 206].contains(status)
      do throws(Failure) {
        let staged = wantsBody ? try stage(body, for: request) : nil
        let response = TransferResponse(status: status, headers: HeaderBlock(headers), body: staged)
        return TransferResult(.success(response), figures: figures)
      } catch {
        return TransferResult(.failure(error), figures: figures)
      }
    }
  }

  private func stage(_ body: [UInt8], for request: TransferRequest) throws(Failure) -> StagedBody {
    if let limit = request.sizeLimit, body.count > limit {
      throw Failure(.tooLarge, "the body is larger than \(limit) bytes")
    }
    let sink = try staging.beginBody(
      BodyPlan(expectedSize: Int64(body.count), algorithms: request.algorithms)
    )
    unsafe try sink.append(body.span.bytes)
    return try sink.finish()
  }
}

extension TransferRequest.Method {
  fileprivate var name: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    }
  }
}
