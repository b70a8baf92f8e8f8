/// Whether an older copy may stand in for an answer that could not be had.
package enum StaleRule {
  /// The times of a stored answer.
  package struct Times: Hashable, Sendable {
    /// Nil where every use needed a question.
    package var freshUntil: Instant?
    /// When the server last said something about it.
    package var answeredAt: Instant?
    /// Past it the content is not to be used at all.
    package var expiresAt: Instant?

    package init(freshUntil: Instant?, answeredAt: Instant?, expiresAt: Instant? = nil) {
      self.freshUntil = freshUntil
      self.answeredAt = answeredAt
      self.expiresAt = expiresAt
    }
  }

  /// As `stale-if-error` of RFC 5861, with the user's bound in place of the server's.
  package static func mayServe(
    _ times: Times,
    maximumStale: Duration,
    mustRevalidate: Bool,
    now: Instant
  ) -> Bool {
    if let end = times.expiresAt, end <= now { return false }
    if let until = times.freshUntil, now < until { return true }
    guard !mustRevalidate, maximumStale > .zero, let since = times.freshUntil ?? times.answeredAt
    else { return false }
    return now - since <= maximumStale
  }

  package static func mayServe(
    _ record: ContentRecord,
    maximumStale: Duration,
    now: Instant
  ) -> Bool {
    let control = CacheControl(record.headers.combined("Cache-Control"))
    let times = Times(
      freshUntil: record.freshUntil,
      answeredAt: record.validatedAt ?? record.fetchedAt,
      expiresAt: record.expiresAt
    )
    return record.digest != nil
      && mayServe(
        times,
        maximumStale: maximumStale,
        mustRevalidate: control.mustRevalidate || control.hasNoCache,
        now: now
      )
  }

  /// Whether a failure only means that the server cannot be asked now.
  ///
  /// What is gone, refused or not trusted is an answer, however unwelcome.
  package static func covers(_ failure: Failure, status: Int?) -> Bool {
    failure.code.category == .connectivity || (failure.code == .http && status ?? 0 >= 500)
  }
}
