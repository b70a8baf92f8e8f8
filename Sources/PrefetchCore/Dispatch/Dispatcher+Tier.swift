/// What machines share: questions that a second tier may answer, and answers that go there.
extension Dispatcher {
  /// What it may be asked for an item with these digests, which may be used so long without a question.
  func tierQuestion(
    _ digests: [ExpectedDigest],
    _ granted: [Freshness.Lifetime]
  ) -> TierQuestion? {
    let tier = request.policy.tier
    guard tier.url != nil else { return nil }
    let named = digests.filter { $0.algorithm == .sha256 }
    return TierQuestion(
      digest: named.count == 1 ? ContentDigest(bytes: named[0].bytes) : nil,
      granted: tier.isTrusted ? granted : nil
    )
  }

  /// A plain item that came from its own URL.
  mutating func share(_ arrival: Arrival, isPinned: Bool) {
    guard arrival.terms.isAnonymous || request.policy.tier.sharesAll else { return }
    var answer = OriginAnswer(arrival)
    answer.isDeclared = isPinned
    share(answer)
  }

  /// An item that its origin brought now.
  mutating func share(_ item: Int, _ record: ContentRecord) {
    let work = active[Int(items[item].slot)]
    guard request.policy.tier.isWritten, !isAd(item), work.toldAt == nil,
      let exchange = work.exchange?.value, !exchange.isAlternate, let digest = record.digest
    else { return }
    var answer = OriginAnswer(record, exchange, digest: digest, answeredAt: now.wall)
    answer.isDeclared = work.digests.contains { $0.algorithm == .sha256 }
    share(answer, of: exchange)
  }

  /// A document, or a part of an item, that its origin brought now.
  mutating func share(_ body: StagedBody, _ response: TransferResponse, of exchange: Exchange?) {
    guard request.policy.tier.isWritten, response.toldByTierAt == nil, response.status == 200,
      let exchange
    else { return }
    var record = ContentRecord(url: exchange.url.string, id: "")
    record.size = body.size
    record.headers = Revalidation.storable(response.headers)
    share(OriginAnswer(record, exchange, digest: body.digest, answeredAt: now.wall), of: exchange)
  }

  private mutating func share(_ answer: OriginAnswer, of exchange: Exchange) {
    guard exchange.isAnonymous || request.policy.tier.sharesAll else { return }
    share(answer)
  }

  private mutating func share(_ answer: OriginAnswer) {
    let isForAll =
      OriginAnswer.isForAll(answer.headers) && WebURL.redacted(answer.url) == answer.url
    guard isForAll || request.policy.tier.sharesAll else { return }
    batch.share([answer])
  }
}
