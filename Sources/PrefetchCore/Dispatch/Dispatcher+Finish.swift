/// Commits, removals and the end of the run.
extension Dispatcher {
  mutating func flush() {
    guard admitBodies(), !batch.isEmpty else { return }
    effects.append(.commit(batch.take()))
  }

  mutating func committed(_ removed: [RemovedContent], _ reading: RoomReading) {
    let shared = batch.takeShared()
    if !shared.isEmpty { effects.append(.share(shared)) }
    for item in settlePlain(batch.written()) {
      settleItem(item)
    }
    space.committed(reading)
    announceLeft(removed.filter { !$0.wasEvicted })
    announceEvicted(removed.filter(\.wasEvicted))
    if phase == .finishing { phase = .finished }
  }

  /// Another run has taken the room meanwhile: what there is has to be looked at again.
  mutating func commitRefused() {
    let kept = batch.takeBack()
    facts.missing.subtract(kept)
    space.refused(keeping: kept)
    for body in batch.dropSpare() { effects.append(.discard(body)) }
  }

  /// A store that cannot write now will not write a moment later: what is left fails the same way.
  mutating func commitFailed(_ failure: Failure) {
    storeFailure = failure
    let refused = batch.written()
    let dropped = batch.drop()
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
      segments.allSatisfy({ $0.phase == .settled })
    else { return }
    switch request.mode.ending {
    case .toldRemovals:
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
      let changes = lastChanges()
      guard !changes.isEmpty else {
        phase = .finished
        return
      }
      phase = .finishing
      effects.append(.commit(changes))
    }
  }

  /// Removals come after everything else, and never after a halt.
  private func lastChanges() -> [StoreChange] {
    guard storeFailure == nil else { return [] }
    var changes: [StoreChange] = []
    for segment in segments {
      guard var record = segment.accepted else {
        if let kept = keptGeneration(of: segment) {
          changes.append(.segment(kept, manifest: nil))
        }
        continue
      }
      if halt == nil {
        if !segment.leaving.isEmpty {
          let items = segment.leaving.map { facts.inventory.rows[Int($0)].item }
          changes.append(.leave(segment.key, items: items))
        }
        if record.state == .current { record.quiet = quietMark(of: segment) }
      }
      // One that was done before the run was ended has succeeded, if nothing of it is to be removed.
      if record.state == .current, halt == nil || segment.leaving.isEmpty {
        record.lastSuccess = now.wall
      }
      changes.append(.segment(record, manifest: nil))
    }
    if halt == nil { changes += request.forgotten.map { .forget($0) } }
    return changes
  }

  /// A manifest that failed or was deferred changes nothing but what is known of the segment's state.
  private func keptGeneration(of segment: SegmentWork) -> SegmentRecord? {
    if segment.manifest.failure == nil, segment.told?.state == .deferred, !segment.isInterrupted {
      var record = segment.recorded ?? SegmentRecord(key: segment.key)
      guard segment.recorded == nil || record.state != .deferred else { return nil }
      record.state = .deferred
      return record
    }
    guard var record = segment.recorded, segment.manifest.failure != nil else { return nil }
    record.state = segment.usableCount > 0 ? .incomplete : .failed
    record.lastChecked = now.wall
    return record
  }

  // MARK: Removals

  mutating func readRemovals() {
    let numbers =
      plannedRemovals().map { facts.inventory.rows[$0.row].item }
      + space.forecast.evictions.map(\.item)
      + listedRetained().map { facts.inventory.rows[$0.row].item }
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
    for (record, item) in zip(records.dropFirst(others), listedRetained()) {
      guard let record else { continue }
      announceRetained(record, of: item.segment)
    }
    phase = .finished
  }

  func plannedRemovals() -> [(row: Int, segments: [SegmentKey])] {
    var leaving = segments.compactMap { segment in
      segment.accepted == nil ? nil : (segment.key, segment.leaving)
    }
    for key in request.forgotten { leaving.append((key, facts.inventory.positions(of: key))) }
    return Planner.removals(
      leaving: leaving,
      isDeclared: { key in
        !givenUp.contains(key)
          && segments.contains { $0.declaration.isStored && $0.entries.position(of: key) != nil }
      },
      inventory: facts.inventory
    )
  }

  /// What is declared no more, and what its server has no more.
  private mutating func announceLeft(_ removed: [RemovedContent]) {
    announceRemoved(removed.filter { givenUp.contains(URLKey($0.url)) })
    announceRemoved(removed.filter { !givenUp.contains(URLKey($0.url)) })
  }

  mutating func announceRemoved(_ removed: [RemovedContent]) {
    // What never had a body is forgotten, not removed.
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
      guard let entry = entries.position(of: key), entries.isSpecial(at: entry),
        let expires = entries[entry].expires
      else { return false }
      return expires <= facts.now
    }
    if isExpired { return .expired }
    return content.wasEvicted ? .space : .unsubscribed
  }
}
