/// Received bytes by day, kind of network and segment.
package struct TransferUsage: Hashable, Sendable {
  package struct Key: Hashable, Sendable {
    /// Local date: `2026-11-22`.
    package var day: String
    package var type: NetworkType?
    package var segment: SegmentKey

    package init(day: String, type: NetworkType?, segment: SegmentKey) {
      self.day = day
      self.type = type
      self.segment = segment
    }
  }

  package private(set) var bytes: [Key: Int64]

  package init(_ bytes: [Key: Int64] = [:]) {
    self.bytes = bytes
  }

  package mutating func add(_ count: Int64, _ key: Key) {
    bytes[key, default: 0] = bytes[key, default: 0].addingSaturated(count)
  }

  package mutating func add(_ other: Self) {
    for (key, count) in other.bytes { add(count, key) }
  }

  /// Raises counts to those of another process; received bytes are never subtracted.
  package mutating func raise(to other: Self) {
    bytes.merge(other.bytes, uniquingKeysWith: max)
  }

  package static func day(at now: Instant, in zone: TimeZoneRules) -> String {
    let midnight = Instant(seconds: zone.day(at: now.seconds) * TimeZoneRules.day)
    return String(Timestamp.format(midnight).prefix(10))
  }

  package func sum(
    _ period: ByteBudget.Period,
    of day: String,
    where counts: (Key) -> Bool = { _ in true }
  ) -> Int64 {
    let prefix = period == .day ? day : String(day.prefix(7))
    return bytes.reduce(0) { sum, entry in
      guard entry.key.day.hasPrefix(prefix), counts(entry.key) else { return sum }
      return sum.addingSaturated(entry.value)
    }
  }
}

/// Limit of bytes for a day or a month; once it is used up, nothing more is requested.
package struct ByteBudget: Hashable, Sendable {
  package enum Period: String, Hashable, Sendable, CaseIterable {
    case day
    case month

    package var key: String {
      switch self {
      case .day: "daily_limit"
      case .month: "monthly_limit"
      }
    }
  }

  package var period: Period
  /// Limit over all networks without their own; nil for none.
  package var limit: Int64?
  package var limits: [NetworkType: Int64]
  package var segment: SegmentKey?

  package init(
    period: Period,
    limit: Int64?,
    limits: [NetworkType: Int64] = [:],
    segment: SegmentKey? = nil
  ) {
    self.period = period
    self.limit = limit
    self.limits = limits
    self.segment = segment
  }

  package var isUnlimited: Bool {
    limit == nil && limits.isEmpty
  }

  package func limit(over type: NetworkType?) -> Int64? {
    type.flatMap { limits[$0] } ?? limit
  }

  package func used(_ usage: TransferUsage, over type: NetworkType?, on day: String) -> Int64 {
    let isOwn = type.map { limits[$0] != nil } ?? false
    return usage.sum(period, of: day) { key in
      guard segment == nil || key.segment == segment else { return false }
      return isOwn ? key.type == type : key.type.map { limits[$0] == nil } ?? true
    }
  }

  package func remaining(
    _ usage: TransferUsage,
    over type: NetworkType?,
    on day: String
  ) -> Int64? {
    limit(over: type).map { max(0, $0 - used(usage, over: type, on: day)) }
  }

  package func renewal(after now: Instant, in zone: TimeZoneRules) -> Instant {
    let second = now.seconds
    var day = zone.day(at: second) + 1
    while period == .month, !Self.isFirst(day) { day += 1 }
    return Instant(seconds: zone.start(ofDay: day, after: second))
  }

  private static func isFirst(_ day: Int64) -> Bool {
    Timestamp.format(Instant(seconds: day * TimeZoneRules.day)).dropFirst(8).hasPrefix("01")
  }
}
