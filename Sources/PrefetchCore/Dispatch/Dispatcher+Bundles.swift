/// Items that consist of several files: the item's own document is asked for as any item is, then it
/// waits for what this names, each in an exchange of its own. All of it becomes visible at once.
extension Dispatcher {
  func isBundle(_ item: Int) -> Bool {
    items[item].step.bundle != nil
  }

  func isAd(_ item: Int) -> Bool {
    items[item].step.bundle == .ad
  }

  func isPart(_ item: Int) -> Bool {
    items.isActive(item) && items.active(item).place != nil
  }

  /// Goes on with an item whose own document is here: `body` is what came, nil for what is stored.
  mutating func gather(_ item: Int, _ response: TransferResponse, body: StagedBody?) {
    let work = items.active(item)
    let url = work.entry.url
    var rules = segments[Int(items[item].segment)].declaration.bundleRules
    if let seconds = work.entry.seconds { rules.seconds = seconds }
    let files = work.record?.value.files ?? []
    let key = rules.key(of: url)
    if isAd(item) {
      rules.form = .ad
      rules.stem = BundleName.stem(of: work.entry)
      rules.moment = AdMoment(of: url, at: now.wall)
      rules.held = Set(files.filter { $0.role == .media || $0.role == .document }.map(\.key))
      if rules.quality == nil, !request.policy.refetchesAll {
        rules.heldQuality = quality(of: item, isKept: true)
      }
    }
    if rules.quality == nil {
      let isSame = body == nil || files.contains { $0.key == key && $0.digest == body?.digest }
      rules.quality = quality(of: item, isKept: isSame)
    }
    var file: BundleFile
    let bytes: ManifestSource.Bytes
    if let body {
      file = BundleFile(role: .document, key: key, name: "", digest: body.digest, size: body.size)
      bytes = .staged(body)
    } else if let known = files.first(where: {
      $0.role == .document && $0.key == key && !$0.isReserved
    }),
      !facts.missing.contains(known.digest)
    {
      file = known
      bytes = .stored(known.digest)
    } else {
      // It was confirmed, and is not here any more.
      work.exchange?.value.dropConditions()
      return reask(.item(item))
    }
    let hop = work.exchange?.value.hop ?? url
    file.validators = Validators(response.headers)
    file.finalURL = hop == url ? nil : hop.string
    let bundle = BundleWork(
      item: item,
      rules: rules,
      at: now.uptime,
      stored: files,
      root: BundleWork.Document(
        url: url,
        base: hop,
        isAnswer: isAd(item),
        bytes: bytes,
        file: file
      ),
      namedBy: provenance(of: response, work),
      response: response
    )
    bundle.root = body
    bundle.documents[0].earlier = bundle.kept.documents(known: key).map(\.digest)
    bundle.hasNews = body.map { bundle.kept.stored[key]?.digest != $0.digest } ?? false
    work.bundle = bundle
    items[item].state = .gathering
    readBundle(bundle)
  }

  /// By what its last download was like; as long as its own document stays the same, so does that.
  private func quality(of item: Int, isKept: Bool) -> BundleRules.Quality {
    let past = request.pastDownloads[downloadKey(of: item)]
    guard !isKept else { return past?.quality ?? .low }
    // A line that is known to be bad by now makes no better one come.
    let bound = request.policy.network.quality.bound(under: network?.quality ?? .unknown)
    return min(past?.next ?? .low, bound)
  }

  private func downloadKey(of item: Int) -> String {
    let entry = items.active(item).entry
    return PastDownload.key(
      provider: entry.provider,
      id: entry.id ?? start.identify(entry.url.string)
    )
  }

  private mutating func readBundle(_ bundle: BundleWork) {
    begun.begin(.documents)
    let documents = bundle.documents.compactMap { document in
      document.bytes.map { bytes in
        BundleDocument(
          url: document.url,
          base: document.base,
          bytes: bytes,
          earlier: document.earlier.filter { $0 != document.file.digest }
        )
      }
    }
    effects.append(.readBundle(bundle.item, documents, bundle.rules))
  }

  /// What its documents say, as far as they are here; said again where less of it is wanted.
  mutating func bundleRead(_ item: Int, _ result: Result<BundleReading, Failure>) {
    begun.end(.documents)
    let work = activate(item)
    guard let bundle = work.bundle else { return }
    // Some may end as soon as they are asked for.
    bundle.open += 1
    switch result {
    case _ where halt != nil:
      bundle.ending = .deferred(halt?.deferral)
    case .failure(let failure):
      bundle.ending = .failed(failure.code == .empty ? bundle.passedOver ?? failure : failure)
    case .success(let reading) where reading.documents.isEmpty:
      bundle.reading = reading
      work.result.htmlCards = reading.htmlCards
      bundle.files = [BundleFile?](repeating: nil, count: reading.parts.count)
      bundle.size = 0
      if let objection = objection(to: reading, of: bundle) {
        bundle.ending = .failed(objection)
      } else {
        for place in reading.parts.indices {
          want(part: place, of: bundle)
        }
      }
    case .success(let reading):
      for wanted in reading.documents { want(wanted, of: bundle) }
    }
    bundle.open -= 1
    goOn(with: bundle)
  }

  private func objection(to reading: BundleReading, of bundle: BundleWork) -> Failure? {
    guard let limit = sizeLimit(nil, in: Int(items[bundle.item].segment)),
      let expected = reading.expectedBytes, expected > limit
    else { return nil }
    let sizes = SizeText.format(together: [expected, limit])
    return Failure(
      .tooLarge,
      "its length and bit rate come to \(sizes[0]), and `max_file_size` is \(SizeText.format(limit: limit))"
    )
  }

  // MARK: Parts

  private mutating func want(_ wanted: BundleRequest, of bundle: BundleWork) {
    guard bundle.documents.count < Self.mostDocuments else {
      bundle.ending = .failed(Failure(.manifestInvalid, "it names too many further documents"))
      return
    }
    let key = bundle.rules.key(of: wanted.url)
    let known = bundle.kept.documents(known: key)
    let stored = known.first { !facts.missing.contains($0.digest) }
    bundle.documents.append(
      BundleWork.Document(
        url: wanted.url,
        base: wanted.url,
        isAnswer: wanted.type == BundleForm.ad.rawValue,
        bytes: nil,
        file: stored
          ?? BundleFile(role: .document, key: key, name: "", digest: .none, size: 0),
        earlier: known.map(\.digest)
      )
    )
    var entry = ManifestEntry(url: wanted.url)
    entry.type = wanted.type
    entry.alternates = wanted.alternates
    ask(entry, .document(bundle.documents.count - 1), about: stored, of: bundle)
  }

  private static var mostDocuments: Int { 1_000 }

  /// What is here of the item already is asked about only where it may be another by now.
  private mutating func want(part place: Int, of bundle: BundleWork) {
    guard bundle.ending == nil else { return }
    let part = bundle.reading.parts[place]
    let key = bundle.rules.key(of: part.url)
    if let file = bundle.brought[key], file.role == part.role {
      return bundle.take(file, as: place)
    }
    let kept = bundle.kept.files(for: part, known: key).first {
      !facts.missing.contains($0.digest) && !space.evicted.contains($0.digest)
    }
    // What a client of `serve` wants renewed is the playlist that it asks for.
    let asksForAll =
      request.policy.refetchesAll
      || request.policy.revalidatesAll && !request.servesClients && !request.mode.probes
    // An ad has no playlist.
    let isKnown =
      bundle.rules.form == .ad || kept.map(bundle.kept.isOfUnknownEdition) == false
    if let kept, !asksForAll, !part.isInDoubt, isKnown { return bundle.take(kept, as: place) }
    // A dry run knows then that it would come.
    guard !request.mode.probes else {
      bundle.hasNews = true
      return
    }
    var entry = ManifestEntry(url: part.url)
    entry.type = part.type
    entry.alternates = part.alternates
    if let prefix = part.prefix {
      entry.headers = [HeaderField("Range", "bytes=0-\(prefix - 1)")]
    }
    ask(entry, .part(place), about: kept, of: bundle)
  }

  private mutating func ask(
    _ entry: ManifestEntry,
    _ role: BundleWork.Role,
    about kept: BundleFile?,
    of bundle: BundleWork
  ) {
    guard bundle.ending == nil else { return }
    let parent = items[bundle.item]
    // All but documents is for players.
    let type = entry.type ?? "video"
    let purpose = connections.asksForPurpose ? RequestPurpose(itemType: type) : .other
    let refusal = request.policy.refusal(
      of: entry.url,
      for: purpose,
      named: bundle.namer,
      at: now.wall
    )
    if let refusal {
      bundle.ending = .failed(refusal)
      return
    }
    var step = parent.step
    step.row = -1
    step.bundle = nil
    let known = request.policy.refetchesAll ? nil : kept
    step.decision = known == nil ? .fetch : .revalidate
    items.append(
      ItemWork(step: step, segment: parent.segment, position: parent.position)
    )
    let item = items.count - 1
    var result = ItemResult(
      url: entry.url.string,
      id: "",
      segments: segments[Int(parent.segment)].names,
      state: .pending,
      action: .fetch,
      reason: ""
    )
    result.type = type
    let work = ActiveItem(entry: entry, segment: Int(parent.segment), result: result)
    work.place = BundlePlace(bundle: bundle, role: role, kept: kept)
    work.record = known.map { Shared($0.record(of: entry.url)) }
    items.activate(item, as: work)
    bundle.open += 1
    if let deferral = deferral(of: .item(item)) {
      return end(item, .deferred(deferral))
    }
    enqueue(.item(item))
  }

  // MARK: Answers

  mutating func partAnswered(_ item: Int, _ step: Exchange.Step) {
    let work = items.active(item)
    guard let place = work.place else { return }
    switch step {
    case .ask, .wait:
      end(item, .deferred(nil))
    case .failed(let failure, _) where failure.code == .cancelled && place.bundle.ending == nil:
      brokenOff(.item(item))
    case .failed(let failure, _):
      end(item, .failed(failure))
    case .deferred(let deferral, _):
      end(item, .deferred(deferral))
    case .answered(let response):
      received(part: item, place, response)
    }
  }

  private mutating func received(
    part item: Int,
    _ place: BundlePlace,
    _ response: TransferResponse
  ) {
    let work = items.active(item)
    let bundle = place.bundle
    guard bundle.ending == nil, storeFailure == nil else {
      if let body = response.body { effects.append(.discard(body)) }
      return end(item, nil)
    }
    if case .document(let number) = place.role, bundle.documents[number].isAnswer,
      Self.isBlank(response)
    {
      if let body = response.body { effects.append(.discard(body)) }
      bundle.documents[number].bytes = .nothing
      return end(item, nil)
    }
    guard let exchange = work.exchange else { return }
    let expected = Expectation(
      stored: work.record?.value.validators,
      objection: response.body.flatMap { objection(to: $0, response, as: place, of: work) }
    )
    let conclusion = exchange.value.conclude(
      response,
      expecting: expected,
      policy: request.policy,
      now: now.wall
    )
    let body: StagedBody
    switch conclusion {
    case .confirmed:
      switch place.role {
      case .document(let number):
        bundle.documents[number].bytes = .stored(bundle.documents[number].file.digest)
        note(item, response, as: number, of: bundle)
      case .part(let number):
        if let kept = place.kept { bundle.take(kept, as: number) }
      }
      return end(item, nil)
    case .body(let new): body = new
    case .bodiless:
      let failure = Self.failure(
        status: response.status,
        carriesCredentials: exchange.value.carriesCredentials
      )
      return end(item, .failed(failure))
    case .again, .elsewhere:
      if let body = response.body { effects.append(.discard(body)) }
      return reask(.item(item))
    case .refused(let objection):
      if let body = response.body { effects.append(.discard(body)) }
      return end(item, .failed(objection))
    }
    var kept = body
    kept.prefix = []
    bundle.bodies.append(kept)
    if bundle.rules.form != .ad {
      share(body, response, of: work.exchange?.value, from: provenance(of: response, work))
    }
    bundle.size += body.size
    let hop = exchange.value.hop
    switch place.role {
    case .document(let number):
      var file = bundle.documents[number].file
      if bundle.kept.stored[file.key]?.digest != body.digest { bundle.hasNews = true }
      file.digest = body.digest
      file.size = body.size
      file.validators = Validators(response.headers)
      bundle.documents[number].file = file
      bundle.documents[number].bytes = .staged(kept)
      note(item, response, as: number, of: bundle)
    case .part(let number):
      let part = bundle.reading.parts[number]
      if place.kept?.digest != body.digest { bundle.hasNews = true }
      var file = BundleFile(
        role: part.role,
        key: bundle.rules.key(of: part.url),
        name: part.name,
        digest: body.digest,
        size: body.size
      )
      if response.status == 206 { file.prefix = part.prefix }
      file.mime = response.headers[.contentType]
      file.validators = Validators(response.headers)
      file.finalURL = hop == work.entry.url ? nil : hop.string
      bundle.files[number] = file
      bundle.brought[file.key] = file
    }
    let limit = sizeLimit(nil, in: Int(items[item].segment))
    guard limit.map({ bundle.size <= $0 }) ?? true else {
      let failure = Failure(
        .tooLarge,
        "its files come to more than the \(SizeText.format(limit: limit ?? 0)) of `max_file_size`"
      )
      return end(item, .failed(failure))
    }
    end(item, nil)
  }

  func provenance(of response: TransferResponse, _ work: ActiveItem) -> Provenance {
    response.provenance(
      work.result.figures,
      throughProxy: request.policy.connections.mayBeProxied
    )
  }

  private mutating func note(
    _ item: Int,
    _ response: TransferResponse,
    as number: Int,
    of bundle: BundleWork
  ) {
    let work = items.active(item)
    guard let hop = work.exchange?.value.hop else { return }
    bundle.documents[number].base = hop
    // Whatever one of them names from out there is named from out there.
    let namer = provenance(of: response, work)
    if namer == .publicServer { bundle.namer = namer }
    bundle.documents[number].file.finalURL = hop == work.entry.url ? nil : hop.string
  }

  private func objection(
    to body: StagedBody,
    _ response: TransferResponse,
    as place: BundlePlace,
    of work: ActiveItem
  ) -> Failure? {
    let part: BundlePart? =
      if case .part(let number) = place.role { place.bundle.reading.parts[number] } else { nil }
    // Of playlists and keys nothing is expected.
    let holders = part?.role == .media ? items.active(place.bundle.item).segments : []
    if let objection = BodyCheck.objection(
      to: body,
      headers: response.headers,
      entry: work.entry,
      expectations: holders.map { segments[$0].declaration.expectation }
    ) {
      return objection
    }
    guard let part else { return nil }
    // The rest of one that was broken off is a whole by now.
    if response.status == 206, work.exchange?.value.partial == nil {
      let range = response.headers.combined("Content-Range").flatMap { ContentRange($0) }
      guard part.prefix != nil, range?.bounds?.lowerBound == 0 else {
        return Failure(.badResponse, "another part of it came than was asked for")
      }
    }
    return part.objection(to: body, type: response.headers[.contentType])
  }

  // MARK: Endings

  /// A part that is asked for no more, whatever became of it.
  mutating func end(_ item: Int, _ ending: BundleWork.Ending?) {
    guard items[item].state != .settled, let place = activate(item).place else { return }
    let bundle = place.bundle
    let url = activate(item).entry.url
    items[item].state = .settled
    activate(bundle.item).result.attempts += activate(item).attempts
    items.deactivate(item)
    bundle.open -= 1
    if bundle.ending == nil, let ending, !leavesOut(url, ending, place),
      !passesOver(url, ending, place)
    {
      bundle.ending = ending
      if case .failed(let failure) = ending {
        bundle.ending = .failed(Self.named(failure, url, as: place))
      }
      withdraw(bundle)
    }
    goOn(with: bundle)
  }

  private static func named(_ failure: Failure, _ url: WebURL, as place: BundlePlace) -> Failure {
    var vast: Int?
    if place.bundle.rules.form == .ad {
      let isLate = failure.code == .timeout || failure.code == .stalled
      if case .document = place.role { vast = 301 } else { vast = isLate ? 402 : 401 }
    }
    return Failure(
      failure.code,
      "a part of it, `\(url.redacted)`: \(failure.message)",
      isTransient: failure.isTransient,
      vast: vast
    )
  }

  /// Where a server of a chain cannot be had, another one may have an ad.
  private func passesOver(
    _ url: WebURL,
    _ ending: BundleWork.Ending,
    _ place: BundlePlace
  ) -> Bool {
    guard case .failed(let failure) = ending, case .document(let number) = place.role,
      place.bundle.documents[number].isAnswer, halt == nil, storeFailure == nil,
      failure.code.category == .content || failure.code.category == .connectivity
    else { return false }
    place.bundle.documents[number].bytes = .nothing
    let named = Self.named(failure, url, as: place)
    place.bundle.passedOver = place.bundle.passedOver ?? named
    return true
  }

  /// What is only shown besides is no reason to show nothing, unless it was tampered with.
  private mutating func leavesOut(
    _ url: WebURL,
    _ ending: BundleWork.Ending,
    _ place: BundlePlace
  ) -> Bool {
    guard case .failed(let failure) = ending, case .part(let number) = place.role,
      place.bundle.reading.parts[number].role == .extra, halt == nil, storeFailure == nil,
      failure.code.category == .content || failure.code.category == .connectivity
    else { return false }
    place.bundle.rules.leftOut.insert(place.bundle.rules.key(of: url))
    place.bundle.isToBeReadAgain = true
    activate(place.bundle.item).result.reason +=
      "; without `\(url.redacted)`: \(failure.message)"
    return true
  }

  /// What is asked for of an item that will not be whole is called back.
  private mutating func withdraw(_ bundle: BundleWork) {
    for (id, job) in wire.transfers {
      guard case .item(let item) = job, isPart(item),
        items.active(item).place?.bundle === bundle
      else { continue }
      effects.append(.cancelTransfer(id))
    }
  }

  /// Whether its item will not be whole anyway, so that no server is asked.
  mutating func isForsaken(_ item: Int) -> Bool {
    guard isPart(item), items.active(item).place?.bundle.ending != nil else {
      return false
    }
    end(item, nil)
    return true
  }

  /// The next stage, once nothing is asked for any more.
  private mutating func goOn(with bundle: BundleWork) {
    guard bundle.open == 0, items[bundle.item].state == .gathering else { return }
    if bundle.ending == nil, let failure = storeFailure { bundle.ending = .failed(failure) }
    guard let ending = bundle.ending else {
      if bundle.reading.texts.isEmpty || bundle.isToBeReadAgain {
        bundle.isToBeReadAgain = false
        return readBundle(bundle)
      }
      guard !request.mode.foretells else { return foretell(bundle) }
      begun.begin(.documents)
      bundle.nameByContent()
      if bundle.rules.form == .ad, bundle.reading.mainPart == nil { bundle.mark() }
      return effects.append(.stageTexts(bundle.item, bundle.reading.texts))
    }
    switch ending {
    // What is too large today is so tomorrow.
    case .failed(let failure) where [.tooLarge, .cacheFull].contains(failure.code):
      forgetReserved(bundle.item)
    case .failed, .deferred: reserve(bundle)
    }
    letGo(bundle)
    switch ending {
    case .failed(let failure) where failure.code == .empty && bundle.rules.form == .ad:
      settleEmpty(bundle.item, failure)
    case .failed(let failure):
      if serveStale(bundle.item, failure, status: nil) { return }
      fail(bundle.item, failure)
    case .deferred(nil):
      settleItemHalted(bundle.item)
    case .deferred(let deferral):
      settleDeferred(bundle.item, deferral)
    }
  }

  /// What a run would make of it.
  private mutating func foretell(_ bundle: BundleWork) {
    let work = activate(bundle.item)
    let isHere = work.result.isUsable && bundle.files.allSatisfy { $0 != nil } && !bundle.hasNews
    work.result.action = isHere ? .keep : work.result.isUsable ? .update : .fetch
    work.result.reason = isHere ? "its playlists are unchanged" : work.result.reason
    if isHere {
      work.result.outcome = .unchanged
      work.result.source = .revalidated
      if request.policy.revalidatesAll, bundle.rules.form == .stream {
        work.result.action = .revalidate
        work.result.reason = "its pieces are asked about"
      }
    } else {
      work.result.reason = work.result.isUsable ? "its playlists changed" : work.result.reason
      work.result.size = bundle.reading.expectedBytes
    }
    letGo(bundle)
    settleItem(bundle.item)
  }

  /// What has come waits for the rest, for the next run to go on with.
  private mutating func reserve(_ bundle: BundleWork) {
    guard request.mode.keepsSegments, storeFailure == nil, bundle.rules.form != .ad,
      !bundle.brought.isEmpty
    else { return }
    let work = activate(bundle.item)
    var record = work.record?.value ?? newRecord(bundle.item)
    record.files = record.files.filter { !$0.isReserved } + bundle.toReserve
    let kept = Set(record.files.map(\.digest))
    let came = bundle.bodies + [bundle.root].compactMap(\.self)
    let bodies = came.filter { kept.contains($0.digest) }
    // A reservation evicts nothing.
    guard space.room?.hasRoom(for: bodies.reduce(0) { $0 + $1.size }) ?? true else { return }
    bundle.bodies.removeAll { kept.contains($0.digest) }
    if let root = bundle.root, kept.contains(root.digest) { bundle.root = nil }
    record.describe(work.entry)
    if record.digest == nil { record.state = .idle }
    work.record = Shared(record)
    let keys = work.segments.map { segments[$0].key }
    batch.addSpare(.store(record, body: nil, besides: bodies, joining: keys), now: now.uptime)
  }

  /// What earlier runs had reserved goes with an item that is too large.
  mutating func forgetReserved(_ item: Int) {
    let work = activate(item)
    guard var record = work.record?.value, record.files.contains(where: \.isReserved) else {
      return
    }
    record.files.removeAll(where: \.isReserved)
    work.record = Shared(record)
  }

  private mutating func letGo(_ bundle: BundleWork) {
    for body in bundle.bodies + [bundle.root].compactMap(\.self) { effects.append(.discard(body)) }
    bundle.bodies = []
    bundle.root = nil
    activate(bundle.item).bundle = nil
  }

  /// All of it is here: the old whole gives way to the new one in one commit.
  mutating func textsStaged(_ item: Int, _ result: Result<[StagedBody], Failure>) {
    begun.end(.documents)
    let work = activate(item)
    guard let bundle = work.bundle else { return }
    guard halt == nil || bundle.ending == nil, storeFailure == nil else {
      if case .success(let bodies) = result {
        for body in bodies { effects.append(.discard(body)) }
      }
      letGo(bundle)
      return settleItemHalted(item)
    }
    let staged: [StagedBody]
    switch result {
    case .failure(let failure):
      bundle.ending = .failed(failure)
      return goOn(with: bundle)
    case .success(let bodies): staged = bodies
    }
    var record = work.record?.value ?? newRecord(item)
    let old = (digest: record.digest, files: record.files)
    let wasUsable = work.result.isUsable
    let whole = bundle.whole(staged)
    let files = whole.files
    record.files = files
    record.headers = Revalidation.storable(bundle.response.headers)
    let isAd = bundle.rules.form == .ad
    record.validators = isAd ? Validators() : bundle.documents[0].file.validators
    if let exchange = work.exchange?.value {
      record.note(
        exchange.chain.terms,
        exchange.terms(
          of: record.headers,
          at: Freshness.Timing(now.wall, work.result.figures ?? TransferFigures()),
          agent: request.policy.agent
        )
      )
      record.finalURL = exchange.hop == work.entry.url ? nil : exchange.hop.string
      work.result.source = exchange.isAlternate ? .alternate : .network
    }
    // It holds for as long as its declarer says, whatever the servers say of their answers.
    if isAd { record.freshness = .silent(until: .distantFuture) }
    record.mime = whole.main.mime
    record.status = 200
    record.digest = whole.main.digest
    record.size = whole.main.size
    record.otherDigests = [:]
    let isSame =
      wasUsable && old.digest == record.digest
      && Self.areSame(old.files.filter(\.isShown), files.filter(\.isShown))
    // What only told of it is not kept, where the next run asks for it anew.
    var wanted = Set(files.map(\.digest) + [whole.main.digest])
    // A body of the same whole that was lost comes back.
    if isSame { wanted.subtract(old.files.map(\.digest).filter { !facts.missing.contains($0) }) }
    var bodies = bundle.bodies + [bundle.root].compactMap(\.self) + staged
    for body in bodies where !wanted.contains(body.digest) { effects.append(.discard(body)) }
    bodies.removeAll { !wanted.contains($0.digest) }
    if isSame {
      // Its documents may be others all the same, such as those with a new token in each address.
      work.result.action = .revalidate
      work.result.outcome = .unchanged
      if bundle.brought.isEmpty { work.result.source = .revalidated }
    } else {
      record.fetchedAt = now.wall
      noteDownload(of: bundle, work)
      work.result.action = wasUsable ? .update : .fetch
      work.result.outcome = wasUsable ? .updated : .added
      space.reservations.settle(item, record.wholeSize)
    }
    record.state = bundle.reading.isPartial ? .partial : .cached
    work.bundle = nil
    let main = bodies.firstIndex { $0.digest == whole.main.digest }.map { bodies.remove(at: $0) }
    finishStoring(item, record, body: main, besides: bodies)
  }

  /// How long it took, by which `variant: auto` chooses the next quality.
  private func noteDownload(of bundle: BundleWork, _ work: ActiveItem) {
    let hasParts =
      bundle.rules.form == .ad ? !bundle.brought.isEmpty : !bundle.bodies.isEmpty
    guard let quality = bundle.rules.quality, bundle.reading.hasChoice, hasParts else { return }
    let took = now.uptime - bundle.begunAt
    // It is remembered by that.
    if work.result.id.isEmpty { work.result.id = start.identify(work.entry.url.string) }
    work.result.download = PastDownload(
      quality: quality,
      seconds: Double(took.milliseconds) / 1000,
      bytes: bundle.bodies.reduce(0) { $0 + $1.size }
    )
  }

  /// Whether nothing stands in it where an ad would.
  static func isBlank(_ response: TransferResponse) -> Bool {
    response.status == 204 || response.body?.size == 0
  }

  /// The server has no ad to show now: the last one stays as the rule for what is gone says.
  mutating func settleEmpty(_ item: Int, _ failure: Failure) {
    // A user or client that asks for it by itself gets nothing, which is no answer.
    let isFailure = segments[Int(items[item].segment)].declaration.failsOnEmpty
    guard request.mode.isOfSegments, !isFailure else {
      return fail(item, failure)
    }
    let work = activate(item)
    work.result.emptiness = failure
    if removeGone(item, 410) { return }
    loseEvicted(work)
    work.result.action = work.result.isUsable ? .keep : .revalidate
    work.result.outcome = .empty
    work.result.reason = failure.message
    if !work.result.isUsable { work.result.state = .discovered }
    keepUnasked(item)
    settleItem(item)
  }

  /// Validators and addresses may be others for the same bytes.
  private static func areSame(_ old: [BundleFile], _ new: [BundleFile]) -> Bool {
    old.count == new.count
      && zip(old, new).allSatisfy {
        $0.digest == $1.digest && $0.name == $1.name && $0.key == $1.key && $0.prefix == $1.prefix
      }
  }
}
