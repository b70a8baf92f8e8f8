/// Last answer of an origin for a URL, in the form that machines share.
package struct OriginResponse: Hashable, Sendable {
  package var url: String
  package var digest: ContentDigest
  package var size: Int64
  package var status = 200
  /// Stored headers of the answer that brought or confirmed the body.
  package var headers: HeaderBlock
  package var respondedAt: Instant
  package var redirects: [Redirect] = []
  /// Whether the origin answered from a local address, so that it may name local URLs.
  package var isFromHere = false
  /// Whether only the body is shared: its digest is declared, or its redirects are private.
  package var isBodyAlone = false

  package struct Redirect: Hashable, Sendable {
    package var status: Int
    package var target: String
    package var freshness: Freshness

    package init(status: Int, target: String, freshness: Freshness) {
      self.status = status
      self.target = target
      self.freshness = freshness
    }
  }

  package init(
    url: String,
    digest: ContentDigest,
    size: Int64,
    headers: HeaderBlock,
    respondedAt: Instant
  ) {
    self.url = url
    self.digest = digest
    self.size = size
    self.headers = headers
    self.respondedAt = respondedAt
  }

  init(_ record: ContentRecord, _ exchange: Exchange, digest: ContentDigest, respondedAt: Instant) {
    self.init(
      url: record.url,
      digest: digest,
      size: record.size,
      headers: record.headers,
      respondedAt: respondedAt
    )
    redirects = zip(exchange.redirects, exchange.chain.terms).map { hop, terms in
      Redirect(status: hop.status, target: hop.url.string, freshness: terms.freshness)
    }
  }

  init(_ arrival: Arrival) {
    self.init(
      url: arrival.url,
      digest: arrival.body.digest,
      size: arrival.body.size,
      headers: arrival.headers,
      respondedAt: arrival.at
    )
  }

  package var validators: Validators { Validators(headers) }

  /// Returns the headers as a cache of the origin would send them now.
  package func headers(at now: Instant) -> HeaderBlock {
    var aged = headers.filtered { !headers.isNamed($0, .age) }
    let age = Freshness.ageOnArrival(headers, at: respondedAt) + max(now - respondedAt, .zero)
    // Rounded up, so that no machine keeps the answer longer than its first receiver.
    let (seconds, rest) = max(age, .zero).components
    aged.append(HeaderField("Age", String(seconds + (rest > 0 ? 1 : 0))))
    return aged
  }

  /// Whether the answer may be used without asking the origin; not if its time is in the future.
  package func isFresh(under granted: [Freshness.Lifetime], at now: Instant) -> Bool {
    respondedAt <= now && freshUntil(under: granted).map { now < $0 } ?? false
  }

  /// Returns the end of freshness; nil if every use needs a revalidation.
  private func freshUntil(under granted: [Freshness.Lifetime]) -> Instant? {
    redirects.reduce(Freshness(headers, at: Freshness.Timing(respondedAt))) {
      $0.joined(with: $1.freshness)
    }
    .end(under: granted, respondedAt: respondedAt)
  }

  /// Whether a response with these headers is the same for all machines.
  package static func isForAll(_ headers: HeaderBlock) -> Bool {
    let control = CacheControl(headers.combined(.cacheControl))
    // The content coding does not count, since bodies are stored decoded.
    return !control.isPrivate && !control.hasNoStore && Variance.names(in: headers).isEmpty
  }

  package var isForAll: Bool {
    Self.isForAll(headers) && WebURL.redacted(url) == url
  }

  /// Whether any request without headers of its own would get this answer.
  package var suitsAll: Bool {
    Variance.names(in: headers).isEmpty
  }

  package static func head(of redirect: Redirect, at now: Instant) -> HeaderBlock {
    var fields = [HeaderField("Location", redirect.target)]
    switch redirect.freshness {
    case .declared(let until):
      fields.append(
        HeaderField("Cache-Control", "max-age=\(max(until - now, .zero).components.seconds)")
      )
    case .undeclared: break
    case .alwaysRevalidate: fields.append(HeaderField("Cache-Control", "no-cache"))
    }
    return HeaderBlock(fields)
  }
}
