/// Order to a worker: request of a simple item, and its expected answer, a body or a 304.
package struct Order: Sendable {
  package let terms: OrderTerms
  package let entry: Int
  let stored: (any StoredResponse)?
  var sizeLimit: Int64?

  package func request(_ id: TransferID) -> TransferRequest {
    terms.request(id, for: self)
  }

  package func outcome(
    of result: Result<TransferResponse, Failure>,
    _ figures: TransferFigures,
    confirming known: Confirmable?,
    at now: Instant
  ) -> Outcome? {
    guard case .success(let response) = result, !response.isTrouble,
      !figures.isRemarkable
    else { return nil }
    let timing = Freshness.Timing(now, figures)
    var (arrival, renewal): (Arrival?, Renewal?)
    if stored == nil {
      arrival = terms.arrival(of: entry, response, at: timing)
    } else {
      renewal = known?.renewal(by: response, at: timing)
    }
    guard arrival != nil || renewal != nil else { return nil }
    return Outcome(
      arrival: arrival,
      renewal: renewal,
      status: response.status,
      wireBytes: figures.wireBytes,
      version: figures.version,
      responseTime: figures.responseTime
    )
  }
}

/// Expected answer of a simple item, as the worker judged it.
package struct Outcome: Sendable {
  package let arrival: Arrival?
  /// Renewed times of a confirmed body; nil for a body that arrived.
  let renewal: Renewal?
  package let status: Int
  package private(set) var wireBytes: Int64
  package let version: TransferFigures.Version?
  let responseTime: Duration?

  package func addingWastedBytes(_ bytes: Int64) -> Outcome {
    var outcome = self
    outcome.wireBytes += bytes
    return outcome
  }

  var result: TransferResult {
    var figures = TransferFigures()
    figures.wireBytes = wireBytes
    figures.version = version
    if responseTime != nil { figures.requested = .zero }
    figures.firstByte = responseTime
    figures.total = arrival?.timing.elapsed ?? responseTime
    let response = TransferResponse(
      status: status,
      headers: arrival?.headers ?? renewal?.headers ?? HeaderBlock(),
      body: arrival?.body
    )
    return TransferResult(.success(response), figures: figures)
  }
}
