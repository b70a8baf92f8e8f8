/// Until when a stored answer may be used unasked, by RFC 9111 for a private cache without heuristics.
///
/// It is what servers state, the least of all hops that led to the body. What the declarer grants
/// comes in when a caller asks, so that a changed `ttl` holds at once.
package enum Freshness: Hashable, Sendable {
  /// Every hop states a lifetime, of which the first ends then; perhaps before the answer came.
  case stated(until: Instant)
  /// Some hop states none, so that it takes a `ttl`; those that do hold until then.
  case silent(until: Instant)
  /// `no-cache` or `Vary: *`: never without a question.
  case asked

  /// What the declarer grants: the lifetime where an answer states none, a cap where it states more.
  package enum Lifetime: Hashable, Sendable {
    case atMost(Duration)
    /// The body behind this URL never changes.
    case immutable
  }

  /// When an answer was judged, and how old it had become on its way by then.
  package struct Timing: Hashable, Sendable {
    package var now: Instant
    /// Since its request went out.
    package var elapsed: Duration
    /// Since its head was here.
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

  /// What one answer states of itself.
  package init(_ headers: HeaderBlock, at moment: Timing) {
    let control = CacheControl(headers.combined(.cacheControl))
    guard !control.hasNoCache, !Variance.isUnknowable(headers) else {
      self = .asked
      return
    }
    guard !control.hasNoStore else {
      self = .stated(until: moment.now)
      return
    }
    guard let lifetime = Self.lifetime(headers, control, moment) else {
      self = .silent(until: .distantFuture)
      return
    }
    self = .stated(until: moment.now + (lifetime - Self.age(headers, moment)))
  }

  /// Of two hops of one chain.
  package func joined(with other: Freshness) -> Freshness {
    switch (self, other) {
    case (.asked, _), (_, .asked): .asked
    case (.stated(let one), .stated(let two)): .stated(until: min(one, two))
    case (.stated(let one), .silent(let two)), (.silent(let one), .stated(let two)),
      (.silent(let one), .silent(let two)):
      .silent(until: min(one, two))
    }
  }

  /// When it became or becomes stale, under what the declarer grants since the last answer; nil where
  /// every use needs a question.
  package func end(under granted: [Lifetime], answeredAt: Instant?) -> Instant? {
    if granted.contains(.immutable) { return .distantFuture }
    let capped = { (until: Instant) in
      granted.reduce(until) { earliest, grant in
        guard case .atMost(let bound) = grant, let answeredAt else { return earliest }
        return min(earliest, answeredAt + bound)
      }
    }
    switch self {
    case .asked: return nil
    case .stated(let until): return capped(until)
    case .silent(let until):
      // What came from no server, as a body that was found by its digest, holds for no time.
      guard let answeredAt else { return nil }
      return granted.isEmpty ? min(answeredAt, until) : capped(until)
    }
  }

  /// How far ahead of now a time may be that our own clock has set: clocks are corrected by seconds.
  package static let clockTolerance = Duration.seconds(60)

  /// Whether a time that was recorded as now lies in the future, since the clock was ahead then or is
  /// behind now.
  package static func isFuture(_ recorded: Instant, at now: Instant) -> Bool {
    recorded > now + clockTolerance
  }

  /// An end of freshness as it can be believed: an answer from the future is just now stale.
  package static func believed(
    _ end: Instant?,
    answeredAt: Instant?,
    at now: Instant
  ) -> Instant? {
    guard let end, end != .distantFuture, let answeredAt, isFuture(answeredAt, at: now) else {
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
    // An unreadable Expires, `0` above all, means already expired.
    guard let end = HTTPDate.parse(expires) else { return .zero }
    return end - (date(headers) ?? received(moment))
  }

  /// The larger of what caches on the way say and what the clocks say; never negative (§4.2.3).
  private static func age(_ headers: HeaderBlock, _ moment: Timing) -> Duration {
    let apparent = date(headers).map { received(moment) - $0 } ?? .zero
    return max(told(headers) + moment.elapsed, max(apparent, .zero) + moment.sinceHead)
  }

  /// The same of an answer that was judged at a time, by its headers.
  ///
  /// What is left of the lifetime that it states says how long its request took.
  package static func ageOnArrival(
    _ headers: HeaderBlock,
    _ freshness: Freshness? = nil,
    at instant: Instant
  ) -> Duration {
    let moment = Timing(instant)
    let stated = age(headers, moment)
    let control = CacheControl(headers.combined(.cacheControl))
    guard case .stated(let until) = freshness, !control.hasNoStore,
      let lifetime = lifetime(headers, control, moment)
    else { return stated }
    return max(stated, lifetime - (until - instant))
  }

  /// Of a list the first member counts; what is no number counts as nothing (§5.1).
  private static func told(_ headers: HeaderBlock) -> Duration {
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

  /// Whether an answer may be kept: `no-store` counts where it is to be honoured.
  package static func mayStore(_ headers: HeaderBlock, honorsNoStore: Bool) -> Bool {
    !honorsNoStore || !CacheControl(headers.combined(.cacheControl)).hasNoStore
  }
}

// MARK: - In columns

extension Freshness {
  /// As one number of a row and one of its kind.
  package var columns: (until: Int64?, kind: Int64) {
    switch self {
    case .stated(let until): (until.milliseconds, 0)
    case .silent(let until): (until == .distantFuture ? nil : until.milliseconds, 1)
    case .asked: (nil, 2)
    }
  }

  package init(until: Int64?, kind: Int64) {
    switch (kind, until) {
    case (0, let until?): self = .stated(until: Instant(milliseconds: until))
    case (1, let until):
      self = .silent(until: until.map { Instant(milliseconds: $0) } ?? .distantFuture)
    default: self = .asked
    }
  }
}
