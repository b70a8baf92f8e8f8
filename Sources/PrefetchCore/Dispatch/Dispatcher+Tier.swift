/// Second tier shared by machines: requests that it may answer, and answers offered to it.
extension Dispatcher {
  /// Returns what a tier may answer for an item: a digest, or answers within these lifetimes.
  func tierQuestion(
    _ digests: [ExpectedDigest],
    _ granted: [Freshness.Lifetime]
  ) -> TierQuestion? {
    let tier = request.policy.tier
    guard tier.url != nil else { return nil }
    let named = digests.filter { $0.algorithm == .sha256 }
    // A revalidation asks the origin, by the tier's validators if nothing is stored here.
    let lent = request.policy.revalidatesAll ? [.atMost(.zero)] : granted
    return TierQuestion(
      digest: named.count == 1 ? ContentDigest(bytes: named[0].bytes) : nil,
      granted: tier.isTrusted ? lent : nil
    )
  }

  mutating func share(_ arrival: Arrival, isPinned: Bool) {
    guard arrival.terms.isAnonymous || request.policy.tier.sharesAll else { return }
    var answer = OriginAnswer(arrival)
    answer.isBodyAlone = isPinned
    share(answer)
  }

  mutating func share(_ item: Int, _ record: ContentRecord) {
    let work = items.active(item)
    guard request.policy.tier.isWritten, !isAd(item), work.toldAt == nil,
      let exchange = work.exchange?.value, !exchange.isAlternate, let digest = record.digest
    else { return }
    var answer = OriginAnswer(record, exchange, digest: digest, answeredAt: now.wall)
    answer.isBodyAlone = work.digests.contains { $0.algorithm == .sha256 }
    share(answer, of: exchange)
  }

  /// Offers a document or piece that its origin sent now.
  mutating func share(
    _ body: StagedBody,
    _ response: TransferResponse,
    of exchange: Exchange?,
    from provenance: Provenance
  ) {
    guard request.policy.tier.isWritten, response.toldByTierAt == nil, response.status == 200,
      let exchange, !exchange.isAlternate
    else { return }
    var record = ContentRecord(url: exchange.url.string, id: "")
    record.size = body.size
    record.headers = Revalidation.storable(response.headers)
    var answer = OriginAnswer(record, exchange, digest: body.digest, answeredAt: now.wall)
    answer.isFromHere = provenance == .local && exchange.redirects.isEmpty
    share(answer, of: exchange)
  }

  private mutating func share(_ answer: OriginAnswer, of exchange: Exchange) {
    guard exchange.isAnonymous || request.policy.tier.sharesAll else { return }
    share(answer)
  }

  private mutating func share(_ given: OriginAnswer) {
    guard given.isForAll || request.policy.tier.sharesAll else { return }
    var answer = given
    // Signed redirect URLs are private, so the body alone is shared.
    if answer.redirects.contains(where: { WebURL.redacted($0.target) != $0.target }) {
      answer.isBodyAlone = true
    }
    batch.share([answer])
  }
}
