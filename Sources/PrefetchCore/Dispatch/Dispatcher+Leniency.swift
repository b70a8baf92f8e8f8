extension Dispatcher {
  mutating func serveStale(_ item: Int, _ failure: Failure, status: Int?) -> Bool {
    let work = items.active(item)
    let digests = work.wantedDigests
    guard halt == nil, work.result.isUsable, let record = work.record?.value,
      StaleRule.covers(failure, status: status), selection(of: item) != .other,
      record.digest.map({ !space.evicted.contains($0) }) ?? false,
      !Planner.isContradicted(digests, by: record)
    else { return false }
    guard mayBeStale(record, for: item, failure) else { return false }
    separateHeaderConflicts(item, by: record.variance?.hops.flatMap(\.names) ?? [])
    let isFresh =
      record.freshUntil(under: granted(work), at: now.wall).map { now.wall < $0 } ?? false
    work.result.action = .keep
    work.result.outcome = isFresh ? .unchanged : .stale
    work.result.source = isFresh ? .cache : .stale
    work.result.reason = failure.message
    work.result.confirmedAt = record.validatedAt ?? record.fetchedAt
    for index in work.segments { segments[index].limitQuiet(until: nil) }
    settleItem(item)
    return true
  }

  private mutating func mayBeStale(
    _ record: ContentRecord,
    for item: Int,
    _ failure: Failure
  ) -> Bool {
    let work = items.active(item)
    let granted = granted(work)
    let accepting = work.segments.filter { index in
      let bound = staleBound(of: index)
      // A bound of zero excludes fresh copies, too: the user wants to see that no server answered.
      return bound > .zero
        && StaleRule.mayServe(record, granted: granted, maximumStale: bound, now: now.wall)
    }
    guard work.judgingSegments.allSatisfy(accepting.contains) else {
      leaveSharers(item) { accepting.contains($0) }
      return false
    }
    for sharer in work.sharers where !accepting.contains(sharer.segment) {
      removeSharer(sharer, from: work)
      reject(sharer.entry, failure, of: sharer.segment)
    }
    return true
  }

  /// Returns how long after its lifetime a segment accepts a copy if no server answers.
  func staleBound(of index: Int) -> Duration {
    segments[index].declaration.maximumStale ?? request.policy.maximumStale
  }

  mutating func applyOnGone(_ item: Int, _ status: Int) -> Bool {
    let work = items.active(item)
    // Another tag of the ad space may still have an ad.
    if work.entry.zone != nil, work.sharers.contains(where: { $0.entry.url != work.entry.url }) {
      return false
    }
    let row = row(of: items[item].step)
    let outcome = GoneRule.outcome(
      status: status,
      rules: work.segments.map { segments[$0].declaration.onGone },
      hasBody: row?.hasBody ?? false,
      isLocked: row?.isLocked ?? false
    )
    guard request.mode.isOfSegments, case .removed = outcome, let row else { return false }
    let emptiness = work.result.emptiness
    let reason = emptiness?.message ?? "the server answered \(status)"
    guard request.shard == nil else {
      work.result.action = .keep
      work.result.outcome = .stale
      work.result.source = .stale
      work.result.reason = "\(reason), and a run of all shards removes it"
      for index in work.segments { segments[index].limitQuiet(until: nil) }
      settleItem(item)
      return true
    }
    work.result.action = .keep
    work.result.outcome = emptiness == nil ? .unchanged : .empty
    work.result.reason = "\(reason), and `on_gone` removes it"
    work.result.isUsable = false
    work.result.state = .deleted
    givenUp.insert(row.key)
    guard request.mode.keepsSegments else {
      if let position = items[item].step.position {
        let holders = facts.inventory.holders(of: position).map { facts.inventory.segmentKeys[$0] }
        for index in work.segments where holders.contains(segments[index].key) {
          segments[index].leaving.append(UInt32(position))
        }
      }
      settleItem(item)
      return true
    }
    recordFreshBody(work.entry.recordURL, TreeBody(digest: .none, size: 0))
    for index in work.segments {
      segments[index].limitQuiet(until: nil)
      batch.add(.leave(segments[index].key, items: [row.item]), now: now.uptime)
    }
    settleItem(item)
    return true
  }

  func roomFailure(_ item: Int, _ failure: Failure, announced: Int64?) -> Failure? {
    let work = items.active(item)
    guard failure.code == .tooLarge, let room = work.roomLimit, announced ?? .max > room,
      room < sizeLimit(nil, in: Int(items[item].segment)) ?? .max
    else { return nil }
    // There was room for the declared size, so the declaration is wrong.
    if let declared = work.entry.size, work.reportedSize == nil {
      let size = announced.map { "\($0)" } ?? "more than \(room)"
      return Failure(.corrupted, "it has \(size) bytes, but \(declared) are declared")
    }
    return space.full(need: announced, room)
  }
}
