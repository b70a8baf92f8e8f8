/// Rules for using a stale body when no response was received.
package enum StaleRule {
  /// Whether a stale body may be used, like `stale-if-error` (RFC 5861) but with the user's bound,
  /// counted from the time at which it became stale, even if that was before it arrived.
  package static func mayServe(
    _ record: ContentRecord,
    granted: [Freshness.Lifetime],
    maximumStale: Duration,
    now: Instant
  ) -> Bool {
    guard record.digest != nil else { return false }
    if let end = record.expiresAt, end <= now { return false }
    guard let end = record.freshUntil(under: granted, at: now) else { return false }
    if now < end { return true }
    guard !record.mustRevalidate, maximumStale > .zero else { return false }
    return now - end <= maximumStale
  }

  /// Whether a failure means only that the server cannot be reached; a refusal is an answer.
  package static func covers(_ failure: Failure, status: Int?) -> Bool {
    failure.code.category == .connectivity || (failure.code == .http && status ?? 0 >= 500)
  }
}
