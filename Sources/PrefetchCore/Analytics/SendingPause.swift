/// Backoff, kept over runs, after a collector rejected events.
package struct SendingPause: Hashable, Sendable {
  package var failures = 0
  package var since: Instant?
  package var until: Instant?

  package init() {}

  package init(failures: Int, since: Instant?, until: Instant?) {
    self.failures = failures
    self.since = since
    self.until = until
  }

  package func isOver(at now: Instant) -> Bool {
    guard let since, let until else { return true }
    // A time in the future was recorded while the clock was wrong.
    return now < since || until <= now
  }

  /// Returns a pause twice as long; `retryAfter` is the collector's own minimum.
  package func afterFailure(at now: Instant, retryAfter: Duration?) -> SendingPause {
    let doublings = min(failures, Self.mostDoublings)
    let pause = min(Self.shortest * (1 << doublings), Self.longest)
    return SendingPause(
      failures: min(failures, Self.mostDoublings) + 1,
      since: now,
      until: now + max(pause, retryAfter ?? .zero)
    )
  }

  private static let shortest: Duration = .seconds(60)
  private static let longest: Duration = .seconds(6 * 3600)
  private static let mostDoublings = 16
}
