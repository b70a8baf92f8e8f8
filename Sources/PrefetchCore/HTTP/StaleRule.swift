/// Whether an older copy may stand in for an answer that could not be had.
package enum StaleRule {
  /// As `stale-if-error` of RFC 5861, with the user's bound in place of the server's: counted from
  /// the moment at which the copy became stale, be that before it came.
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

  /// Whether a failure only means that the server cannot be asked now.
  ///
  /// What is gone, refused or not trusted is an answer, however unwelcome.
  package static func covers(_ failure: Failure, status: Int?) -> Bool {
    failure.code.category == .connectivity || (failure.code == .http && status ?? 0 >= 500)
  }
}
