package import PrefetchCore

/// Outcome of a segment's last run; it stands until the segment itself runs again.
package struct SegmentOutcome: Hashable, Sendable {
  package var state: SegmentState
  /// Whether a list, an item or the tree of the segment failed a security check.
  package var brokeTrust: Bool
  package var deferral: Deferral?
  /// First failure of the list, of an item or of the tree.
  package var reason: String?

  package init(
    state: SegmentState,
    brokeTrust: Bool,
    deferral: Deferral? = nil,
    reason: String? = nil
  ) {
    self.state = state
    self.brokeTrust = brokeTrust
    self.deferral = deferral
    self.reason = reason
  }

  /// Returns the outcome after an earlier one; a deferred segment has checked nothing again.
  fileprivate func following(_ earlier: SegmentOutcome?) -> SegmentOutcome {
    var outcome = self
    if state == .deferred, let earlier, earlier.brokeTrust {
      outcome.brokeTrust = true
      outcome.reason = earlier.reason
    }
    return outcome
  }
}

extension StateStore {
  /// Returns the last outcomes of segments, of one identity or, with nil, of all.
  package func outcomes(of identity: String?) throws(Failure) -> [SegmentKey: SegmentOutcome] {
    let rows = try database.rows(
      """
      SELECT identity, segment, state, broke_trust, rule, until, reason FROM segment_outcomes \
      WHERE \(identity) IS NULL OR identity=\(identity)
      """
    )
    var outcomes: [SegmentKey: SegmentOutcome] = [:]
    while try rows.step() {
      guard let state = SegmentState(rawValue: rows.text(2)) else { continue }
      var outcome = SegmentOutcome(state: state, brokeTrust: rows.number(3) != 0)
      if let rule = rows.optionalText(4).flatMap(Deferral.Rule.init(rawValue:)) {
        let until = rows.optionalNumber(5).map { Instant(milliseconds: $0) }
        outcome.deferral = Deferral(rule: rule, until: until)
      }
      outcome.reason = rows.optionalText(6)
      outcomes[SegmentKey(identity: rows.text(0), name: rows.text(1))] = outcome
    }
    return outcomes
  }

  /// Whether a run of an identity, with nil of any, has ended, also where no history is kept.
  package func hasRuns(of identity: String?) throws(Failure) -> Bool {
    guard try outcomes(of: identity).isEmpty else { return true }
    return try !runs(of: identity).isEmpty
  }

  /// Whether a run of an identity has begun with this state, which a kill may have ended.
  package func knows(_ identity: String) throws(Failure) -> Bool {
    try !database.rows("SELECT 1 FROM identities WHERE identity=\(identity)").all { _ in 0 }.isEmpty
  }

  /// Records, before the index has anything of a run, that this state belongs to it.
  package func recordBeginning(of identity: String) throws(Failure) {
    guard try !knows(identity) else { return }
    try database.run("INSERT INTO identities (identity) VALUES (\(identity))")
  }

  package func deferrals(of identity: String) throws(Failure) -> [String: Deferral] {
    var deferrals: [String: Deferral] = [:]
    for (key, outcome) in try outcomes(of: identity) { deferrals[key.name] = outcome.deferral }
    return deferrals
  }

  package func recordOutcomes(
    _ outcomes: [String: SegmentOutcome],
    of identity: String
  ) throws(Failure) {
    let known = try self.outcomes(of: identity)
    var changed: [(segment: String, outcome: SegmentOutcome)] = []
    for (segment, outcome) in outcomes {
      let earlier = known[SegmentKey(identity: identity, name: segment)]
      let following = outcome.following(earlier)
      if following != earlier { changed.append((segment, following)) }
    }
    guard !changed.isEmpty else { return }
    try database.transaction { () throws(Failure) in
      let insertion = database.prepare(
        """
        INSERT OR REPLACE INTO segment_outcomes \
        (identity, segment, state, broke_trust, rule, until, reason) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """
      )
      for (segment, outcome) in changed {
        try insertion.run(
          identity,
          segment,
          outcome.state.rawValue,
          outcome.brokeTrust ? 1 : 0,
          outcome.deferral?.rule.rawValue,
          outcome.deferral?.until?.milliseconds,
          outcome.reason
        )
      }
    }
  }
}
