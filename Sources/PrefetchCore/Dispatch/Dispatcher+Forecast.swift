/// What a dry run can say only once it knows all that a run would bring: whether there is room for
/// it, and whether together it uses up a budget.
///
/// What the disk has plenty of room for, where nothing else is limited, is told at once.
extension Dispatcher {
  struct Foretold: Sendable {
    var item: Int
    /// What a probe has told, where nothing else is kept of the item.
    var result: ItemResult?
    /// How large a body would come, where a probe has told.
    var toldSize: Int64?
  }

  /// Whether the end of an item has to wait for the forecast.
  mutating func holdsForecast(_ item: Int) -> Bool {
    let hasBudgets = network?.keepsUsage == true
    guard request.mode == .plan, !isForecasting, halt == nil,
      hasBudgets || hasRoomRules && isStored(item)
    else { return false }
    let result = active[activate(item)].result
    let isOver = result.failure != nil || result.deferral != nil
    if isOver {
      // What there is no room for a run does not even ask about, and never learns this.
      let mayLackRoom = hasRoomRules && isStored(item) && items[item].step.decision != .revalidate
      guard result.attempts > 0, hasBudgets || mayLackRoom else { return false }
    } else {
      guard result.action == .fetch || result.action == .update else { return false }
    }
    if isOver || !hasBudgets, request.policy.room.limit == nil, hasMeasuredRoom,
      fitsOnDisk(isOver ? nil : result.size)
    {
      return false
    }
    items[item].state = .committing
    // A million may wait; what other segments have to do with one is known only while it is active.
    let isAlone = segments.count == 1
    let told = active[activate(item)].toldSize
    let kept = isAlone && result.attempts > 0 ? result : nil
    foretold.append(Foretold(item: item, result: kept, toldSize: told))
    if isAlone { deactivate(item) }
    return true
  }

  private mutating func fitsOnDisk(_ size: Int64?) -> Bool {
    guard let free else { return true }
    let left = free.addingSaturated(-forecastBytes).addingSaturated(-minimumFree)
    guard left >= max(1, size ?? 1) else { return false }
    forecastBytes += size ?? 0
    return true
  }

  /// Decides about what was held, once nothing else is under way.
  mutating func foretell() {
    guard request.mode == .plan, hasForecast, inFlight.isEmpty, queue.count == 0, waiting.isEmpty,
      preparing == 0, !isPlanning, readingCount == 0,
      network?.isReading != true, segments.allSatisfy({ $0.phase != .discovering })
    else { return }
    guard halt != nil || room != nil || !hasRoomRules else {
      return measureRoom(inDetail: true)
    }
    hasShrunk = true
    isForecasting = true
    defer { isForecasting = false }
    let held = foretold.map { (rank: rank(of: $0.item), $0) }
    foretold = []
    var lists = foretoldLists.compactMap { list in newcomer(with: list).map { ($0, list) } }
    foretoldLists = []
    lists.sort { $1.0.rank < $0.0.rank }
    for (rank, foretold) in held.sorted(by: { $0.rank < $1.rank }) {
      while let last = lists.last, last.0.rank < rank {
        lists.removeLast()
        foretell(last)
      }
      let slot = activate(foretold.item)
      if let result = foretold.result { active[slot].result = result }
      active[slot].toldSize = foretold.toldSize
      guard halt == nil else {
        let isOver = active[slot].result.failure != nil || active[slot].result.deferral != nil
        if isOver {
          settleItem(foretold.item)
        } else {
          settleItemHalted(foretold.item)
        }
        continue
      }
      foretell(foretold.item, rank)
    }
    for list in lists.reversed() { foretell(list) }
    if request.policy.room.limit != nil { room?.shrink() }
    foreseeEvictions(of: room?.takeEvicted(keepingWhatFits: !isDiskShort) ?? [])
  }

  private mutating func foretell(_ list: (newcomer: Newcomer, change: StoreChange)) {
    guard halt == nil, !admit(list.newcomer), let index = refuseList(list.change) else { return }
    guard segments[index].phase == .settled else { return }
    segments[index].told = nil
    announceManifest(index)
    announceStanding(index)
  }

  /// Whether the forecast has still to be made.
  var hasForecast: Bool {
    !foretold.isEmpty || mayShrink && request.mode == .plan
  }

  /// Settles an item, for which others may have to go, by the first rule that would bite.
  private mutating func foretell(_ item: Int, _ rank: ContentRank) {
    let work = active[activate(item)]
    guard work.result.failure == nil, work.result.deferral == nil else {
      return foretellUnasked(item, rank)
    }
    let size = work.result.size
    let owner = Room.Owner.item(key(of: item))
    let digest = work.digests.compactMap { ContentDigest(bytes: $0.bytes) }.first
    let place = digest ?? ContentDigest(standingFor: URLKey(work.result.url))
    let limit = isStored(item) ? request.policy.room.limit : nil
    // Nothing is changed and taken back: that would copy the whole room for each item.
    if let limit, room?.fits(place, size: size ?? 1, rank: rank, of: owner) == false {
      let available = room?.available(for: rank, of: owner) ?? 0
      return fail(item, Self.full(need: size, available, limit))
    }
    if let deferral = budgetDeferral(of: item) {
      return settleDeferred(item, deferral)
    }
    if isStored(item), let free, minimumFree > 0 {
      let need = max(1, size ?? 1)
      let left = free.addingSaturated(-forecastBytes)
      let shortage = minimumFree.addingSaturated(need) - left
      guard room?.free(shortage, for: rank) == true else {
        let reason = DiskSpace.objection(to: size, free: left, keeping: minimumFree)
        return settleDeferred(item, Deferral(rule: .freeDisk), because: reason)
      }
      if shortage > 0 { isDiskShort = true }
      forecastBytes += (size ?? 0) - max(0, shortage)
    }
    if limit != nil { _ = room?.admit(place, size: size ?? 1, rank: rank, of: owner) }
    settleItem(item)
  }

  /// Settles what ended badly, unless a run would not have asked for it at all.
  private mutating func foretellUnasked(_ item: Int, _ rank: ContentRank) {
    let slot = activate(item)
    let coming = active[slot].toldSize ?? 0
    if let deferral = network?.foretell(coming, of: Int(items[item].segment), at: now) {
      forgetAnswer(of: slot)
      return settleDeferred(item, deferral)
    }
    guard hasRoomRules, isStored(item), items[item].step.decision != .revalidate else {
      return settleItem(item)
    }
    let declared = active[slot].entry.size
    let need = declared ?? 1
    let available = room?.available(for: rank, of: .item(key(of: item))) ?? .max
    let isFull = request.policy.room.limit != nil && need > available
    let left = (free ?? .max).addingSaturated(-forecastBytes)
    let shortage = free == nil || minimumFree == 0 ? 0 : minimumFree.addingSaturated(need) - left
    var trial = room
    guard isFull || shortage > 0 && trial?.free(shortage, for: rank) != true else {
      return settleItem(item)
    }
    forgetAnswer(of: slot)
    if isFull {
      let failure = Self.full(need: declared, available, request.policy.room.limit ?? 0)
      return fail(item, failure)
    }
    let reason = DiskSpace.objection(to: declared, free: left, keeping: minimumFree)
    settleDeferred(item, Deferral(rule: .freeDisk), because: reason)
  }

  /// A run would not have asked.
  private mutating func forgetAnswer(of slot: Int) {
    active[slot].exchange = nil
    active[slot].result.failure = nil
    active[slot].result.deferral = nil
    active[slot].result.status = nil
    active[slot].result.sources = []
  }

  /// Whether its rest would use up what may be received.
  private mutating func budgetDeferral(of item: Int) -> Deferral? {
    let work = active[activate(item)]
    let kept = start.partials[work.entry.url.string]?.offset ?? 0
    guard let rest = work.result.size.map({ max(0, $0 - kept) }) else { return nil }
    // A limit counts the head of the response, too.
    let head = work.result.attempts > 0 ? work.result.figures?.wireBytes ?? 0 : 0
    return network?.foretell(
      rest.addingSaturated(head),
      of: Int(items[item].segment),
      at: now
    )
  }

  /// Items that would lose their bodies, by their numbers in the store.
  private mutating func foreseeEvictions(of digests: [ContentDigest]) {
    guard !digests.isEmpty, let stock else { return }
    let going = Set(digests)
    let leaving = Set(plannedRemovals().map { facts.inventory.rows[$0.row].item })
    let inventory = stock.inventory
    for (position, row) in inventory.rows.enumerated()
    where row.hasBody && going.contains(row.digest) && !leaving.contains(row.item) {
      // What comes for it may be smaller than what went.
      if room?.body(of: row.key) != nil { continue }
      let segments = inventory.holders(of: position).map { inventory.segmentKeys[$0] }
      foreseen.append((row.item, segments))
    }
    self.stock = nil
  }
}

extension ContentDigest {
  /// For a body that no run has seen: as much its own as the URL is.
  fileprivate init(standingFor key: URLKey) {
    self.init(first: key.first, second: key.second, third: ~key.first, fourth: ~key.second)
  }
}
