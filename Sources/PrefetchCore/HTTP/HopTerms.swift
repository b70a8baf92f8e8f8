/// What one answer on the way to a body states: a redirect, or the answer that brought or confirmed it.
package struct HopTerms: Hashable, Sendable {
  /// Who answered.
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

  /// Of an answer to a request with these headers; `item` is the URL that was declared.
  package init(
    _ headers: HeaderBlock,
    from url: String,
    of item: String,
    asked fields: [HeaderField],
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
      ? Variance.hop(headers, asked: fields, url: url == item ? nil : sealed, key: key) : nil
  }
}

extension ContentRecord {
  /// Takes in what all answers of a chain state, the last of which gave or confirmed the body.
  package mutating func note(_ redirects: [HopTerms], _ last: HopTerms) {
    hops = redirects
    freshness = redirects.reduce(last.freshness) { $0.joined(with: $1.freshness) }
    variance = Variance((redirects + [last]).compactMap(\.variance))
  }

  /// Whether nothing but times, of the clock and of freshness, tells it from what is stored.
  package func differsOnlyInTimes(from other: ContentRecord) -> Bool {
    validators == other.validators && variance == other.variance && hops == other.hops
  }

  /// Makes the record one of a body that was never fetched.
  package mutating func forgetBody() {
    digest = nil
    size = 0
    // What a person has paused stays so; anything else the next run looks at.
    if state != .paused { state = .queued }
    validators = Validators()
    files = []
    forgetAnswer()
  }

  /// Leaves nothing of what answers stated: the body is known by its digest alone, or gone.
  package mutating func forgetAnswer() {
    freshness = .silent(until: .distantFuture)
    hops = []
    variance = nil
    validatedAt = nil
  }

  /// Whether some answer of the chain forbids to use it stale.
  package var mustRevalidate: Bool {
    CacheControl(headers.combined(.cacheControl)).mustRevalidate
      || hops.contains(where: \.mustRevalidate) || freshness == .asked
  }

  /// When it became or becomes stale; nil where every use needs a question.
  package func freshUntil(under granted: [Freshness.Lifetime], at now: Instant) -> Instant? {
    let answeredAt = validatedAt ?? fetchedAt
    let end = freshness.end(under: granted, answeredAt: answeredAt)
    return Freshness.believed(end, answeredAt: answeredAt, at: now)
  }
}
