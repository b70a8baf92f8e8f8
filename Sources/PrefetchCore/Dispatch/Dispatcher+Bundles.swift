/// Bundles: items of several files (streams, ads), the requests for their pieces, and their ends.
extension Dispatcher {
  func isBundle(_ item: Int) -> Bool {
    items[item].step.bundle != nil
  }

  func isAd(_ item: Int) -> Bool {
    items[item].step.bundle == .ad
  }

  func isPiece(_ item: Int) -> Bool {
    bundles.piece(item) != nil
  }

  private var isHere: (ContentDigest) -> Bool {
    let (missing, evicted) = (facts.missing, space.evicted)
    return { !missing.contains($0) && !evicted.contains($0) }
  }

  mutating func recognize(_ item: Int, _ response: TransferResponse) {
    let work = items.active(item)
    guard response.body != nil, work.entry.bundleForm == nil else { return }
    let isOpen =
      work.entry.isRecognizable && work.digests.isEmpty
      && work.sharers.allSatisfy { $0.entry.isRecognizable || $0.entry.bundleForm != nil }
      && work.segments.allSatisfy { segments[$0].declaration.recognizesBundles }
    let form = isOpen ? BundleForm.recognized(of: response, at: work.entry.url) : nil
    items[item].step.bundle = form
    work.result.type = form?.rawValue ?? work.entry.type ?? "file"
  }

  /// Gathers an item's pieces after its own document: `body`, or the stored one if nil.
  ///
  /// With `hasFailed`, a better variant failed and the stored one stays.
  mutating func beginGathering(
    _ item: Int,
    _ response: TransferResponse,
    body: StagedBody?,
    hasFailed: Bool = false
  ) {
    let work = items.active(item)
    let files = work.record?.value.files ?? []
    let bundle = BundleWork(
      at: work.entry.url,
      pieceResponse(response, for: work),
      body: body,
      stored: files,
      rules: bundleRules(of: item, files, body, hasFailed: hasFailed),
      terms: BundleWork.Terms(
        begunAt: now.uptime,
        sizeLimit: sizeLimit(nil, in: Int(items[item].segment)),
        // A client of `serve` revalidates only the playlist that it requests.
        requestsAll: request.policy.refetchesAll
          || request.policy.revalidatesAll && !request.servesClients && !request.mode.probes,
        isProbe: request.mode.probes
      ),
      isHere: isHere
    )
    guard let bundle else {
      work.exchange?.value.dropConditions()
      return reask(.item(item))
    }
    bundles[item] = bundle
    items[item].state = .gathering
    readBundle(item)
  }

  private func pieceResponse(
    _ response: TransferResponse,
    for work: ActiveItem
  ) -> BundleWork.Response {
    BundleWork.Response(
      response: response,
      hop: work.exchange?.value.hop ?? work.entry.url,
      provenance: provenance(of: response, work)
    )
  }

  private func bundleRules(
    of item: Int,
    _ files: [BundleFile],
    _ body: StagedBody?,
    hasFailed: Bool
  ) -> BundleRules {
    let entry = items.active(item).entry
    var rules = segments[Int(items[item].segment)].declaration.bundleRules
    if let seconds = entry.seconds { rules.seconds = seconds }
    rules.locked = segments[Int(items[item].segment)].entries.lockedFiles(
      at: Int(items[item].step.entry)
    )
    if isAd(item) {
      rules.form = .ad
      rules.stem = BundleName.stem(of: entry)
      rules.moment = AdMoment(of: entry.url, at: now.wall)
      rules.held = Set(files.filter { $0.role == .media || $0.role == .document }.map(\.key))
      if rules.quality == nil, !request.policy.refetchesAll {
        rules.heldQuality = quality(of: entry, isKept: true)
      }
    }
    if rules.quality == nil {
      let key = rules.key(of: entry.url)
      let isSame = body == nil || files.contains { $0.key == key && $0.digest == body?.digest }
      if isAd(item) {
        rules.quality = quality(of: entry, isKept: isSame)
      } else {
        rules.automatic = automatic(item, files, isKept: isSame, rules, hasFailed: hasFailed)
      }
    }
    return rules
  }

  private func past(_ entry: ManifestEntry) -> PastDownload? {
    let id = entry.id ?? start.identify(entry.url.string)
    return request.streams.downloads[PastDownload.key(provider: entry.provider, id: id)]
  }

  private func automatic(
    _ item: Int,
    _ files: [BundleFile],
    isKept: Bool,
    _ rules: BundleRules,
    hasFailed: Bool
  ) -> AutomaticVariant {
    let work = items.active(item)
    let past = past(work.entry)
    let isBegun = isBeginning(work.record?.value, rules)
    let documents = files.filter { $0.role == .document }
    var facts = AutomaticVariant()
    facts.rates = request.streams.rates
    facts.bound = bound(at: work.entry.url)
    facts.suggested = (isKept ? past?.quality : past?.next) ?? .medium
    facts.isUnchanged = isKept
    facts.hasFailed = hasFailed
    facts.held = Set(documents.filter { !$0.isReserved && !isBegun }.map(\.key))
    facts.begun = Set(documents.filter { $0.isReserved || isBegun }.map(\.key))
    facts.size = work.record?.value.wholeSize ?? 0
    facts.roomLeft = bundles.roomLeft
    facts.sizeLimit = sizeLimit(nil, in: Int(items[item].segment))
    facts.mayClimb =
      !hasFailed && request.mode.isOfSegments && work.result.isUsable
      // The rest of a volume limit is for items that are not stored yet.
      && network?.limitsVolume(of: Int(items[item].segment)) != true
      && files.allSatisfy { isHere($0.digest) }
    return facts
  }

  private func bound(at url: WebURL) -> BundleRules.Quality {
    let policy = request.policy.network.quality
    let level = network?.quality ?? .unknown
    let rate = request.streams.rates[url.authority]
    return policy.bound(under: level == .unknown ? policy.quality(ofRate: rate) : level)
  }

  private func quality(of entry: ManifestEntry, isKept: Bool) -> BundleRules.Quality {
    let past = past(entry)
    guard !isKept else { return past?.quality ?? .low }
    let bound = request.policy.network.quality.bound(under: network?.quality ?? .unknown)
    // Ads start low: a short ad ends before a better variant would be seen.
    return min(past?.next ?? .low, bound)
  }

  private mutating func readBundle(_ item: Int) {
    guard let bundle = bundles[item] else { return }
    begun.begin(.documents)
    effects.append(.readBundle(item, bundle.documentsToRead, bundle.rules))
  }

  mutating func bundleRead(_ item: Int, _ result: Result<BundleReading, Failure>) {
    begun.end(.documents)
    guard bundles[item] != nil else { return }
    if case .success(let reading) = result, let choice = reading.choice,
      !bundles.reserveRoom(choice.need, for: item)
    {
      bundles[item]?.rules.automatic?.mayClimb = false
      return readBundle(item)
    }
    // Keeps the bundle open, since pieces may end as soon as they are requested.
    bundles[item]?.open += 1
    if let halt, bundles[item]?.outcome == nil {
      bundles[item]?.outcome = .deferred(halt.deferral)
    } else {
      let isHere = isHere
      for wanted in bundles[item]?.read(result, isHere: isHere) ?? [] {
        requestPiece(wanted, of: item)
      }
      activate(item).result.htmlCards = bundles[item]?.reading.htmlCards ?? 0
    }
    bundles[item]?.open -= 1
    continueBundle(item)
  }

  private mutating func requestPiece(_ wanted: BundleWork.Wanted, of parent: Int) {
    guard let bundle = bundles[parent], bundle.outcome == nil else { return }
    let (entry, index) = (wanted.entry, Int(items[parent].segment))
    // Pieces other than documents are media for players.
    let type = entry.type ?? "video"
    if let refusal = request.policy.refusal(
      of: entry.url,
      for: connections.dependsOnPurpose ? RequestPurpose(itemType: type) : .other,
      named: bundle.namer,
      at: now.wall
    ) {
      bundles[parent]?.outcome = .failed(refusal)
      return
    }
    let known = request.policy.refetchesAll ? nil : wanted.kept
    var step = items[parent].step
    (step.row, step.bundle) = (-1, nil)
    step.decision = known == nil ? .fetch : .revalidate
    let position = items[parent].position
    items.append(ItemWork(step: step, segment: UInt32(index), position: position))
    let item = items.count - 1
    var result = ItemResult(
      url: entry.url.string,
      id: "",
      segments: segments[index].names,
      state: .pending,
      action: .fetch,
      reason: ""
    )
    result.type = type
    let work = ActiveItem(entry: entry, segment: index, result: result)
    work.record = known.map { Shared($0.record(of: entry.url)) }
    // A broken transfer may have left a longer part.
    if let beginning = wanted.beginning, !request.policy.refetchesAll,
      start.partials[entry.url.string].map({ $0.offset < beginning.offset }) ?? true
    {
      work.leftPart = beginning
    }
    items.activate(item, as: work)
    bundles.begin(Bundles.Piece(bundle: parent, role: wanted.role, kept: wanted.kept), as: item)
    if let deferral = deferral(of: .item(item)) {
      return end(item, .deferred(deferral))
    }
    enqueue(.item(item))
  }

  // MARK: Answers

  mutating func received(piece item: Int, _ response: TransferResponse) {
    let work = items.active(item)
    guard let piece = bundles.piece(item) else { return }
    guard storeFailure == nil else {
      discard(response)
      return end(item, nil)
    }
    if bundles[piece.bundle]?.isAdResponse(piece.role) == true, Self.isBlank(response) {
      discard(response)
      bundles[piece.bundle]?.recordNoAd(for: piece.role)
      return end(item, nil)
    }
    let expected = Expectation(
      stored: work.record?.value.validators,
      objection: response.body.flatMap { objection(to: $0, response, as: piece, of: work) }
    )
    guard let conclusion = conclude(.item(item), response, expected) else { return }
    let pieceResponse = pieceResponse(response, for: work)
    switch conclusion {
    case .confirmed:
      bundles[piece.bundle]?.confirm(piece, by: pieceResponse)
      end(item, nil)
    case .body(let body):
      if !isAd(piece.bundle) {
        offerToTier(body, response, of: work.exchange?.value, from: pieceResponse.provenance)
      }
      let objection = bundles[piece.bundle]?.accept(body, for: piece, by: pieceResponse)
      end(item, objection.map { .failed($0) })
    case .bodiless: end(item, .failed(failure(of: .item(item), response)))
    case .refused(let failure): end(item, .failed(failure))
    case .again, .elsewhere: break
    }
  }

  func provenance(of response: TransferResponse, _ work: ActiveItem) -> Provenance {
    response.provenance(
      work.result.figures,
      throughProxy: request.policy.connections.mayBeProxied
    )
  }

  private func objection(
    to body: StagedBody,
    _ response: TransferResponse,
    as piece: Bundles.Piece,
    of work: ActiveItem
  ) -> Failure? {
    guard let bundle = bundles[piece.bundle] else { return nil }
    // Content expectations do not apply to playlists and keys.
    let isMedia = bundle.listedPiece(piece.role)?.role == .media
    let holders = isMedia ? items.active(piece.bundle).segments : []
    return BodyCheck.objection(
      to: body,
      headers: response.headers,
      entry: work.entry,
      expectations: holders.map { segments[$0].declaration.expectation }
    )
      ?? bundle.objection(
        to: body,
        response,
        as: piece.role,
        isRest: work.exchange?.value.partial != nil
      )
  }

  // MARK: Outcomes

  mutating func end(_ item: Int, _ outcome: BundleWork.Outcome?) {
    guard items[item].state != .settled, let parent = bundles.piece(item)?.bundle else { return }
    let work = activate(item)
    items[item].state = .settled
    activate(parent).result.attempts += work.attempts
    if activate(parent).control == .removed {
      effects.append(.forgetPartial(work.entry.url.string))
    }
    items.deactivate(item)
    let mayContinue = halt == nil && storeFailure == nil
    switch bundles.end(item, at: work.entry.url, outcome, mayContinue: mayContinue) {
    case .none: break
    case .extra(let words): activate(parent).result.reason += words
    case .whole:
      // The bundle cannot become whole, so its other requests are cancelled.
      for (id, job) in wire.transfers {
        guard case .item(let other) = job, bundles.piece(other)?.bundle == parent else { continue }
        effects.append(.cancelTransfer(id))
      }
    }
    continueBundle(parent)
  }

  mutating func continueBundle(_ item: Int) {
    guard items[item].state == .gathering else { return }
    let isRemoved = items.ifActive(item)?.control == .removed
    let isOpen = !activate(item).result.isUsable || showsBeginning(item)
    let mayShow = request.mode.keepsSegments && isOpen && !isRemoved
    switch bundles[item]?.next(storeFailure, mayShow: mayShow) {
    case .waits, nil: break
    case .isToBeRead: readBundle(item)
    case .isWhole, .isBegun:
      guard !request.mode.predicts else { return predict(bundle: item) }
      begun.begin(.documents)
      effects.append(.stageTexts(item, bundles[item]?.namedTexts() ?? []))
    case .ends(let outcome): conclude(bundle: item, outcome)
    }
  }

  private func showsBeginning(_ item: Int) -> Bool {
    guard let rules = bundles[item]?.rules else { return false }
    return isBeginning(items.ifActive(item)?.record?.value, rules)
  }

  private func isBeginning(_ record: ContentRecord?, _ rules: BundleRules) -> Bool {
    record?.state == .partial && rules.seconds == 0
  }

  private mutating func conclude(bundle item: Int, _ outcome: BundleWork.Outcome) {
    if stays(bundle: item, outcome) { return }
    let isAd = bundles[item]?.rules.form == .ad
    // A bundle that is too large now will be too large in the next run.
    let isRemoved = items.ifActive(item)?.control == .removed
    if outcome.isOfSize || isRemoved { forgetReserved(item) } else { reserve(item) }
    discardBundle(item)
    if endIfStopped(.item(item)) { return }
    switch outcome {
    case .failed(let failure) where failure.code == .empty && isAd: settleEmpty(item, failure)
    case .failed(let failure):
      if serveStale(item, failure, status: nil) { return }
      fail(item, failure)
    case .deferred(nil): settleItemHalted(item)
    case .deferred(let deferral): settleDeferred(item, deferral)
    }
  }

  /// Keeps an unchanged stream's stored variant if a better one fails; returns whether it does.
  private mutating func stays(bundle item: Int, _ outcome: BundleWork.Outcome) -> Bool {
    guard case .failed(let failure) = outcome, failure.code.category != .trust, halt == nil,
      storeFailure == nil, let bundle = bundles[item], bundle.reading.choice?.isClimb == true,
      bundle.rules.automatic?.hasFailed == false, items.ifActive(item)?.control == nil
    else { return false }
    if outcome.isOfSize { forgetReserved(item) } else { reserve(item) }
    let root = bundles[item]?.arrivals.root
    bundles[item]?.arrivals.root = nil
    discardBundle(item)
    activate(item).result.reason += "; a better variant could not be fetched: \(failure.message)"
    beginGathering(item, bundle.response, body: root, hasFailed: true)
    return true
  }

  private mutating func predict(bundle item: Int) {
    guard let bundle = bundles[item] else { return }
    let work = activate(item)
    if work.result.isUsable, bundle.files.allSatisfy({ $0 != nil }), !bundle.arrivals.isNews {
      let revalidatesPieces = request.policy.revalidatesAll && bundle.rules.form == .stream
      work.result.action = revalidatesPieces ? .revalidate : .keep
      work.result.reason =
        revalidatesPieces ? "its pieces are revalidated" : "its playlists are unchanged"
      work.result.outcome = .unchanged
      work.result.source = .revalidated
    } else {
      work.result.action = work.result.isUsable ? .update : .fetch
      if work.result.isUsable {
        let isClimb = bundle.reading.choice?.isClimb == true
        let news = isClimb ? AutomaticVariant.climbReason : "its playlists changed"
        work.result.reason = showsBeginning(item) ? "only its beginning is stored" : news
      }
      work.result.size = bundle.reading.expectedBytes
    }
    discardBundle(item)
    settleItem(item)
  }

  /// Batches the received pieces, so that the next run can continue the bundle.
  private mutating func reserve(_ item: Int) {
    guard request.mode.keepsSegments, storeFailure == nil else { return }
    let work = activate(item)
    var record = work.record?.value ?? newRecord(item)
    guard let bodies = bundles[item]?.reserve(in: &record),
      // A reservation evicts nothing.
      space.room?.hasRoom(for: bodies.reduce(0) { $0 + $1.size }) ?? true
    else { return }
    bundles[item]?.drop(bodies)
    record.form = items[item].step.bundle
    record.describe(work.entry)
    if record.digest == nil { record.state = .idle }
    work.record = Shared(record)
    let keys = work.segments.map { segments[$0].key }
    batch.addOptional(
      .store(record, body: nil, otherBodies: bodies, joining: keys),
      now: now.uptime
    )
  }

  mutating func forgetReserved(_ item: Int) {
    let work = activate(item)
    guard var record = work.record?.value, record.files.contains(where: \.isReserved) else {
      return
    }
    record.files.removeAll(where: \.isReserved)
    work.record = Shared(record)
  }

  private mutating func discardBundle(_ item: Int) {
    for body in bundles[item]?.staged ?? [] { effects.append(.discard(body)) }
    bundles[item] = nil
  }

  /// Commits a whole bundle, or its beginning, in one change that replaces the old one.
  mutating func textsStaged(_ item: Int, _ result: Result<[StagedBody], Failure>) {
    begun.end(.documents)
    guard let bundle = bundles[item] else { return }
    let staged: [StagedBody]
    switch result {
    case .failure(let failure):
      // The outcome of the bundle outranks a failure to write its stored beginning.
      return conclude(bundle: item, bundle.outcome ?? .failed(failure))
    case .success(let bodies): staged = bodies
    }
    guard storeFailure == nil else {
      for body in staged { effects.append(.discard(body)) }
      discardBundle(item)
      return settleItemHalted(item)
    }
    let work = activate(item)
    var whole = bundle.whole(
      of: work.record?.value ?? newRecord(item),
      wasUsable: work.result.isUsable,
      staged,
      at: now.wall,
      isHere: isHere
    )
    whole.record.form = items[item].step.bundle
    if isAd(item) { whole.record.seconds = bundle.reading.seconds }
    if let exchange = work.exchange?.value {
      recordFreshness(of: item, into: &whole.record)
      whole.record.finalURL = exchange.hop == work.entry.url ? nil : exchange.hop.string
    }
    if let outcome = bundle.outcome { return show(item, &whole, outcome) }
    if let exchange = work.exchange?.value {
      work.result.source = exchange.isAlternate ? .alternate : .network
    }
    bundles[item] = nil
    for body in whole.surplus { effects.append(.discard(body)) }
    var record = whole.record
    // The declarer decides how long an ad is fresh, not its servers' answers.
    if isAd(item) { record.freshness = .undeclared(until: .distantFuture) }
    if whole.isSame {
      // Documents may differ anyway, for example by a new token in each address.
      work.result.action = .revalidate
      work.result.outcome = .unchanged
      if bundle.arrivals.files.isEmpty { work.result.source = .revalidated }
    } else {
      work.result.download = bundle.download(at: now.uptime)
      // Download statistics are remembered under the id.
      if work.result.download != nil, work.result.id.isEmpty {
        work.result.id = start.identify(work.entry.url.string)
      }
      if work.result.isUsable, bundle.reading.choice?.isClimb == true {
        work.result.reason = AutomaticVariant.climbReason
      }
      work.result.action = work.result.isUsable ? .update : .fetch
      work.result.outcome = work.result.isUsable ? .updated : .added
      space.reservations.settle(item, record.wholeSize)
    }
    finishStoring(item, record, body: whole.main, otherBodies: whole.otherBodies)
  }

  private mutating func show(
    _ item: Int,
    _ whole: inout BundleWork.Whole,
    _ outcome: BundleWork.Outcome
  ) {
    let work = activate(item)
    bundles[item]?.keepRest(in: &whole)
    let bodies = [whole.main].compactMap(\.self) + whole.otherBodies
    guard space.room?.hasRoom(for: bodies.reduce(0) { $0 + $1.size }) ?? true else {
      for body in whole.surplus + bodies {
        if bundles[item]?.staged.contains(body) != true { effects.append(.discard(body)) }
      }
      return conclude(bundle: item, outcome)
    }
    bundles[item] = nil
    for body in whole.surplus { effects.append(.discard(body)) }
    var record = whole.record
    record.describe(work.entry)
    record.state = .partial
    let keys = work.segments.map { segments[$0].key }
    work.result.isUsable = true
    work.result.state = .partial
    work.result.size = record.wholeSize
    work.result.digest = record.digest
    switch outcome {
    case .failed(let failure):
      record.failure = failure
      recordFailure(failure, of: work)
    case .deferred(nil) where halt?.failure != nil:
      halt?.failure.map { recordFailure($0, of: work) }
    case .deferred(let deferral): recordDeferral(deferral ?? halt?.deferral, of: work)
    }
    if let digest = record.digest {
      let form = items[item].step.bundle
      recordFreshBody(record.url, TreeBody(digest: digest, size: record.size, form: form))
    }
    items[item].state = .committing
    let change = StoreChange.store(
      record,
      body: whole.main,
      otherBodies: whole.otherBodies,
      joining: keys
    )
    batch.add(item: item, change, now: now.uptime)
  }

  static func isBlank(_ response: TransferResponse) -> Bool {
    response.status == 204 || response.body?.size == 0
  }

  /// Settles an item whose ad server has no ad now; `on_gone` decides about the last ad.
  mutating func settleEmpty(_ item: Int, _ failure: Failure) {
    // A client that requests this ad alone needs an answer, so an empty one is a failure.
    let isFailure = segments[Int(items[item].segment)].declaration.failsOnEmpty
    guard request.mode.isOfSegments, !isFailure else {
      return fail(item, failure)
    }
    let work = activate(item)
    work.result.emptiness = failure
    if applyOnGone(item, 410) { return }
    loseEvicted(work)
    work.result.action = work.result.isUsable ? .keep : .revalidate
    work.result.outcome = .empty
    work.result.reason = failure.message
    if !work.result.isUsable { work.result.state = .discovered }
    keepUnasked(item)
    settleItem(item)
  }
}
