/// Published trees: made after their items are durable, before anything is removed.
extension Dispatcher {
  /// Rejects entries that cannot have their names in the tree, before any request.
  mutating func refuseNames(_ index: Int) -> [RejectedEntry] {
    guard let rules = segments[index].declaration.publishing, request.mode.isOfSegments,
      segments[index].declaration.isStored
    else { return [] }
    let naming = TreeNaming(of: segments[index].entries, rules: rules)
    segments[index].entries = naming.entries
    segments[index].heldNames = naming.held
    segments[index].declaration.publishing = naming.rules
    return naming.refused
  }

  mutating func publishOrSettle(_ index: Int) {
    segments.concludeRetention(
      index,
      facts.inventory,
      at: now.wall,
      isClockAhead: isClockAhead
    )
    let retained = segments[index].retained.count
    if retained > 0 {
      announce(.itemsRetained(segment: segments[index].declaration.name, count: retained))
    }
    guard request.mode.makesTrees || request.mode.predicts, storeFailure == nil,
      segments[index].deferralOfAll == nil,
      let rules = segments[index].declaration.publishing, segments[index].declaration.isStored
    else { return settleSegment(index) }
    guard halt == nil else {
      markUnfinished(index)
      return settleSegment(index)
    }
    segments[index].phase = .publishing
    let segment = segments[index]
    var plan = TreePlan(
      segment: segment.key,
      of: segment.declaration,
      rules: rules,
      entries: segment.entries,
      facts: facts,
      bodies: freshBodies,
      withheld: segment.otherVariants,
      held: segment.heldNames,
      retained: segments.retainedBodies(index, facts.inventory),
      isWhole: !segment.hasFailures && segment.deferral == nil
    )
    // A tree that switches must be whole, whatever the reason for a missing item.
    if rules.isAtomic || rules.hub != nil { plan.requireAll() }
    // A dry run stores no list of a server.
    if rules.mirror?.includesList == true, request.mode.makesTrees {
      for list in lists(of: index) { plan.add(list: list.name, list.bytes) }
      // The list must be a stored body before the tree is made.
      flush()
    }
    effects.append(.publish(segment: index, plan))
  }

  private func lists(of index: Int) -> [(name: String, bytes: ManifestSource.Bytes)] {
    switch segments[index].declaration.source {
    case .inline: return []
    case .file(let path, _):
      let name = PathText.split(path).leaf
      let signature: [(name: String, bytes: ManifestSource.Bytes)] =
        segments[index].declaration.manifestKeys.isEmpty
        ? [] : [(name + SignatureDemand.suffix, .file(path + SignatureDemand.suffix))]
      return [(name, .file(path))] + signature
    case .remote:
      guard let record = segments[index].accepted ?? segments[index].recorded,
        let url = record.manifestURL, let digest = record.manifest
      else { return [] }
      let signatures = documents.signatures(of: index).map { ($0.url, $0.digest) }
      return ([(url, digest)] + signatures).compactMap { text, digest in
        guard let url = try? WebURL(text), let name = try? TreeName.lastComponent(of: url)
        else { return nil }
        return (name, .stored(digest))
      }
    }
  }

  mutating func published(_ index: Int, _ outcome: TreeOutcome) {
    guard segments[index].phase == .publishing else { return }
    if outcome.hasFailed { segments[index].hasFailures = true }
    if outcome.isInterrupted { segments[index].isInterrupted = true }
    let isForeseen = request.mode.predicts
    if !isForeseen || !outcome.troubles.isEmpty || !outcome.warnings.isEmpty {
      announce(outcome, of: index)
    }
    settleSegment(index)
  }

  mutating func announce(_ outcome: TreeOutcome, of index: Int) {
    let name = segments[index].declaration.name
    announce(.treePublished(segment: name, outcome))
  }

  mutating func treeFound(_ index: Int, _ outcome: TreeOutcome?) {
    if storeFailure != nil || halt != nil { return settleManifestHalted(index) }
    guard let outcome else { return readWhenSigned(index) }
    announce(outcome, of: index)
    settleQuiet(index)
  }

  mutating func recordFreshBody(_ url: String, _ body: TreeBody) {
    guard segments.publishes else { return }
    freshBodies[URLKey(url)] = body
  }

  /// Notes a body that a run would fetch, where a segment would publish it.
  mutating func recordForeseenBody(_ work: ActiveItem) {
    guard request.mode.predicts, segments.publishes, work.result.failure == nil,
      work.result.outcome != .deferred, [.fetch, .update].contains(work.result.action)
    else { return }
    let body = ForeseenBody(digests: work.digests, size: work.reportedSize ?? work.entry.size)
    freshBodies[URLKey(work.entry.recordURL)] = TreeBody(foreseen: body)
  }
}
