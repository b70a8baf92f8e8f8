/// Newest `Date` of any server, by which a clock far ahead is recognised.
package struct ServerTime: Hashable, Sendable {
  package var recorded: Instant?
  package private(set) var told: Instant?
  /// Whether a request whose `Date` will be read is in flight.
  package var isAsked = false

  package init(recorded: Instant? = nil) {
    self.recorded = recorded
  }

  /// Whether the clock is so far ahead that nothing may expire; this run's dates outweigh earlier
  /// ones.
  package func isBehind(_ now: Instant) -> Bool {
    guard let newest = told ?? recorded else { return false }
    return now - newest > Self.day
  }

  /// Whether later dates of this run cannot change ``isBehind(_:)``.
  package func isCertain(at now: Instant) -> Bool {
    told.map { now - $0 <= Self.day } ?? false
  }

  /// Records a `Date`; returns true if it must be stored for later runs.
  package mutating func note(_ date: Instant) -> Bool {
    told = max(told ?? date, date)
    guard let recorded, date - recorded < Self.step else {
      recorded = date
      return true
    }
    return false
  }

  private static let day: Duration = .seconds(24 * 3600)
  /// Minimum change that is worth a write to the index.
  private static let step: Duration = .seconds(3600)
}
