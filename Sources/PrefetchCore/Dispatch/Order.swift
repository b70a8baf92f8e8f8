/// Which answer was hoped for: the body of an entry, or that what is stored of it still holds.
package struct Order: Sendable {
  package let terms: OrderTerms
  package let entry: Int
  /// What is stored, and to be confirmed; nil where nothing is.
  let record: Shared<ContentRecord>?

  /// What an answer comes to; nil where it is not the one that was hoped for.
  package func outcome(
    of answer: Result<TransferResponse, Failure>,
    _ figures: TransferFigures,
    at now: Instant
  ) -> Outcome? {
    guard case .success(let response) = answer, !response.isTrouble,
      !figures.didFallBackFromHTTP3, figures.unexpectedKey == nil
    else { return nil }
    var arrival: Arrival?
    if let record = record?.value {
      guard Self.isConfirmation(response, of: record) else { return nil }
    } else {
      let timing = Freshness.Timing(now, figures)
      arrival = terms.arrival(of: entry, response, at: timing)
      guard arrival != nil else { return nil }
    }
    return Outcome(
      arrival: arrival,
      status: response.status,
      wireBytes: figures.wireBytes,
      version: figures.version
    )
  }

  /// Whether an answer says that what is stored still holds, and nothing else.
  private static func isConfirmation(
    _ response: TransferResponse,
    of record: ContentRecord
  ) -> Bool {
    response.status == 304
      && Revalidation.confirms(response.headers, stored: record.validators)
      && Revalidation.repeats(stored: record.headers, confirmed: response.headers)
  }
}

/// What the answer came to that was hoped for: judged where it came, and little to hand on.
package struct Outcome: Sendable {
  /// Nil for a confirmation.
  package let arrival: Arrival?
  package let status: Int
  package let wireBytes: Int64
  package let version: TransferFigures.Version?

  /// The same for whoever has to look at the whole story after all.
  var result: TransferResult {
    var figures = TransferFigures()
    figures.wireBytes = wireBytes
    figures.version = version
    if let timing = arrival?.timing {
      figures.requested = .zero
      figures.total = timing.elapsed
      figures.firstByte = timing.elapsed - timing.sinceHead
    }
    let response = TransferResponse(
      status: status,
      headers: arrival?.headers ?? HeaderBlock(),
      body: arrival?.body
    )
    return TransferResult(.success(response), figures: figures)
  }
}
