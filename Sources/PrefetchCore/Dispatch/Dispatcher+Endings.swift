/// How items and segments end.
extension Dispatcher {
  /// An item that cannot be had; an older body stays where it is.
  mutating func fail(_ item: Int, _ failure: Failure) {
    if isPart(item) { return end(item, .failed(failure)) }
    let work = items.active(item)
    if work.entry.zone != nil { askNextTag(of: item) }
    note(failure, of: work)
    // What others bring is not said to have failed, and no older record is written over theirs.
    // An item that was not asked for has not failed by itself.
    guard request.mode.keepsSegments, storeFailure == nil, isStored(item), !work.hasTwin,
      items[item].step.reason != .untrustedList
    else {
      return settleItem(item)
    }
    // A record that the run has not read must not be written over: its body would go with it.
    if work.record == nil, row(of: items[item].step) != nil {
      keepUnasked(item)
      return settleItem(item)
    }
    var record = work.record?.value ?? newRecord(item)
    record.describe(work.entry)
    // That it is not tried again is no reason why it failed.
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

  func note(_ failure: Failure, of work: ActiveItem) {
    loseEvicted(work)
    work.result.outcome = failure.code == .redirected ? .redirected : .failed
    work.result.failure = failure
    work.result.action = .fail
    if failure.code == .redirected { work.result.finalURL = work.result.redirects.last?.url.string }
    if let exchange = work.exchange {
      let status = work.result.status
      work.result.sources = exchange.value.sources(endingWith: failure, status: status)
    }
    if !work.result.isUsable { work.result.state = .failed }
  }

  mutating func settleItemHalted(_ item: Int) {
    guard !isPart(item), let failure = halt?.failure else {
      return settleDeferred(item, halt?.deferral)
    }
    let work = activate(item)
    work.result.failure = failure
    if !work.result.isUsable { work.result.state = .failed }
    work.result.action = .fail
    work.result.outcome = .failed
    settleItem(item)
  }

  /// Nothing is wrong with it; time alone will bring it, or the next run where no rule held it back.
  mutating func settleDeferred(_ item: Int, _ deferral: Deferral?, because reason: String? = nil) {
    if isPart(item) { return end(item, .deferred(deferral)) }
    note(deferral, because: reason, of: activate(item))
    keepUnasked(item)
    settleItem(item)
  }

  func note(_ deferral: Deferral?, because reason: String? = nil, of work: ActiveItem) {
    loseEvicted(work)
    work.result.action = .defer
    work.result.outcome = .deferred
    work.result.deferral = deferral
    work.result.reason = reason ?? deferral?.rule.rawValue ?? "interrupted"
    if !work.result.isUsable { work.result.state = deferral?.rule == .paused ? .paused : .idle }
  }

  /// What another segment may let go of in this run is declared all the same, and what waits is listed.
  mutating func keepUnasked(_ item: Int) {
    guard request.mode.keepsSegments, storeFailure == nil, isStored(item), !items[item].step.isHeld
    else {
      return
    }
    let now = start.now.uptime
    if let row = row(of: items[item].step) {
      batch.join(segments[Int(items[item].segment)].key, items: [row.item], now: now)
    } else if halt == nil {
      // At the run's end there may be no time for a million of them.
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
    // Unless a run would not bring it.
    if !work.foreseenRefusals.isEmpty, work.result.failure == nil,
      work.result.outcome != .deferred
    {
      refuseAsForeseen(item)
    }
    noteForeseen(work)
    var result = work.result
    items[item].state = .settled
    unclaim(item)
    let hasCome = result.source == .network || result.source == .alternate
    space.end(item, leavesRoom: !hasCome || result.failure != nil)
    if space.remembersEndings { space.note(result.action, of: key(of: item)) }
    // An id that is made of the URL is made where a reader may see it.
    if result.id.isEmpty, isReported(result) {
      result.id = start.identify(result.url)
    }
    let holders = work.segments
    let sparing = work.sparing
    items.deactivate(item)
    announce(.itemSettled(result))
    if segments.count > 1 { settled.note(result, of: item) }
    for index in holders {
      tally(result, in: index, isRequired: !sparing.contains(index))
    }
  }

  /// Whether the report or an observer shows the item by itself.
  private func isReported(_ result: ItemResult) -> Bool {
    if request.listsKept || result.failure != nil { return true }
    return result.outcome != .unchanged && (request.keepsItems || !start.isBrief)
  }

  /// An entry that never became an item of work.
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
    unsettledHoldbacks.insert(index)
    announceManifest(index)
    announceStanding(index)
    wakeWaiting()
  }

  mutating func announceManifest(_ index: Int) {
    let name = segments[index].declaration.name
    announce(.manifestSettled(segment: name, segments[index].manifest))
  }

  /// Tells how a segment stands at its end, or again when that has changed.
  mutating func announceStanding(_ index: Int) {
    if let result = segments.newStanding(of: index) { announce(.segmentSettled(result)) }
  }

  /// Ends the segment as the last run left it.
  mutating func settleQuiet(_ index: Int) {
    guard var record = segments[index].recorded, let mark = record.quiet else { return }
    segments[index].isGathering = false
    record.lastChecked = now.wall
    segments[index].accepted = record
    segments[index].declaredCount = mark.itemCount
    segments[index].usableCount = mark.itemCount
    segments[index].usableBytes = mark.bytes
    segments[index].noteQuiet(until: mark.until)
    let name = segments[index].declaration.name
    // Where time decides about any of it, no run has counted which.
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
