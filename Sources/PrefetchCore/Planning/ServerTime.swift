/// Newest `Date` of any server, by which a clock far ahead is recognised.
package struct ServerTime: Hashable, Sendable {
  package var recorded: Instant?
  package private(set) var received: Instant?
  package var isRequested = false

  package init(recorded: Instant? = nil) {
    self.recorded = recorded
  }

  /// Whether the clock is so far ahead that nothing may expire; this run's dates outweigh older.
  package func showsClockAhead(at now: Instant) -> Bool {
    guard let newest = received ?? recorded else { return false }
    return now - newest > Self.day
  }

  /// Whether later dates of this run cannot change ``showsClockAhead(at:)``.
  package func isCertain(at now: Instant) -> Bool {
    received.map { now - $0 <= Self.day } ?? false
  }

  /// Records a `Date`; returns true if it must be stored for later runs.
  package mutating func record(_ date: Instant) -> Bool {
    received = max(received ?? date, date)
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
