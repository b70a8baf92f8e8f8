/// Caching terms of one response of a redirect chain, either a redirect or the final response.
package struct HopTerms: Hashable, Sendable {
  package var url: String
  package var freshness: Freshness
  package var mustRevalidate: Bool
  package var variance: Variance.Hop?

  package init(
    url: String,
    freshness: Freshness,
    mustRevalidate: Bool = false,
    variance: Variance.Hop? = nil
  ) {
    self.url = url
    self.freshness = freshness
    self.mustRevalidate = mustRevalidate
    self.variance = variance
  }

  /// Reads a response to a request with header `fields`; `item` is the declared URL.
  package init(
    _ headers: HeaderBlock,
    from url: String,
    of item: String,
    requestFields fields: [HeaderField],
    at moment: Freshness.Timing,
    key: VarianceKey
  ) {
    let sealed = url == item ? url : SealedURL.text(of: url)
    self.url = sealed
    freshness = Freshness(headers, at: moment)
    mustRevalidate =
      headers.has(.cacheControl)
      && CacheControl(headers.combined(.cacheControl)).mustRevalidate
    variance =
      headers.has(.vary)
      ? Variance.hop(headers, requestFields: fields, url: url == item ? nil : sealed, key: key)
      : nil
  }
}

extension ContentRecord {
  package mutating func setTerms(redirects: [HopTerms], last: HopTerms) {
    hops = redirects
    freshness = redirects.reduce(last.freshness) { $0.joined(with: $1.freshness) }
    variance = Variance((redirects + [last]).compactMap(\.variance))
  }

  /// Whether two records differ only in times, those of the clock or of freshness.
  package func differsOnlyInTimes(from other: ContentRecord) -> Bool {
    validators == other.validators && variance == other.variance && hops == other.hops
  }

  package mutating func forgetBody() {
    digest = nil
    size = 0
    if state != .paused { state = .queued }
    validators = Validators()
    files = []
    clearResponseTerms()
  }

  /// Removes the terms of all responses, for a body that is known only by its digest or is removed.
  package mutating func clearResponseTerms() {
    freshness = .undeclared(until: .distantFuture)
    hops = []
    variance = nil
    validatedAt = nil
  }

  package var mustRevalidate: Bool {
    CacheControl(headers.combined(.cacheControl)).mustRevalidate
      || hops.contains(where: \.mustRevalidate) || freshness == .alwaysRevalidate
  }

  package func freshUntil(under granted: [Freshness.Lifetime], at now: Instant) -> Instant? {
    let respondedAt = validatedAt ?? fetchedAt
    let end = freshness.end(under: granted, respondedAt: respondedAt)
    return Freshness.believed(end, respondedAt: respondedAt, at: now)
  }
}
