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
  package static func plan(
    _ segment: SegmentDeclaration,
    key: SegmentKey,
    entries: [ManifestEntry],
    facts: Facts
  ) -> PlanFragment {
    let current = firstOfEachURL(entries).filter { $0.expires.map { facts.now < $0 } ?? true }
    let records = merge(current, with: facts.inventory)
    var items: [PlannedItem] = []
    items.reserveCapacity(current.count)
    for (entry, record) in zip(current, records) {
      let (decision, reason) = decide(entry, record: record, segment: segment, facts: facts)
      items.append(PlannedItem(entry: entry, decision: decision, reason: reason, record: record))
    }
    return PlanFragment(
      items: items,
      leaving: leaving(key, declared: current, inventory: facts.inventory)
    )
  }

  /// What disappears when segments let go of URLs: whatever no other segment holds and nobody locked.
  package static func removals(
    leaving: [(SegmentKey, [String])],
    joining: [SegmentKey: Set<String>],
    inventory: Inventory
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
      let isJoined = joining.values.contains { $0.contains(record.url) }
      return keeps || isJoined || inventory.locked.contains(record.url) ? nil : record
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
    let limit = segment.maximumFileSize ?? facts.policy.maximumFileSize
    if let limit, let size = entry.size, size > limit {
      let failure = Failure(.tooLarge, "the manifest says \(size) bytes; the limit is \(limit)")
      return (.fail(failure), "too large")
    }
    guard let record, let digest = record.digest else {
      return facts.policy.isOffline
        ? offline("not stored") : (.fetch(isUpdate: false), "not stored")
    }
    if record.state == .paused { return (.keep, "paused") }
    if facts.missing.contains(digest) {
      return facts.policy.isOffline
        ? offline("object lost") : (.fetch(isUpdate: false), "object lost")
    }
    return decideStored(entry, record: record, digest: digest, facts: facts)
  }

  private static func decideStored(
    _ entry: ManifestEntry,
    record: ContentRecord,
    digest: ContentDigest,
    facts: Facts
  ) -> (PlannedItem.Decision, reason: String) {
    if facts.policy.refetchesAll { return (.fetch(isUpdate: true), "refetch asked for") }
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
      if entry.lifetime == .immutable { return (.keep, "immutable") }
      if let until = record.freshUntil, facts.now < until {
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

  private static func offline(_ what: String) -> (PlannedItem.Decision, reason: String) {
    (.fail(Failure(.noNetwork, "\(what), and `--offline` asks nothing")), "\(what), offline")
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

  /// The record of each entry, by walking both in URL order at once.
  private static func merge(
    _ entries: [ManifestEntry],
    with inventory: Inventory
  ) -> [ContentRecord?] {
    var found = [ContentRecord?](repeating: nil, count: entries.count)
    guard inventory.count > 0 else { return found }
    let order = entries.indices.sorted {
      Inventory.precedes(entries[$0].url.string, entries[$1].url.string)
    }
    var position = 0
    for index in order {
      let url = entries[index].url.string
      while position < inventory.count, Inventory.precedes(inventory.records[position].url, url) {
        position += 1
      }
      guard position < inventory.count, inventory.records[position].url == url else { continue }
      found[index] = inventory.records[position]
    }
    return found
  }

  private static func leaving(
    _ key: SegmentKey,
    declared: [ManifestEntry],
    inventory: Inventory
  ) -> [String] {
    guard let holder = inventory.segmentKeys.firstIndex(of: key) else { return [] }
    let names = Set(declared.lazy.map(\.url.string))
    return inventory.records.indices.compactMap { index in
      guard inventory.holders[index].contains(holder), !names.contains(inventory.records[index].url)
      else { return nil }
      return inventory.records[index].url
    }
  }
}
