extension Dispatcher {
  /// Whether another segment's item answers for this step as well.
  ///
  /// `earlierVariants` gets the segments whose answer is stored while this step makes its own request.
  mutating func shares(
    _ step: PlannedStep,
    of index: Int,
    with mention: DeclaredURLs.Mention,
    collecting earlierVariants: inout [HeaderConflict]
  ) -> Bool {
    let entry = segments[index].entries[Int(step.entry)]
    let known = Int(mention.item)
    let first = segments[Int(mention.segment)]
    let digests =
      known >= 0 && items.isActive(known)
      ? items.active(known).digests
      : first.entries[Int(mention.entry)].digests
    let isRefused = known >= 0 && items[known].step.decision == .fail
    // A refusal by the step's own segment stands, whatever others allow.
    if step.decision == .fail, !isRefused,
      let failure = step.reason.failure(
        of: entry,
        segment: segments[index].declaration,
        policy: request.policy,
        now: facts.now
      )
    {
      reject(entry, failure, of: index)
      return true
    }
    // The first segment's own rules refused its item, so this step makes its own request.
    if isRefused, step.decision != .fail { return false }
    // The first segment's item is a stream or an ad by its body; this segment wants the file.
    if known >= 0, let form = items[known].step.bundle, step.bundle == nil,
      first.entries[Int(mention.entry)].bundleForm != form,
      !(entry.isRecognizable && segments[index].declaration.recognizesBundles)
    {
      return false
    }
    let keeper = first.entries[Int(mention.entry)]
    if keepsForFailedList(known, keeper, of: first, against: step, of: index) { return false }
    if let failure = objection(toKept: known, entry, of: index, step, for: keeper) {
      reject(entry, failure, of: index)
      return true
    }
    let conflict = headerConflict(
      entry,
      of: index,
      with: first.declaration,
      keeper
    )
    // A step without a request holds, whatever other segments find out.
    if known >= 0, conflict == nil, step.isKept, !items[known].step.isKept {
      guard segments[index].lastList == nil else { return false }
      return holdToKeptDigest(step, entry, of: index, against: known)
    }
    if conflict == nil, settleIfProved(step, of: index, for: keeper, of: known) { return true }
    if step.reason == .otherVariant || step.reason == .otherVariantOffline, let conflict {
      refuseVariant(conflict)
      return true
    }
    if known >= 0, items[known].state == .settled, let conflict,
      conflict.isMet(by: settled.selecting(of: known))
    {
      refuseVariant(conflict)
      return true
    }
    // A segment without an age decides for both, while it can.
    if known >= 0, items[known].step.isAged != step.isAged {
      if step.isAged {
        return shares(step.withoutAge, of: index, with: mention, collecting: &earlierVariants)
      }
      guard items[known].state == .queued, items.isBare(known) else {
        // The item that waits must not overwrite the row of the other's body.
        if items[known].state != .settled { activate(known).hasTwin = true }
        return false
      }
      items[known].step = items[known].step.withoutAge
    }
    // A stale copy that the first segment accepts may be too old for this one.
    if known >= 0, items[known].state == .settled, settled.source(of: known) == .stale,
      staleBound(of: index) < staleBound(of: Int(mention.segment))
    {
      return false
    }
    // Network rules defer the first segment, but not this one.
    if known >= 0, settled.isDeferred(known), deferral(ofSegment: Int(mention.segment)) != nil,
      deferral(ofSegment: index) == nil
    {
      return false
    }
    guard known >= 0, !needsOwnResponse(step, entry, known: digests, sharing: known) else {
      if let conflict { earlierVariants.append(conflict) }
      // A kept item must not overwrite the row that this request stores.
      if known >= 0, items.isActive(known), items[known].step.isKept {
        items.active(known).hasTwin = true
      }
      return false
    }
    joinItem(known, entry, step, with: index, competing: conflict)
    return true
  }

  /// Whether only a failed list's digest keeps the body, while a list of this run requests it.
  private func keepsForFailedList(
    _ known: Int,
    _ keeper: ManifestEntry,
    of first: SegmentWork,
    against step: PlannedStep,
    of index: Int
  ) -> Bool {
    first.lastList != nil && segments[index].lastList == nil && step.needsRequest
      && !keeper.digests.isEmpty && (known < 0 || items[known].step.isKept)
  }

  /// Makes a step of an entry that was only counted as kept, and defends its body.
  mutating func holdToKeptDigest(
    _ entry: Int,
    _ row: Int,
    of index: Int,
    against known: Int
  ) -> Bool {
    let declared = segments[index].entries[entry]
    declaredItems += 1
    let step = PlannedStep(
      entry: entry,
      row: row,
      decision: .keep,
      reason: .digestMatches,
      isHeld: true
    )
    return holdToKeptDigest(step, declared, of: index, against: known)
  }

  /// Holds an earlier item to a kept digest; if too late, requests the body and returns true.
  private mutating func holdToKeptDigest(
    _ step: PlannedStep,
    _ entry: ManifestEntry,
    of index: Int,
    against known: Int
  ) -> Bool {
    guard !entry.digests.isEmpty, step.bundle == nil else { return false }
    if items[known].state == .queued, items[known].step.action == .revalidate,
      items[known].step.bundle == nil,
      !segments[Int(items[known].segment)].declaration.honorsNoStore,
      isProven(step, by: entry, of: -1)
    {
      (items[known].step.decision, items[known].step.reason) = (.keep, .digestMatches)
      return false
    }
    guard isDecided(known) else {
      let work = activate(known)
      // An item with digests of its own is judged by those.
      guard work.digests.isEmpty else { return false }
      work.require(entry.digests)
      work.hasTwin = true
      work.exchange?.value.require(Self.algorithms(of: work.digests))
      return false
    }
    guard let digest = decidedDigest(of: known), isOther(digest, than: step, by: entry) else {
      return false
    }
    var wanted = step
    (wanted.decision, wanted.reason) = (.update, .digestDiffers)
    begin(wanted, of: index)
    return true
  }

  /// Whether a decided body is not the stored one that an entry is kept for.
  ///
  /// The strong digests of the stored body are known; of the other body only the SHA-256 may be.
  private func isOther(
    _ digest: ContentDigest,
    than step: PlannedStep,
    by entry: ManifestEntry
  ) -> Bool {
    switch Comparison(entry.digests, stored: digest, strong: [:]) {
    case .equal: false
    case .different: true
    case .unknown: row(of: step)?.digest != digest && isProven(step, by: entry, of: -1)
    }
  }

  /// Whether a digest proves the stored body, so that no other answer would be accepted.
  func isProven(_ step: PlannedStep, by entry: ManifestEntry, of known: Int) -> Bool {
    guard known < 0 || items[known].step.isKept, let row = row(of: step), isUsable(row),
      entry.digests.contains(where: \.algorithm.isTrustworthy), let position = step.position
    else { return false }
    let strong = facts.inventory.strongDigests(of: position)
    return Comparison(entry.digests, stored: row.digest, strong: strong) == .equal
  }

  private mutating func settleIfProved(
    _ step: PlannedStep,
    of index: Int,
    for keeper: ManifestEntry,
    of known: Int
  ) -> Bool {
    guard step.action == .revalidate, step.bundle == nil,
      !segments[index].declaration.honorsNoStore, isProven(step, by: keeper, of: known)
    else { return false }
    var kept = step
    (kept.decision, kept.reason) = (.keep, .digestMatches)
    settleAtOnce(kept, of: index)
    return true
  }

  /// Whether an unselected segment owns the stored body, by its digest or as its earlier answer.
  mutating func settleIfOwnedByUnselected(
    _ step: PlannedStep,
    of index: Int,
    collecting earlierVariants: inout [HeaderConflict]
  ) -> Bool {
    guard !request.unselected.isEmpty, let position = step.position else { return false }
    for holder in facts.inventory.holders(of: position) {
      let key = facts.inventory.segmentKeys[holder]
      guard key.identity == request.identity, let unselected = request.unselected[key.name]
      else { continue }
      let entry = segments[index].entries[Int(step.entry)]
      let other = unselected.declaration
      let keeper = other.inlineEntry(for: entry.url)
      guard let conflict = headerConflict(entry, of: index, with: other, keeper) else {
        if settleIfProved(step, of: index, for: keeper, of: -1) { return true }
        continue
      }
      guard unselected.precedingSelectedCount <= index else { continue }
      guard step.reason == .otherVariant || step.reason == .otherVariantOffline else {
        earlierVariants.append(conflict)
        continue
      }
      refuseVariant(conflict)
      return true
    }
    return false
  }

  private func headerConflict(
    _ entry: ManifestEntry,
    of index: Int,
    with first: SegmentDeclaration,
    _ other: ManifestEntry
  ) -> HeaderConflict? {
    let second = segments[index].declaration
    let purpose = RequestPurpose(itemType: entry.type)
    return HeaderConflict(entry, of: second, at: index, against: other, of: first) {
      segment,
      entry in
      facts.selector(of: segment).fields(of: entry, for: purpose)
    }
  }

  /// Ends the item for segments whose headers select another answer than the first segment's.
  ///
  /// Digests of the other segments are required; `selecting` names the selecting headers.
  mutating func separateHeaderConflicts(
    _ item: Int,
    by selecting: [String],
    from body: StagedBody? = nil
  ) {
    let work = items.active(item)
    guard !work.headerConflicts.isEmpty else { return }
    for conflict in work.headerConflicts {
      guard conflict.isSeparated(by: selecting, from: body) else {
        work.require(conflict.digests)
        continue
      }
      removeSegment(conflict.segment, from: work)
      refuseVariant(conflict)
    }
    work.headerConflicts = []
  }

  /// Fails an item whose answer depends on headers that a segment with a stored answer differs in.
  mutating func yieldsToEarlierVariant(
    _ item: Int,
    _ response: TransferResponse,
    by selecting: [String]
  ) -> Bool {
    let work = items.active(item)
    guard
      let earlier = work.earlierVariants.first(where: {
        $0.isSeparated(by: selecting, from: response.body)
      })
    else { return false }
    discard(response)
    for index in work.segments { leaveToOther(earlier.url, index) }
    work.result.action = .fail
    work.result.outcome = .failed
    work.result.reason = earlier.reason
    work.result.failure = earlier.failure
    work.result.state = .failed
    work.result.isUsable = false
    settleItem(item)
    return true
  }

  func selecting(_ item: Int, _ response: TransferResponse) -> [String] {
    let work = items.active(item)
    guard !work.headerConflicts.isEmpty || !work.earlierVariants.isEmpty else { return [] }
    let redirects = (work.exchange?.value.chain.terms ?? []).compactMap(\.variance).flatMap(\.names)
    let known = work.record?.value.variance?.hops.flatMap(\.names) ?? []
    let own =
      response.headers.has(.vary) || response.status != 304
      ? Variance.names(in: response.headers) : known
    return redirects + own
  }

  private mutating func refuseVariant(_ conflict: HeaderConflict) {
    let index = conflict.segment
    leaveToOther(conflict.url, index)
    var result = ItemResult(
      url: conflict.url,
      id: conflict.id ?? start.identify(conflict.url),
      segments: [segments[index].declaration.name],
      state: .failed,
      action: .fail,
      reason: conflict.reason
    )
    result.outcome = .failed
    result.failure = conflict.failure
    result.isRequired = segments[index].declaration.isRequired && conflict.isRequired
    announce(.itemSettled(result))
    tally(result, in: index, isRequired: conflict.isRequired)
  }

  private mutating func leaveToOther(_ url: String, _ index: Int) {
    let key = URLKey(url)
    segments[index].otherVariants.insert(key)
    if let position = facts.inventory.position(of: key) {
      segments[index].leaving.append(UInt32(position))
    }
  }

  private mutating func joinItem(
    _ item: Int,
    _ entry: ManifestEntry,
    _ step: PlannedStep,
    with index: Int,
    competing conflict: HeaderConflict?
  ) {
    let name = segments[index].declaration.name
    let isRequired = segments[index].declaration.isRequired && entry.isRequired
    if items[item].state == .settled, let result = settledResult(item, isRequired: isRequired) {
      if let failure = objection(toSettled: item, result, entry, of: index) {
        return reject(entry, failure, of: index)
      }
      announce(.itemShared(result, segment: name))
      tally(result, in: index, isRequired: entry.isRequired)
      if result.isUsable, request.mode.keepsSegments { joinLater(item, index) }
      return
    }
    let work = activate(item)
    let sharer = Sharer(segment: index, entry: entry, step: step, position: declaredItems - 1)
    if items[item].state == .committing, conflict == nil,
      let failure = objection(toSettled: item, work.result, entry, of: index)
    {
      guard request.mode.predicts else { return reject(entry, failure, of: index) }
      work.foreseenRefusals.append((sharer, failure))
    }
    work.result.segments.append(name)
    work.result.isRequired = work.result.isRequired || isRequired
    work.segments.append(index)
    raise(item, for: index, Int(step.entry))
    if !entry.isRequired || work.control != nil { work.optionalIn.append(index) }
    if let conflict {
      work.headerConflicts.append(conflict)
    } else {
      work.sharers.append(sharer)
    }
    let algorithms = Self.algorithms(of: work.digests + entry.digests)
    work.exchange?.value.require(algorithms)
    guard request.mode.keepsSegments, !step.isHeld else { return }
    if let row = step.position {
      batch.join(segments[index].key, items: [facts.inventory.rows[row].item], now: now.uptime)
    } else if items[item].state == .committing {
      batch.add(.joinNew(segments[index].key, urls: [entry.recordURL]), now: now.uptime)
    }
  }

  private mutating func settledResult(_ item: Int, isRequired: Bool) -> ItemResult? {
    if isRequired { settled.require(item) }
    var result = newActive(item).result
    return settled.complete(&result, of: item) ? result : nil
  }

  /// Joins a settled item to a segment, by URL if its row number is unknown.
  private mutating func joinLater(_ item: Int, _ index: Int) {
    if let row = items[item].step.position {
      batch.join(segments[index].key, items: [facts.inventory.rows[row].item], now: now.uptime)
    } else {
      let url = segments[Int(items[item].segment)].table.value.url(at: Int(items[item].step.entry))
      batch.add(.joinNew(segments[index].key, urls: [url]), now: now.uptime)
    }
  }

  /// Requests the next tag of an ad space after one failed; the other segments share its answer.
  mutating func requestNextTag(of item: Int) {
    let work = items.active(item)
    guard work.entry.zone != nil, halt == nil, storeFailure == nil,
      let next = work.sharers.first(where: { $0.entry.url != work.entry.url })
    else { return }
    let others = work.sharers.filter {
      $0.segment != next.segment && $0.entry.url != work.entry.url
    }
    for sharer in [next] + others { removeSharer(sharer, from: work) }
    work.hasTwin = true
    begin(next.step, of: next.segment, at: next.position)
    let new = items.count - 1
    for sharer in others {
      joinItem(new, sharer.entry, sharer.step, with: sharer.segment, competing: nil)
    }
  }

  private func needsOwnResponse(
    _ step: PlannedStep,
    _ entry: ManifestEntry,
    known: [ExpectedDigest],
    sharing item: Int
  ) -> Bool {
    guard isDecided(item) || items[item].step.isKept else { return false }
    let failure =
      items[item].state == .settled || !items.isActive(item)
      ? settled.failure(of: item) : items.active(item).result.failure
    if let failure, Self.refusals.contains(failure.code) { return true }
    let wasRequested = isDecided(item) && settled.source(of: item) != .cache
    let needsRequest = step.decision.action != .keep
    if let digest = decidedDigest(of: item) {
      switch Comparison(entry.digests, stored: digest, strong: [:]) {
      case .equal: return false
      // The body would have been refused in flight, too.
      case .different where hadResponse(item): return false
      default: break
      }
    }
    // A body that was kept without a request may be too old for this segment.
    guard entry.digests.contains(where: { !known.contains($0) }) else {
      return needsRequest && !wasRequested
    }
    return needsRequest || wasRequested
  }

  private func hadResponse(_ item: Int) -> Bool {
    let source = items.isActive(item) ? items.active(item).result.source : settled.source(of: item)
    return switch source {
    case .network, .alternate, .revalidated, .remote: true
    case .cache, .stale: false
    case nil: items.isSimple(item)
    }
  }

  private func isDecided(_ item: Int) -> Bool {
    switch items[item].state {
    case .settled, .committing: true
    case .queued, .preparing, .inFlight, .waiting, .gathering: false
    }
  }

  private func decidedDigest(of item: Int) -> ContentDigest? {
    if items[item].state == .settled { return settled.digest(of: item) }
    if items.isActive(item) {
      let result = items.active(item).result
      return result.isUsable ? result.digest : nil
    }
    return arrivedDigest(of: item) ?? row(of: items[item].step)?.digest
  }

  private static let refusals: Set<ErrorCode> = [
    .tooLarge, .corrupted, .unexpectedContent, .digestMismatch, .drifted, .unsupported,
  ]

  static func algorithms(of digests: [ExpectedDigest]) -> Set<DigestAlgorithm> {
    digests.isEmpty ? [] : Set(digests.map(\.algorithm)).subtracting([.sha256])
  }
}

extension SegmentDeclaration {
  fileprivate func inlineEntry(for url: WebURL) -> ManifestEntry {
    guard case .inline(let entries) = source,
      let position = entries.value.position(of: URLKey(url.string))
    else { return ManifestEntry(url: url) }
    return entries.value[position]
  }
}
