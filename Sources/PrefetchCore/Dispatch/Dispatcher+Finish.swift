extension Dispatcher {
  mutating func flush() {
    guard admitBodies(), !batch.isEmpty else { return }
    effects.append(.commit(batch.beginCommit()))
  }

  mutating func committed(_ removed: [RemovedContent], _ reading: RoomReading) {
    let shared = batch.drainShared()
    if !shared.isEmpty { effects.append(.share(shared)) }
    for item in settleSimple(batch.endCommit()) {
      settleItem(item)
    }
    space.committed(reading)
    announceLeft(removed.filter { !$0.wasEvicted })
    announceEvicted(removed.filter(\.wasEvicted))
    if phase == .finishing { phase = .finished }
  }

  /// Takes back a commit that found no room because another run wrote; room is measured again.
  mutating func commitRefused() {
    let kept = batch.rollBack()
    facts.missing.subtract(kept)
    space.refused(keeping: kept)
    for body in batch.dropOptional() { effects.append(.discard(body)) }
  }

  /// Halts the run and settles all pending changes, since another commit would fail as well.
  mutating func commitFailed(_ failure: Failure) {
    storeFailure = failure
    let refused = batch.endCommit()
    let dropped = batch.removeAll()
    for body in dropped.bodies { effects.append(.discard(body)) }
    for item in refused + dropped.items {
      let work = activate(item)
      restoreResult(of: item)
      guard !failure.isOfWaiting else {
        settleDeferred(item, Halt.store(failure).deferral)
        continue
      }
      work.result.outcome = .failed
      work.result.action = .fail
      work.result.failure = failure
      settleItem(item)
    }
    announce(.storeFailed(failure))
    if phase == .finishing { phase = .finished }
    stop(.store(failure))
  }

  mutating func finishIfDone() {
    guard phase == .working, isQuiescent(), !hasForecast, !request.mode.keepsSegments || !mayShrink,
      segments.areSettled
    else { return }
    switch request.mode.finalStep {
    case .reportedRemovals:
      phase = .finishing
      let mayRemove =
        !request.forgotten.isEmpty || !space.forecast.evictions.isEmpty
        || segments.contains { !$0.leaving.isEmpty || request.listsKept && !$0.retained.isEmpty }
      guard mayRemove else {
        phase = .finished
        return
      }
      withInventory(.removals)
    case .nothing:
      phase = .finished
    case .removals:
      let changes =
        storeFailure == nil
        ? segments.lastChanges(facts.inventory, at: now.wall, isHalted: halt != nil) : []
      guard !changes.isEmpty else {
        phase = .finished
        return
      }
      phase = .finishing
      effects.append(.commit(changes))
    }
  }

  // MARK: Removals

  func plannedRemovals() -> [(row: Int, segments: [SegmentKey])] {
    segments.removals(facts.inventory, givenUp: givenUp)
  }

  mutating func readRemovals() {
    let numbers =
      plannedRemovals().map { facts.inventory.rows[$0.row].item }
      + space.forecast.evictions.map(\.item)
      + segments.listedRetained().map { facts.inventory.rows[$0.row].item }
    guard !numbers.isEmpty else {
      phase = .finished
      return
    }
    effects.append(.readRemovals(numbers))
  }

  mutating func removalsRead(_ records: [ContentRecord?]) {
    let removals = plannedRemovals()
    var removed: [RemovedContent] = []
    for (record, removal) in zip(records, removals) {
      guard let record else { continue }
      let id = record.id.isEmpty ? start.identify(record.url) : record.id
      var content = RemovedContent(url: record.url, id: id, size: record.size)
      content.hadBody = record.digest != nil
      content.segments = removal.segments
      removed.append(content)
    }
    announceLeft(removed)
    var evicted: [RemovedContent] = []
    for (record, foreseen) in zip(records.dropFirst(removals.count), space.forecast.evictions) {
      guard let record else { continue }
      let id = record.id.isEmpty ? start.identify(record.url) : record.id
      var content = RemovedContent(url: record.url, id: id, size: record.size)
      content.segments = foreseen.segments
      content.wasEvicted = true
      evicted.append(content)
    }
    announceEvicted(evicted)
    let others = removals.count + space.forecast.evictions.count
    for (record, item) in zip(records.dropFirst(others), segments.listedRetained()) {
      guard let record else { continue }
      announceRetained(record, of: item.segment)
    }
    phase = .finished
  }

  private mutating func announceLeft(_ removed: [RemovedContent]) {
    announceRemoved(removed.filter { givenUp.contains(URLKey($0.url)) })
    announceRemoved(removed.filter { !givenUp.contains(URLKey($0.url)) })
  }

  mutating func announceRemoved(_ removed: [RemovedContent]) {
    // An item without a body is forgotten, not removed.
    for content in removed where content.hadBody {
      let departure = departure(of: content)
      var result = ItemResult(
        url: content.url,
        id: content.id,
        segments: content.segments.filter { $0.identity == request.identity }.map(\.name),
        state: .deleted,
        action: .remove,
        reason: departure.reason
      )
      result.outcome = .removed
      result.departure = departure
      result.size = content.size
      announce(.itemSettled(result))
    }
  }

  private func departure(of content: RemovedContent) -> Departure {
    let key = URLKey(content.url)
    if givenUp.contains(key) { return .deleted }
    let isExpired = segments.contains { segment in
      let entries = segment.table.value
      guard let entry = entries.position(of: key), entries.hasExtras(at: entry),
        let expires = entries[entry].expires
      else { return false }
      return expires <= facts.now
    }
    if isExpired { return .expired }
    return content.wasEvicted ? .space : .unsubscribed
  }

  mutating func announceRetained(_ record: ContentRecord, of index: Int) {
    let isListed = segments[index].table.value.position(of: URLKey(record.url)) != nil
    var result = ItemResult(
      url: record.url,
      id: record.id.isEmpty ? start.identify(record.url) : record.id,
      segments: segments[index].names,
      state: record.state,
      action: .keep,
      reason: isListed
        ? "past its `expires`, and kept since the clock is ahead"
        : "removed from the list, and kept until the listed items are stored"
    )
    result.outcome = .unchanged
    result.size = record.size
    result.digest = record.digest
    announce(.itemRetained(result))
  }
}
