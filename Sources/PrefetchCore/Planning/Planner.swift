/// Plans from declaration, inventory, policy and time, without I/O and deterministically.
package enum Planner {
  package struct Facts: Sendable {
    package var inventory: Inventory
    package var missing: Set<ContentDigest>
    package let shared: Shared<RunPolicy>
    package var policy: RunPolicy {
      _read { yield shared.value }
    }
    package var now: Instant
    package var credentials: Shared<OriginCredentials>?
    package var key: VarianceKey
    package var isClockAhead = false

    package init(
      inventory: Inventory,
      missing: Set<ContentDigest>,
      policy: RunPolicy,
      now: Instant,
      credentials: Shared<OriginCredentials>? = nil,
      key: VarianceKey = VarianceKey()
    ) {
      self.inventory = inventory
      self.missing = missing
      shared = Shared(policy)
      self.now = now
      self.credentials = credentials
      self.key = key
    }

    package func isUsable(_ row: Inventory.Row) -> Bool {
      row.hasBody && !missing.contains(row.digest)
    }

    func lacksFile(of position: Int) -> Bool {
      inventory.files.contains { $0.row == position && missing.contains($0.digest) }
    }

    package func under(_ policy: RunPolicy) -> Facts {
      Facts(
        inventory: inventory,
        missing: missing,
        policy: policy,
        now: now,
        credentials: credentials,
        key: key
      )
    }
  }

  package static func plan(
    _ segment: SegmentDeclaration,
    key: SegmentKey,
    entries: EntryTable,
    facts: Facts,
    named provenance: Provenance = .local,
    listsKept: Bool = false,
    probesLocked: Bool = false
  ) -> PlanFragment {
    let inventory = facts.inventory
    let judge = Judge(
      segment: segment,
      policy: facts.policy,
      now: facts.now,
      origins: entries,
      named: provenance
    )
    var selector = facts.selector(of: segment)
    let holder = inventory.segmentKeys.firstIndex(of: key)
    let holdingSets = inventory.holderSets.map { set in holder.map(set.contains) ?? false }
    var isNamed = [Bool](repeating: false, count: holder == nil ? 0 : inventory.count)
    let lockedFiles = LockedFileCheck(entries, inventory)
    var fragment = PlanFragment()
    for index in 0..<entries.count {
      var wanted = judge.declaration(at: index, of: entries)
      if let expires = wanted.full?.expires, !facts.isClockAhead {
        guard facts.now < expires else { continue }
        fragment.quietUntil = min(fragment.quietUntil, expires)
      }
      fragment.declaredCount += 1
      // Pull-through items are requested regardless of the store.
      let known = segment.isStored ? inventory.position(of: entries.key(at: index)) : nil
      guard let position = known else {
        let (decision, reason, age) = judge.gate(
          judge.decide(wanted),
          wanted,
          index,
          of: entries
        )
        if reason == .withheld {
          fragment.declaredCount -= 1
          continue
        }
        var step = PlannedStep(entry: index, row: nil, decision: decision, reason: reason)
        step.bundle = wanted.bundle
        step.age = age
        fragment.steps.append(step)
        continue
      }
      let row = inventory.rows[position]
      let isHeld = holdingSets[Int(row.holders)]
      if holder != nil { isNamed[position] = true }
      judge.recognize(
        &wanted,
        index,
        of: entries,
        as: row.form,
        hasBody: row.hasBody,
        hasFiles: inventory.hasFiles(position)
      )
      wanted.hasLockedFiles =
        lockedFiles.accepts(position, index)
        && (facts.missing.isEmpty || !facts.lacksFile(of: position))
      let isDescribed =
        row.state == .failed && !row.hasBody && !facts.policy.retriesFailed
        ? row.description == entries.entry(at: index, identified: false).declarationHash
        : row.description == entries.descriptionHash(at: index)
      var (decision, reason) = judge.decide(
        wanted,
        row: row,
        strong: row.strong == 0 ? [:] : inventory.strongDigests(of: position),
        selection: row.variance == 0
          ? .same
          : selector.selection(
            inventory.variances[Int(row.variance) - 1],
            number: Int(row.variance),
            of: entries,
            at: index,
            for: wanted.purpose
          ),
        isMissing: !facts.missing.isEmpty
          && (facts.missing.contains(row.digest)
            || wanted.bundle == .ad && facts.lacksFile(of: position)),
        isDescribed: isDescribed,
        hasFiles: inventory.hasFiles(position)
      )
      if reason == .withheld, !row.hasBody {
        fragment.declaredCount -= 1
        continue
      }
      // Only a segment that honours `no-store` asks the server for it.
      if decision == .keep, segment.honorsNoStore, !isHeld, reason.isByResponse {
        (decision, reason) = row.hasValidators ? (.revalidate, .stale) : (.update, .noValidators)
      }
      if decision == .keep {
        // A secret that selects the response may change without any other change.
        let isSelected = row.variance > 0 && reason != .digestMatches
        let limit = isSelected ? Instant(milliseconds: .min) : quietLimit(of: reason)
        fragment.quietUntil = min(fragment.quietUntil, limit)
        if !isDescribed, reason != .paused { decision = .describe }
      }
      let age: AgeCheck
      (decision, reason, age) = judge.gate(
        (decision, reason),
        wanted,
        index,
        of: entries,
        row: row,
        strong: row.strong == 0 ? [:] : inventory.strongDigests(of: position),
        sight: inventory.sights[row.item]
      )
      if probesLocked, decision == .keep, reason == .digestMatches,
        entries.isLocked(at: index) || wanted.hasLockedFiles
      {
        (decision, reason) = (.revalidate, .lockedProbe)
      }
      // Stale and paused items are reported separately.
      guard decision == .keep, !listsKept, reason != .staleOffline, reason != .paused else {
        var step = PlannedStep(
          entry: index,
          row: position,
          decision: decision,
          reason: reason,
          isHeld: isHeld,
          isDescribed: isDescribed
        )
        step.bundle = wanted.bundle
        step.age = age
        fragment.steps.append(step)
        continue
      }
      fragment.keptCount += 1
      fragment.keptBytes.add(row.size, isPinned: reason.isForGood)
      if !isHeld { fragment.joining.append(row.item) }
    }
    if entries.hasPriorities {
      let first = { (step: PlannedStep) in
        (entries.priority(at: Int(step.entry)) ?? Rank.lowestPriority, step.entry)
      }
      fragment.steps.sort { first($0) < first($1) }
    }
    if holder != nil, segment.isStored {
      for position in inventory.positions(of: key) where !isNamed[Int(position)] {
        let row = inventory.rows[Int(position)]
        if row.state == .paused || row.isLocked {
          fragment.quietUntil = Instant(milliseconds: .min)
        } else {
          fragment.leaving.append(position)
        }
      }
    }
    return fragment
  }

  /// Decisions about single entries of a segment, from their records.
  package struct Rulings {
    private let entries: EntryTable
    private let judge: Judge
    private var selector: VariantSelector

    package init(
      of segment: SegmentDeclaration,
      entries: EntryTable,
      facts: Facts,
      named provenance: Provenance = .local
    ) {
      self.entries = entries
      judge = Judge(
        segment: segment,
        policy: facts.policy,
        now: facts.now,
        origins: entries,
        named: provenance
      )
      selector = facts.selector(of: segment)
    }

    package mutating func decide(
      _ index: Int,
      record: ContentRecord?,
      isMissing: Bool = false,
      sight: Sight? = nil
    ) -> (decision: PlannedStep.Decision, reason: PlanReason) {
      var wanted = judge.declaration(at: index, of: entries)
      guard let record else {
        let gated = judge.gate(judge.decide(wanted), wanted, index, of: entries)
        return (gated.decision, gated.reason)
      }
      judge.recognize(
        &wanted,
        index,
        of: entries,
        as: record.form,
        hasBody: record.digest != nil,
        hasFiles: !record.files.isEmpty
      )
      let row = Inventory.Row(record, item: 0)
      let decided = judge.decide(
        wanted,
        row: row,
        strong: record.otherDigests,
        selection: record.variance.map {
          selector.selection($0, of: entries, at: index, for: wanted.purpose)
        } ?? .same,
        isMissing: isMissing
      )
      let gated = judge.gate(
        decided,
        wanted,
        index,
        of: entries,
        row: row,
        strong: record.otherDigests,
        sight: sight
      )
      return (gated.decision, gated.reason)
    }
  }

  package static func decide(
    _ entry: ManifestEntry,
    record: ContentRecord?,
    segment: SegmentDeclaration,
    facts: Facts,
    named provenance: Provenance = .local,
    isMissing: Bool = false,
    sight: Sight? = nil
  ) -> (decision: PlannedStep.Decision, reason: PlanReason) {
    var rulings = Rulings(
      of: segment,
      entries: EntryTable([entry]),
      facts: facts,
      named: provenance
    )
    return rulings.decide(0, record: record, isMissing: isMissing, sight: sight)
  }

  /// Returns rows to remove: held by no other segment, not declared by this run, not locked.
  package static func removals(
    leaving: [(SegmentKey, [UInt32])],
    isDeclared: (URLKey) -> Bool,
    inventory: Inventory
  ) -> [(row: Int, segments: [SegmentKey])] {
    var released: [Int: [SegmentKey]] = [:]
    for (key, rows) in leaving {
      for row in rows { released[Int(row), default: []].append(key) }
    }
    return released.keys.sorted().compactMap { position in
      let row = inventory.rows[position]
      let keys = released[position] ?? []
      let isKept = inventory.holders(of: position).contains { holder in
        !keys.contains(inventory.segmentKeys[holder])
      }
      return isKept || row.isLocked || isDeclared(row.key) ? nil : (position, keys)
    }
  }

  package static func lifetimes(
    _ entry: ManifestEntry?,
    ofSegments segments: some Sequence<Freshness.Lifetime?>,
    bound: Duration?,
    form: BundleForm? = nil
  ) -> [Freshness.Lifetime] {
    var lifetimes: [Freshness.Lifetime] = []
    if let own = entry?.lifetime { lifetimes.append(own) }
    for lifetime in segments {
      if let lifetime { lifetimes.append(lifetime) }
    }
    if lifetimes.isEmpty, form ?? entry?.bundleForm == .ad {
      lifetimes.append(BundleForm.adLifetime)
    }
    if let bound { lifetimes.append(.atMost(bound)) }
    return lifetimes
  }

  package static func isContradicted(
    _ expected: [ExpectedDigest],
    by record: ContentRecord
  ) -> Bool {
    guard let digest = record.digest else { return false }
    return Comparison(expected, stored: digest, strong: record.otherDigests) == .different
  }

  /// Returns the time until which a decision holds; offline and paused ones do not outlast the run.
  private static func quietLimit(of reason: PlanReason) -> Instant {
    switch reason {
    case .digestMatches, .immutable, .entityTagMatches, .unchangedSince, .withheld: .distantFuture
    case .freshUntil(let until): until
    case .refusedTransport, .refusedAddress, .compound, .noDigest, .tooLarge, .unexpectedSize,
      .drifted, .notInLockfile, .lockedProbe, .paused, .notStored,
      .objectLost, .refetchRequested, .digestDiffers, .digestNeverChecked, .sizeDiffers, .offline,
      .staleOffline, .otherVariant, .noValidators, .revalidationRequested, .stale, .otherRevision,
      .failedBefore, .untrustedList, .severalFiles, .otherKind, .otherKindOffline,
      .notStoredOffline, .tooYoung,
      .objectLostOffline, .digestDiffersOffline,
      .sizeDiffersOffline, .otherVariantOffline:
      Instant(milliseconds: .min)
    }
  }
}
