/// Result of judging a response; see ``Exchange/conclude(_:expecting:policy:now:)``.
package enum Conclusion: Sendable {
  /// The response confirms the stored body (304).
  case confirmed
  /// The response has a body without objection.
  case body(StagedBody)
  /// The response has no body.
  case bodiless
  /// The request must be sent again; the exchange has changed it.
  case again
  /// The request goes to the next source.
  case elsewhere
  /// The body is wrong, and there is no other source.
  case refused(Failure)
}

/// Requirements of an item, a document or a piece for its response.
package struct Expectation: Sendable {
  /// Validators of the stored body, which a 304 may confirm; nil if nothing is stored.
  package var stored: Validators?
  /// Whether the stored body contradicts the declaration.
  package var isContradicted = false
  /// Digest algorithms that the transfer must have computed.
  package var algorithms: Set<DigestAlgorithm> = []
  /// Objection to the body, computed by the caller.
  package var objection: Failure?
  /// Whether another source may be asked.
  package var maySeekElsewhere = true

  package init(stored: Validators? = nil, objection: Failure? = nil) {
    self.stored = stored
    self.objection = objection
  }
}

extension Exchange {
  /// Judges a response.
  ///
  /// On `again` and `elsewhere` the exchange holds the next request, and the caller sends it.
  package mutating func conclude(
    _ response: TransferResponse,
    expecting expected: Expectation,
    policy: RunPolicy,
    now: Instant
  ) -> Conclusion {
    if response.status == 304, isConditional, let stored = expected.stored {
      if !expected.isContradicted, Revalidation.confirms(response.headers, stored: stored) {
        return .confirmed
      }
      dropConditions()
      return .again
    }
    // Another segment required a digest during the transfer, so it was not computed.
    if response.body != nil, !hasAsked(for: expected.algorithms) { return .again }
    guard let objection = expected.objection else {
      return response.body.map { .body($0) } ?? .bodiless
    }
    // Fallbacks for a wrong body: the origin behind a second tier, the whole body, the next source.
    if response.toldByTierAt != nil {
      askOrigin()
      return .again
    }
    if part.wasSent, [206, 416].contains(response.status), dropPart() { return .again }
    let step = Step.failed(objection, status: response.status)
    if expected.maySeekElsewhere, nextAlternate(after: step, policy: policy, now: now) {
      return .elsewhere
    }
    return .refused(objection)
  }
}

extension Confirmable {
  /// Whether a response confirms the stored body and changes no header.
  func isConfirmed(by response: TransferResponse) -> Bool {
    response.status == 304
      && Revalidation.confirms(response.headers, stored: validators)
      && Revalidation.repeats(stored: headers, confirmed: response.headers)
  }
}
