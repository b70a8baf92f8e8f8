/// The newest `Date` of any server, by which a clock that is far ahead is known.
package struct ServerTime: Hashable, Sendable {
  /// The newest of earlier runs.
  package var recorded: Instant?
  /// The newest of this run.
  package private(set) var told: Instant?
  /// Whether a request is under way whose answer is looked at.
  package var isAsked = false

  package init(recorded: Instant? = nil) {
    self.recorded = recorded
  }

  /// Whether a clock that says `now` is so far ahead that nothing expires by it.
  ///
  /// What servers told in this run weighs more than what they told before.
  package func isBehind(_ now: Instant) -> Bool {
    guard let newest = told ?? recorded else { return false }
    return now - newest > Self.day
  }

  /// Whether nothing that a server may yet tell in this run changes the answer.
  package func isCertain(at now: Instant) -> Bool {
    told.map { now - $0 <= Self.day } ?? false
  }

  /// Takes in a `Date`; true where it is to be recorded for runs to come.
  package mutating func note(_ date: Instant) -> Bool {
    told = max(told ?? date, date)
    guard let recorded, date - recorded < Self.step else {
      recorded = date
      return true
    }
    return false
  }

  private static let day: Duration = .seconds(24 * 3600)
  /// Nearer ones are not worth a change of the index.
  private static let step: Duration = .seconds(3600)
}
