/// How long a stored response needs no question, by RFC 9111 for a private cache without heuristics.
package enum Freshness {
  /// A promise by the publisher, or an upper bound by the user.
  package enum Lifetime: Hashable, Sendable {
    case atMost(Duration)
    /// The body behind this URL never changes.
    case immutable
  }

  /// Until when the response may be used unasked; nil means ask every time.
  ///
  /// `delay` is what the answer took to come, in which it grew older on its way.
  package static func freshUntil(
    headers: HeaderBlock,
    receivedAt now: Instant,
    delay: Duration = .zero,
    limits: [Lifetime]
  ) -> Instant? {
    if limits.contains(.immutable) { return .distantFuture }
    guard headers.has("Cache-Control") || headers.has("Expires") else { return nil }
    let control = CacheControl(headers.combined("Cache-Control"))
    guard !control.hasNoCache, !control.hasNoStore, headers.combined("Vary")?.contains("*") != true
    else {
      return nil
    }
    guard let lifetime = lifetime(headers: headers, control: control, now: now) else { return nil }
    let remaining = lifetime - age(headers: headers, delay: delay, now: now)
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

  /// How far the server's clock is from ours, where that is more than a day; times are then only
  /// worth what they say about each other.
  package static func clockSkew(headers: HeaderBlock, receivedAt now: Instant) -> Duration? {
    guard headers["Age"] == nil, let date = headers["Date"].flatMap({ HTTPDate.parse($0) }) else {
      return nil
    }
    let skew = date - now
    return skew > .seconds(86_400) || skew < .seconds(-86_400) ? skew : nil
  }

  /// Whether an answer may be kept: `no-store` counts where it is to be honoured.
  package static func mayStore(_ headers: HeaderBlock, honorsNoStore: Bool) -> Bool {
    !honorsNoStore || !CacheControl(headers.combined("Cache-Control")).hasNoStore
  }

  /// The larger of what caches on the way say and what the clocks say; never negative.
  private static func age(headers: HeaderBlock, delay: Duration, now: Instant) -> Duration {
    // An age that is too large to be read is an age all the same.
    let told = headers["Age"].flatMap { CacheControl.deltaSeconds($0) }.map { Duration.seconds($0) }
    let apparent = headers["Date"].flatMap { HTTPDate.parse($0) }.map { now - $0 } ?? .zero
    return max((told ?? .zero) + max(delay, .zero), max(apparent, .zero))
  }
}
