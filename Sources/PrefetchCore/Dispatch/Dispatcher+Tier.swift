/// Second tier shared by machines: requests that it may answer, and answers offered to it.
extension Dispatcher {
  /// Returns what a tier may answer for an item: a digest, or answers within these lifetimes.
  func tierRequest(
    _ digests: [ExpectedDigest],
    _ granted: [Freshness.Lifetime]
  ) -> TierRequest? {
    let tier = request.policy.tier
    guard tier.url != nil else { return nil }
    let named = digests.filter { $0.algorithm == .sha256 }
    // A revalidation asks the origin, by the tier's validators if nothing is stored here.
    let lent = request.policy.revalidatesAll ? [.atMost(.zero)] : granted
    return TierRequest(
      digest: named.count == 1 ? ContentDigest(bytes: named[0].bytes) : nil,
      granted: tier.isTrusted ? lent : nil
    )
  }

  mutating func offerToTier(_ arrival: Arrival, isPinned: Bool) {
    guard arrival.terms.isAnonymous || request.policy.tier.sharesAll else { return }
    var originResponse = OriginResponse(arrival)
    originResponse.isBodyAlone = isPinned
    offerToTier(originResponse)
  }

  mutating func offerToTier(_ item: Int, _ record: ContentRecord) {
    let work = items.active(item)
    guard request.policy.tier.isWritten, !isAd(item), work.originRespondedAt == nil,
      let exchange = work.exchange?.value, !exchange.isAlternate, let digest = record.digest
    else { return }
    var originResponse = OriginResponse(record, exchange, digest: digest, respondedAt: now.wall)
    originResponse.isBodyAlone = work.digests.contains { $0.algorithm == .sha256 }
    offerToTier(originResponse, of: exchange)
  }

  mutating func offerToTier(
    _ body: StagedBody,
    _ response: TransferResponse,
    of exchange: Exchange?,
    from provenance: Provenance
  ) {
    guard request.policy.tier.isWritten, response.tierRespondedAt == nil, response.status == 200,
      let exchange, !exchange.isAlternate
    else { return }
    var record = ContentRecord(url: exchange.url.string, id: "")
    record.size = body.size
    record.headers = Revalidation.storable(response.headers)
    var originResponse = OriginResponse(
      record,
      exchange,
      digest: body.digest,
      respondedAt: now.wall
    )
    originResponse.isFromHere = provenance == .local && exchange.redirects.isEmpty
    offerToTier(originResponse, of: exchange)
  }

  private mutating func offerToTier(_ originResponse: OriginResponse, of exchange: Exchange) {
    guard exchange.isAnonymous || request.policy.tier.sharesAll else { return }
    offerToTier(originResponse)
  }

  private mutating func offerToTier(_ given: OriginResponse) {
    guard given.isForAll || request.policy.tier.sharesAll else { return }
    var originResponse = given
    // Signed redirect URLs are private, so the body alone is shared.
    if originResponse.redirects.contains(where: { WebURL.redacted($0.target) != $0.target }) {
      originResponse.isBodyAlone = true
    }
    batch.share([originResponse])
  }
}
