import PrefetchCore

struct FreshnessGrant {
  var lifetime: Freshness.Lifetime
  var source: String

  init(_ lifetime: Freshness.Lifetime, by source: String) {
    self.lifetime = lifetime
    self.source = source
  }
}

struct FreshnessAccount {
  let state: String
  /// End of the freshness; nil if the body is revalidated at each use.
  let until: Instant?
  let rule: String

  /// Returns nil for an item without a stored body.
  init?(_ record: ContentRecord, grants: [FreshnessGrant], at now: Instant) {
    guard record.digest != nil else { return nil }
    let respondedAt = record.validatedAt ?? record.fetchedAt
    let end = record.freshUntil(under: grants.map(\.lifetime), at: now)
    rule = Self.rule(record, grants, respondedAt)
    switch end {
    case Instant.distantFuture:
      state = "immutable"
      until = end
    case let end? where now < end:
      state = "fresh"
      until = end
    case _?, nil:
      state = "stale"
      let isGranted = !grants.isEmpty
      if case .undeclared = record.freshness, !isGranted { until = nil } else { until = end }
    }
  }

  /// Whether every run asks about the body, because nothing states a lifetime.
  var isCheckedAlways: Bool { state == "stale" && until == nil }

  var line: String {
    switch (state, until) {
    case ("immutable", _): "for ever, by \(rule)"
    case ("fresh", let until?): "until \(Timestamp.format(until)), by \(rule)"
    case (_, let until?): "no longer since \(Timestamp.format(until)), by \(rule)"
    case (_, nil): "checked in every run: \(rule)"
    }
  }

  private static func rule(
    _ record: ContentRecord,
    _ grants: [FreshnessGrant],
    _ respondedAt: Instant?
  ) -> String {
    if let grant = grants.first(where: { $0.lifetime == .immutable }) { return grant.source }
    let shortest = grants.compactMap { grant -> (Duration, String)? in
      guard case .atMost(let bound) = grant.lifetime else { return nil }
      return (bound, grant.source)
    }.min { $0.0 < $1.0 }
    switch record.freshness {
    case .alwaysRevalidate: return speaker(of: record) { $0 == .alwaysRevalidate }
    case .declared(let until):
      if let shortest, let respondedAt, respondedAt + shortest.0 < until { return shortest.1 }
      return speaker(of: record) { $0.end == until }
    case .undeclared(let until):
      guard let shortest else { return silentSpeaker(of: record) }
      if let respondedAt, respondedAt + shortest.0 >= until {
        return speaker(of: record) { $0.end == until }
      }
      return shortest.1
    }
  }

  /// Returns the answer that decided, in words: a redirect, or a header of the last response.
  private static func speaker(
    of record: ContentRecord,
    _ decides: (Freshness) -> Bool
  ) -> String {
    if let hop = record.hops.first(where: { decides($0.freshness) }) {
      return "the redirect from `\(Redaction.url(hop.url))`"
    }
    let control = CacheControl(record.headers.combined(.cacheControl))
    if Variance.isUnknowable(record.headers) { return "`Vary: *`" }
    if control.hasNoCache { return "`no-cache`" }
    if control.hasNoStore { return "`no-store`" }
    return control.maxAge != nil ? "`max-age`" : "`Expires`"
  }

  private static func silentSpeaker(of record: ContentRecord) -> String {
    let isSilent: (Freshness) -> Bool = { if case .undeclared = $0 { true } else { false } }
    if let hop = record.hops.first(where: { isSilent($0.freshness) }) {
      return
        "the redirect from `\(Redaction.url(hop.url))` states no lifetime"
    }
    return "the server states no lifetime"
  }
}

extension Freshness {
  fileprivate var end: Instant? {
    switch self {
    case .declared(let until), .undeclared(let until): until
    case .alwaysRevalidate: nil
    }
  }
}
