/// What an answer comes to for whoever asked; see ``Exchange/conclude(_:expecting:policy:now:)``.
package enum Conclusion: Sendable {
  /// What is stored still holds.
  case confirmed
  /// It brings a body against which nothing speaks.
  case body(StagedBody)
  /// It brings none.
  case bodiless
  /// The same question has to be asked once more, in another way.
  case again
  /// Another source is asked.
  case elsewhere
  /// It is not what was asked for, and nobody else is asked.
  case refused(Failure)
}

/// What whoever asked holds an answer to.
package struct Expectation: Sendable {
  /// Of what is stored, which the answer may confirm; nil where nothing is.
  package var stored: Validators?
  /// Whether what is stored is known to be wrong.
  package var isContradicted = false
  /// The digests that a body has to come with.
  package var algorithms: Set<DigestAlgorithm> = []
  /// What speaks against the body, or would.
  package var objection: Failure?
  /// Whether another source may have the right one, and there is time to ask it.
  package var maySeekElsewhere = true

  package init(stored: Validators? = nil, objection: Failure? = nil) {
    self.stored = stored
    self.objection = objection
  }
}

extension Exchange {
  /// What an answer comes to for whoever asked.
  ///
  /// Where that is another question, it is the next one: the caller has it asked.
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
    // Another segment has asked meanwhile for a digest that was not taken while the body came.
    if response.body != nil, !hasAsked(for: expected.algorithms) { return .again }
    guard let objection = expected.objection else {
      return response.body.map { .body($0) } ?? .bodiless
    }
    // A wrong body: the origin may have the right one, then the whole, then the next source.
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
  /// Whether an answer says that what is stored still holds, and nothing else.
  func isConfirmed(by response: TransferResponse) -> Bool {
    response.status == 304
      && Revalidation.confirms(response.headers, stored: validators)
      && Revalidation.repeats(stored: headers, confirmed: response.headers)
  }
}
