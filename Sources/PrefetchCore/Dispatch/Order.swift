/// Which answer is hoped for: the body of an entry, or that what is stored of it still holds.
///
/// It is handed over as it is; the worker that sends it makes the request.
package struct Order: Sendable {
  package let terms: OrderTerms
  package let entry: Int
  /// What is stored, and to be confirmed; nil where nothing is.
  let stored: (any StoredAnswer)?
  var sizeLimit: Int64?

  package func request(_ id: TransferID) -> TransferRequest {
    terms.request(id, for: self)
  }

  /// What an answer comes to; nil where it is not the one that was hoped for.
  package func outcome(
    of answer: Result<TransferResponse, Failure>,
    _ figures: TransferFigures,
    confirming known: Confirmable?,
    at now: Instant
  ) -> Outcome? {
    guard case .success(let response) = answer, !response.isTrouble,
      !figures.isRemarkable
    else { return nil }
    var arrival: Arrival?
    if stored == nil {
      arrival = terms.arrival(of: entry, response, at: Freshness.Timing(now, figures))
      guard arrival != nil else { return nil }
    } else {
      guard let known, known.isConfirmed(by: response) else { return nil }
    }
    return Outcome(
      arrival: arrival,
      status: response.status,
      wireBytes: figures.wireBytes,
      version: figures.version,
      responseTime: figures.responseTime
    )
  }
}

/// What the answer came to that was hoped for: judged where it came, and little to hand on.
package struct Outcome: Sendable {
  /// Nil for a confirmation.
  package let arrival: Arrival?
  package let status: Int
  package private(set) var wireBytes: Int64
  package let version: TransferFigures.Version?
  let responseTime: Duration?

  /// The same with what was received in vain before it.
  package func besides(_ bytes: Int64) -> Outcome {
    var outcome = self
    outcome.wireBytes += bytes
    return outcome
  }

  /// The same for a caller that has to look at the whole story after all.
  var result: TransferResult {
    var figures = TransferFigures()
    figures.wireBytes = wireBytes
    figures.version = version
    if responseTime != nil { figures.requested = .zero }
    figures.firstByte = responseTime
    if let timing = arrival?.timing {
      figures.total = timing.elapsed
    }
    let response = TransferResponse(
      status: status,
      headers: arrival?.headers ?? HeaderBlock(),
      body: arrival?.body
    )
    return TransferResult(.success(response), figures: figures)
  }
}
