/// Declaration, inventory, policy and the time → what to do; no I/O, the same answer every time.
package enum Planner {
  /// The facts that hold for every segment of a run.
  package struct Facts: Sendable {
    package var inventory: RecordInventory
    /// Objects the index names and the file system has lost.
    package var missing: Set<ContentDigest>
    package var policy: RunPolicy
    package var now: Instant

    package init(
      inventory: RecordInventory,
      missing: Set<ContentDigest>,
      policy: RunPolicy,
      now: Instant
    ) {
      self.inventory = inventory
      self.missing = missing
      self.policy = policy
      self.now = now
    }
  }

  /// Plans one segment as soon as its entries are known.
  package static func plan(
    _ segment: SegmentDeclaration,
    key: SegmentKey,
    entries: [ManifestEntry],
    facts: Facts
  ) -> PlanFragment {
    let current = firstOfEachURL(entries).filter { $0.expires.map { facts.now < $0 } ?? true }
    let inventory = facts.inventory
    var unnamed = Set(inventory.positions(of: key))
    var items: [PlannedItem] = []
    items.reserveCapacity(current.count)
    for (entry, position) in zip(current, merge(current, with: inventory)) {
      let record = position.map { inventory.records[$0] }
      let isHeld = position.map { unnamed.remove($0) != nil } ?? false
      let (decision, reason) = decide(entry, record: record, segment: segment, facts: facts)
      items.append(
        PlannedItem(
          entry: entry,
          decision: decision,
          reason: reason,
          record: record,
          isHeld: isHeld
        )
      )
    }
    return PlanFragment(
      items: items,
      leaving: unnamed.sorted().map { inventory.records[$0].url }
    )
  }

  /// What disappears when segments let go of URLs: whatever no other segment holds, none of this
  /// run declares, and nobody locked.
  package static func removals(
    leaving: [(SegmentKey, [String])],
    declared: Set<String>,
    inventory: RecordInventory
  ) -> [ContentRecord] {
    var released: [Int: Set<SegmentKey>] = [:]
    for (key, urls) in leaving {
      for url in urls {
        guard let index = inventory.index(of: url) else { continue }
        released[index, default: []].insert(key)
      }
    }
    return released.keys.sorted().compactMap { index in
      let record = inventory.records[index]
      let keeps = inventory.holders[index].contains { holder in
        !(released[index]?.contains(inventory.segmentKeys[holder]) ?? false)
      }
      let isWanted = declared.contains(record.url) || inventory.locked.contains(record.url)
      return keeps || isWanted ? nil : record
    }
  }

  private static func decide(
    _ entry: ManifestEntry,
    record: ContentRecord?,
    segment: SegmentDeclaration,
    facts: Facts
  ) -> (PlannedItem.Decision, reason: String) {
    if case .refused(_, let hint) = facts.policy.transportSecurity.decide(entry.url, at: facts.now)
    {
      let failure = Failure(
        .transportSecurity,
        "plain http to `\(entry.url.host)` is not allowed; \(hint)"
      )
      return (.fail(failure), "transport security")
    }
    if segment.requiresDigest, !entry.digests.contains(where: \.algorithm.isTrustworthy) {
      let failure = Failure(
        .manifestInvalid,
        "it has no digest that proves anything, and `require_digest` asks for one"
      )
      return (.fail(failure), "no digest")
    }
    let limit = segment.maximumFileSize ?? facts.policy.maximumFileSize
    if let limit, let size = entry.size, size > limit {
      let failure = Failure(.tooLarge, "the manifest says \(size) bytes; the limit is \(limit)")
      return (.fail(failure), "too large")
    }
    if let record, record.state == .paused { return (.keep, "paused") }
    guard let record, let digest = record.digest else {
      return facts.policy.isOffline
        ? offline("not stored") : (.fetch(isUpdate: false), "not stored")
    }
    if facts.missing.contains(digest) {
      return facts.policy.isOffline
        ? offline("object lost") : (.fetch(isUpdate: false), "object lost")
    }
    return decideStored(entry, record: record, digest: digest, segment: segment, facts: facts)
  }

  private static func decideStored(
    _ entry: ManifestEntry,
    record: ContentRecord,
    digest: ContentDigest,
    segment: SegmentDeclaration,
    facts: Facts
  ) -> (PlannedItem.Decision, reason: String) {
    if facts.policy.refetchesAll, !facts.policy.isOffline {
      return (.fetch(isUpdate: true), "refetch asked for")
    }
    switch comparison(entry.digests, with: record, digest: digest) {
    case .different:
      return facts.policy.isOffline
        ? offline("digest differs") : (.fetch(isUpdate: true), "digest differs")
    case .equal where !facts.policy.revalidatesAll:
      return (.keep, "digest matches")
    case .equal, .unknown:
      break
    }
    if let size = entry.size, size != record.size {
      return facts.policy.isOffline
        ? offline("size differs") : (.fetch(isUpdate: true), "size differs")
    }
    if facts.policy.isOffline { return (.keep, "offline") }
    if !facts.policy.revalidatesAll {
      if let tag = entry.entityTag, tag == record.validators.entityTag {
        return (.keep, "entity tag matches")
      }
      let limits = lifetimes(entry, of: [segment], policy: facts.policy)
      if limits.contains(.immutable) { return (.keep, "immutable") }
      if let until = freshUntil(record, limits: limits), facts.now < until {
        return (
          .keep, until == .distantFuture ? "immutable" : "fresh until \(Timestamp.format(until))"
        )
      }
    }
    if record.validators.isEmpty {
      return (.fetch(isUpdate: true), "stale, and the server gave no validators")
    }
    return (.revalidate, facts.policy.revalidatesAll ? "revalidation asked for" : "stale")
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

  /// A bound that came after the answer shortens what was recorded with it.
  private static func freshUntil(
    _ record: ContentRecord,
    limits: [Freshness.Lifetime]
  ) -> Instant? {
    guard let until = record.freshUntil, let answered = record.validatedAt else {
      return record.freshUntil
    }
    return Freshness.capped(until, by: limits, since: answered)
  }

  private static func offline(_ what: String) -> (PlannedItem.Decision, reason: String) {
    (.fail(Failure(.noNetwork, "\(what), and `--offline` asks nothing")), "\(what), offline")
  }

  /// Whether a stored body is known not to be the declared one.
  package static func isContradicted(
    _ expected: [ExpectedDigest],
    by record: ContentRecord
  ) -> Bool {
    record.digest.map { comparison(expected, with: record, digest: $0) == .different } ?? false
  }

  private enum Comparison {
    case equal
    case different
    case unknown
  }

  /// One algorithm known on both sides decides; the strongest comes first.
  private static func comparison(
    _ expected: [ExpectedDigest],
    with record: ContentRecord,
    digest: ContentDigest
  ) -> Comparison {
    let byStrength = expected.filter(\.algorithm.isTrustworthy).sorted {
      $0.algorithm > $1.algorithm
    }
    for algorithm in byStrength.map(\.algorithm) {
      let stored = algorithm == .sha256 ? digest.bytes : record.otherDigests[algorithm]
      guard let stored else { continue }
      let isMatch = byStrength.contains { $0.algorithm == algorithm && $0.bytes == stored }
      return isMatch ? .equal : .different
    }
    return .unknown
  }

  /// A URL named twice is one item; the first mention counts.
  private static func firstOfEachURL(_ entries: [ManifestEntry]) -> [ManifestEntry] {
    var seen = Set<String>(minimumCapacity: entries.count)
    return entries.filter { seen.insert($0.url.string).inserted }
  }

  /// The place of each entry's record, by walking both in URL order at once.
  private static func merge(
    _ entries: [ManifestEntry],
    with inventory: RecordInventory
  ) -> [Int?] {
    var found = [Int?](repeating: nil, count: entries.count)
    guard inventory.count > 0 else { return found }
    let order = entries.indices.sorted {
      RecordInventory.precedes(entries[$0].url.string, entries[$1].url.string)
    }
    var position = 0
    for index in order {
      let url = entries[index].url.string
      while position < inventory.count,
        RecordInventory.precedes(inventory.records[position].url, url)
      {
        position += 1
      }
      guard position < inventory.count, inventory.records[position].url == url else { continue }
      found[index] = position
    }
    return found
  }
}
