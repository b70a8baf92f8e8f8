/// Declaration, inventory, policy and the time → what to do; no I/O, the same answer every time.
package enum Planner {
  /// The facts that hold for every segment of a run.
  package struct Facts: Sendable {
    package var inventory: Inventory
    /// Objects the index names and the file system has lost.
    package var missing: Set<ContentDigest>
    package var policy: RunPolicy
    package var now: Instant

    package init(inventory: Inventory, missing: Set<ContentDigest>, policy: RunPolicy, now: Instant)
    {
      self.inventory = inventory
      self.missing = missing
      self.policy = policy
      self.now = now
    }
  }

  /// Plans one segment as soon as its entries are known.
  ///
  /// With `listsKept` the entries that are simply kept become steps as well.
  package static func plan(
    _ segment: SegmentDeclaration,
    key: SegmentKey,
    entries: EntryTable,
    facts: Facts,
    listsKept: Bool = false
  ) -> PlanFragment {
    let inventory = facts.inventory
    let judge = Judge(segment: segment, policy: facts.policy, now: facts.now, origins: entries)
    let holder = inventory.segmentKeys.firstIndex(of: key)
    let holdingSets = inventory.holderSets.map { set in holder.map(set.contains) ?? false }
    var isNamed = [Bool](repeating: false, count: holder == nil ? 0 : inventory.count)
    var fragment = PlanFragment()
    for index in 0..<entries.count {
      let full = entries.isSpecial(at: index) ? entries[index] : nil
      if let expires = full?.expires {
        guard facts.now < expires else { continue }
        fragment.quietUntil = min(fragment.quietUntil, expires)
      }
      fragment.declaredCount += 1
      let wanted = Wanted(
        size: entries.size(at: index),
        sha256: entries.plainDigest(at: index),
        origin: entries.originNumber(at: index),
        full: full
      )
      guard let position = inventory.position(of: entries.key(at: index)) else {
        let (decision, reason) = judge.decide(wanted, row: nil, strong: [:], isMissing: false)
        fragment.steps.append(
          PlannedStep(entry: index, row: nil, decision: decision, reason: reason)
        )
        continue
      }
      let row = inventory.rows[position]
      let isHeld = holdingSets[Int(row.holders)]
      if holder != nil { isNamed[position] = true }
      var (decision, reason) = judge.decide(
        wanted,
        row: row,
        strong: row.strong == 0 ? [:] : inventory.strongDigests(of: position),
        isMissing: !facts.missing.isEmpty && facts.missing.contains(row.digest)
      )
      if decision == .keep {
        fragment.quietUntil = min(fragment.quietUntil, quietLimit(of: reason))
        if row.description != entries.descriptionHash(at: index) { decision = .describe }
      }
      guard decision == .keep, !listsKept else {
        fragment.steps.append(
          PlannedStep(
            entry: index,
            row: position,
            decision: decision,
            reason: reason,
            isHeld: isHeld
          )
        )
        continue
      }
      fragment.keptCount += 1
      fragment.keptBytes += row.size
      if !isHeld { fragment.joining.append(row.item) }
    }
    if holder != nil {
      fragment.leaving = inventory.positions(of: key).filter { !isNamed[Int($0)] }
    }
    return fragment
  }

  /// The decision about one entry whose record, if any, is at hand.
  package static func decide(
    _ entry: ManifestEntry,
    record: ContentRecord?,
    segment: SegmentDeclaration,
    policy: RunPolicy,
    now: Instant,
    isMissing: Bool = false
  ) -> (decision: PlannedStep.Decision, reason: PlanReason) {
    let table = EntryTable([entry])
    let judge = Judge(segment: segment, policy: policy, now: now, origins: table)
    return judge.decide(
      Wanted(size: entry.size, sha256: nil, origin: 0, full: entry),
      row: record.map { Inventory.Row($0, item: 0) },
      strong: record?.otherDigests ?? [:],
      isMissing: isMissing
    )
  }

  /// What disappears when segments let go of rows: whatever no other segment holds, none of this
  /// run declares, and nobody locked.
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

  /// What the manifest, the configuration and the segments say about how long an answer holds.
  package static func lifetimes(
    _ entry: ManifestEntry,
    of segments: [SegmentDeclaration],
    policy: RunPolicy
  ) -> [Freshness.Lifetime] {
    let bound = policy.freshnessLimit.map { Freshness.Lifetime.atMost($0) }
    return [entry.lifetime, bound].compactMap(\.self) + segments.compactMap(\.lifetime)
  }

  /// Whether a stored body is known not to be the declared one.
  package static func isContradicted(
    _ expected: [ExpectedDigest],
    by record: ContentRecord
  ) -> Bool {
    guard let digest = record.digest else { return false }
    return Comparison(expected, stored: digest, strong: record.otherDigests) == .different
  }

  /// Offline and paused answers say nothing about the next run.
  private static func quietLimit(of reason: PlanReason) -> Instant {
    switch reason {
    case .digestMatches, .immutable, .entityTagMatches: .distantFuture
    case .freshUntil(let until): until
    case .refusedTransport, .noDigest, .tooLarge, .paused, .notStored, .objectLost,
      .refetchAskedFor, .digestDiffers, .sizeDiffers, .offline, .noValidators,
      .revalidationAskedFor, .stale, .failedBefore, .notStoredOffline, .objectLostOffline,
      .digestDiffersOffline, .sizeDiffersOffline:
      Instant(milliseconds: .min)
    }
  }
}

/// What an entry says about content, from the columns or in full.
private struct Wanted {
  var size: Int64?
  /// Of an entry that says no more than the columns hold.
  var sha256: ContentDigest?
  var origin: Int
  var full: ManifestEntry?

  var hasProof: Bool {
    sha256 != nil || full?.digests.contains { $0.algorithm.isTrustworthy } ?? false
  }
}

/// Decides about the entries of one segment.
private struct Judge {
  private let segment: SegmentDeclaration
  private let policy: RunPolicy
  private let now: Instant
  private let limit: Int64?
  /// For each origin whether transport security lets requests go there.
  private let isAllowed: [Bool]
  /// What bounds freshness whatever an entry says.
  private let limits: [Freshness.Lifetime]

  init(segment: SegmentDeclaration, policy: RunPolicy, now: Instant, origins: EntryTable) {
    self.segment = segment
    self.policy = policy
    self.now = now
    limit = segment.maximumFileSize ?? policy.maximumFileSize
    isAllowed = origins.allOrigins.map { url in
      if case .refused = policy.transportSecurity.decide(url, at: now) { return false }
      return true
    }
    limits = [policy.freshnessLimit.map { .atMost($0) }, segment.lifetime].compactMap(\.self)
  }

  func decide(
    _ wanted: Wanted,
    row: Inventory.Row?,
    strong: [DigestAlgorithm: [UInt8]],
    isMissing: Bool
  ) -> (PlannedStep.Decision, PlanReason) {
    guard isAllowed[wanted.origin] else { return (.fail, .refusedTransport) }
    if segment.requiresDigest, !wanted.hasProof { return (.fail, .noDigest) }
    if let limit, let size = wanted.size, size > limit { return (.fail, .tooLarge) }
    guard let row else {
      return policy.isOffline ? (.fail, .notStoredOffline) : (.fetch, .notStored)
    }
    if row.state == .paused { return (.keep, .paused) }
    guard row.hasBody else {
      return policy.isOffline ? (.fail, .notStoredOffline) : (.fetch, .notStored)
    }
    if isMissing {
      return policy.isOffline ? (.fail, .objectLostOffline) : (.fetch, .objectLost)
    }
    return decideStored(wanted, row: row, strong: strong)
  }

  private func decideStored(
    _ wanted: Wanted,
    row: Inventory.Row,
    strong: [DigestAlgorithm: [UInt8]]
  ) -> (PlannedStep.Decision, PlanReason) {
    if policy.refetchesAll, !policy.isOffline { return (.update, .refetchAskedFor) }
    switch comparison(wanted, row: row, strong: strong) {
    case .different:
      return policy.isOffline ? (.fail, .digestDiffersOffline) : (.update, .digestDiffers)
    case .equal where !policy.revalidatesAll:
      return (.keep, .digestMatches)
    case .equal, .unknown:
      break
    }
    if let size = wanted.size, size != row.size {
      return policy.isOffline ? (.fail, .sizeDiffersOffline) : (.update, .sizeDiffers)
    }
    if policy.isOffline { return (.keep, .offline) }
    if !policy.revalidatesAll {
      if let tag = wanted.full?.entityTag, row.entityTag == Inventory.tagHash(tag) {
        return (.keep, .entityTagMatches)
      }
      if let until = freshUntil(wanted, row: row), now < until {
        return (.keep, until == .distantFuture ? .immutable : .freshUntil(until))
      }
    }
    guard row.hasValidators else { return (.update, .noValidators) }
    return (.revalidate, policy.revalidatesAll ? .revalidationAskedFor : .stale)
  }

  private func comparison(
    _ wanted: Wanted,
    row: Inventory.Row,
    strong: [DigestAlgorithm: [UInt8]]
  ) -> Comparison {
    if let sha256 = wanted.sha256 { return sha256 == row.digest ? .equal : .different }
    guard let full = wanted.full else { return .unknown }
    return Comparison(full.digests, stored: row.digest, strong: strong)
  }

  /// A bound that came after the answer shortens what was recorded with it.
  private func freshUntil(_ wanted: Wanted, row: Inventory.Row) -> Instant? {
    let bounds = limits + [wanted.full?.lifetime].compactMap(\.self)
    if bounds.contains(.immutable) { return .distantFuture }
    guard row.freshUntil != Inventory.Row.never else { return nil }
    let until = Instant(milliseconds: row.freshUntil)
    guard row.validatedAt != Inventory.Row.never else { return until }
    return Freshness.capped(
      until,
      by: bounds,
      since: Instant(milliseconds: row.validatedAt)
    )
  }
}

/// What declared digests say of a stored body.
private enum Comparison {
  case equal
  case different
  case unknown

  /// One algorithm known on both sides decides; the strongest comes first.
  init(
    _ expected: [ExpectedDigest],
    stored digest: ContentDigest,
    strong: [DigestAlgorithm: [UInt8]]
  ) {
    let byStrength = expected.filter(\.algorithm.isTrustworthy).sorted {
      $0.algorithm > $1.algorithm
    }
    for algorithm in byStrength.map(\.algorithm) {
      let stored = algorithm == .sha256 ? digest.bytes : strong[algorithm]
      guard let stored else { continue }
      let isMatch = byStrength.contains { $0.algorithm == algorithm && $0.bytes == stored }
      self = isMatch ? .equal : .different
      return
    }
    self = .unknown
  }
}
