extension Dispatcher {
  mutating func withInventory(_ inventoryRequest: InventoryRequest) {
    if hasInventory { return perform(inventoryRequest) }
    if inventoryRequests.add(inventoryRequest) { effects.append(.readInventory) }
  }

  var hasInventory: Bool { inventoryRequests.isRead }

  mutating func inventoryRead(_ result: Result<InventoryFacts, Failure>) {
    let requests = inventoryRequests.end()
    switch result {
    case .success(let read):
      facts.inventory = read.inventory
      facts.missing = read.missing
      serverTime.recorded = serverTime.recorded ?? read.inventory.newestDate
    case .failure(let failure):
      commitFailed(failure)
    }
    for inventoryRequest in requests { perform(inventoryRequest) }
  }

  private mutating func perform(_ inventoryRequest: InventoryRequest) {
    switch inventoryRequest {
    case .discover(let segment):
      guard storeFailure == nil else { return settleManifestHalted(segment) }
      discoverFrozen(segment)
    case .judge(let segment):
      guard storeFailure == nil else { return settleManifestHalted(segment) }
      judge(segment)
    case .page(let document):
      judgePage(document)
    case .plan(let segment, let rejected):
      guard storeFailure == nil else { return settleManifestHalted(segment) }
      plan(segment, rejected: rejected)
    case .settle(let segment):
      settleWithoutManifest(segment)
    case .removals:
      readRemovals()
    }
  }

  private mutating func plan(_ index: Int, rejected: [RejectedEntry]) {
    let isDeferred = segments[index].deferralOfAll != nil
    let rejected = isDeferred ? [] : rejected + refuseNames(index)
    let declaration = segments[index].declaration
    let key = segments[index].key
    var fragment = Planner.plan(
      declaration,
      key: key,
      entries: segments[index].entries,
      facts: facts,
      named: segments[index].provenance,
      listsKept: request.listsKept,
      probesLocked: probesLocked(index)
    )
    if case .untrusted = segments[index].lastList {
      let entries = segments[index].entries
      fragment.requestOnlyPinned { entries[$0].digests.contains { $0.algorithm.isTrustworthy } }
    }
    // A rejected entry is still a declaration: its stored body stays.
    let refused = Set(rejected.map { URLKey($0.url) })
    segments[index].leaving =
      refused.isEmpty
      ? fragment.leaving
      : fragment.leaving.filter { !refused.contains(facts.inventory.rows[Int($0)].key) }
    // Other shards declare items that this run does not know.
    if request.shard != nil { segments[index].leaving = [] }
    if segments[index].lastList != nil { segments.retainAll(index) }
    segments.retainLeaving(index, facts)
    segments[index].declaredCount = fragment.declaredCount + rejected.count
    segments[index].openItems = fragment.steps.count + rejected.count
    segments[index].usableCount = fragment.keptCount
    segments[index].usableBytes = fragment.keptBytes.all
    segments[index].steps = StepQueue(fragment.steps)
    segments[index].limitQuiet(until: fragment.quietUntil)
    segments[index].phase = .planning
    segments[index].isDeclared = true
    // Segment order, so that it does not matter which list came first.
    for other in 0..<index where segments[other].lastList == nil { addWaitingSteps(of: other) }
    if segments[index].declaredCount == 0, request.shard == nil { handleEmptySegment(index) }
    space.orderChanged()
    announce(.itemsDiscovered(segment: declaration.name, count: segments[index].declaredCount))
    announceKept(fragment, of: index)
    if request.mode.keepsSegments {
      batch.join(key, items: fragment.joining, now: now.uptime)
    }
    for entry in rejected { settleRejected(entry, in: index) }
    addNextSteps(index)
    for other in segments.indices where other > index || segments[other].lastList != nil {
      addWaitingSteps(of: other)
    }
  }

  private mutating func handleEmptySegment(_ index: Int) {
    let declaration = segments[index].declaration
    guard request.mode.isOfSegments else { return }
    segments[index].limitQuiet(until: nil)
    // The segment's behavior leaves its items to single requests.
    let isWithheld =
      declaration.manifestRules.behavior != .all && !segments[index].entries.isEmpty
    guard !isWithheld else { return }
    guard declaration.failsOnEmpty else {
      guard segments[index].lastList == nil else { return }
      let message = "`\(declaration.name)` has no items"
      segments[index].manifest.warnings.append(
        Diagnostic("manifest.empty", message, severity: .warning)
      )
      return
    }
    let failure = Failure(.empty, "it has no items, and `fail_on_empty` is set")
    segments[index].manifest.failure = segments[index].manifest.failure ?? failure
  }

  /// Announces kept items; shared ones count once for the run and once per segment.
  private mutating func announceKept(_ fragment: PlanFragment, of index: Int) {
    var kept = (count: fragment.keptCount, bytes: fragment.keptBytes)
    var fresh = kept
    if segments.count > 1, segments[index].declaration.isStored {
      let worked = Set(fragment.steps.map(\.entry))
      let entries = segments[index].entries
      for entry in entries.indices where !worked.contains(UInt32(entry)) {
        guard
          let known = declared.recordMention(entries.key(at: entry), segment: index, entry: entry),
          let row = facts.inventory.position(of: entries.key(at: entry)),
          facts.inventory.rows[row].hasBody, !hasExpired(entry, of: index)
        else { continue }
        markShared(index, Int(known.segment))
        let size = facts.inventory.rows[row].size
        let isPinned = entries.columnDigest(at: entry) != nil
        fresh.count -= 1
        fresh.bytes.add(-size, isPinned: isPinned)
        guard known.item >= 0, !items[Int(known.item)].step.isKept else { continue }
        guard segments[index].lastList == nil,
          holdToKeptDigest(entry, row, of: index, against: Int(known.item))
        else { continue }
        kept.count -= 1
        kept.bytes.add(-size, isPinned: isPinned)
        segments[index].usableCount -= 1
        segments[index].usableBytes -= size
        segments[index].openItems += 1
      }
    }
    guard kept.count > 0 else { return }
    announce(
      .itemsKept(
        segment: segments[index].declaration.name,
        count: kept.count,
        bytes: kept.bytes,
        freshCount: fresh.count,
        freshBytes: fresh.bytes
      )
    )
  }

  private func hasExpired(_ entry: Int, of index: Int) -> Bool {
    let entries = segments[index].table.value
    guard !facts.isClockAhead, entries.hasExtras(at: entry) else { return false }
    return entries[entry].expires.map { $0 <= facts.now } ?? false
  }

  mutating func planningResumed(_ index: Int) {
    begun.end(.planning)
    addWaitingSteps(of: index)
    addNextSteps(index)
  }

  private mutating func addNextSteps(_ index: Int) {
    guard segments[index].phase == .planning else { return }
    addSteps(segments[index].steps.dequeue(Self.sliceSize), of: index)
    guard segments[index].steps.isExhausted else {
      return resumePlanning(index)
    }
    segments[index].phase = .planned
    staleBarriers.insert(index)
    settleIfDone(index)
  }

  private static let sliceSize = 4096

  private mutating func addSteps(_ steps: ArraySlice<PlannedStep>, of index: Int) {
    let known = items.count
    let holders = undecidedHolders(excluding: index)
    for step in steps {
      if !holders.isEmpty, mayReplace(step), let row = row(of: step),
        let others = holders[row.holders]
      {
        segments[index].steps.wait(step)
        for other in others { raiseList(of: other, for: index) }
      } else {
        addStep(step, of: index)
      }
    }
    announceStarts(behind: known, of: index)
  }

  // MARK: What waits for the lists of others

  private mutating func addWaitingSteps(of index: Int) {
    guard segments[index].steps.hasWaiting else { return }
    addSteps(segments[index].steps.drainWaiting()[...], of: index)
  }

  mutating func wakeWaiting() {
    for index in segments.indices where segments[index].steps.hasWaiting {
      resumePlanning(index)
    }
  }

  private mutating func resumePlanning(_ index: Int) {
    begun.begin(.planning)
    effects.append(.resumePlanning(segment: index))
  }

  /// Returns other segments with unknown lists, by holder set; empty if this one need not wait.
  private func undecidedHolders(excluding index: Int) -> [UInt32: [Int]] {
    guard segments.count > 1, halt == nil, !request.policy.isOffline,
      segments[index].declaration.isStored, segments[index].deferralOfAll == nil
    else { return [:] }
    var undecided: [UInt32: [Int]] = [:]
    for other in segments.indices
    where other != index && segments[other].phase == .discovering {
      for set in facts.inventory.sets(holding: segments[other].key) {
        undecided[set, default: []].append(other)
      }
    }
    return undecided
  }

  /// Whether an answer could replace a stored body that another segment may keep.
  private func mayReplace(_ step: PlannedStep) -> Bool {
    guard step.bundle == nil, let row = row(of: step), isUsable(row) else { return false }
    return step.needsRequest
  }

  private mutating func announceStarts(behind known: Int, of index: Int) {
    guard !start.isBrief, request.mode.keepsSegments, known < items.count else { return }
    let entries = segments[index].table.value
    let starting = items[known...].filter { $0.state == .queued && $0.segment == index }
    for first in stride(from: 0, to: starting.count, by: Self.startsTogether) {
      let urls = starting.dropFirst(first).prefix(Self.startsTogether).map {
        entries[Int($0.step.entry)].url
      }
      announce(.itemsStarted(segment: segments[index].declaration.name, urls))
    }
  }

  /// Number of URLs in one fact, so that readers can take its line at once.
  private static let startsTogether = 500

  private mutating func markShared(_ index: Int, _ other: Int) {
    segments[index].hasShared = true
    segments[other].hasShared = true
  }

  private mutating func addStep(_ step: PlannedStep, of index: Int) {
    declaredItems += 1
    var earlierVariants: [HeaderConflict] = []
    var hasTwin = false
    if segments.count > 1, segments[index].declaration.isStored,
      segments[index].deferralOfAll == nil
    {
      let key = segments[index].table.value.key(at: Int(step.entry))
      let known = declared.recordMention(key, segment: index, entry: Int(step.entry))
      if let known { markShared(index, Int(known.segment)) }
      if let known,
        shares(step, of: index, with: known, collecting: &earlierVariants)
      {
        return
      }
      hasTwin = known.map { $0.item >= 0 && !items[Int($0.item)].step.isKept } ?? false
    }
    if settleIfOwnedByUnselected(step, of: index, collecting: &earlierVariants) { return }
    if halt == nil, step.decision != .keep, step.decision != .wait,
      step.decision != .describe || request.mode.keepsSegments,
      !request.mode.probes || needsProbe(step, of: index)
    {
      begin(step, of: index)
      if !earlierVariants.isEmpty || hasTwin, let item = items.indices.last,
        items[item].state != .settled
      {
        let work = activate(item)
        work.earlierVariants = earlierVariants
        work.hasTwin = hasTwin
      }
      return
    }
    settleAtOnce(step, of: index, hasTwin: hasTwin)
    // No other segment can name the item, so its row is not needed.
    if segments.count == 1, items.last?.state == .settled { items.removeLast() }
  }

  private func needsProbe(_ step: PlannedStep, of index: Int) -> Bool {
    guard step.bundle != .ad else { return false }
    if request.policy.isOffline {
      return segments[index].declaration.isStored && step.decision == .fetch
    }
    return request.policy.probesItems && step.needsRequest
  }

  mutating func begin(_ step: PlannedStep, of index: Int, at position: Int? = nil) {
    let item = newItem(step, of: index, at: position)
    if step.needsRequest, !request.policy.isOffline {
      if let deferral = segments[index].deferralOfAll ?? deferral(of: .item(item)) {
        return settleDeferred(item, deferral)
      }
      return enqueue(.item(item))
    }
    activate(item)
    if step.decision == .fail, let deferral = segments[index].deferralOfAll {
      return settleDeferred(item, deferral)
    }
    guard let preparation = preparation(of: item) else {
      return decideWithoutRequest(item)
    }
    items[item].state = .preparing
    begun.begin(.preparations)
    effects.append(.prepare([preparation]))
  }

  private mutating func newItem(
    _ step: PlannedStep,
    of index: Int,
    at position: Int? = nil
  ) -> Int {
    let position = UInt32(position ?? declaredItems - 1)
    items.append(ItemWork(step: step, segment: UInt32(index), position: position))
    // An item deferred with its list answers for no other segment.
    if segments.count > 1, segments[index].declaration.isStored,
      segments[index].deferralOfAll == nil
    {
      let key = segments[index].table.value.key(at: Int(step.entry))
      declared.set(item: items.count - 1, for: key, unlessKnown: step.decision == .keep)
    }
    return items.count - 1
  }

  mutating func settleAtOnce(_ step: PlannedStep, of index: Int, hasTwin: Bool = false) {
    let item = newItem(step, of: index)
    activate(item).hasTwin = hasTwin
    switch step.decision {
    case .keep, .describe: keep(item)
    case .fail:
      if let deferral = segments[index].deferralOfAll {
        return settleDeferred(item, deferral)
      }
      guard let failure = planFailure(of: item) else { return settleItem(item) }
      fail(item, failure)
    case .wait: settleYoung(item)
    case .fetch, .update, .revalidate:
      let itemDeferral = segments[index].deferralOfAll ?? deferral(of: .item(item))
      if halt == nil, let deferral = itemDeferral {
        return settleDeferred(item, deferral)
      }
      guard halt != nil else { return settleItem(item) }
      settleItemHalted(item)
    }
  }

  private mutating func keep(_ item: Int) {
    let (step, index) = (items[item].step, Int(items[item].segment))
    let work = activate(item)
    if step.reason == .paused, !work.result.isUsable {
      // The user paused the item, so its segment does not need it.
      work.result.isRequired = false
      work.optionalIn = [index]
      return settleDeferred(item, Deferral(rule: .paused))
    }
    work.result.outcome = step.reason == .staleOffline ? .stale : .unchanged
    work.result.source = step.reason == .staleOffline ? .stale : .cache
    if step.reason == .staleOffline, let row = row(of: step) {
      work.result.confirmedAt = row.respondedAt
    }
    if request.mode.keepsSegments, !step.isHeld, let row = step.position {
      let items = [facts.inventory.rows[row].item]
      batch.join(segments[index].key, items: items, now: now.uptime)
    }
    settleItem(item)
  }

  mutating func settleIfProven(_ item: Int) -> Bool {
    guard items[item].step.decision == .keep else { return false }
    let work = activate(item)
    work.result.action = items[item].step.action
    work.result.reason = items[item].step.reason.text
    work.result.isPinned = items[item].step.reason.isForGood
    keep(item)
    return true
  }

  func planFailure(of item: Int) -> Failure? {
    let work = items.active(item)
    let segment = segments[Int(items[item].segment)]
    var failure = items[item].step.reason.failure(
      of: work.entry,
      segment: segment.declaration,
      policy: request.policy,
      now: facts.now
    )
    // The item's failure counts as much as its list's.
    if items[item].step.reason == .untrustedList, let cause = segment.manifest.failure {
      failure?.code = cause.code
    }
    return failure
  }

  func newActive(_ item: Int) -> ActiveItem {
    let work = items[item]
    let index = Int(work.segment)
    let entry = segments[index].table.value.entry(
      at: Int(work.step.entry),
      identified: false
    )
    let row = row(of: work.step)
    var result = ItemResult(
      url: entry.url.string,
      id: entry.id ?? "",
      segments: segments[index].names,
      state: row?.state ?? .pending,
      action: work.step.action,
      reason: work.step.reason.text
    )
    result.provider = entry.provider
    result.type = work.step.bundle?.rawValue ?? entry.type ?? "file"
    result.title = entry.title
    result.size = entry.size
    if let row {
      if row.hasBody {
        result.size = row.size
        result.digest = row.digest
      }
      result.isUsable = isUsable(row)
    }
    result.isPinned = work.step.reason.isForGood
    result.isStored = segments[index].declaration.isStored
    result.isRequired = segments[index].declaration.isRequired && entry.isRequired
    result.position = Int(work.position)
    return ActiveItem(entry: entry, segment: index, result: result)
  }

  func row(of step: PlannedStep) -> Inventory.Row? {
    // A closure (`map`) would copy the whole dispatcher.
    guard let position = step.position else { return nil }
    return facts.inventory.rows[position]
  }

  func isUsable(_ row: Inventory.Row) -> Bool {
    facts.isUsable(row)
  }
}
