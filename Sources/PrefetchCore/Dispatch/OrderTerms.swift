/// Request and checks that the simple items of one segment on one server share.
package final class OrderTerms: Sendable {
  /// Segment that holds the records; nil for single items that no segment requests.
  package let segment: SegmentKey?
  package let table: Shared<EntryTable>
  /// Template of the requests, without URL, size and validators.
  package let request: TransferRequest
  let urls: ColumnURLs
  let isAnonymous: Bool
  private let expectations: [ContentExpectation]
  private let honorsNoStore: Bool
  private let selecting: [HeaderField]
  private let key: VarianceKey

  init(
    _ request: TransferRequest,
    of declaration: SegmentDeclaration,
    joining segment: SegmentKey?,
    table: Shared<EntryTable>,
    like entry: Int,
    agent: String,
    key: VarianceKey,
    isAnonymous: Bool = true
  ) {
    self.isAnonymous = isAnonymous
    self.segment = segment
    self.table = table
    self.request = request
    urls = table.value.columnURLs(like: entry)
    self.key = key
    expectations = declaration.expectation.isEmpty ? [] : [declaration.expectation]
    honorsNoStore = declaration.honorsNoStore
    selecting = RequestFields.selecting(request.headers, agent: agent)
  }

  func request(_ id: TransferID, for order: Order) -> TransferRequest {
    let (url, size) = urls.url(at: order.entry)
    var request = request
    request.id = id
    request.url = url
    request.expectedSize = size
    request.partialKey = url.string
    request.sizeLimit = order.sizeLimit
    request.allowsCoding = Exchange.isWorthCoding(size: size, path: url.path)
    request.expectedOutcome = order
    if url.scheme == .https { request.isPinned = table.value.columnDigest(at: order.entry) != nil }
    if request.tierRequest != nil {
      request.tierRequest = table.value.columnDigest(at: order.entry).map {
        TierRequest(digest: $0)
      }
    }
    // A record with another URL has the same key by chance, and is ignored.
    if let stored = order.stored, stored.url == url.string, let known = stored.confirmable {
      request.storedForConfirmation = known
      let conditions = Exchange.conditionFields(known.conditions)
      request.headers = request.headers.isEmpty ? conditions : request.headers + conditions
    }
    return request
  }
}

// MARK: - What an answer comes to

extension OrderTerms {
  func arrival(
    of entry: Int,
    _ response: TransferResponse,
    at timing: Freshness.Timing
  ) -> Arrival? {
    let headers = response.headers
    let mime = headers[.contentType]
    guard var body = response.body, isDeclared(body, headers, mime, entry),
      Freshness.mayStore(headers, honorsNoStore: honorsNoStore),
      form(of: body, mime, entry) == nil
    else { return nil }
    body.prefix = []
    let dependence =
      headers.has(.vary) ? Variance.hop(headers, requestFields: selecting, url: nil, key: key) : nil
    return Arrival(
      response,
      body: body,
      mime: mime,
      variance: dependence.flatMap { Variance([$0]) },
      of: entry,
      under: self,
      at: timing
    )
  }

  private func form(of body: StagedBody, _ mime: String?, _ entry: Int) -> BundleForm? {
    guard BundleForm.mayBegin(body.prefix) else { return nil }
    let path = urls.url(at: entry).url.path
    return BundleForm.recognized(type: mime, path: path, prefix: body.prefix)
  }

  private func isDeclared(
    _ body: StagedBody,
    _ headers: HeaderBlock,
    _ mime: String?,
    _ entry: Int
  ) -> Bool {
    // Most entries declare so little that a short check is enough.
    if body.digestFailure == nil, expectations.isEmpty, !table.value.hasMediaType(at: entry),
      table.value.size(at: entry).map({ $0 == body.size }) ?? true
    {
      if let digest = table.value.columnDigest(at: entry) {
        if digest == body.digest { return true }
      } else if !PageGuard.mayBePage(type: mime, prefix: body.prefix) {
        return true
      }
    }
    return BodyCheck.objection(
      to: body,
      headers: headers,
      entry: table.value.entry(at: entry, identified: false),
      expectations: expectations
    ) == nil
  }
}
