/// Rate limit with a burst after a pause.
///
/// The bucket may go into debt, as bytes count on arrival; the transfer waits until it is paid.
package struct TokenBucket: Hashable, Sendable {
  package let rate: Int64
  /// Longest pause that counts towards a burst.
  private let burstTime: Duration
  /// Uptime at which nothing is left and nothing owed.
  private var balancedAt: Duration

  /// Creates a full bucket; a rate below one byte a second counts as one.
  package init(rate: Int64, burst: Int64, now: Duration) {
    self.rate = max(1, rate)
    burstTime = Self.time(for: max(0, burst), at: self.rate)
    balancedAt = now - burstTime
  }

  package mutating func consume(_ bytes: Int64, at now: Duration) {
    balancedAt = max(balancedAt, now - burstTime) + Self.time(for: max(0, bytes), at: rate)
  }

  /// Uptime at which the debt is paid; in the past if there is none.
  package var readyAt: Duration {
    balancedAt
  }

  private static func time(for bytes: Int64, at rate: Int64) -> Duration {
    let (seconds, rest) = bytes.quotientAndRemainder(dividingBy: rate)
    let nanoseconds = rate.dividingFullWidth(rest.multipliedFullWidth(by: 1_000_000_000)).quotient
    return .seconds(seconds) + .nanoseconds(nanoseconds)
  }
}
