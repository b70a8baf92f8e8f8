import PrefetchCore
import PrefetchTestSupport
import PrefetchTransfer
import Testing

/// A transport for one test, with the staging of its bodies.
final class TransferBench {
  let staging = MemoryStaging()
  let clock = RunningClock()
  let transport: CurlTransport
  private var lastNumber = 0
  private(set) var progress: [TransferID: Int64] = [:]

  init(
    _ adjust: (inout TransportSettings) -> Void = { _ in },
    wallTime: (@Sendable () -> Instant)? = nil
  ) throws {
    var settings = TransportSettings(userAgent: "prefetch-test/1")
    settings.workers = 2
    adjust(&settings)
    transport = try CurlTransport(
      settings: settings,
      staging: staging,
      clock: clock,
      wallTime: wallTime
    )
  }

  func request(
    _ url: WebURL,
    method: TransferRequest.Method = .get,
    headers: [HeaderField] = [],
    _ adjust: (inout TransferRequest) -> Void = { _ in }
  ) -> TransferRequest {
    lastNumber += 1
    let id = TransferID(lastNumber)
    var request = TransferRequest(id: id, method: method, url: url, headers: headers)
    adjust(&request)
    return request
  }

  /// Starts requests and waits until all have ended.
  func results(
    of requests: [TransferRequest],
    whileWaiting: () -> Void = {}
  ) throws -> [TransferID: TransferResult] {
    for request in requests {
      transport.start(request)
    }
    return try results(count: requests.count, whileWaiting: whileWaiting)
  }

  /// Waits until a number of the started requests have ended.
  func results(
    count: Int,
    whileWaiting: () -> Void = {}
  ) throws -> [TransferID: TransferResult] {
    var results: [TransferID: TransferResult] = [:]
    // No transfer takes long; the limit keeps a broken one from hanging the suite.
    let limit = clock.now().uptime + .seconds(30)
    while results.count < count {
      try #require(clock.now().uptime < limit, "a transfer did not end")
      whileWaiting()
      for event in transport.wait(until: limit) {
        switch event {
        case .progressed(let id, let advance):
          progress[id, default: 0] += advance.bytes
        case .finished(let id, let result):
          #expect(results[id] == nil, "\(id) finished twice")
          results[id] = result
        case .judged(let id, _):
          Issue.record("\(id) was judged without a request")
        case .connectionsFound: break
        }
      }
    }
    return results
  }

  func result(of request: TransferRequest) throws -> TransferResult {
    try #require(try results(of: [request])[request.id])
  }

  func response(to request: TransferRequest) throws -> TransferResponse {
    try result(of: request).outcome.get()
  }

  func failure(of request: TransferRequest) throws -> Failure {
    switch try result(of: request).outcome {
    case .success(let response):
      Issue.record("got \(response.status) instead of a failure")
      return Failure(.failed, "none")
    case .failure(let failure):
      return failure
    }
  }

  /// The body of a response as text.
  func text(of response: TransferResponse) throws -> String {
    String(decoding: staging.bytes(of: try #require(response.body)), as: UTF8.self)
  }
}
