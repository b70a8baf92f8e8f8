/// Room for an item before it is asked for, and for all that is under way.
extension Dispatcher {
  /// Bytes that will be wanted once what is under way is here.
  struct Promise: Sendable {
    var rank: ContentRank
    var bytes: Int64
    /// Whether they are only what has come so far.
    var isGrowing: Bool
  }

  /// Whether it may be asked for now; else it waits, or has settled.
  mutating func hasRoom(for item: Int) -> Bool {
    guard hasRoomRules, request.mode != .plan, isStored(item), promises[item] == nil else {
      return true
    }
    if isPart(item) {
      active[activate(item)].diskLimit = diskLeft
      return true
    }
    guard hasMeasuredRoom, request.policy.room.limit == nil || room != nil else {
      return waitForRoom(item, inDetail: false)
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
        fail(item, Self.full(need: declared, available, room.limit))
        return false
      }
      if isNew, promised > 0, need > available - promised {
        return waitForRoom(item)
      }
      // What others were promised may yet turn out smaller; the commit decides.
      active[activate(item)].roomLimit = max(1, available)
    }
    guard hasFreeDisk(for: item, need) else { return false }
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
    unclaim(item)
    unfit.append(item)
    // There may be many of them, and what was read of one is read again; what was told is not.
    if segments.count == 1, active[activate(item)].toldSize == nil { deactivate(item) }
    return false
  }

  /// Looks once more at what found no room, now that nothing else is under way.
  private mutating func lookForTheLastTime() {
    guard !unfit.isEmpty, inFlight.isEmpty, queue.count == 0, waiting.isEmpty, preparing == 0,
      awaitingRoom.isEmpty, !isPlanning, readingCount == 0, batch.isEmpty, !batch.isWriting,
      !isMeasuringRoom, halt == nil
    else { return }
    isLastLook = true
    let items = unfit
    unfit = []
    for item in items { enqueue(.item(item)) }
  }

  /// Whether enough stays free on the disk, for what is under way as well.
  private mutating func hasFreeDisk(for item: Int, _ need: Int64) -> Bool {
    let minimum = minimumFree
    guard minimum > 0, let free, need > 0 else { return true }
    let shortage = minimum.addingSaturated(promisedBytes).addingSaturated(need) - free
    guard shortage > 0 else { return true }
    guard room != nil else { return waitForRoom(item, inDetail: true) }
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
        )
      )
      return false
    }
    evict(room?.takeEvicted(keepingWhatFits: false) ?? [])
    self.free = free + shortage
    return true
  }

  /// What the disk has for a body that has not been asked about yet.
  var diskLeft: Int64? {
    guard minimumFree > 0, let free else { return nil }
    return max(1, free.addingSaturated(-minimumFree).addingSaturated(-promisedBytes))
  }

  /// Whether a body was larger than what the disk has for it: then it waits, or is asked for once
  /// more when its size is known, so that others can go for it.
  mutating func lacksDisk(_ item: Int, _ failure: Failure, announced: Int64?) -> Bool {
    let work = active[activate(item)]
    guard failure.code == .tooLarge, let limit = work.diskLimit, announced ?? .max > limit,
      limit < sizeLimit(work.roomLimit, in: Int(items[item].segment)) ?? .max
    else { return false }
    if let announced, work.toldSize == nil {
      askAnew(item, forWhole: announced)
      return true
    }
    let left = (free ?? 0) - promisedBytes
    let reason = DiskSpace.objection(to: announced, free: left, keeping: minimumFree)
    settleDeferred(item, Deferral(rule: .freeDisk), because: reason)
    return true
  }

  /// Asks for an item as if nothing was stored of it, if there is room for all of its body.
  mutating func askAnew(_ item: Int, forWhole size: Int64) {
    let slot = activate(item)
    active[slot].toldSize = size
    active[slot].exchange = nil
    dropPromise(of: item)
    reask(.item(item))
  }

  /// It gives its place on the wire to others until more is known, and other runs may ask for it.
  private mutating func waitForRoom(_ item: Int, inDetail: Bool? = nil) -> Bool {
    leaveWire(item)
    items[item].state = .waiting
    unclaim(item)
    awaitingRoom.append(item)
    if let inDetail { measureRoom(inDetail: inDetail) }
    return false
  }

  mutating func resumeForRoom() {
    let resumed = awaitingRoom
    awaitingRoom = []
    for item in resumed where items[item].state == .waiting {
      enqueue(.item(item))
    }
  }

  /// An item that has settled wants no more than it has got.
  mutating func endPromise(of item: Int, _ result: ItemResult) {
    guard dropPromise(of: item) else { return }
    let isStored = result.source == .network || result.source == .alternate
    if hasNoPromises || !isStored || result.failure != nil {
      hasRoomNews = !awaitingRoom.isEmpty
    }
  }

  var hasNoPromises: Bool {
    promises.isEmpty && plainPromiseCount == 0
  }

  @discardableResult
  private mutating func dropPromise(of item: Int) -> Bool {
    guard !promises.isEmpty, let promise = promises.removeValue(forKey: item) else { return false }
    promisedBytes -= promise.bytes
    return true
  }

  /// Lets those try again that others left no room for, once these have less than was thought.
  mutating func tryRoomAgain() {
    lookForTheLastTime()
    let isHeldByNobody = hasNoPromises && !awaitingRoom.isEmpty && !isMeasuringRoom
    guard hasRoomNews || isHeldByNobody else { return }
    hasRoomNews = false
    resumeForRoom()
  }

  /// How large a body is, which is here and waits for its commit.
  mutating func settlePromise(of item: Int, _ size: Int64) {
    guard !promises.isEmpty, let promise = promises[item] else { return }
    promisedBytes += size - promise.bytes
    promises[item]?.bytes = size
    promises[item]?.isGrowing = false
  }

  /// What has come of a body whose size was not told.
  mutating func growPromise(of job: Job, by bytes: Int64) {
    guard case .item(let item) = job else { return }
    if isPlain(item) { return growPlain(item, by: bytes) }
    guard !promises.isEmpty, promises[item]?.isGrowing == true else {
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
}
