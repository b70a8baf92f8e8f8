/// How items, segments and the run end.
extension Dispatcher {
  /// An item that cannot be had; an older body stays where it is.
  mutating func fail(_ item: Int, _ failure: Failure, now: Moment, into effects: inout [Effect]) {
    items[item].result.outcome = failure.code == .redirected ? .redirected : .failed
    items[item].result.failure = failure
    items[item].result.action = .fail
    if !items[item].result.isUsable { items[item].result.state = .failed }
    guard request.mode == .run, storeFailure == nil else {
      return settleItem(item, into: &effects)
    }
    let entry = items[item].entry
    var record =
      items[item].planned.record ?? ContentRecord(url: entry.url.string, id: entry.id ?? "")
    record.describe(entry)
    record.failure = failure
    if record.digest == nil { record.state = .failed }
    items[item].state = .committing
    let keys = items[item].segments.map { segments[$0].key }
    batch.add(
      item: item,
      .record(record, body: nil),
      joining: keys,
      url: record.url,
      now: now.uptime
    )
  }

  mutating func settleItemHalted(_ item: Int, into effects: inout [Effect]) {
    switch halt {
    case .deadline:
      return settleDeferred(item, Deferral(rule: .deadline), into: &effects)
    case .store(let failure):
      items[item].result.action = .fail
      items[item].result.outcome = .failed
      items[item].result.failure = failure
      if !items[item].result.isUsable { items[item].result.state = .failed }
    case .interrupted, nil:
      items[item].result.action = .fail
      items[item].result.outcome = .failed
      items[item].result.failure = Failure(.cancelled, "the run was interrupted", isTransient: true)
      if !items[item].result.isUsable { items[item].result.state = .idle }
    }
    settleItem(item, into: &effects)
  }

  /// Nothing is wrong with it; time alone will bring it.
  mutating func settleDeferred(_ item: Int, _ deferral: Deferral, into effects: inout [Effect]) {
    items[item].result.action = .defer
    items[item].result.outcome = .deferred
    items[item].result.deferral = deferral
    items[item].result.reason = deferral.rule.rawValue
    if !items[item].result.isUsable { items[item].result.state = .idle }
    settleItem(item, into: &effects)
  }

  mutating func settleItem(_ item: Int, into effects: inout [Effect]) {
    guard items[item].state != .settled else { return }
    items[item].state = .settled
    items[item].exchange = nil
    effects.append(.announce(.itemSettled(items[item].result)))
    for index in items[item].segments { tally(items[item].result, in: index, into: &effects) }
  }

  /// An entry that never became an item of work.
  mutating func settleRejected(_ entry: RejectedEntry, in index: Int, into effects: inout [Effect])
  {
    var result = ItemResult(
      url: entry.url,
      id: entry.id ?? "",
      segments: [segments[index].declaration.name],
      state: .failed,
      action: .fail,
      reason: "the manifest entry breaks a rule"
    )
    if let stored = facts.inventory[entry.url], isUsable(stored) {
      result.isUsable = true
      result.state = stored.state
      result.size = stored.size
      result.digest = stored.digest
    }
    result.outcome = .failed
    result.failure = entry.failure
    result.isRequired = segments[index].declaration.isRequired
    effects.append(.announce(.itemSettled(result)))
    tally(result, in: index, into: &effects)
  }

  /// Counts an item's end for one of its segments.
  mutating func tally(_ result: ItemResult, in index: Int, into effects: inout [Effect]) {
    segments[index].openItems -= 1
    if result.isUsable { segments[index].usableCount += 1 }
    if result.failure != nil { segments[index].hasFailures = true }
    if let deferral = result.deferral {
      segments[index].deferral = segments[index].deferral ?? deferral
    }
    // While a segment is being planned its last item is not known yet.
    guard segments[index].openItems == 0, segments[index].phase == .planned else { return }
    settleSegment(index, into: &effects)
  }

  mutating func settleSegment(_ index: Int, into effects: inout [Effect]) {
    guard segments[index].phase != .settled else { return }
    segments[index].phase = .settled
    let segment = segments[index]
    let hasFailed = segment.hasFailures || segment.manifest.failure != nil
    let state: SegmentState =
      if hasFailed {
        segment.usableCount > 0 ? .incomplete : .failed
      } else {
        segment.deferral == nil ? .current : .deferred
      }
    segments[index].accepted?.state = state
    effects.append(.announce(.manifestSettled(segment: segment.declaration.name, segment.manifest)))
    var result = SegmentResult(
      name: segment.declaration.name,
      state: state,
      priority: segment.priority,
      isRequired: segment.declaration.isRequired
    )
    result.deferral = segment.deferral
    effects.append(.announce(.segmentSettled(result)))
  }

  mutating func flush(into effects: inout [Effect]) {
    effects.append(.commit(batch.take()))
  }

  mutating func committed(_ removed: [RemovedContent], into effects: inout [Effect]) {
    for item in batch.written() { settleItem(item, into: &effects) }
    announceRemoved(removed.map { ($0.url, $0.id, $0.size) }, into: &effects)
    if phase == .finishing { phase = .finished }
  }

  /// A store that cannot write now will not write a moment later: what is left fails the same way.
  mutating func commitFailed(_ failure: Failure, into effects: inout [Effect]) {
    storeFailure = failure
    let refused = batch.written()
    let dropped = batch.drop()
    for body in dropped.bodies { effects.append(.discard(body)) }
    for item in refused + dropped.items {
      let old = items[item].planned.record
      items[item].result.outcome = .failed
      items[item].result.action = .fail
      items[item].result.failure = failure
      items[item].result.isUsable = isUsable(old)
      items[item].result.state = items[item].result.isUsable ? .cached : .failed
      items[item].result.size = old?.digest == nil ? items[item].entry.size : old?.size
      items[item].result.digest = old?.digest
      settleItem(item, into: &effects)
    }
    effects.append(.announce(.storeFailed(failure)))
    if phase == .finishing { phase = .finished }
    stop(.store(failure), into: &effects)
  }

  mutating func finishIfDone(now: Moment, into effects: inout [Effect]) {
    guard phase == .working, inFlight.isEmpty, queue.count == 0, waiting.isEmpty, batch.isEmpty,
      !batch.isWriting,
      segments.allSatisfy({ $0.phase == .settled })
    else { return }
    switch request.mode {
    case .plan:
      announceRemoved(plannedRemovals().map { ($0.url, $0.id, $0.size) }, into: &effects)
      phase = .finished
    case .get:
      phase = .finished
    case .run:
      let changes = lastChanges(now: now)
      guard !changes.isEmpty else {
        phase = .finished
        return
      }
      phase = .finishing
      effects.append(.commit(changes))
    }
  }

  /// Removals come after everything else, and never after a halt.
  private func lastChanges(now: Moment) -> [StoreChange] {
    guard storeFailure == nil else { return [] }
    var changes: [StoreChange] = []
    for segment in segments {
      guard var record = segment.accepted else {
        if let kept = keptGeneration(of: segment, now: now) {
          changes.append(.segment(kept, manifest: nil))
        }
        continue
      }
      if halt == nil {
        if !segment.leaving.isEmpty { changes.append(.leave(segment.key, urls: segment.leaving)) }
        if record.state == .current { record.lastSuccess = now.wall }
      }
      changes.append(.segment(record, manifest: nil))
    }
    if halt == nil { changes += request.forgotten.map { .forget($0) } }
    return changes
  }

  /// A manifest that failed changes nothing but what is known of the segment's state.
  private func keptGeneration(of segment: SegmentWork, now: Moment) -> SegmentRecord? {
    guard var record = segment.recorded, let failure = segment.manifest.failure,
      failure.code != .cancelled
    else { return nil }
    record.state = segment.usableCount > 0 ? .incomplete : .failed
    record.lastChecked = now.wall
    return record
  }

  private func plannedRemovals() -> [ContentRecord] {
    let inventory = facts.inventory
    var leaving = segments.compactMap { segment in
      segment.accepted == nil ? nil : (segment.key, segment.leaving)
    }
    for key in request.forgotten {
      leaving.append((key, inventory.positions(of: key).map { inventory.records[$0].url }))
    }
    return Planner.removals(
      leaving: leaving,
      declared: Set(itemByURL.keys),
      inventory: inventory
    )
  }

  private func announceRemoved(
    _ removed: [(url: String, id: String, size: Int64)],
    into effects: inout [Effect]
  ) {
    // What never had a body is forgotten, not removed.
    let stored = removed.filter { facts.inventory[$0.url]?.digest != nil }
    for content in stored {
      let holders = facts.inventory.index(of: content.url).map { facts.inventory.holders[$0] } ?? []
      let names = holders.map { facts.inventory.segmentKeys[$0] }
        .filter { $0.identity == request.identity }.map(\.name)
      var result = ItemResult(
        url: content.url,
        id: content.id,
        segments: names,
        state: .deleted,
        action: .remove,
        reason: "declared no more"
      )
      result.outcome = .removed
      result.size = content.size
      effects.append(.announce(.itemSettled(result)))
    }
  }
}
