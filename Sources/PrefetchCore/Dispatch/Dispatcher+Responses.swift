extension Dispatcher {
  mutating func exchangeEnded(_ job: Job, _ step: Exchange.Step, announced: Int64? = nil) {
    guard isAwaited(job) else {
      if case .responded(let response) = step { discard(response) }
      if case .item(let item) = job { end(item, nil) }
      return
    }
    recordResponse(step, of: job)
    switch step {
    case .request, .wait: settleHalted(job)
    case .failed(let failure, _) where failure.code == .cancelled: brokenOff(job)
    case .failed(let failure, let status):
      switch job {
      case .document(let number): fail(document: number, failure)
      case .item(let item): failed(item, failure, status: status, announced: announced)
      }
    case .deferred(let deferral, _): settle(job, deferral)
    case .responded(let response):
      switch job {
      case .document(let number): documentReceived(number, response)
      case .item(let item): received(item, response)
      }
    }
  }

  private mutating func isAwaited(_ job: Job) -> Bool {
    switch job {
    case .document(let number):
      removeRequestedDocument(number)
      return isWanted(document: number)
    case .item(let item): return !bundles.cannotComplete(item)
    }
  }

  private mutating func recordResponse(_ step: Exchange.Step, of job: Job) {
    var status: Int??
    switch step {
    case .request, .wait: break
    case .failed(_, let lastStatus), .deferred(_, let lastStatus): status = lastStatus
    case .responded(let response): status = response.status
    }
    switch job {
    case .document(let number):
      guard let status, documents[number].role == .manifest else { return }
      segments[number].manifest.httpStatus = status
    case .item(let item):
      let work = items.active(item)
      if let status { work.result.status = status }
      guard let exchange = work.exchange?.value else { return }
      work.result.redirects = exchange.redirects
      work.result.sources =
        switch step {
        case .failed(let failure, _):
          exchange.sources(lastFailure: failure, status: work.result.status)
        case .responded: exchange.sources(lastFailure: nil, status: work.result.status)
        case .request, .wait, .deferred: exchange.sources.results
        }
    }
  }

  /// Judges an answer; returns nil if the job was queued again, for this source or another.
  mutating func conclude(
    _ job: Job,
    _ response: TransferResponse,
    _ expected: Expectation
  ) -> Conclusion? {
    let conclusion = exchange(of: job)?.value.conclude(
      response,
      expecting: expected,
      policy: given.value.request.policy,
      now: now.wall
    )
    switch conclusion {
    case .confirmed, .body, .bodiless, nil: return conclusion
    case .refused:
      discard(response)
      return conclusion
    case .again, .elsewhere:
      discard(response)
      reask(job)
      return nil
    }
  }

  func failure(of job: Job, _ response: TransferResponse) -> Failure {
    let carriesCredentials = exchange(of: job)?.value.carriesCredentials ?? false
    if let failure = hubFailure(of: job, response, carriesCredentials) { return failure }
    var failure = Self.failure(status: response.status, carriesCredentials: carriesCredentials)
    guard (400..<500).contains(response.status), failure.code != .credentialsRefused else {
      return failure
    }
    if let advice = headerAdvice(of: job, response.status) { failure.message += "; \(advice)" }
    return failure
  }

  /// Returns the failure in the words of a hub; of its storage only the name is stated.
  private func hubFailure(
    of job: Job,
    _ response: TransferResponse,
    _ carriesCredentials: Bool
  ) -> Failure? {
    let declaration = segments[segment(of: job)].declaration
    guard declaration.manifestRules.format == .hf, (400..<500).contains(response.status),
      let exchange = exchange(of: job)?.value, declaration.isReleaseAPI(exchange.url)
    else { return nil }
    if exchange.isAtFirstOrigin {
      return HubRefusal.failure(response, hasCredentials: carriesCredentials)
    }
    var failure = Self.failure(status: response.status, carriesCredentials: false)
    failure.message =
      "the storage of the hub, `\(exchange.hop.authority)`, answered \(response.status)"
    return failure
  }

  /// Names the configured headers that the server did not get; for a 401 the credentials setting.
  private func headerAdvice(of job: Job, _ status: Int) -> String? {
    guard let exchange = exchange(of: job)?.value else { return nil }
    let declaration = segments[segment(of: job)].declaration
    let owner = declaration.headerOwner(for: exchange.url)
    if let withheld = withheldHeaders(of: job, declaration, owner, exchange) { return withheld }
    guard status == 401 else { return nil }
    let key =
      owner?.origin == exchange.hop.origin
      ? "`headers` of its segment" : "a rule of `transport.rules` with `headers`"
    return "set credentials in \(key), or `network.netrc`"
  }

  private func withheldHeaders(
    of job: Job,
    _ declaration: SegmentDeclaration,
    _ owner: WebURL?,
    _ exchange: Exchange
  ) -> String? {
    let own: [HeaderField] =
      switch job {
      case .document: declaration.manifestHeaders
      case .item(let item): items.active(item).entry.headers
      }
    if owner == nil, let first = declaration.headers.first {
      return
        "the header `\(first.name)` was not sent: headers of a segment go to the server of its list, and this list is a local file; `transport.rules` sends headers to the hosts of items"
    }
    var names: [String] = []
    if let owner, owner.origin != exchange.hop.origin { names = declaration.headers.map(\.name) }
    if !exchange.isAtFirstOrigin { names += own.map(\.name) }
    guard let first = names.first else { return nil }
    let others = names.count > 1 ? " and \(names.count - 1) more" : ""
    let host = (declaration.headers.isEmpty ? exchange.url : owner ?? exchange.url).authority
    return "the header `\(first)`\(others) was not sent to it: `headers` go to `\(host)` alone"
  }

  mutating func discard(_ response: TransferResponse) {
    if let body = response.body { effects.append(.discard(body)) }
  }

  // MARK: Items

  private mutating func failed(
    _ item: Int,
    _ failure: Failure,
    status: Int?,
    announced: Int64?
  ) {
    // Bodies in flight have used all disk space above `cache.min_free`.
    if failure.code == .cacheFull {
      return settleDeferred(item, Deferral(rule: .freeDisk), because: failure.message)
    }
    if isPiece(item) { return fail(item, failure) }
    if request.mode.probes { return probeFailed(item, failure, status: status) }
    if lacksDisk(item, failure, announced: announced) { return }
    if serveStale(item, failure, status: status) { return }
    let roomFailure = roomFailure(item, failure, announced: announced)
    // Ask again with the known size: room may become free before the run ends.
    if let announced, roomFailure?.code == .cacheFull, items.active(item).reportedSize == nil {
      return requestAgain(item, withSize: announced)
    }
    if roomFailure == nil { leaveLargerLimits(item, failure) }
    fail(item, roomFailure ?? failure)
  }

  private mutating func received(_ item: Int, _ response: TransferResponse) {
    if isPiece(item) { return received(piece: item, response) }
    // A dry run reads the documents of a bundle, as it reads manifests.
    if request.mode.probes, !isBundle(item) { return probeReceived(item, response) }
    let work = items.active(item)
    if storeFailure != nil {
      discard(response)
      return settleItemHalted(item)
    }
    work.originRespondedAt = response.tierRespondedAt
    let selecting = selecting(item, response)
    if yieldsToEarlierVariant(item, response, by: selecting) { return }
    guard let exchange = work.exchange else { return }
    if exchange.value.method == .head, !requestsHeadOnly(item) {
      if items[item].step.age == .open { return ageHeadReceived(item, response, exchange) }
      return headReceived(item, response, exchange)
    }
    // The tier sent the whole body, so the origin's partial body is useless.
    if work.originRespondedAt != nil, response.body != nil, exchange.value.partial != nil {
      effects.append(.forgetPartial(work.entry.url.string))
    }
    guard isStored(item) else { return settleWithoutStoring(item, response) }
    recognize(item, response)
    if isBundle(item), items.active(item).control != nil {
      // The user stopped the item before its body proved to be a stream or ad.
      discard(response)
      _ = endIfStopped(.item(item))
      return
    }
    if isAd(item), Self.isBlank(response) {
      discard(response)
      return settleEmpty(item, Failure(.empty, "the ad server has no ad"))
    }
    let expected = expectation(item, of: response, by: selecting)
    switch conclude(.item(item), response, expected) {
    case .confirmed: keepConfirmedBody(item, response)
    case .body(let body):
      if let deferral = ageDeferral(item, response, body) {
        discard(response)
        return settleYoung(item, deferral)
      }
      if let objection = storeObjection(to: response.headers, in: work.judgingSegments) {
        discard(response)
        return refuseBody(of: item, objection)
      }
      storeNewBody(item, body, response, exchange: exchange)
    case .bodiless: handleBodilessResponse(item, response)
    case .refused(let objection): refuseBody(of: item, objection)
    case .again, .elsewhere, nil: break
    }
  }

  mutating func headReceived(
    _ item: Int,
    _ response: TransferResponse,
    _ exchange: ExchangeBox
  ) {
    let work = items.active(item)
    let size = Self.declaredSize(in: response)
    guard let record = work.record, record.value.digest == nil || !isEvicted(record),
      [200, 203].contains(response.status),
      record.value.isImported(like: response.headers, size: size),
      !Planner.isContradicted(work.digests, by: record.value), work.sharers.isEmpty,
      work.headerConflicts.isEmpty,
      objection(to: response, of: item) == nil
    else {
      if work.record?.value.digest == nil { work.record = nil }
      exchange.value.requestBody()
      return reask(.item(item))
    }
    work.result.source = work.originRespondedAt == nil ? .revalidated : .remote
    work.result.action = .revalidate
    work.result.outcome = .unchanged
    var known = record.value
    known.status = 200
    known.headers = Revalidation.storable(response.headers)
    known.validators = Validators(response.headers)
    known.mime = work.entry.mime ?? response.headers[.contentType]
    known.finalURL = exchange.value.hop == work.entry.url ? nil : exchange.value.hop.string
    recordFreshness(of: item, into: &known)
    guard known.digest != nil else {
      // The user's file has to be adopted into the store first.
      work.record = Shared(known)
      return reask(.item(item))
    }
    finishStoring(item, known, body: nil)
  }

  /// Returns the expectations of the item's segments, after conflicting ones are separated.
  private mutating func expectation(
    _ item: Int,
    of response: TransferResponse,
    by selecting: [String]
  ) -> Expectation {
    let work = items.active(item)
    var expected = Expectation(stored: work.record?.value.validators)
    expected.isContradicted =
      work.record.map { Planner.isContradicted(work.digests, by: $0.value) } ?? false
    expected.algorithms = Self.algorithms(of: work.wantedDigests)
    expected.maySeekElsewhere = halt == nil
    guard let body = response.body else {
      if response.status == 304, work.exchange?.value.isConditional == true, work.record != nil {
        separateHeaderConflicts(item, by: selecting)
      }
      return expected
    }
    guard work.exchange?.value.computesDigests(for: expected.algorithms) == true else {
      return expected
    }
    separateHeaderConflicts(item, by: selecting, from: body)
    separateSharers(item, size: body.size, response.headers) { sharer, expectation in
      BodyCheck.objection(
        to: body,
        headers: response.headers,
        entry: sharer.entry,
        expectations: [expectation]
      )
    }
    expected.objection = BodyCheck.objection(
      to: body,
      headers: response.headers,
      entry: work.entry,
      digests: work.digests,
      // Expectations of a stream or ad apply to its pieces, not to its own document.
      expectations: isBundle(item)
        ? [] : work.judgingSegments.map { segments[$0].declaration.expectation },
      stored: isAd(item) ? nil : storedBody(of: work)
    )
    return expected
  }

  mutating func keepConfirmedBody(_ item: Int, _ response: TransferResponse) {
    let work = items.active(item)
    guard let record = work.record, !refusesStored(item, record.value) else { return }
    if isEvicted(record) { return requestAgain(item, withSize: record.value.size) }
    if work.exchange?.value.partial != nil { effects.append(.forgetPartial(record.value.url)) }
    confirmed(item, record, response)
  }

  private mutating func handleBodilessResponse(_ item: Int, _ response: TransferResponse) {
    if applyOnGone(item, response.status) { return }
    let work = items.active(item)
    let failure = failure(of: .item(item), response)
    if serveStale(item, failure, status: response.status) { return }
    if failure.code == .gone {
      let figures = work.result.figures ?? TransferFigures()
      work.result.absence = Freshness(
        response.headers,
        at: Freshness.Timing(now.wall, figures)
      )
    }
    fail(item, failure)
  }

  mutating func refuseBody(of item: Int, _ objection: Failure) {
    leaveSharers(item)
    fail(item, objection)
  }

  func storedBody(of work: ActiveItem) -> BodyCheck.Stored? {
    guard work.result.isUsable, let record = work.record?.value else { return nil }
    let mime = request.policy.refetchesAll ? nil : record.mime
    return BodyCheck.Stored(size: record.size, mime: mime)
  }

  /// Settles an item that was requested only to fill a cache on the way; no body is stored.
  private mutating func settleWithoutStoring(_ item: Int, _ response: TransferResponse) {
    let work = items.active(item)
    guard let exchange = work.exchange else { return }
    if let body = response.body {
      if let objection = BodyCheck.objection(
        to: body,
        headers: response.headers,
        entry: work.entry,
        expectations: [segments[Int(items[item].segment)].declaration.expectation]
      ) {
        var expected = Expectation(objection: objection)
        expected.maySeekElsewhere = halt == nil
        guard case .refused = conclude(.item(item), response, expected) else { return }
        return refuseBody(of: item, objection)
      }
      discard(response)
      work.result.size = body.size
    } else if exchange.value.requestsBody || !(200..<300).contains(response.status) {
      return fail(item, failure(of: .item(item), response))
    }
    work.result.action = .fetch
    work.result.outcome = .added
    work.result.source = exchange.value.isAlternate ? .alternate : .network
    work.result.finalURL = exchange.value.hop == work.entry.url ? nil : exchange.value.hop.string
    work.result.state = .discovered
    work.result.isUsable = true
    settleItem(item)
  }

  func isEvicted(_ record: Shared<ContentRecord>) -> Bool {
    record.value.digest.map { space.evicted.contains($0) } ?? true
  }

  func isStored(_ item: Int) -> Bool {
    segments[Int(items[item].segment)].declaration.isStored
  }

  private mutating func confirmed(
    _ item: Int,
    _ record: Shared<ContentRecord>,
    _ response: TransferResponse
  ) {
    let work = items.active(item)
    work.result.source = work.originRespondedAt == nil ? .revalidated : .remote
    if isBundle(item) { return beginGathering(item, response, body: nil) }
    var renewed = record.value
    var isChanged = false
    if !Revalidation.repeats(stored: renewed.headers, confirmed: response.headers) {
      (renewed.headers, isChanged) = Revalidation.merge(
        stored: renewed.headers,
        confirmed: response.headers
      )
      renewed.validators = Revalidation.renewed(renewed.validators, by: response.headers)
    }
    work.result.outcome = isChanged ? .headers : .unchanged
    recordFreshness(of: item, into: &renewed)
    if !isChanged, renewed.differsOnlyInTimes(from: record.value),
      batchConfirmation(item, renewed)
    {
      return
    }
    finishStoring(item, renewed, body: nil)
  }

  mutating func recordFreshness(of item: Int, into record: inout ContentRecord) {
    let work = items.active(item)
    guard let exchange = work.exchange?.value else { return }
    let terms = exchange.terms(
      of: record.headers,
      at: Freshness.Timing(now.wall, work.result.figures ?? TransferFigures()),
      agent: request.policy.agent
    )
    record.setTerms(redirects: exchange.chain.terms, last: terms)
    guard segments.count > 1 else { return }
    settled.recordVariance(record.variance, of: item)
    settled.recordHeaders(record.headers, of: item)
  }

  /// Batches the new validation time alone; returns false if the confirmation changes more.
  private mutating func batchConfirmation(_ item: Int, _ record: ContentRecord) -> Bool {
    let work = items.active(item)
    guard let row = row(of: items[item].step), row.digest == record.digest,
      record.isDescribed(by: work.entry), record.state == .cached, record.failure == nil
    else { return false }
    recordStored(
      item,
      record,
      freshUntil: record.freshness.end(
        under: granted(work),
        respondedAt: work.originRespondedAt ?? now.wall
      )
    )
    for index in work.segments where !isHeld(item, by: index) {
      batch.join(segments[index].key, items: [row.item], now: now.uptime)
    }
    batch.confirm(
      item: item,
      Confirmation(
        item: row.item,
        validatedAt: work.originRespondedAt ?? now.wall,
        freshness: record.freshness
      ),
      now: now.uptime
    )
    return true
  }

  private mutating func storeNewBody(
    _ item: Int,
    _ body: StagedBody,
    _ response: TransferResponse,
    exchange: ExchangeBox
  ) {
    let work = items.active(item)
    if isBundle(item) {
      if !isAd(item) {
        let provenance = provenance(of: response, work)
        offerToTier(body, response, of: exchange.value, from: provenance)
      }
      return beginGathering(item, response, body: body)
    }
    let entry = work.entry
    let old = work.record?.value
    let wasUsable = work.result.isUsable
    var record = old ?? newRecord(item)
    record.headers = Revalidation.storable(response.headers)
    record.validators = Validators(response.headers)
    recordFreshness(of: item, into: &record)
    record.digest = body.digest
    record.otherDigests = body.otherDigests
    record.size = body.size
    record.mime = response.headers[.contentType] ?? entry.mime
    // If segments disagree, the item stays one file, so that no later run fetches it again.
    let isDisputed =
      entry.isRecognizable && work.segments.contains { segments[$0].declaration.recognizesBundles }
    record.form = isDisputed ? nil : BundleForm.recognized(of: response, at: entry.url)
    record.files = []
    record.seconds = nil
    record.finalURL = exchange.value.hop == entry.url ? nil : exchange.value.hop.string
    record.fetchedAt = now.wall
    record.status = response.status
    if let old, old.digest == body.digest, wasUsable {
      work.result.outcome =
        Revalidation.isDifferent(old.headers, record.headers) ? .headers : .unchanged
      work.result.action = .revalidate
    } else {
      work.result.outcome = wasUsable ? .updated : .added
      work.result.action = wasUsable ? .update : .fetch
    }
    let source: ItemResult.Source = exchange.value.isAlternate ? .alternate : .network
    work.result.source = work.originRespondedAt == nil ? source : .remote
    work.result.finalURL = record.finalURL
    offerToTier(item, record)
    // Frees the examined prefix, since a thousand bodies may wait for the next commit.
    var checked = body
    checked.prefix = []
    space.reservations.settle(item, body.size)
    finishStoring(item, record, body: checked)
  }

  /// Batches an item's row with the manifest's current description, and its new body if any.
  mutating func finishStoring(
    _ item: Int,
    _ given: ContentRecord,
    body: StagedBody?,
    otherBodies otherFiles: [StagedBody] = []
  ) {
    let work = items.active(item)
    var record = given
    record.describe(work.entry)
    record.description = work.entry.descriptionHash
    if !isBundle(item) || record.state != .partial { record.state = .cached }
    record.failure = nil
    if work.result.source != .cache { record.validatedAt = work.originRespondedAt ?? now.wall }
    recordStored(item, record, freshUntil: record.freshUntil(under: granted(work), at: now.wall))
    let keys = request.mode.keepsSegments ? work.segments.map { segments[$0].key } : []
    batch.add(
      item: item,
      .store(record, body: body, otherBodies: otherFiles, joining: keys),
      now: now.uptime
    )
  }

  func granted(_ work: ActiveItem) -> [Freshness.Lifetime] {
    Planner.lifetimes(
      work.entry,
      ofSegments: work.segments.map { segments[$0].declaration.lifetime },
      bound: request.policy.freshnessLimit,
      form: work.result.type.flatMap { BundleForm(rawValue: $0) }
    )
  }

  private mutating func recordStored(_ item: Int, _ record: ContentRecord, freshUntil: Instant?) {
    let work = items.active(item)
    items[item].state = .committing
    work.result.state = record.state
    work.result.isUsable = true
    work.result.size = record.wholeSize
    work.result.digest = record.digest
    if let digest = record.digest,
      row(of: items[item].step)?.digest != digest || facts.missing.contains(digest)
    {
      let form = items[item].step.bundle
      recordFreshBody(
        record.url,
        TreeBody(digest: digest, otherDigests: record.otherDigests, size: record.size, form: form)
      )
    }
    let isPinned = work.digests.contains { $0.algorithm.isTrustworthy }
    for index in work.segments {
      // No quiet mark may cover answers that vary, or the further documents of streams.
      let isRequestedEachTime = record.variance != nil || items[item].step.bundle == .stream
      let limit = isRequestedEachTime ? nil : freshUntil
      segments[index].limitQuiet(until: isPinned ? .distantFuture : limit)
    }
  }

  private func isHeld(_ item: Int, by index: Int) -> Bool {
    if !request.mode.keepsSegments { return true }
    return index == Int(items[item].segment) && items[item].step.isHeld
  }
}
