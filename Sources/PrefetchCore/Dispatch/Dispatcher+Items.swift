/// From a planned item to a decided one.
extension Dispatcher {
  /// What has to be read before the item can be asked for; nil when everything is known.
  ///
  /// Room is kept for it from here on.
  mutating func preparation(of item: Int) -> Preparation? {
    let work = items[item]
    let row = row(of: work.step)
    let digest = seeksObject(work) ? wantedDigest(of: item) : nil
    let bytes = neededRoom(work, row)
    guard row != nil || digest != nil || bytes != nil else { return nil }
    let others = reservedBytes
    if let bytes {
      active[Int(work.slot)].reserved = bytes
      reservedBytes += bytes
    }
    return Preparation(
      item: item,
      record: row?.item,
      digest: digest,
      bytes: bytes.map { $0 + others },
      priority: segments[Int(work.segment)].priority
    )
  }

  /// For how many bytes there must be room before it is asked for, with all that is under way.
  private func neededRoom(_ work: ItemWork, _ row: Inventory.Row?) -> Int64? {
    let rules = request.policy.room
    guard request.mode == .run, rules.limit != nil || rules.minimumFree > 0 else { return nil }
    switch work.step.decision {
    case .fetch, .update:
      return segments[Int(work.segment)].entries.size(at: Int(work.step.entry)) ?? 1
    case .keep, .describe, .revalidate, .fail:
      // A body that may have changed takes the place of the old one.
      return nil
    }
  }

  /// An object with the declared digest may be here without a record of the URL: another URL has
  /// it, or the index was lost.
  private func seeksObject(_ work: ItemWork) -> Bool {
    guard !request.policy.refetchesAll, facts.inventory.count > 0 || start.hasUnseenChanges else {
      return false
    }
    switch work.step.decision {
    case .fetch, .update: return true
    case .keep, .describe, .revalidate, .fail: return false
    }
  }

  private func wantedDigest(of item: Int) -> ContentDigest? {
    let slot = Int(items[item].slot)
    guard slot >= 0, active[slot].entry.digests.allSatisfy({ $0.algorithm == .sha256 }) else {
      return nil
    }
    return active[slot].entry.digests.first.flatMap { ContentDigest(bytes: $0.bytes) }
  }

  /// Reads what the next items need together with this one's: a look into the index costs about
  /// the same for one as for many.
  mutating func prepareAhead(of item: Int, into preparations: inout [Preparation]) {
    let end = min(item + Self.lookAhead, items.count)
    for next in item + 1..<end where items[next].state == .queued && items[next].slot < 0 {
      _ = activate(next)
      guard let preparation = preparation(of: next) else { continue }
      preparing += 1
      preparations.append(preparation)
    }
  }

  private static let lookAhead = 256

  mutating func prepared(_ answer: Prepared, now: Moment, into effects: inout [Effect]) {
    let item = answer.item
    preparing -= 1
    guard items[item].state != .settled else { return }
    let slot = activate(item)
    active[slot].prepared = answer
    // One that was read ahead goes on when its turn comes.
    guard items[item].state == .preparing else { return }
    goOn(item, now: now, into: &effects)
  }

  /// An item whose record was read, and which has a place on the wire if it needs one.
  mutating func goOn(_ item: Int, now: Moment, into effects: inout [Effect]) {
    let slot = Int(items[item].slot)
    guard let answer = active[slot].prepared else { return }
    active[slot].prepared = nil
    // A record whose URL is another's would be a key met by chance; then nothing is known.
    if let record = answer.record, record.url == active[slot].entry.url.string {
      active[slot].record = record
      if active[slot].result.id.isEmpty { active[slot].result.id = record.id }
    }
    switch items[item].step.decision {
    case .describe, .fail:
      decideWithoutAsking(item, now: now, into: &effects)
    case .keep, .revalidate, .fetch, .update:
      guard halt == nil else {
        leaveWire(item)
        return settleItemHalted(item, into: &effects)
      }
      if let size = answer.adoptedSize, let digest = wantedDigest(of: item) {
        leaveWire(item)
        return adopt(item, digest, size: size, now: now, into: &effects)
      }
      askWithin(answer.room, item, now: now, into: &effects)
    }
  }

  private mutating func askWithin(
    _ room: Room,
    _ item: Int,
    now: Moment,
    into effects: inout [Effect]
  ) {
    announceEvicted(room.removed, into: &effects)
    switch room.standing {
    case .enough:
      active[Int(items[item].slot)].roomLimit = room.remaining.map { max(1, $0 - reservedBytes) }
      ask(item, into: &effects)
    case .cacheFull:
      leaveWire(item)
      let failure = Failure(.cacheFull, "the cache has reached `cache.size`, and nothing may go")
      fail(item, failure, now: now, into: &effects)
    case .diskTooFull:
      leaveWire(item)
      settleDeferred(item, Deferral(rule: .freeDisk), into: &effects)
    }
  }

  /// Gives the place on the wire back without a request.
  private mutating func leaveWire(_ item: Int) {
    guard let host = active[Int(items[item].slot)].host else { return }
    queue.finished(on: host, httpVersion: nil)
  }

  /// Items that are settled by what is known of them.
  mutating func decideWithoutAsking(_ item: Int, now: Moment, into effects: inout [Effect]) {
    let slot = Int(items[item].slot)
    if let failure = planFailure(of: item) {
      return fail(item, failure, now: now, into: &effects)
    }
    active[slot].result.outcome = .unchanged
    active[slot].result.source = .cache
    if request.mode == .run, storeFailure == nil, var record = active[slot].record {
      record.describe(active[slot].entry)
      let keys = active[slot].segments.map { segments[$0].key }
      batch.add(.store(record, body: nil, joining: keys), now: now.uptime)
    }
    settleItem(item, into: &effects)
  }

  /// The declared body is stored already, for another URL or from before the index was lost.
  private mutating func adopt(
    _ item: Int,
    _ digest: ContentDigest,
    size: Int64,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let slot = Int(items[item].slot)
    if let declared = active[slot].entry.size, declared != size {
      return fail(
        item,
        Failure(.corrupted, "it has \(size) bytes; the manifest says \(declared)"),
        now: now,
        into: &effects
      )
    }
    active[slot].result.action = .keep
    active[slot].result.outcome = .unchanged
    active[slot].result.source = .cache
    active[slot].result.reason = "a stored body has its digest"
    guard request.mode == .run else {
      active[slot].result.size = size
      return settleItem(item, into: &effects)
    }
    var record = active[slot].record ?? newRecord(item)
    record.digest = digest
    record.otherDigests = [:]
    record.size = size
    record.validators = Validators()
    record.headers = HeaderBlock()
    record.mime = active[slot].entry.mime
    record.freshUntil = nil
    record.validatedAt = nil
    finishStoring(item, record, body: nil, now: now)
  }

  func newRecord(_ item: Int) -> ContentRecord {
    let entry = active[Int(items[item].slot)].entry
    let url = entry.url.string
    return ContentRecord(url: url, id: entry.id ?? start.identify(url))
  }

  /// Puts the question to the network; a place on the wire is kept for it.
  mutating func ask(_ item: Int, into effects: inout [Effect]) {
    let slot = activate(item)
    let entry = active[slot].entry
    let record = active[slot].record
    let index = Int(items[item].segment)
    let declaration = segments[index].declaration
    let isConditional = items[item].step.decision == .revalidate
    let limits = [
      declaration.maximumFileSize ?? request.policy.maximumFileSize, active[slot].roomLimit,
    ]
    active[slot].exchange = Exchange(
      url: entry.url,
      alternates: declaration.alternates.isEmpty
        ? []
        : AlternateSources.urls(
          of: entry.url,
          base: declaration.base ?? segments[index].manifestBase,
          servers: declaration.alternates
        ),
      method: request.mode == .plan ? .head : .get,
      headers: headers(for: entry, in: index),
      conditions: isConditional ? record.map(Self.conditions) ?? Validators() : Validators(),
      conditionURL: record?.finalURL,
      allowsCoding: Self.isWorthCoding(entry),
      sizeLimit: limits.compactMap(\.self).min(),
      expectedSize: entry.size,
      algorithms: Self.algorithms(of: entry),
      partialKey: entry.url.string,
      partial: start.partials[entry.url.string]
    )
    send(item, into: &effects)
  }

  private static func conditions(of record: ContentRecord) -> Validators {
    Revalidation.conditions(
      record.validators,
      stored: record.headers,
      receivedAt: record.validatedAt ?? record.fetchedAt
    )
  }

  /// Configured headers reach the servers that the configuration names: every inline item's, or the
  /// manifest's own origin.
  ///
  /// What a manifest asks to be sent goes with its item.
  private func headers(for entry: ManifestEntry, in index: Int) -> [HeaderField] {
    let configured = segments[index].declaration.headers
    switch segments[index].declaration.source {
    case .inline: return configured + entry.headers
    case .remote(let url): return (url.origin == entry.url.origin ? configured : []) + entry.headers
    case .file:
      return (segments[index].declaration.base?.origin == entry.url.origin ? configured : [])
        + entry.headers
    }
  }

  /// Archives and media do not shrink, and large bodies must stay resumable.
  private static func isWorthCoding(_ entry: ManifestEntry) -> Bool {
    if let size = entry.size, size > 8 << 20 { return false }
    let path = entry.url.path
    guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")), path.utf8[dot...].count <= 6 else {
      return true
    }
    return !packedSuffixes.contains(path[dot...].lowercased())
  }

  private static let packedSuffixes: Set<String> = [
    ".gz", ".tgz", ".xz", ".zst", ".bz2", ".br", ".zip", ".7z", ".rar", ".jar", ".whl", ".deb",
    ".rpm", ".apk", ".iso", ".img", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".mp3",
    ".m4a", ".aac", ".ogg", ".opus", ".mp4", ".m4s", ".m4v", ".mkv", ".webm", ".mov", ".ts",
    ".pdf", ".woff", ".woff2",
  ]

  mutating func itemAnswered(
    _ item: Int,
    _ step: Exchange.Step,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let slot = Int(items[item].slot)
    active[slot].result.redirects = active[slot].exchange?.redirects ?? []
    switch step {
    case .ask, .wait:
      settleItemHalted(item, into: &effects)
    case .failed(let failure, let status):
      active[slot].result.status = status
      if failure.code == .cancelled, halt != nil { return settleItemHalted(item, into: &effects) }
      if request.mode == .plan { return probeFailed(item, failure, into: &effects) }
      if serveStale(item, failure, status: status, now: now, into: &effects) { return }
      fail(item, roomFailure(item, failure) ?? failure, now: now, into: &effects)
    case .deferred(let deferral, let status):
      active[slot].result.status = status
      settleDeferred(item, deferral, into: &effects)
    case .answered(let response):
      active[slot].result.status = response.status
      if request.mode == .plan {
        probeAnswered(item, response, into: &effects)
      } else {
        received(item, response, now: now, into: &effects)
      }
    }
  }

  private mutating func received(
    _ item: Int,
    _ response: TransferResponse,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let slot = Int(items[item].slot)
    guard let exchange = active[slot].exchange else { return }
    if storeFailure != nil {
      if let body = response.body { effects.append(.discard(body)) }
      return settleItemHalted(item, into: &effects)
    }
    if response.status == 304, exchange.isConditional, let record = active[slot].record {
      guard Revalidation.confirms(response.headers, stored: record.validators),
        !Planner.isContradicted(active[slot].entry.digests, by: record)
      else {
        active[slot].exchange?.dropConditions()
        return reask(.item(item), now: now, into: &effects)
      }
      if exchange.partial != nil { effects.append(.forgetPartial(record.url)) }
      return confirmed(item, record, response, now: now)
    }
    guard let body = response.body else {
      if removeGone(item, response.status, now: now, into: &effects) { return }
      let failure = Self.failure(
        status: response.status,
        carriesCredentials: exchange.carriesCredentials
      )
      if serveStale(item, failure, status: response.status, now: now, into: &effects) { return }
      return fail(item, failure, now: now, into: &effects)
    }
    if !exchange.hasAsked(for: Self.algorithms(of: active[slot].entry)) {
      // Another segment has asked for a digest that nobody took while the body came.
      effects.append(.discard(body))
      return reask(.item(item), now: now, into: &effects)
    }
    if let objection = BodyCheck.objection(
      to: body,
      headers: response.headers,
      entry: active[slot].entry,
      expectations: active[slot].segments.map { segments[$0].declaration.expectation },
      storedSize: active[slot].result.isUsable ? active[slot].record?.size : nil
    ) {
      effects.append(.discard(body))
      if active[slot].exchange?.startOverWithoutPart(after: response.status) == true {
        return reask(.item(item), now: now, into: &effects)
      }
      return refuse(item, objection, status: response.status, now: now, into: &effects)
    }
    let honorsNoStore = active[slot].segments.contains { segments[$0].declaration.honorsNoStore }
    guard Freshness.mayStore(response.headers, honorsNoStore: honorsNoStore) else {
      effects.append(.discard(body))
      let failure = Failure(
        .unsupported,
        "its server says `no-store`, and `honor_no_store` heeds it"
      )
      return fail(item, failure, now: now, into: &effects)
    }
    arrived(item, body, response, exchange: exchange, now: now)
  }

  /// A wrong body: the next source may have the right one.
  private mutating func refuse(
    _ item: Int,
    _ objection: Failure,
    status: Int,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let slot = Int(items[item].slot)
    let step = Exchange.Step.failed(objection, status: status)
    if halt == nil,
      active[slot].exchange?.nextAlternate(after: step, policy: request.policy, now: now.wall)
        == true
    {
      return enqueue(.item(item), now: now, into: &effects)
    }
    fail(item, objection, now: now, into: &effects)
  }

  /// 304: the body stays, freshness and headers are renewed.
  private mutating func confirmed(
    _ item: Int,
    _ record: ContentRecord,
    _ response: TransferResponse,
    now: Moment
  ) {
    let slot = Int(items[item].slot)
    let merged =
      Revalidation.repeats(stored: record.headers, confirmed: response.headers)
      ? (headers: record.headers, isChanged: false)
      : Revalidation.merge(stored: record.headers, confirmed: response.headers)
    var renewed = record
    renewed.headers = merged.headers
    renewed.validators = Revalidation.renewed(record.validators, by: response.headers)
    active[slot].result.outcome = merged.isChanged ? .headers : .unchanged
    active[slot].result.source = .revalidated
    finishStoring(
      item,
      renewed,
      body: nil,
      now: now,
      isPlain: !merged.isChanged && renewed.validators == record.validators
    )
  }

  private mutating func arrived(
    _ item: Int,
    _ body: StagedBody,
    _ response: TransferResponse,
    exchange: Exchange,
    now: Moment
  ) {
    let slot = Int(items[item].slot)
    let entry = active[slot].entry
    let old = active[slot].record
    let wasUsable = active[slot].result.isUsable
    var record = old ?? newRecord(item)
    record.headers = Revalidation.storable(response.headers)
    record.validators = Validators(
      entityTag: response.headers["ETag"],
      lastModified: response.headers["Last-Modified"]
    )
    record.digest = body.digest
    record.otherDigests = body.otherDigests
    record.size = body.size
    record.mime = response.headers["Content-Type"] ?? entry.mime
    record.finalURL = exchange.hop == entry.url ? nil : exchange.hop.string
    record.fetchedAt = now.wall
    record.status = response.status
    if let old, old.digest == body.digest, wasUsable {
      active[slot].result.outcome =
        Revalidation.isDifferent(old.headers, record.headers) ? .headers : .unchanged
      active[slot].result.action = .revalidate
    } else {
      active[slot].result.outcome = wasUsable ? .updated : .added
      active[slot].result.action = wasUsable ? .update : .fetch
    }
    active[slot].result.source = exchange.isAlternate ? .alternate : .network
    active[slot].result.finalURL = record.finalURL
    finishStoring(item, record, body: body, now: now)
  }

  /// What the manifest says of the item is renewed with every answer.
  ///
  /// `isPlain` are confirmations that bring nothing but a new time.
  private mutating func finishStoring(
    _ item: Int,
    _ given: ContentRecord,
    body: StagedBody?,
    now: Moment,
    isPlain: Bool = false
  ) {
    let slot = Int(items[item].slot)
    let entry = active[slot].entry
    var record = given
    let isDescribed = record.describe(entry)
    let isAsBefore = isPlain && !isDescribed && record.state == .cached && record.failure == nil
    record.state = .cached
    record.failure = nil
    if active[slot].result.source != .cache {
      record.validatedAt = now.wall
      record.freshUntil = Freshness.freshUntil(
        headers: record.headers,
        receivedAt: now.wall,
        limits: Planner.lifetimes(
          entry,
          of: active[slot].segments.map { segments[$0].declaration },
          policy: request.policy
        )
      )
    }
    items[item].state = .committing
    active[slot].result.state = .cached
    active[slot].result.isUsable = true
    active[slot].result.size = record.size
    active[slot].result.digest = record.digest
    noteQuiet(item, record)
    let row = row(of: items[item].step)
    if isAsBefore, let row {
      for index in active[slot].segments where !isHeld(item, by: index) {
        batch.join(segments[index].key, items: [row.item], now: now.uptime)
      }
      return batch.confirm(
        item: item,
        Confirmation(item: row.item, validatedAt: now.wall, freshUntil: record.freshUntil),
        now: now.uptime
      )
    }
    let keys = request.mode == .run ? active[slot].segments.map { segments[$0].key } : []
    batch.add(item: item, .store(record, body: body, joining: keys), now: now.uptime)
  }

  /// Whether the index has the item among those of the segment.
  private func isHeld(_ item: Int, by index: Int) -> Bool {
    if request.mode != .run { return true }
    return index == Int(items[item].segment) && items[item].step.isHeld
  }

  private mutating func noteQuiet(_ item: Int, _ record: ContentRecord) {
    let slot = Int(items[item].slot)
    let entry = active[slot].entry
    let isPinned = entry.digests.contains { $0.algorithm.isTrustworthy }
    for index in active[slot].segments {
      segments[index].noteQuiet(until: isPinned ? .distantFuture : record.freshUntil)
    }
  }
}
