/// Several segments that name one URL.
extension Dispatcher {
  /// Whether the item of another segment answers for this one as well.
  mutating func shares(
    _ step: PlannedStep,
    of index: Int,
    with mention: DeclaredURLs.Mention,
    now: Moment,
    into effects: inout [Effect]
  ) -> Bool {
    let entry = segments[index].entries[Int(step.entry)]
    let known = Int(mention.item)
    let first = segments[Int(mention.segment)]
    let digests =
      known >= 0 && items[known].slot >= 0
      ? active[Int(items[known].slot)].digests
      : first.entries[Int(mention.entry)].digests
    if Self.isContradiction(digests, entry.digests) {
      let failure = Failure(
        .manifestInvalid,
        "segments `\(first.declaration.name)` and `\(segments[index].declaration.name)` "
          + "declare different digests for it"
      )
      settleRejected(
        RejectedEntry(url: entry.url.string, id: entry.id, failure: failure),
        in: index,
        into: &effects
      )
      return true
    }
    guard known >= 0 else { return false }
    guard !needsOwnAnswer(step, entry, known: digests, besides: known) else { return false }
    share(known, entry, step, with: index, now: now, into: &effects)
    return true
  }

  /// One transfer, both are told.
  private mutating func share(
    _ item: Int,
    _ entry: ManifestEntry,
    _ step: PlannedStep,
    with index: Int,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let name = segments[index].declaration.name
    let isRequired = segments[index].declaration.isRequired
    if items[item].state == .settled, let result = settledResult(item, isRequired: isRequired) {
      effects.append(.announce(.itemShared(result, segment: name)))
      tally(result, in: index, into: &effects)
      if result.isUsable, request.mode == .run { joinLater(item, result, index, now: now) }
      return
    }
    let slot = activate(item)
    active[slot].result.segments.append(name)
    active[slot].result.isRequired = active[slot].result.isRequired || isRequired
    active[slot].segments.append(index)
    let known = active[slot].digests
    active[slot].digests += entry.digests.filter { !known.contains($0) }
    let algorithms = Self.algorithms(of: active[slot].digests)
    active[slot].exchange?.value.require(algorithms)
    guard request.mode == .run, !step.isHeld else { return }
    if let row = step.position {
      batch.join(segments[index].key, items: [facts.inventory.rows[row].item], now: now.uptime)
    } else if items[item].state == .committing {
      batch.add(.joinNew(segments[index].key, urls: [entry.url.string]), now: now.uptime)
    }
  }

  /// The end of an item as one more segment is told of it.
  private mutating func settledResult(_ item: Int, isRequired: Bool) -> ItemResult? {
    if isRequired { settled.require(item) }
    var result = newActive(item).result
    return settled.complete(&result, of: item) ? result : nil
  }

  /// The record of an item that has settled already, whose number nobody here knows if it is new.
  private mutating func joinLater(_ item: Int, _ result: ItemResult, _ index: Int, now: Moment) {
    if let row = items[item].step.position {
      batch.join(segments[index].key, items: [facts.inventory.rows[row].item], now: now.uptime)
    } else {
      batch.add(.joinNew(segments[index].key, urls: [result.url]), now: now.uptime)
    }
  }

  /// Whether a segment asks for more than what was already decided for another one can prove.
  private func needsOwnAnswer(
    _ step: PlannedStep,
    _ entry: ManifestEntry,
    known: [ExpectedDigest],
    besides item: Int
  ) -> Bool {
    let isDecided =
      switch items[item].state {
      case .settled, .committing: true
      case .queued, .preparing, .inFlight, .waiting: false
      }
    guard isDecided, entry.digests.contains(where: { !known.contains($0) }) else { return false }
    return step.decision.action != .keep || settled.source(of: item) != .cache
  }

  /// Digests of one algorithm that two segments declare differently.
  private static func isContradiction(_ a: [ExpectedDigest], _ b: [ExpectedDigest]) -> Bool {
    Set(a.map(\.algorithm)).intersection(b.map(\.algorithm)).contains { algorithm in
      Set(a.filter { $0.algorithm == algorithm }) != Set(b.filter { $0.algorithm == algorithm })
    }
  }

  static func algorithms(of digests: [ExpectedDigest]) -> Set<DigestAlgorithm> {
    digests.isEmpty
      ? [] : Set(digests.map(\.algorithm).filter(\.isOfBytes)).subtracting([.sha256])
  }
}
