/// Segments that have nothing to do until their manifest changes.
extension Dispatcher {
  /// Whether an unchanged manifest means that nothing has to be looked at.
  func isQuiet(_ index: Int) -> Bool {
    guard let mark = segments[index].recorded?.quiet, !start.hasUnseenChanges,
      mark.rules == request.rules, now.wall < mark.until, !isFromFuture(index),
      segments[index].recorded?.state == .current
    else { return false }
    let policy = request.policy
    return !request.listsKept && !policy.revalidatesAll && !policy.refetchesAll
      && request.mode.isOfSegments
  }

  /// Whether the last run looked at the segment later than now.
  func isFromFuture(_ index: Int) -> Bool {
    segments[index].recorded?.lastChecked.map { Freshness.isFuture($0, at: now.wall) } ?? false
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

  /// What spares the next run all of this, if nothing can change by itself before some moment.
  ///
  /// Items that two segments share would count twice, so these segments are always looked at; and
  /// so are manifests of several documents, of which each may have changed.
  func quietMark(of segment: SegmentWork) -> QuietMark? {
    guard case .remote = segment.declaration.source, segment.accepted?.manifest != nil,
      request.mode.keepsSegments, !segment.hasShared, now.wall < segment.quietUntil,
      segment.declaration.isStored, !segment.hasParts
    else { return nil }
    let security = request.policy.nextExpiry(after: now.wall)
    return QuietMark(
      until: min(segment.quietUntil, security ?? .distantFuture),
      rules: request.rules,
      itemCount: segment.declaredCount,
      bytes: segment.usableBytes
    )
  }
}
