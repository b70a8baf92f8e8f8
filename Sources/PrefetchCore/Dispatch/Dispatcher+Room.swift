/// What there is room for: before an item is asked for, and again before its body is committed.
extension Dispatcher {
  /// Bytes that will be wanted once what is under way is here.
  struct Promise: Sendable {
    var rank: ContentRank
    var bytes: Int64
    /// Whether they are only what has come so far.
    var isGrowing: Bool
  }

  /// Whether there is anything to hold the run's bodies to.
  var hasRoomRules: Bool {
    request.policy.room.limit != nil || request.policy.room.minimumFree != 0
  }

  // MARK: Measuring

  /// Whether somebody is about to ask for an item, and nobody knows what there is room for.
  var needsRoomReading: Bool {
    hasRoomRules && hasInventory && request.mode != .plan && queue.count > 0 && halt == nil
      && (!hasMeasuredRoom || request.policy.room.limit != nil && room == nil)
  }

  /// Asks how much room there is; whatever waits for it goes on when that is known.
  mutating func measureRoom(inDetail: Bool, into effects: inout [Effect]) {
    guard !isMeasuringRoom else { return }
    isMeasuringRoom = true
    measuresInDetail = inDetail || request.policy.room.limit != nil
    effects.append(.measureRoom(inDetail: measuresInDetail))
  }

  mutating func roomMeasured(_ reading: RoomReading, now: Moment, into effects: inout [Effect]) {
    isMeasuringRoom = false
    if isCheckingRoom {
      isCheckingRoom = false
      isRoomChecked = true
      note(reading)
      return
    }
    hasMeasuredRoom = true
    note(reading)
    if let stock = reading.stock, refusals <= Self.patience {
      let order = contentOrder()
      room = Room(limit: request.policy.room.limit, stock: stock) { order.rank(of: $0, in: stock) }
      if request.mode == .plan { self.stock = stock }
    } else if measuresInDetail {
      // What cannot be counted is found out by the commit; what that has refused has no room.
      room = Room(uncounted: refusals > 0 ? request.policy.room.limit : nil)
    }
    resumeForRoom(now: now, into: &effects)
  }

  /// How often the same is given to a store that refuses it; somebody else may be as busy for ever.
  private static let patience = 3

  /// How the disk stands, and what of it must stay free.
  mutating func note(_ reading: RoomReading) {
    free = reading.disk?.free
    minimumFree = reading.disk.map { request.policy.room.minimumFree(of: $0.size) } ?? 0
    // Somebody else has written, or something left: what may go has to be looked at again.
    if let used = reading.used, let room, room.isCounted, used != room.used { self.room = nil }
  }

  /// What is known by now of who declares what.
  private func contentOrder() -> ContentOrder {
    var order = ContentOrder(
      identity: request.identity,
      rules: request.policy.room,
      recorded: start.segments,
      now: facts.now
    )
    guard request.mode != .get else {
      order.isWhole = false
      return order
    }
    for index in segments.indices {
      order.segments[segments[index].declaration.name] = standing(of: index)
    }
    for (name, other) in request.unselected {
      order.segments[name] = ContentOrder.Segment(
        priority: other.declaration.priority,
        place: 2 * other.place
      )
    }
    return order
  }

  private func standing(of index: Int) -> ContentOrder.Segment {
    let segment = segments[index]
    return ContentOrder.Segment(
      priority: segment.priority ?? segment.recorded?.priority,
      // Between two that were selected others may stand.
      place: 2 * index + 1,
      entries: segment.isDeclared && segment.declaration.isStored ? segment.table : nil
    )
  }

  /// Where an item stands, by the most important of those that name it.
  func rank(of item: Int) -> ContentRank {
    guard request.mode != .get else { return .passing }
    let work = items[item]
    let key = key(of: item)
    var best: ContentRank?
    for index in work.slot >= 0 ? active[Int(work.slot)].segments : [Int(work.segment)] {
      let entry =
        index == Int(work.segment)
        ? Int(work.step.entry) : segments[index].table.value.position(of: key)
      guard let entry,
        let rank = ContentOrder.rank(of: entry, in: standing(of: index), at: facts.now)
      else { continue }
      best = min(best ?? rank, rank)
    }
    return best ?? .passing
  }

  func key(of item: Int) -> URLKey {
    segments[Int(items[item].segment)].table.value.key(at: Int(items[item].step.entry))
  }

  // MARK: Before an item is asked for

  /// Whether it may be asked for now; else it waits, or has settled.
  mutating func hasRoom(for item: Int, now: Moment, into effects: inout [Effect]) -> Bool {
    guard hasRoomRules, request.mode != .plan, isStored(item), promises[item] == nil else {
      return true
    }
    guard hasMeasuredRoom, request.policy.room.limit == nil || room != nil else {
      return waitForRoom(item, inDetail: false, into: &effects)
    }
    let told = active[activate(item)].toldSize
    let isNew = items[item].step.decision != .revalidate || told != nil
    let declared = told ?? active[activate(item)].entry.size
    let need = isNew ? declared ?? 1 : 0
    var promise = Promise(
      rank: .passing,
      bytes: isNew ? declared ?? 0 : 0,
      isGrowing: declared == nil
    )
    if request.policy.room.limit != nil, let room {
      let rank = rank(of: item)
      promise.rank = rank
      let promised = promises.values.reduce(0) { $1.rank < rank ? $0 + $1.bytes : $0 }
      let available = room.available(for: rank, of: .item(key(of: item)))
      // What is only looked at again needs nothing, even where a lowered limit is passed already.
      guard !isNew || need <= available else {
        guard isLastLook else { return park(item) }
        leaveWire(item)
        fail(item, Self.full(need: declared, available, room.limit), now: now, into: &effects)
        return false
      }
      if isNew, promised > 0, need > available - promised {
        return waitForRoom(item, into: &effects)
      }
      // What others were promised may yet turn out smaller; the commit decides.
      active[activate(item)].roomLimit = max(1, available)
    }
    guard hasFreeDisk(for: item, need, now: now, into: &effects) else { return false }
    active[activate(item)].diskLimit = isNew && declared != nil ? nil : diskLeft
    promises[item] = promise
    promisedBytes += promise.bytes
    isLastLook = false
    return true
  }

  /// There is no room for it as things stand; what is under way may turn out smaller, or what tells a
  /// segment what it holds may push others out.
  private mutating func park(_ item: Int) -> Bool {
    leaveWire(item)
    items[item].state = .waiting
    unfit.append(item)
    // There may be many of them, and what was read of one is read again.
    if segments.count == 1 { deactivate(item) }
    return false
  }

  /// Looks once more at what found no room, now that nothing else is under way.
  private mutating func lookForTheLastTime(now: Moment, into effects: inout [Effect]) {
    guard !unfit.isEmpty, inFlight.isEmpty, queue.count == 0, waiting.isEmpty, preparing == 0,
      awaitingRoom.isEmpty, !isPlanning, readingCount == 0, batch.isEmpty, !batch.isWriting,
      !isMeasuringRoom, halt == nil
    else { return }
    isLastLook = true
    let items = unfit
    unfit = []
    for item in items { enqueue(.item(item), now: now, into: &effects) }
  }

  /// Whether enough stays free on the disk, for what is under way as well.
  private mutating func hasFreeDisk(
    for item: Int,
    _ need: Int64,
    now: Moment,
    into effects: inout [Effect]
  ) -> Bool {
    let minimum = minimumFree
    guard minimum > 0, let free, need > 0 else { return true }
    let shortage = minimum.addingSaturated(promisedBytes).addingSaturated(need) - free
    guard shortage > 0 else { return true }
    guard room != nil else { return waitForRoom(item, inDetail: true, into: &effects) }
    let rank = rank(of: item)
    guard room?.free(shortage, for: rank) == true else {
      leaveWire(item)
      settleDeferred(
        item,
        Deferral(rule: .freeDisk),
        because: DiskSpace.objection(
          to: active[activate(item)].toldSize ?? active[activate(item)].entry.size,
          free: free - promisedBytes,
          keeping: minimum
        ),
        into: &effects
      )
      return false
    }
    evict(room?.takeEvicted(keepingWhatFits: false) ?? [], now: now.uptime)
    self.free = free + shortage
    return true
  }

  /// What the disk has for a body that nobody has asked about yet.
  var diskLeft: Int64? {
    guard minimumFree > 0, let free else { return nil }
    return max(1, free.addingSaturated(-minimumFree).addingSaturated(-promisedBytes))
  }

  /// Whether a body was larger than what the disk has for it: then it waits, or is asked for once
  /// more when its size is known, so that others can go for it.
  mutating func lacksDisk(
    _ item: Int,
    _ failure: Failure,
    announced: Int64?,
    now: Moment,
    into effects: inout [Effect]
  ) -> Bool {
    let work = active[activate(item)]
    guard failure.code == .tooLarge, let limit = work.diskLimit,
      limit < sizeLimit(work.roomLimit, in: Int(items[item].segment)) ?? .max
    else { return false }
    if let announced, work.toldSize == nil {
      askAnew(item, forWhole: announced, now: now, into: &effects)
      return true
    }
    let left = (free ?? 0) - promisedBytes
    let reason = DiskSpace.objection(to: announced, free: left, keeping: minimumFree)
    settleDeferred(item, Deferral(rule: .freeDisk), because: reason, into: &effects)
    return true
  }

  /// Asks for an item as if nothing was stored of it, if there is room for all of its body.
  mutating func askAnew(
    _ item: Int,
    forWhole size: Int64,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let slot = activate(item)
    active[slot].toldSize = size
    active[slot].exchange = nil
    dropPromise(of: item)
    reask(.item(item), now: now, into: &effects)
  }

  /// It gives its place on the wire to others until more is known.
  private mutating func waitForRoom(
    _ item: Int,
    inDetail: Bool? = nil,
    into effects: inout [Effect]
  ) -> Bool {
    leaveWire(item)
    items[item].state = .waiting
    awaitingRoom.append(item)
    if let inDetail { measureRoom(inDetail: inDetail, into: &effects) }
    return false
  }

  private mutating func resumeForRoom(now: Moment, into effects: inout [Effect]) {
    let resumed = awaitingRoom
    awaitingRoom = []
    for item in resumed where items[item].state == .waiting {
      enqueue(.item(item), now: now, into: &effects)
    }
  }

  /// An item that has settled wants no more than it has got.
  mutating func endPromise(of item: Int, _ result: ItemResult) {
    guard dropPromise(of: item) else { return }
    let isStored = result.source == .network || result.source == .alternate
    if promises.isEmpty || !isStored || result.failure != nil {
      hasRoomNews = !awaitingRoom.isEmpty
    }
  }

  @discardableResult
  private mutating func dropPromise(of item: Int) -> Bool {
    guard !promises.isEmpty, let promise = promises.removeValue(forKey: item) else { return false }
    promisedBytes -= promise.bytes
    return true
  }

  /// Lets those try again that others left no room for, once these have less than was thought.
  mutating func tryRoomAgain(now: Moment, into effects: inout [Effect]) {
    lookForTheLastTime(now: now, into: &effects)
    let isHeldByNobody = promises.isEmpty && !awaitingRoom.isEmpty && !isMeasuringRoom
    guard hasRoomNews || isHeldByNobody else { return }
    hasRoomNews = false
    resumeForRoom(now: now, into: &effects)
  }

  /// How large a body is, which is here and waits for its commit.
  mutating func settlePromise(of item: Int, _ size: Int64) {
    guard !promises.isEmpty, let promise = promises[item] else { return }
    promisedBytes += size - promise.bytes
    promises[item]?.bytes = size
    promises[item]?.isGrowing = false
  }

  /// What has come of a body whose size nobody told.
  mutating func growPromise(of job: Job, by bytes: Int64) {
    guard !promises.isEmpty, case .item(let item) = job, promises[item]?.isGrowing == true else {
      return
    }
    promises[item]?.bytes += bytes
    promisedBytes += bytes
  }

  static func full(need: Int64?, _ available: Int64, _ limit: Int64) -> Failure {
    let sizes = SizeText.format(together: [max(0, available)] + (need.map { [$0] } ?? []))
    let size = need == nil ? "it is larger" : "it has \(sizes[1])"
    let total = SizeText.format(limit: limit)
    return Failure(
      .cacheFull,
      "what comes before it leaves \(sizes[0]) of the \(total) of `cache.size`, and \(size)"
    )
  }

  // MARK: Before a commit

  /// Decides which of the batch's bodies there is room for, the most important first; false where
  /// that is not known yet.
  mutating func admitBodies(now: Moment, into effects: inout [Effect]) -> Bool {
    guard request.policy.room.limit != nil, batch.bringsBodies else { return true }
    guard !isMeasuringRoom else { return false }
    guard room != nil else {
      measureRoom(inDetail: true, into: &effects)
      return false
    }
    guard isRoomChecked else {
      isMeasuringRoom = true
      isCheckingRoom = true
      effects.append(.measureRoom(inDetail: false))
      return false
    }
    isRoomChecked = false
    let wanted = batch.entries.indices.compactMap { place in
      newcomer(with: batch.entries[place].change, of: batch.entries[place].item).map {
        (place: place, $0)
      }
    }
    var refused: [Int] = []
    for (place, newcomer) in wanted.sorted(by: { $0.1.rank < $1.1.rank }) {
      if !admit(newcomer) { refused.append(place) }
    }
    let entries = batch.remove(at: refused)
    evict(room?.takeEvicted() ?? [], now: now.uptime)
    for entry in entries { refuse(entry, now: now, into: &effects) }
    return true
  }

  mutating func admit(_ newcomer: Newcomer) -> Bool {
    for (digest, size) in newcomer.bodies {
      let fits = room?.admit(digest, size: size, rank: newcomer.rank, of: newcomer.owner)
      guard fits == true else { return false }
    }
    return true
  }

  struct Newcomer {
    var rank: ContentRank
    var bodies: [(ContentDigest, Int64)]
    var owner: Room.Owner
  }

  func newcomer(with change: StoreChange, of item: Int? = nil) -> Newcomer? {
    switch change {
    case .store(let record, let body, _):
      guard let item, let digest = body?.digest ?? record.digest else { return nil }
      let key = key(of: item)
      // What only renews what is known of a body takes no room.
      guard body != nil || digest != room?.body(of: key) else { return nil }
      return Newcomer(
        rank: rank(of: item),
        bodies: [(digest, body?.size ?? record.size)],
        owner: .item(key)
      )
    case .segment(let record, let manifest):
      guard let manifest else { return nil }
      let old = start.segments.first { $0.key == record.key }?.manifest
      return Newcomer(
        rank: rank(of: record.key),
        bodies: [(manifest.digest, manifest.size)],
        owner: .document(old)
      )
    case .documents(let key, _, let bodies):
      guard !bodies.isEmpty else { return nil }
      return Newcomer(
        rank: rank(of: key),
        bodies: bodies.map { ($0.digest, $0.size) },
        owner: .document(nil)
      )
    case .confirm, .join, .joinNew, .leave, .evict, .forget:
      return nil
    }
  }

  private func rank(of key: SegmentKey) -> ContentRank {
    guard let index = segments.firstIndex(where: { $0.key == key }) else { return .passing }
    return .manifest(priority: segments[index].priority, segment: 2 * index + 1)
  }

  private mutating func refuse(
    _ entry: CommitBatch.Entry,
    now: Moment,
    into effects: inout [Effect]
  ) {
    for body in entry.change.bodies { effects.append(.discard(body)) }
    let limit = request.policy.room.limit ?? 0
    switch entry.change {
    case .store(let record, let body, _):
      guard let item = entry.item else { return }
      let available = room?.available(for: rank(of: item), of: .item(key(of: item))) ?? 0
      restoreResult(of: item)
      fail(
        item,
        Self.full(need: body?.size ?? record.size, available, limit),
        now: now,
        into: &effects
      )
    case .segment, .documents, .confirm, .join, .joinNew, .leave, .evict, .forget:
      refuseList(entry.change)
    }
  }

  /// Its items are served all the same; the next run asks for the list once more.
  @discardableResult
  mutating func refuseList(_ change: StoreChange) -> Int? {
    let key: SegmentKey
    switch change {
    case .segment(let record, _): key = record.key
    case .documents(let owner, _, _): key = owner
    case .store, .confirm, .join, .joinNew, .leave, .evict, .forget: return nil
    }
    guard let index = segments.firstIndex(where: { $0.key == key }) else { return nil }
    let limit = request.policy.room.limit ?? 0
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

  /// Takes back what was said of an item whose body does not come in after all.
  mutating func restoreResult(of item: Int) {
    let slot = activate(item)
    let row = row(of: items[item].step)
    let isStillUsable = if let row { isUsable(row) } else { false }
    active[slot].result.isUsable = isStillUsable
    active[slot].result.state = isStillUsable ? .cached : .failed
    active[slot].result.source = nil
    active[slot].result.size =
      row.flatMap { $0.hasBody ? $0.size : nil } ?? active[slot].entry.size
    active[slot].result.digest = row.flatMap { $0.hasBody ? $0.digest : nil }
    freshBodies[URLKey(active[slot].result.url)] = nil
  }

  // MARK: What goes

  /// The bodies go with the next commit, after everything else in it.
  private mutating func evict(_ digests: [ContentDigest], now: Duration) {
    guard !digests.isEmpty else { return }
    facts.missing.formUnion(digests)
    evicted.formUnion(digests)
    batch.add(.evict(digests, for: request.identity), now: now)
  }

  /// Brings a cache whose limit was lowered back within it, once everything has come that may have
  /// become smaller.
  mutating func shrinkRoom(now: Moment, into effects: inout [Effect]) {
    guard mayShrink, request.mode == .run, !hasOpenWork, readingCount == 0, batch.isEmpty,
      !batch.isWriting, segments.allSatisfy({ $0.phase == .settled })
    else { return }
    guard room != nil else { return measureRoom(inDetail: true, into: &effects) }
    hasShrunk = true
    room?.shrink()
    evict(room?.takeEvicted() ?? [], now: now.uptime)
  }

  /// Whether the limit may still be one that was lowered.
  var mayShrink: Bool {
    request.policy.room.limit != nil && hasInventory && halt == nil && storeFailure == nil
      && !hasShrunk
  }

  /// Tells what went for want of room: of what this run declares, that it is not there.
  mutating func announceEvicted(_ removed: [RemovedContent], into effects: inout [Effect]) {
    let open = openKeys(among: removed)
    var changed: Set<Int> = []
    for content in removed where content.hadBody {
      let key = URLKey(content.url)
      let holders = segments.indices.filter { misses(content, key, in: $0) }
      guard !holders.isEmpty else {
        announceRemoved([content], "evicted to make room", into: &effects)
        continue
      }
      // Its own end will tell.
      guard !open.contains(key) else { continue }
      var result = ItemResult(
        url: content.url,
        id: content.id,
        segments: holders.map { segments[$0].declaration.name },
        state: .failed,
        action: .fail,
        reason: "evicted for what comes before it"
      )
      result.outcome = .failed
      result.size = content.size
      result.isRequired = holders.contains {
        segments[$0].declaration.isRequired && requires(key, in: $0)
      }
      result.failure = Failure(.cacheFull, "it had to go: what comes before it needs \(shortOf)")
      // What a list that did not come would have named was not counted before.
      let wasTold = holders.contains { segments[$0].isDeclared }
      let was = endings[key] ?? .keep
      effects.append(.announce(wasTold ? .itemEvicted(result, was: was) : .itemSettled(result)))
      for index in holders {
        if requires(key, in: index) { segments[index].hasFailures = true }
        segments[index].usableCount -= 1
        segments[index].usableBytes -= content.size
        segments[index].noteQuiet(until: nil)
        if segments[index].phase == .settled { changed.insert(index) }
      }
    }
    for index in changed.sorted() { announceStanding(index, into: &effects) }
  }

  private var shortOf: String {
    request.policy.room.limit.map { "the \(SizeText.format(limit: $0)) of `cache.size`" }
      ?? "the disk, of which `cache.min_free` keeps \(SizeText.format(minimumFree)) free"
  }

  /// Whether a segment of the run declares what went; where nobody looked, whatever it held.
  private func misses(_ content: RemovedContent, _ key: URLKey, in index: Int) -> Bool {
    guard segments[index].declaration.isStored, request.mode != .get else { return false }
    guard segments[index].isDeclared else { return content.segments.contains(segments[index].key) }
    guard let entry = segments[index].table.value.position(of: key) else { return false }
    return ContentOrder.rank(of: entry, in: standing(of: index), at: facts.now) != nil
  }

  /// Whether a segment is not as declared without an item.
  private func requires(_ key: URLKey, in index: Int) -> Bool {
    let entries = segments[index].table.value
    guard let entry = entries.position(of: key), entries.isSpecial(at: entry) else { return true }
    return entries[entry].isRequired
  }

  /// Items that are still to come to an end; looked for once, however many went.
  private func openKeys(among removed: [RemovedContent]) -> Set<URLKey> {
    let keys = Set(removed.map { URLKey($0.url) })
    guard !keys.isEmpty else { return [] }
    var open: Set<URLKey> = []
    for work in items where work.state != .settled {
      let key = segments[Int(work.segment)].table.value.key(at: Int(work.step.entry))
      if keys.contains(key) { open.insert(key) }
    }
    return open
  }
}
