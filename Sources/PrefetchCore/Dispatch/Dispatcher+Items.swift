extension Dispatcher {
  mutating func preparation(of item: Int) -> Preparation? {
    guard isStored(item), !isPiece(item) else { return nil }
    // The stored record must not replace one that the server has just confirmed.
    let row = awaitsAdoption(item) ? nil : row(of: items[item].step)
    var preparation = Preparation(item: item, record: row?.item, digest: nil)
    if seeksObject(items[item]) {
      preparation.digest = wantedDigest(of: item)
      if start.seeksLostBodies, preparation.digest == nil, let work = items.ifActive(item) {
        preparation.lost = work.digests
      }
      preparation.adoptable = adoptable(item)
    }
    guard
      preparation.record != nil || preparation.digest != nil || !preparation.lost.isEmpty
        || preparation.adoptable != nil
    else { return nil }
    return preparation
  }

  // MARK: Files of the user's

  private func adoptable(_ item: Int) -> AdoptableFile? {
    guard request.mode.isOfSegments, let work = items.ifActive(item),
      work.entry.bundleForm == nil, work.exchange?.value.method != .get,
      let rules = segments[Int(items[item].segment)].declaration.publishing, rules.adopts,
      let name = (try? TreeName(rules).make(of: work.entry, body: nil)) ?? nil
    else { return nil }
    var file = AdoptableFile(
      rules: rules,
      name: name,
      size: work.entry.size,
      digests: work.wantedDigests
    )
    file.limit = sizeLimit(space.rules.limit, in: Int(items[item].segment))
    if awaitsAdoption(item), let record = work.record?.value {
      file.size = record.size
      file.modified = record.validators.lastModified.flatMap { HTTPDate.parse($0) }
    }
    return file
  }

  /// Whether the server has confirmed a user's file that is not in the store yet.
  func awaitsAdoption(_ item: Int) -> Bool {
    guard let work = items.ifActive(item), work.exchange?.value.method == .head,
      let record = work.record?.value
    else { return false }
    return record.digest == nil && record.status == 200
  }

  /// Describes a user's file in a record, so that a HEAD can ask whether it is the item's body.
  private mutating func describe(_ file: FoundBody, _ item: Int) {
    let work = items.active(item)
    guard let modified = file.modified, !isStored(body: work.record) else { return }
    var record = work.record?.value ?? newRecord(item)
    record.status = nil
    record.headers = HeaderBlock()
    record.validators = Validators()
    record.validators.lastModified = HTTPDate.format(modified)
    record.size = file.size
    work.record = Shared(record)
  }

  private func isStored(body record: Shared<ContentRecord>?) -> Bool {
    record?.value.digest != nil
  }

  /// Whether to look for the body by its digest: another URL may have it, or the index was lost.
  private func seeksObject(_ work: ItemWork) -> Bool {
    guard !request.policy.refetchesAll else { return false }
    switch work.step.decision {
    case .fetch, .update: return true
    case .keep, .describe, .revalidate, .wait, .fail: return false
    }
  }

  private func wantedDigest(of item: Int) -> ContentDigest? {
    guard let work = items.ifActive(item),
      work.digests.allSatisfy({ $0.algorithm == .sha256 })
    else { return nil }
    return work.digests.first.flatMap { ContentDigest(bytes: $0.bytes) }
  }

  /// Adds the next items to a read, since one look into the index costs about as much as many.
  mutating func prepareAhead(of item: Int, into preparations: inout [Preparation]) {
    let end = min(item + Self.lookAhead, items.count)
    for next in item + 1..<end
    where items[next].state == .queued && items.isBare(next) {
      if beginSimple(next, into: &preparations) { continue }
      activate(next)
      guard let preparation = preparation(of: next) else { continue }
      items.active(next).isBeingRead = true
      begun.begin(.preparations)
      preparations.append(preparation)
    }
  }

  private static let lookAhead = 256

  mutating func prepared(_ preparation: Prepared) {
    let item = preparation.item
    begun.end(.preparations)
    guard items[item].state != .settled,
      applyClaimReply(item, preparation)
    else { return }
    if items.isSimple(item) { return simpleItemRead(item, preparation) }
    let work = activate(item)
    work.isBeingRead = false
    work.prepared = preparation
    guard items[item].state == .preparing else { return }
    continueItem(item)
  }

  mutating func continueItem(_ item: Int) {
    let work = items.active(item)
    guard let preparation = work.prepared else { return }
    work.prepared = nil
    work.isRead = true
    // A record of another URL is a key collision and is ignored.
    if let record = preparation.stored?.record, record.url == work.entry.recordURL {
      work.record = Shared(record)
      if work.result.id.isEmpty { work.result.id = record.id }
    } else if preparation.isClaimed == true {
      work.record = nil
    }
    if work.control != nil {
      leaveWire(.item(item))
      if endIfStopped(.item(item)) { return }
    }
    if preparation.isClaimed == true, heedsPause(item) { return }
    if work.awaitsRecordOnly {
      work.awaitsRecordOnly = false
      return reask(.item(item))
    }
    switch items[item].step.decision {
    case .describe, .fail:
      decideWithoutRequest(item)
    case .keep, .revalidate, .fetch, .update, .wait:
      guard halt == nil else {
        leaveWire(.item(item))
        return settleItemHalted(item)
      }
      if adoptBrought(item) { return }
      if let found = preparation.found, let digest = found.digest, !space.evicted.contains(digest) {
        leaveWire(.item(item))
        return adopt(item, digest, size: found.size, found)
      }
      if let failure = preparation.adoptionFailure, failure.code != .cancelled {
        leaveWire(.item(item))
        return fail(item, failure)
      }
      if awaitsAdoption(item) {
        // The user's file has changed since the HEAD.
        work.record = nil
        work.exchange?.value.requestBody()
      }
      if work.exchange != nil {
        if let deferral = deferral(of: .item(item)) {
          leaveWire(.item(item))
          return settleDeferred(item, deferral)
        }
        return send(.item(item))
      }
      // The body may have been evicted since it was found.
      if let size = preparation.adoptedSize, let digest = wantedDigest(of: item),
        !space.evicted.contains(digest)
      {
        leaveWire(.item(item))
        return adopt(item, digest, size: size)
      }
      if request.policy.isOffline {
        leaveWire(.item(item))
        return decideWithoutRequest(item)
      }
      if let deferral = deferral(of: .item(item)) {
        leaveWire(.item(item))
        return settleDeferred(item, deferral)
      }
      if let found = preparation.found { describe(found, item) }
      requestItem(item)
    }
  }

  mutating func decideWithoutRequest(_ item: Int) {
    let work = items.active(item)
    if let failure = planFailure(of: item) {
      return fail(item, failure)
    }
    work.result.outcome = .unchanged
    work.result.source = .cache
    if work.hasTwin {
      // The twin may store a newer row in this run.
      keepUnasked(item)
    } else if request.mode.keepsSegments, storeFailure == nil, var record = work.record?.value {
      record.describe(work.entry)
      let keys = work.segments.map { segments[$0].key }
      batch.add(.store(record, body: nil, joining: keys), now: now.uptime)
    }
    settleItem(item)
  }

  private mutating func adopt(
    _ item: Int,
    _ digest: ContentDigest,
    size: Int64,
    _ found: FoundBody? = nil
  ) {
    let work = items.active(item)
    let strong = found?.otherDigests ?? [:]
    let isConfirmed = awaitsAdoption(item)
    separateSharers(item, size: size) { sharer, expectation in
      Self.objection(size: size, digest: digest, strong: strong, as: sharer.entry)
        ?? expectation.sizeObjection(size)
    }
    let index = Int(items[item].segment)
    if let objection = Self.objection(
      size: size,
      digest: digest,
      strong: strong,
      as: work.entry
    ) ?? limitObjection(to: size, in: index)
      ?? segments[index].declaration.expectation.sizeObjection(size)
    {
      leaveSharers(item)
      return fail(item, objection)
    }
    work.result.action = isConfirmed ? .revalidate : .keep
    work.result.outcome = .unchanged
    work.result.source = isConfirmed ? .revalidated : .cache
    work.result.reason =
      found?.modified == nil
      ? "a stored body has its digest" : Self.isUsersFile
    guard !request.mode.probes else {
      work.result.size = size
      return settleItem(item)
    }
    var record = work.record?.value ?? newRecord(item)
    record.digest = digest
    record.otherDigests = strong
    record.size = size
    if !isConfirmed {
      record.validators = Validators()
      record.headers = HeaderBlock()
      record.mime = work.entry.mime
      record.clearResponseTerms()
    }
    finishStoring(item, record, body: nil)
  }

  static let isUsersFile = "the file already in its place is its body"

  func newRecord(_ item: Int) -> ContentRecord {
    let entry = items.active(item).entry
    // The store keeps no id that can be made from the URL.
    var record = ContentRecord(url: entry.recordURL, id: entry.id ?? "")
    record.isPassedThrough = request.servesClients
    return record
  }

  /// Sends the first request of an item that holds a slot; without room the item gives it up.
  mutating func requestItem(_ item: Int) {
    guard hasRoom(for: item) else { return }
    let work = activate(item)
    var draft = makeExchange(for: item)
    let hasSource = passOver(&draft, of: item)
    work.exchange = ExchangeBox(draft)
    // An alternate's URL is filled in only now, and may have another host.
    guard hasSource, items[item].source == 0 || hostAndRank(of: .item(item)).host == work.host
    else {
      leaveWire(.item(item))
      return enqueue(.item(item))
    }
    send(.item(item))
  }

  mutating func makeExchange(for item: Int) -> Exchange {
    let work = activate(item)
    let isBodyEvicted = if let record = work.record { isEvicted(record) } else { false }
    let isRevalidated = items[item].step.decision == .revalidate && !isBodyEvicted
    // A file's time is no validator: a server answers 304 to any newer date.
    let isImported = work.record?.value.isImported == true && !isBundle(item)
    let moment = isAd(item) ? AdMoment(of: work.entry.url, at: now.wall) : nil
    let filled = { (url: WebURL) in
      moment.flatMap { try? WebURL($0.filling(url.string)) } ?? url
    }
    // Pieces get the segment's headers only on the server of the item itself.
    let parent = bundles.parent(of: item)
    var draft = exchange(
      for: filled(work.entry.url),
      size: work.entry.size,
      type: work.result.type,
      headers: work.entry.headers,
      digests: work.digests,
      record: work.record?.value,
      isConditional: isRevalidated && !isAd(item) && !isImported,
      selection: selection(of: item),
      roomLimit: [work.roomLimit, work.diskLimit].compactMap(\.self).min(),
      alternates: work.entry.alternates.map(filled),
      namedBy: parent?.work.namer,
      parent: parent.map { items.active($0.item).entry.url },
      in: Int(items[item].segment)
    )
    if request.mode.probes, isBundle(item) || parent != nil { draft.method = .get }
    if !isAd(item), isStored(item), parent?.work.rules.form != .ad {
      draft.tierRequest = tierRequest(work.digests, granted(work))
    }
    let isCandidate = work.record?.value.digest == nil && adoptable(item) != nil
    if items[item].step.age == .open, draft.method == .get {
      // Nothing in a head would tell a body without tag and date from the stored one.
      let isUnmarked = work.record.map { $0.value.digest != nil && $0.value.validators.isEmpty }
      if isUnmarked != true { draft.beginWithHead() }
      // Another cache may have a body that this segment still waits for.
      draft.tierRequest = nil
    }
    if isImported, isRevalidated || isCandidate, isStored(item), draft.part.kept == nil {
      draft.beginWithHead()
    }
    if let part = work.leftPart { draft.part.kept = part }
    if let piece = bundles.piece(item), let listed = parent?.work.listedPiece(piece.role) {
      // Media gain nothing from compression, and ranges of a compressed body are other bytes.
      draft.part.allowsCoding = false
      // No partial body is kept for a range request.
      if listed.prefix != nil { draft.part.kept = nil }
    }
    return draft
  }

  func exchange(
    for url: WebURL,
    size: Int64?,
    type: @autoclosure () -> String?,
    headers: [HeaderField] = [],
    digests: [ExpectedDigest] = [],
    record: ContentRecord?,
    isConditional: Bool,
    selection: Variance.Selection = .same,
    roomLimit: Int64? = nil,
    alternates own: [WebURL] = [],
    namedBy namer: Provenance? = nil,
    parent: WebURL? = nil,
    in index: Int
  ) -> Exchange {
    let isStored = segments[index].declaration.isStored
    let isOwn = parent.map { $0.origin == url.origin } ?? true
    return Exchange(
      url: url,
      alternates: alternates(of: url, own, in: index),
      method: method(in: index),
      headers: (isOwn ? segments[index].declaration.headers(for: url) : []) + headers,
      everywhere: request.policy.clientFields,
      credentials: request.credentials,
      conditions: isConditional
        ? record.map { Revalidation.conditions(of: $0, selection) } ?? Validators() : Validators(),
      conditionURL: record?.finalURL,
      allowsCoding: Exchange.isWorthCoding(size: size, path: url.path),
      sizeLimit: sizeLimit(roomLimit, in: index),
      expectedSize: size,
      isPinned: !digests.isEmpty,
      algorithms: Self.algorithms(of: digests),
      partialKey: isStored ? url.string : nil,
      partial: start.partials.isEmpty || !isStored ? nil : start.partials[url.string],
      // Digests that are not of plain bytes need the whole body on disk.
      keepsBody: isStored || !digests.allSatisfy(\.algorithm.isOfBytes),
      purpose: connections.dependsOnPurpose ? RequestPurpose(itemType: type()) : .other,
      provenance: namer ?? segments[index].provenance,
      isOriginChosen: !connections.addsHeaders
        || isOwn && segments[index].declaration.mayChooseServer(of: url),
      bypassesCaches: request.policy.refetchesAll,
      isReleaseAPI: segments[index].declaration.isReleaseAPI(url),
      key: start.key
    )
  }

  /// Returns whether the stored answer was selected by the headers that the next request sends.
  func selection(of item: Int) -> Variance.Selection {
    let work = items.active(item)
    guard let variance = work.record?.value.variance else { return .same }
    return facts.selector(of: segments[Int(items[item].segment)].declaration).selection(
      variance,
      of: work.entry,
      for: connections.dependsOnPurpose ? RequestPurpose(itemType: work.entry.type) : .other
    )
  }

  /// Returns the alternates in order: the entry's, the configuration's, the manifest's.
  func alternates(of url: WebURL, _ own: [WebURL], in index: Int) -> [WebURL] {
    let servers = segments[index].declaration.alternates + segments[index].mirrors
    guard !own.isEmpty || !servers.isEmpty else { return [] }
    return AlternateSources.urls(
      of: url,
      named: own,
      base: segments[index].base,
      servers: servers
    )
  }

  private func method(in index: Int) -> TransferRequest.Method {
    request.mode.probes || segments[index].declaration.requestsHeadOnly ? .head : .get
  }

  func sizeLimit(_ room: Int64?, in index: Int) -> Int64? {
    let limit = segments[index].declaration.maximumFileSize ?? request.policy.maximumFileSize
    guard let room else { return limit }
    return min(room, limit ?? room)
  }
}
