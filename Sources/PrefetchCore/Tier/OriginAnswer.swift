/// What an origin last said of a URL, as machines tell each other.
package struct OriginAnswer: Hashable, Sendable {
  /// As it was declared.
  package var url: String
  package var digest: ContentDigest
  package var size: Int64
  package var status = 200
  /// Those that are kept of the answer that brought the body, or confirmed it.
  package var headers: HeaderBlock
  /// When the origin said so.
  package var answeredAt: Instant
  /// What led from the URL to the body.
  package var redirects: [Redirect] = []
  /// Whether the origin answered from an address like ours, so that what it names may lie there too.
  package var isFromHere = false
  /// Whether the body goes by itself: a declaration names its digest, or the way to it is not for all.
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
    answeredAt: Instant
  ) {
    self.url = url
    self.digest = digest
    self.size = size
    self.headers = headers
    self.answeredAt = answeredAt
  }

  init(_ record: ContentRecord, _ exchange: Exchange, digest: ContentDigest, answeredAt: Instant) {
    self.init(
      url: record.url,
      digest: digest,
      size: record.size,
      headers: record.headers,
      answeredAt: answeredAt
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
      answeredAt: arrival.at
    )
  }

  package var validators: Validators { Validators(headers) }

  /// The headers as the origin would have sent them to us, had they come through a cache.
  package func headers(at now: Instant) -> HeaderBlock {
    var aged = headers.filtered { !headers.isNamed($0, .age) }
    let age = Freshness.ageOnArrival(headers, at: answeredAt) + max(now - answeredAt, .zero)
    // Rounded up: no machine may hold an answer longer than the one that got it.
    let (seconds, rest) = max(age, .zero).components
    aged.append(HeaderField("Age", String(seconds + (rest > 0 ? 1 : 0))))
    return aged
  }

  /// Whether nobody need ask the origin again.
  ///
  /// What was said in the future was said by a wrong clock.
  package func isFresh(under granted: [Freshness.Lifetime], at now: Instant) -> Bool {
    answeredAt <= now && freshUntil(under: granted).map { now < $0 } ?? false
  }

  /// Until when; nil where every use takes a question.
  private func freshUntil(under granted: [Freshness.Lifetime]) -> Instant? {
    redirects.reduce(Freshness(headers, at: Freshness.Timing(answeredAt))) {
      $0.joined(with: $1.freshness)
    }
    .end(under: granted, answeredAt: answeredAt)
  }

  /// Whether an answer with these headers is the same for every machine that asks.
  package static func isForAll(_ headers: HeaderBlock) -> Bool {
    let control = CacheControl(headers.combined(.cacheControl))
    // The coding does not count, since bodies are stored decoded.
    return !control.isPrivate && !control.hasNoStore && Variance.names(in: headers).isEmpty
  }

  /// The same of the whole answer.
  package var isForAll: Bool {
    Self.isForAll(headers) && WebURL.redacted(url) == url
  }

  /// Whether who asks with nothing of its own would be answered so, whoever asked before.
  package var suitsAll: Bool {
    Variance.names(in: headers).isEmpty
  }

  /// The head of a redirect, as it would come from its server now.
  package static func head(of redirect: Redirect, at now: Instant) -> HeaderBlock {
    var fields = [HeaderField("Location", redirect.target)]
    switch redirect.freshness {
    case .stated(let until):
      fields.append(
        HeaderField("Cache-Control", "max-age=\(max(until - now, .zero).components.seconds)")
      )
    case .silent: break
    case .asked: fields.append(HeaderField("Cache-Control", "no-cache"))
    }
    return HeaderBlock(fields)
  }
}
