/// How long a stored response needs no question, by RFC 9111 for a private cache without heuristics.
package enum Freshness {
  /// A promise by the publisher, or an upper bound by the user.
  package enum Lifetime: Hashable, Sendable {
    case atMost(Duration)
    /// The body behind this URL never changes.
    case immutable
  }

  /// Until when the response may be used unasked; nil means ask every time.
  package static func freshUntil(
    headers: HeaderBlock,
    receivedAt now: Instant,
    limits: [Lifetime]
  ) -> Instant? {
    if limits.contains(.immutable) { return .distantFuture }
    let control = CacheControl(headers.combined("Cache-Control"))
    guard !control.hasNoCache, !control.hasNoStore, headers.combined("Vary")?.contains("*") != true
    else {
      return nil
    }
    guard let lifetime = lifetime(headers: headers, control: control, now: now) else { return nil }
    let remaining = lifetime - age(headers: headers, now: now)
    guard remaining > .zero else { return nil }
    let until = capped(
      control.isImmutable ? .distantFuture : now + remaining,
      by: limits,
      since: now
    )
    return now < until ? until : nil
  }

  /// The earliest of `until` and every upper bound, each counted from the last answer.
  package static func capped(
    _ until: Instant,
    by limits: [Lifetime],
    since answered: Instant
  ) -> Instant {
    limits.reduce(until) { earliest, limit in
      switch limit {
      case .atMost(let bound): min(earliest, answered + bound)
      case .immutable: earliest
      }
    }
  }

  private static func lifetime(
    headers: HeaderBlock,
    control: CacheControl,
    now: Instant
  ) -> Duration? {
    if let maxAge = control.maxAge { return .seconds(maxAge) }
    guard let expires = headers["Expires"] else { return nil }
    // An unreadable Expires, `0` above all, means already expired.
    guard let end = HTTPDate.parse(expires) else { return .zero }
    let date = headers["Date"].flatMap { HTTPDate.parse($0) } ?? now
    return end - date
  }

  /// The larger of what caches on the way say and what the clocks say; never negative.
  private static func age(headers: HeaderBlock, now: Instant) -> Duration {
    let told =
      headers["Age"].flatMap { Int64($0) }.map { Duration.seconds(max(0, min($0, 1 << 31))) }
      ?? .zero
    let apparent = headers["Date"].flatMap { HTTPDate.parse($0) }.map { now - $0 } ?? .zero
    return max(told, max(apparent, .zero))
  }
}
