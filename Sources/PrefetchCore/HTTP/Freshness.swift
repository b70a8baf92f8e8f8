/// Freshness that a redirect chain's responses declare (RFC 9111, private cache, no heuristics).
///
/// The shortest of all hops counts. Lifetimes granted by the declarer are applied at each query, so
/// that a changed `ttl` takes effect at once.
package enum Freshness: Hashable, Sendable {
  /// Each hop declares a lifetime, and the first of them ends at `until`, possibly before arrival.
  case declared(until: Instant)
  /// At least one hop declares no lifetime, so a `ttl` is needed; the declared ones end at `until`.
  case undeclared(until: Instant)
  /// `no-cache` or `Vary: *`: the body must be revalidated before each use.
  case alwaysRevalidate

  /// Lifetime that the declarer grants: a default and upper bound of the response's own.
  package enum Lifetime: Hashable, Sendable {
    case atMost(Duration)
    case immutable
  }

  /// Time at which a response is judged, with the durations from which its age is computed.
  package struct Timing: Hashable, Sendable {
    package var now: Instant
    package var elapsed: Duration
    package var sinceHead: Duration

    package init(_ now: Instant, elapsed: Duration = .zero, sinceHead: Duration = .zero) {
      self.now = now
      self.elapsed = max(elapsed, .zero)
      self.sinceHead = max(sinceHead, .zero)
    }

    package init(_ now: Instant, _ figures: TransferFigures) {
      let total = figures.total ?? .zero
      self.init(
        now,
        elapsed: total - (figures.requested ?? .zero),
        sinceHead: figures.firstByte.map { total - $0 } ?? .zero
      )
    }
  }

  package init(_ headers: HeaderBlock, at moment: Timing) {
    let control = CacheControl(headers.combined(.cacheControl))
    guard !control.hasNoCache, !Variance.isUnknowable(headers) else {
      self = .alwaysRevalidate
      return
    }
    guard !control.hasNoStore else {
      self = .declared(until: moment.now)
      return
    }
    guard let lifetime = Self.lifetime(headers, control, moment) else {
      self = .undeclared(until: .distantFuture)
      return
    }
    self = .declared(until: moment.now + (lifetime - Self.age(headers, moment)))
  }

  package func joined(with other: Freshness) -> Freshness {
    switch (self, other) {
    case (.alwaysRevalidate, _), (_, .alwaysRevalidate): .alwaysRevalidate
    case (.declared(let one), .declared(let two)): .declared(until: min(one, two))
    case (.declared(let one), .undeclared(let two)), (.undeclared(let one), .declared(let two)),
      (.undeclared(let one), .undeclared(let two)):
      .undeclared(until: min(one, two))
    }
  }

  /// Returns the time at which the response becomes stale under `granted` lifetimes, which count
  /// from `respondedAt`; nil if each use needs revalidation.
  package func end(under granted: [Lifetime], respondedAt: Instant?) -> Instant? {
    if granted.contains(.immutable) { return .distantFuture }
    let capped = { (until: Instant) in
      granted.reduce(until) { earliest, grant in
        guard case .atMost(let bound) = grant, let respondedAt else { return earliest }
        return min(earliest, respondedAt + bound)
      }
    }
    switch self {
    case .alwaysRevalidate: return nil
    case .declared(let until): return capped(until)
    case .undeclared(let until):
      // Without a server's response, as for a body found by its digest, a body is never fresh.
      guard let respondedAt else { return nil }
      return granted.isEmpty ? min(respondedAt, until) : capped(until)
    }
  }

  /// Tolerated lead of a recorded time over the clock, since clocks are corrected by seconds.
  package static let clockTolerance = Duration.seconds(60)

  /// Whether a recorded time lies in the future, because the clock was ahead then or is behind now.
  package static func isFuture(_ recorded: Instant, at now: Instant) -> Bool {
    recorded > now + clockTolerance
  }

  /// Returns the end of freshness, or `now` if the response is dated in the future.
  package static func believed(
    _ end: Instant?,
    respondedAt: Instant?,
    at now: Instant
  ) -> Instant? {
    guard let end, end != .distantFuture, let respondedAt, isFuture(respondedAt, at: now) else {
      return end
    }
    return min(end, now)
  }

  private static func lifetime(
    _ headers: HeaderBlock,
    _ control: CacheControl,
    _ moment: Timing
  ) -> Duration? {
    if let maxAge = control.maxAge { return .seconds(maxAge) }
    guard let expires = headers[.expires] else { return nil }
    // An unreadable `Expires`, especially `0`, means already expired.
    guard let end = HTTPDate.parse(expires) else { return .zero }
    return end - (date(headers) ?? received(moment))
  }

  /// Returns the larger of the reported age and the age by the clocks; never negative (§4.2.3).
  private static func age(_ headers: HeaderBlock, _ moment: Timing) -> Duration {
    let apparent = date(headers).map { received(moment) - $0 } ?? .zero
    return max(ageHeader(headers) + moment.elapsed, max(apparent, .zero) + moment.sinceHead)
  }

  /// Returns a response's age; the rest of its declared lifetime shows how long its request took.
  package static func ageOnArrival(
    _ headers: HeaderBlock,
    _ freshness: Freshness? = nil,
    at instant: Instant
  ) -> Duration {
    let moment = Timing(instant)
    let stated = age(headers, moment)
    let control = CacheControl(headers.combined(.cacheControl))
    guard case .declared(let until) = freshness, !control.hasNoStore,
      let lifetime = lifetime(headers, control, moment)
    else { return stated }
    return max(stated, lifetime - (until - instant))
  }

  /// Returns the first member of `Age`; zero if it is not a number (§5.1).
  private static func ageHeader(_ headers: HeaderBlock) -> Duration {
    guard let first = headers[.age]?.utf8.prefix(while: { $0 != UInt8(ascii: ",") }),
      let seconds = CacheControl.deltaSeconds(
        String(decoding: first.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self)
      )
    else { return .zero }
    return .seconds(seconds)
  }

  private static func date(_ headers: HeaderBlock) -> Instant? {
    headers[.date].flatMap { HTTPDate.parse($0) }
  }

  private static func received(_ moment: Timing) -> Instant {
    moment.now + (.zero - moment.sinceHead)
  }

  package static func mayStore(_ headers: HeaderBlock, honorsNoStore: Bool) -> Bool {
    !honorsNoStore || !CacheControl(headers.combined(.cacheControl)).hasNoStore
  }
}

// MARK: - In columns

extension Freshness {
  package var columns: (until: Int64?, kind: Int64) {
    switch self {
    case .declared(let until): (until.milliseconds, 0)
    case .undeclared(let until): (until == .distantFuture ? nil : until.milliseconds, 1)
    case .alwaysRevalidate: (nil, 2)
    }
  }

  package init(until: Int64?, kind: Int64) {
    switch (kind, until) {
    case (0, let until?): self = .declared(until: Instant(milliseconds: until))
    case (1, let until):
      self = .undeclared(until: until.map { Instant(milliseconds: $0) } ?? .distantFuture)
    default: self = .alwaysRevalidate
    }
  }
}
