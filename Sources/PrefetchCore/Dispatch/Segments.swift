/// Segments of a run: progress, counts and final status of each.
struct Segments: RandomAccessCollection, MutableCollection {
  private var works: [SegmentWork]
  private let given: Shared<Dispatcher.Start>
  let publishes: Bool

  var startIndex: Int { 0 }
  var endIndex: Int { works.count }

  // Without `_read`, which compiler 6.3 misreads; details at the subscript of `ItemTable`. Through
  // the span, since an array copies the whole element, of 2.5 kB, to read one property.
  subscript(index: Int) -> SegmentWork {
    @inline(__always) get { works.span[index] }
    @inline(__always) _modify { yield &works[index] }
  }

  private var request: RunRequest { given.value.request }

  init(_ given: Shared<Dispatcher.Start>) {
    self.given = given
    let request = given.value.request
    publishes = request.segments.contains { $0.publishing != nil }
    let records = Dictionary(given.value.segments.map { ($0.key, $0) }) { first, _ in first }
    works = request.segments.map { declaration in
      let key = SegmentKey(identity: request.identity, name: declaration.name)
      let url: String? =
        switch declaration.source {
        case .inline: nil
        case .remote(let url): url.string
        case .file(let path, _): path
        }
      var work = SegmentWork(
        declaration: declaration,
        key: key,
        recorded: records[key],
        manifest: ManifestResult(url: url, status: url == nil ? .inline : .skipped)
      )
      work.provenance = declaration.provenance(under: request.policy)
      return work
    }
  }

  var areSettled: Bool { works.allSatisfy { $0.phase == .settled } }

  func index(of key: SegmentKey) -> Int? { works.firstIndex { $0.key == key } }

  // MARK: Ends of items

  /// Counts the end of an item; an optional item's failure counts only after a breach of trust.
  mutating func count(_ result: ItemResult, in index: Int, isRequired: Bool) {
    works[index].openItems -= 1
    let isForeseen =
      request.mode.predicts && result.failure == nil && result.outcome != .deferred
      && result.state != .deleted
    if result.isUsable || isForeseen {
      works[index].usableCount += 1
      works[index].usableBytes += result.size ?? 0
    }
    if isRequired { works[index].retention.record(result) }
    if let failure = result.failure, isRequired || failure.code.category == .trust {
      works[index].hasFailures = true
    }
    if isRequired, result.outcome == .deferred {
      works[index].deferral = Deferral.foremost(works[index].deferral, result.deferral)
      if result.isInterrupted { works[index].isInterrupted = true }
    }
    // The next run must retry an item that this one did not bring, required or not.
    if result.failure != nil || result.outcome == .deferred || result.outcome == .empty {
      works[index].limitQuiet(until: nil)
    }
  }

  mutating func count(_ items: Int, _ bytes: Int64, in index: Int) {
    works[index].openItems -= items
    works[index].usableCount += items
    works[index].usableBytes += bytes
  }

  mutating func uncountEvicted(_ size: Int64, in index: Int, isRequired: Bool) {
    if isRequired { works[index].hasFailures = true }
    works[index].usableCount -= 1
    works[index].usableBytes -= size
    works[index].limitQuiet(until: nil)
  }

  /// Whether all items have ended; during planning the last item is not known yet.
  func isDone(_ index: Int) -> Bool {
    works[index].openItems == 0 && works[index].phase == .planned
  }

  mutating func newResult(of index: Int) -> SegmentResult? {
    let work = works[index]
    let hasFailed = work.hasFailures || work.manifest.failure != nil
    let state: SegmentState =
      if hasFailed {
        work.usableCount > 0 || !work.retained.isEmpty ? .incomplete : .failed
      } else {
        work.deferral == nil && !work.isInterrupted ? .current : .deferred
      }
    works[index].accepted?.state = state
    var result = SegmentResult(
      name: work.declaration.name,
      state: state,
      priority: work.priority,
      isRequired: work.declaration.isRequired
    )
    result.deferral = work.deferral
    result.isLeft = work.accepted != nil && !work.leaving.isEmpty
    guard work.lastAnnouncedStatus != result else { return nil }
    works[index].lastAnnouncedStatus = result
    return result
  }

  // MARK: What leaves

  /// Takes rows that the list dropped or that expired out of `leaving`; excluded items stay in it.
  mutating func retainLeaving(_ index: Int, _ facts: Planner.Facts) {
    let unselected = works[index].unselected
    works[index].unselected = nil
    guard !works[index].leaving.isEmpty else { return }
    let entries = works[index].table.value
    let isListed = works[index].declaration.isListed
    var leaving: [UInt32] = []
    for position in works[index].leaving {
      let row = facts.inventory.rows[Int(position)]
      if entries.position(of: row.key) != nil {
        works[index].expired.append(position)
      } else if !isListed || !facts.isUsable(row)
        || unselected.map({ $0.value.position(of: row.key) != nil }) ?? false
      {
        leaving.append(position)
      } else {
        works[index].unlisted.append(position)
      }
    }
    works[index].leaving = leaving
  }

  /// Retains all items, since under a list of an earlier run none leaves.
  mutating func retainAll(_ index: Int) {
    if works[index].deferralOfAll == nil { works[index].retained += works[index].leaving }
    works[index].leaving = []
  }

  /// Decides about expired and unlisted rows, once all items of the segment have ended.
  mutating func concludeRetention(
    _ index: Int,
    _ inventory: Inventory,
    at now: Instant,
    isClockAhead: Bool
  ) {
    let expired = works[index].expired
    works[index].expired = []
    if isClockAhead {
      works[index].retained += expired
    } else {
      works[index].leaving += expired
    }
    concludeUnlisted(index, inventory, at: now, isClockAhead: isClockAhead)
  }

  private mutating func concludeUnlisted(
    _ index: Int,
    _ inventory: Inventory,
    at now: Instant,
    isClockAhead: Bool
  ) {
    guard !works[index].unlisted.isEmpty else { return }
    let positions = works[index].unlisted
    works[index].unlisted = []
    let items = positions.map { inventory.rows[Int($0)].item }
    let division = works[index].retention.divide(
      items,
      recorded: works[index].recorded?.retained ?? [],
      grace: isClockAhead ? nil : request.policy.removalGrace,
      at: now
    )
    for (position, item) in zip(positions, items) {
      if division.over.contains(item) {
        works[index].leaving.append(position)
      } else {
        works[index].retained.append(position)
      }
    }
    works[index].accepted?.retained = division.staying
  }

  func retainedBodies(_ index: Int, _ inventory: Inventory) -> Set<ContentDigest> {
    let positions = works[index].retained
    guard !positions.isEmpty else { return [] }
    var bodies = Set(positions.map { inventory.rows[Int($0)].digest })
    let rows = Set(positions.map { Int($0) })
    for file in inventory.files where rows.contains(file.row) { bodies.insert(file.digest) }
    return bodies
  }

  func listedRetained() -> [(row: Int, segment: Int)] {
    guard request.listsKept else { return [] }
    return works.indices.flatMap { index in
      works[index].retained.map { (Int($0), index) }
    }
  }

  func removals(
    _ inventory: Inventory,
    givenUp: Set<URLKey>
  ) -> [(row: Int, segments: [SegmentKey])] {
    var leaving = works.compactMap { segment in
      segment.accepted == nil ? nil : (segment.key, segment.leaving)
    }
    for key in request.forgotten { leaving.append((key, inventory.positions(of: key))) }
    return Planner.removals(
      leaving: leaving,
      isDeclared: { key in
        !givenUp.contains(key)
          && works.contains { $0.declaration.isStored && $0.entries.position(of: key) != nil }
      },
      inventory: inventory
    )
  }

  // MARK: Nothing to do

  func isQuiet(_ index: Int, at now: Instant) -> Bool {
    guard let mark = works[index].recorded?.quiet, !given.value.hasUnseenChanges,
      mark.rules == request.rulesHash, now < mark.until, !isFromFuture(index, at: now),
      works[index].recorded?.state == .current
    else { return false }
    let policy = request.policy
    return !request.listsKept && !policy.revalidatesAll && !policy.refetchesAll
      && request.mode.isOfSegments && request.mode.plansItems
  }

  private func isFromFuture(_ index: Int, at now: Instant) -> Bool {
    works[index].recorded?.lastChecked.map { Freshness.isFuture($0, at: now) } ?? false
  }

  /// Returns the mark that lets the next run skip the segment; nil if it may change by itself.
  ///
  /// Shared items would count twice; of several documents each may change: neither gets a mark.
  private func quietMark(of segment: SegmentWork, at now: Instant) -> QuietMark? {
    guard case .remote = segment.declaration.source, segment.accepted?.manifest != nil,
      request.mode.keepsSegments, !segment.hasShared, now < segment.quietUntil,
      segment.declaration.isStored, !segment.hasFurtherDocuments
    else { return nil }
    let security = request.policy.nextExpiry(after: now)
    return QuietMark(
      until: Swift.min(segment.quietUntil, security ?? .distantFuture),
      rules: request.rulesHash,
      itemCount: segment.declaredCount,
      bytes: segment.usableBytes
    )
  }

  // MARK: The end of a run

  /// Returns the last changes of a run; removals come last, and never after a halt.
  func lastChanges(_ inventory: Inventory, at now: Instant, isHalted: Bool) -> [StoreChange] {
    var changes: [StoreChange] = []
    for segment in works {
      guard var record = segment.accepted else {
        if let kept = keptGeneration(of: segment, at: now) {
          changes.append(.segment(kept, manifest: nil))
        }
        continue
      }
      if !isHalted {
        if !segment.leaving.isEmpty {
          let items = segment.leaving.map { inventory.rows[Int($0)].item }
          changes.append(.leave(segment.key, items: items))
        }
        if record.state == .current { record.quiet = quietMark(of: segment, at: now) }
      }
      // A segment that ended before the halt has succeeded if none of its items must be removed.
      let isAsAllowed = record.state == .current || segment.onlyWaitsForAge
      if isAsAllowed, segment.isConfirmed, !isHalted || segment.leaving.isEmpty {
        record.lastSuccess = now
      }
      changes.append(.segment(record, manifest: nil))
    }
    if !isHalted { changes += request.forgotten.map { .forget($0) } }
    return changes
  }

  /// Returns the old record with a new state, after a manifest that failed or was deferred.
  private func keptGeneration(of segment: SegmentWork, at now: Instant) -> SegmentRecord? {
    if segment.manifest.failure == nil, segment.lastAnnouncedStatus?.state == .deferred,
      !segment.isInterrupted
    {
      var record = segment.recorded ?? SegmentRecord(key: segment.key)
      guard segment.recorded == nil || record.state != .deferred else { return nil }
      record.state = .deferred
      return record
    }
    guard var record = segment.recorded, segment.manifest.failure != nil else { return nil }
    record.state = segment.usableCount > 0 ? .incomplete : .failed
    record.lastChecked = now
    return record
  }
}
