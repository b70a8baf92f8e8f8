extension Dispatcher {
  mutating func fail(_ item: Int, _ failure: Failure) {
    if isPiece(item) { return end(item, .failed(failure)) }
    let work = items.active(item)
    if work.entry.zone != nil { requestNextTag(of: item) }
    recordFailure(failure, of: work)
    // The row of a twin must not be overwritten, and an unrequested item has not failed by itself.
    guard request.mode.keepsSegments, storeFailure == nil, isStored(item), !work.hasTwin,
      items[item].step.reason != .untrustedList
    else {
      return settleItem(item)
    }
    // The item has a row that this run has not read; a new row would lose its body.
    if work.record == nil, row(of: items[item].step) != nil {
      keepUnasked(item)
      return settleItem(item)
    }
    var record = work.record?.value ?? newRecord(item)
    record.describe(work.entry)
    // A skipped retry keeps the recorded failure.
    let isOld = items[item].step.reason == .failedBefore
    record.failure = isOld ? record.failure ?? failure : failure
    if let digest = record.digest, space.evicted.contains(digest) { record.forgetBody() }
    if record.digest == nil {
      record.state = .failed
      if !request.policy.retriesFailed { record.description = work.entry.declarationHash }
    }
    items[item].state = .committing
    let keys = work.segments.map { segments[$0].key }
    batch.add(item: item, .store(record, body: nil, joining: keys), now: now.uptime)
  }

  func recordFailure(_ failure: Failure, of work: ActiveItem) {
    loseEvicted(work)
    work.result.outcome = failure.code == .redirected ? .redirected : .failed
    work.result.failure = failure
    work.result.action = .fail
    if failure.code == .redirected { work.result.finalURL = work.result.redirects.last?.url.string }
    if let exchange = work.exchange {
      let status = work.result.status
      work.result.sources = exchange.value.sources(lastFailure: failure, status: status)
    }
    if !work.result.isUsable { work.result.state = .failed }
  }

  mutating func settleItemHalted(_ item: Int) {
    guard !isPiece(item), let failure = halt?.failure else {
      return settleDeferred(item, halt?.deferral)
    }
    let work = activate(item)
    work.result.failure = failure
    if !work.result.isUsable { work.result.state = .failed }
    work.result.action = .fail
    work.result.outcome = .failed
    settleItem(item)
  }

  /// Settles an item that a later run can bring; without `deferral` no rule held it back.
  mutating func settleDeferred(_ item: Int, _ deferral: Deferral?, because reason: String? = nil) {
    if isPiece(item) { return end(item, .deferred(deferral)) }
    if probesDrift(of: item) { return settleDriftProbe(item, nil) }
    recordDeferral(deferral, because: reason, of: activate(item))
    keepUnasked(item)
    settleItem(item)
  }

  func recordDeferral(_ deferral: Deferral?, because reason: String? = nil, of work: ActiveItem) {
    loseEvicted(work)
    work.result.action = .defer
    work.result.outcome = .deferred
    work.result.deferral = deferral
    work.result.reason = reason ?? deferral?.rule.rawValue ?? "interrupted"
    if work.result.keepsOlderBody {
      work.result.isRequired = false
      work.optionalIn = work.segments
    }
    if !work.result.isUsable { work.result.state = deferral?.rule == .paused ? .paused : .idle }
  }

  /// Keeps an unrequested item a member of its segment, even if another segment releases it.
  mutating func keepUnasked(_ item: Int) {
    guard request.mode.keepsSegments, storeFailure == nil, isStored(item), !items[item].step.isHeld
    else {
      return
    }
    let now = start.now.uptime
    if let row = row(of: items[item].step) {
      batch.join(segments[Int(items[item].segment)].key, items: [row.item], now: now)
    } else if halt == nil, !items[item].step.isAged || items.ifActive(item)?.hasTwin != true {
      // The twin of an item that waits stores the row, with a body. After a halt there may be no time
      // for a million rows.
      let work = activate(item)
      var record = work.record?.value ?? newRecord(item)
      record.describe(work.entry)
      record.state = .idle
      let keys = work.segments.map { segments[$0].key }
      batch.add(.store(record, body: nil, joining: keys), now: now)
    }
  }

  mutating func settleItem(_ item: Int) {
    guard items[item].state != .settled else { return }
    let work = activate(item)
    if holdsForecast(item) { return }
    // A refusal is foreseen only for items that a run would bring.
    if !work.foreseenRefusals.isEmpty, work.result.failure == nil,
      work.result.outcome != .deferred
    {
      refuseAsForeseen(item)
    }
    recordForeseenBody(work)
    var result = work.result
    items[item].state = .settled
    unclaim(item)
    let hasCome = result.source == .network || result.source == .alternate
    space.end(item, leavesRoom: !hasCome || result.failure != nil)
    if space.remembersLastActions { space.recordAction(result.action, of: key(of: item)) }
    // Ids are made from URLs only where a reader may see them.
    if result.id.isEmpty, isReported(result) {
      result.id = start.identify(result.url)
    }
    let holders = work.segments
    let optionalIn = work.optionalIn
    items.deactivate(item)
    announce(.itemSettled(result))
    if segments.count > 1 { settled.recordResult(result, of: item) }
    for index in holders {
      tally(result, in: index, isRequired: !optionalIn.contains(index))
    }
  }

  private func isReported(_ result: ItemResult) -> Bool {
    if request.listsKept || result.failure != nil { return true }
    return result.outcome != .unchanged && (request.keepsItems || !start.isBrief)
  }

  mutating func settleRejected(_ entry: RejectedEntry, in index: Int) {
    var result = ItemResult(
      url: entry.url,
      id: entry.id ?? "",
      segments: [segments[index].declaration.name],
      state: .failed,
      action: .fail,
      reason: "the manifest entry breaks a rule"
    )
    if let position = facts.inventory.position(of: entry.url) {
      let row = facts.inventory.rows[position]
      if isUsable(row) {
        result.isUsable = true
        result.state = row.state
        result.size = row.size
        result.digest = row.digest
      }
    }
    result.outcome = .failed
    result.failure = entry.failure
    result.isRequired = segments[index].declaration.isRequired && entry.isRequired
    announce(.itemSettled(result))
    tally(result, in: index, isRequired: entry.isRequired)
  }

  mutating func tally(_ result: ItemResult, in index: Int, isRequired: Bool) {
    segments.count(result, in: index, isRequired: isRequired)
    settleIfDone(index)
  }

  mutating func settleIfDone(_ index: Int) {
    if segments.isDone(index) { publishOrSettle(index) }
  }

  mutating func settleSegment(_ index: Int) {
    guard segments[index].phase != .settled else { return }
    segments[index].phase = .settled
    staleBarriers.insert(index)
    announceManifest(index)
    announceResult(index)
    wakeWaiting()
  }

  mutating func announceManifest(_ index: Int) {
    let name = segments[index].declaration.name
    announce(.manifestSettled(segment: name, segments[index].manifest))
  }

  mutating func announceResult(_ index: Int) {
    if let result = segments.newResult(of: index) { announce(.segmentSettled(result)) }
  }

  mutating func settleQuiet(_ index: Int) {
    guard var record = segments[index].recorded, let mark = record.quiet else { return }
    segments[index].isGathering = false
    record.lastChecked = now.wall
    segments[index].accepted = record
    segments[index].declaredCount = mark.itemCount
    segments[index].usableCount = mark.itemCount
    segments[index].usableBytes = mark.bytes
    segments[index].limitQuiet(until: mark.until)
    let name = segments[index].declaration.name
    // No run counted the pinned bytes if any item can become stale.
    let bytes = SavedBytes(
      all: mark.bytes,
      pinned: mark.until == .distantFuture ? mark.bytes : 0
    )
    announce(.itemsDiscovered(segment: name, count: mark.itemCount))
    announce(
      .itemsKept(
        segment: name,
        count: mark.itemCount,
        bytes: bytes,
        freshCount: mark.itemCount,
        freshBytes: bytes
      )
    )
    settleSegment(index)
  }
}
