extension Dispatcher {
  mutating func measureRoom(inDetail: Bool) {
    guard let inDetail = space.beginReading(inDetail: inDetail) else { return }
    effects.append(.measureRoom(inDetail: inDetail))
  }

  var needsRoomReading: Bool {
    space.hasRules && space.lacksReading && hasInventory && !request.mode.probes
      && wire.queuedCount > 0 && halt == nil
  }

  mutating func roomMeasured(_ reading: RoomReading) {
    let order = space.counts(reading) ? contentOrder() : nil
    if space.receive(reading, in: order, predicts: request.mode.predicts) { resumeForRoom() }
  }

  // MARK: Requests

  mutating func hasRoom(for item: Int) -> Bool {
    guard space.hasRules, !request.mode.probes, isStored(item), !space.reservations.has(item) else {
      return true
    }
    let work = activate(item)
    if isPiece(item) {
      work.diskLimit = space.diskLeft
      return true
    }
    var need = Space.Need(
      size: work.reportedSize ?? work.entry.size,
      isNew: items[item].step.decision != .revalidate || work.reportedSize != nil,
      owner: .item(key(of: item))
    )
    if space.ranks(need) { need.rank = rank(of: item) }
    switch space.request(item, need) {
    case .granted(let grant):
      evict(grant.evicted)
      if let limit = grant.roomLimit { work.roomLimit = limit }
      work.diskLimit = grant.diskLimit
      return true
    case .waits(let inDetail):
      leaveForRoom(item)
      if let inDetail { measureRoom(inDetail: inDetail) }
    case .parked:
      leaveForRoom(item)
      // Frees the objects of many parked items; a reported size would be lost.
      if segments.count == 1, work.reportedSize == nil { items.deactivate(item) }
    case .full(let available):
      leaveWire(.item(item))
      fail(item, space.full(need: need.size, available))
    case .deferred(let free):
      leaveWire(.item(item))
      let reason = space.diskObjection(to: need.size, free: free)
      settleDeferred(item, Deferral(rule: .freeDisk), because: reason)
    }
    return false
  }

  private mutating func leaveForRoom(_ item: Int) {
    leaveWire(.item(item))
    items[item].state = .waiting
    unclaim(item)
  }

  /// Defers an item too large for the disk, or asks again with its size; returns whether it did.
  mutating func lacksDisk(_ item: Int, _ failure: Failure, announced: Int64?) -> Bool {
    let work = activate(item)
    guard failure.code == .tooLarge, let limit = work.diskLimit, announced ?? .max > limit,
      limit < sizeLimit(work.roomLimit, in: Int(items[item].segment)) ?? .max
    else { return false }
    if let announced, work.reportedSize == nil {
      requestAgain(item, withSize: announced)
      return true
    }
    let left = (space.free ?? 0) - space.reservations.bytes
    let reason = space.diskObjection(to: announced, free: left)
    settleDeferred(item, Deferral(rule: .freeDisk), because: reason)
    return true
  }

  mutating func requestAgain(_ item: Int, withSize size: Int64) {
    let work = activate(item)
    work.reportedSize = size
    work.exchange = nil
    space.reservations.drop(item)
    reask(.item(item))
  }

  private mutating func resumeForRoom() {
    resume(space.queue.drainWaiting())
  }

  private mutating func resume(_ waiting: [Int]) {
    for item in waiting where items[item].state == .waiting { enqueue(.item(item)) }
  }

  mutating func tryRoomAgain() {
    lookForTheLastTime()
    resume(space.drainRetries())
  }

  /// Queues parked items once more when no other work is open.
  private mutating func lookForTheLastTime() {
    guard space.queue.isParkedOnly, halt == nil, isQuiescent(except: .room) else { return }
    for item in space.queue.drainParked() { enqueue(.item(item)) }
  }

  mutating func growReservation(of job: Job, by bytes: Int64) {
    guard case .item(let item) = job else { return }
    if items.isSimple(item) { return growSimple(item, by: bytes) }
    space.reservations.grow(item, by: bytes)
  }

  // MARK: Commits

  /// Admits the batch's bodies by rank; returns false while room is being measured.
  mutating func admitBodies() -> Bool {
    guard space.rules.limit != nil, batch.bringsBodies else { return true }
    guard !space.isMeasuring else { return false }
    guard space.consumeCheck() else {
      effects.append(.measureRoom(inDetail: space.beginCheck()))
      return false
    }
    let wanted = batch.entries.indices.compactMap { index in
      newcomer(with: batch.entries[index].change, of: batch.entries[index].item).map {
        (index: index, $0)
      }
    }
    var refused: [Int] = []
    for (index, newcomer) in wanted.sorted(by: { $0.1.rank < $1.1.rank }) {
      if !space.admit(newcomer) { refused.append(index) }
    }
    let entries = batch.remove(at: refused)
    evict(space.drainEvicted())
    for entry in entries { refuse(entry) }
    return true
  }

  func newcomer(with change: StoreChange, of item: Int? = nil) -> Space.Newcomer? {
    switch change {
    case .store(let record, let body, _, _):
      guard let item, let digest = body?.digest ?? record.digest else { return nil }
      let key = key(of: item)
      // A change of the row alone takes no room.
      guard body != nil || digest != space.room?.body(of: key) else { return nil }
      return Space.Newcomer(
        rank: rank(of: item),
        bodies: [(digest, record.wholeSize - reservedBytes(of: item, in: record))],
        owner: .item(key)
      )
    case .segment(let record, let manifest):
      guard let manifest else { return nil }
      let old = start.segments.first { $0.key == record.key }?.manifest
      return Space.Newcomer(
        rank: rank(of: record.key),
        bodies: [(manifest.digest, manifest.size)],
        owner: .document(old)
      )
    case .documents(let key, _, let bodies):
      guard !bodies.isEmpty else { return nil }
      return Space.Newcomer(
        rank: rank(of: key),
        bodies: bodies.map { ($0.digest, $0.size) },
        owner: .document(nil)
      )
    case .arrived, .confirm, .join, .joinNew, .leave, .evict, .forget, .dated, .sighted:
      return nil
    }
  }

  /// Returns the bytes that earlier runs reserved for the item, which need no further room.
  private func reservedBytes(of item: Int, in record: ContentRecord) -> Int64 {
    // Reserved files beside an older body are counted and evicted with it.
    guard !record.files.isEmpty, space.room?.body(of: key(of: item)) == nil,
      let known = items.ifActive(item)?.record?.value
    else { return 0 }
    let reserved = Set(known.files.filter(\.isReserved).map(\.digest))
    return record.otherFiles.reduce(0) { $0 + (reserved.contains($1.digest) ? $1.size : 0) }
  }

  private mutating func refuse(_ entry: CommitBatch.Pending) {
    for body in entry.change.bodies { effects.append(.discard(body)) }
    switch entry.change {
    case .store(let record, let body, _, _):
      guard let item = entry.item else { return }
      // Another process has removed the stored body.
      if body == nil { lose(record.digest) }
      if let row = row(of: items[item].step), row.hasBody, space.room?.holds(row.digest) == false {
        lose(row.digest)
      }
      let available = space.room?.available(for: rank(of: item), of: .item(key(of: item))) ?? 0
      restoreResult(of: item)
      forgetReserved(item)
      fail(item, space.full(need: record.wholeSize, available))
    case .segment, .documents, .arrived, .confirm, .join, .joinNew, .leave, .evict, .forget, .dated,
      .sighted:
      refuseList(entry.change)
    }
  }

  private mutating func lose(_ digest: ContentDigest?) {
    guard let digest else { return }
    facts.missing.insert(digest)
    space.lose(digest)
  }

  /// Fails a list without room; its items are served, and the next run requests the list again.
  @discardableResult
  mutating func refuseList(_ change: StoreChange) -> Int? {
    let key: SegmentKey
    switch change {
    case .segment(let record, _): key = record.key
    case .documents(let owner, _, _): key = owner
    case .store, .arrived, .confirm, .join, .joinNew, .leave, .evict, .forget, .dated, .sighted:
      return nil
    }
    guard let index = segments.index(of: key) else { return nil }
    let limit = space.rules.limit ?? 0
    segments[index].manifest.failure = Failure(
      .cacheFull,
      "the \(SizeText.format(limit: limit)) of `cache.size` have no room for the manifest"
    )
    let recorded = segments[index].recorded
    segments[index].accepted?.manifest = recorded?.manifest
    segments[index].accepted?.validators = recorded?.validators ?? Validators()
    segments[index].accepted?.manifestFinalURL = recorded?.manifestFinalURL
    return index
  }

  mutating func restoreResult(of item: Int) {
    let work = activate(item)
    let row = row(of: items[item].step)
    let isStillUsable = if let row { isUsable(row) } else { false }
    work.result.isUsable = isStillUsable
    work.result.state = isStillUsable ? .cached : .failed
    work.result.source = nil
    work.result.size = row.flatMap { $0.hasBody ? $0.size : nil } ?? work.entry.size
    work.result.digest = row.flatMap { $0.hasBody ? $0.digest : nil }
    freshBodies[URLKey(work.entry.recordURL)] = nil
  }

  private mutating func evict(_ digests: [ContentDigest]) {
    guard !digests.isEmpty else { return }
    facts.missing.formUnion(digests)
    let change = StoreChange.evict(digests, for: request.identity, because: evictionFailure)
    batch.add(change, now: now.uptime)
  }

  /// Evicts bodies down to a lowered limit, after all items that may shrink have ended.
  mutating func shrinkRoom() {
    guard mayShrink, request.mode.keepsSegments, isQuiescent(),
      segments.areSettled
    else { return }
    guard space.room != nil else { return measureRoom(inDetail: true) }
    space.shrink()
    evict(space.drainEvicted())
  }

  var mayShrink: Bool {
    space.rules.limit != nil && hasInventory && halt == nil && storeFailure == nil
      && !space.hasShrunk
  }
}
