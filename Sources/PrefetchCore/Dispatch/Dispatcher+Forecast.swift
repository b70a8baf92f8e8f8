/// Forecast of a dry run: room and budgets can be judged only when all items are known.
extension Dispatcher {
  mutating func holdsForecast(_ item: Int) -> Bool {
    let hasBudgets = network?.keepsUsage == true
    let needsRoom = space.hasRules && isStored(item)
    guard request.mode.predicts, !space.forecast.isBeingMade, halt == nil, hasBudgets || needsRoom
    else { return false }
    let result = activate(item).result
    let isOver = result.failure != nil || result.deferral != nil
    if isOver {
      // A run does not request an item without room, so it would not see this failure.
      let mayLackRoom = needsRoom && items[item].step.decision != .revalidate
      guard result.attempts > 0, hasBudgets || mayLackRoom else { return false }
    } else {
      guard result.action == .fetch || result.action == .update else { return false }
    }
    if isOver || !hasBudgets, space.predictsRoom(for: isOver ? nil : result.size) { return false }
    items[item].state = .committing
    // A million items may be held; objects stay only if other segments may share the items.
    let isAlone = segments.count == 1
    let reportedSize = activate(item).reportedSize
    let kept = isAlone && result.attempts > 0 ? result : nil
    space.forecast.items.append(Forecast.Item(item: item, result: kept, reportedSize: reportedSize))
    if isAlone { items.deactivate(item) }
    return true
  }

  mutating func predict() {
    guard request.mode.predicts, hasForecast, isQuiescent(),
      segments.allSatisfy({ $0.phase != .discovering })
    else { return }
    guard halt != nil || space.room != nil || !space.hasRules else {
      return measureRoom(inDetail: true)
    }
    let (items, changes) = space.beginForecast()
    let held = items.map { (rank: rank(of: $0.item), $0) }
    var lists = changes.compactMap { list in newcomer(with: list).map { ($0, list) } }
    lists.sort { $1.0.rank < $0.0.rank }
    for (rank, heldItem) in held.sorted(by: { $0.rank < $1.rank }) {
      while let last = lists.last, last.0.rank < rank {
        lists.removeLast()
        predict(last)
      }
      let work = activate(heldItem.item)
      if let result = heldItem.result { work.result = result }
      work.reportedSize = heldItem.reportedSize
      predict(heldItem.item, rank)
    }
    for list in lists.reversed() { predict(list) }
    let evicted = space.endForecast()
    guard !evicted.isEmpty else { return }
    let leaving = Set(plannedRemovals().map { facts.inventory.rows[$0.row].item })
    space.predictEvictions(of: evicted, leaving: leaving)
  }

  private mutating func predict(_ list: (newcomer: Space.Newcomer, change: StoreChange)) {
    guard halt == nil, !space.admit(list.newcomer), let index = refuseList(list.change) else {
      return
    }
    guard segments[index].phase == .settled else { return }
    segments[index].lastAnnouncedStatus = nil
    announceManifest(index)
    announceResult(index)
  }

  var hasForecast: Bool {
    !space.forecast.items.isEmpty || mayShrink && request.mode.predicts
  }

  /// Settles a held item by the first limit that it exceeds; other bodies may be evicted for it.
  private mutating func predict(_ item: Int, _ rank: ContentRank) {
    let work = activate(item)
    let isOver = work.result.failure != nil || work.result.deferral != nil
    guard halt == nil else { return isOver ? settleItem(item) : settleItemHalted(item) }
    guard !isOver else { return predictUnrequested(item, rank) }
    let body = Space.Coming(
      size: work.result.size,
      rank: rank,
      key: key(of: item),
      digest: work.digests.compactMap { ContentDigest(bytes: $0.bytes) }.first
    )
    let isStored = isStored(item)
    if isStored, let objection = space.predictLimitObjection(to: body) {
      return heed(objection, to: body.size, of: item)
    }
    if let deferral = budgetDeferral(of: item) {
      return settleDeferred(item, deferral)
    }
    if isStored {
      if let objection = space.predictDiskObjection(to: body) {
        return heed(objection, to: body.size, of: item)
      }
      space.predictAdmission(of: body)
    }
    settleItem(item)
  }

  private mutating func heed(_ objection: Space.Objection, to size: Int64?, of item: Int) {
    switch objection {
    case .full(let available): fail(item, space.full(need: size, available))
    case .disk(let free):
      let reason = space.diskObjection(to: size, free: free)
      settleDeferred(item, Deferral(rule: .freeDisk), because: reason)
    }
  }

  /// Settles a failed item, by the limit that would have prevented its request if there is one.
  private mutating func predictUnrequested(_ item: Int, _ rank: ContentRank) {
    let work = activate(item)
    let coming = work.reportedSize ?? 0
    if let deferral = network?.predictDeferral(coming, of: Int(items[item].segment), at: now) {
      clearProbeResult(of: work)
      return settleDeferred(item, deferral)
    }
    guard space.hasRules, isStored(item), items[item].step.decision != .revalidate else {
      return settleItem(item)
    }
    let body = Space.Coming(size: work.entry.size, rank: rank, key: key(of: item))
    guard let objection = space.predictObjection(toUnrequested: body) else {
      return settleItem(item)
    }
    clearProbeResult(of: work)
    heed(objection, to: body.size, of: item)
  }

  private func clearProbeResult(of work: ActiveItem) {
    work.exchange = nil
    work.result.failure = nil
    work.result.deferral = nil
    work.result.status = nil
    work.result.sources = []
  }

  private mutating func budgetDeferral(of item: Int) -> Deferral? {
    let work = activate(item)
    let kept = start.partials[work.entry.url.string]?.keptSize ?? 0
    guard let rest = work.result.size.map({ max(0, $0 - kept) }) else { return nil }
    // Limits count the response head, too.
    let head = work.result.attempts > 0 ? work.result.figures?.wireBytes ?? 0 : 0
    return network?.predictDeferral(
      rest.addingSaturated(head),
      of: Int(items[item].segment),
      at: now
    )
  }
}
