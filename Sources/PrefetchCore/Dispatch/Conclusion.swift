/// Result of judging a response; see ``Exchange/conclude(_:expecting:policy:now:)``.
package enum Conclusion: Sendable {
  case confirmed
  case body(StagedBody)
  case bodiless
  /// The request must be sent again; the exchange has changed it.
  case again
  case elsewhere
  case refused(Failure)
}

/// Requirements of an item, a document or a piece for its response.
package struct Expectation: Sendable {
  /// Validators of the stored body, which a 304 may confirm; nil if nothing is stored.
  package var stored: Validators?
  package var isContradicted = false
  package var algorithms: Set<DigestAlgorithm> = []
  package var objection: Failure?
  package var maySeekElsewhere = true

  package init(stored: Validators? = nil, objection: Failure? = nil) {
    self.stored = stored
    self.objection = objection
  }
}
