import PrefetchCore
import PrefetchManifests

/// Items that `get` fetches with all declarations, in a table per segment as in a run.
struct WantedItems {
  /// Declarations of one segment; without a name those of the list or the command line.
  fileprivate struct Group {
    /// Segment with `store` and `head` overridden, so that bodies are fetched.
    var segment: SegmentDeclaration
    let isStored: Bool
    var table = EntryTable(makeIdentifier: { ItemIdentifier.make(for: $0) })
    var items: [Int] = []

    init(segment: SegmentDeclaration) {
      self.segment = segment
      isStored = segment.isStored
      self.segment.isStored = true
      self.segment.requestsHeadOnly = false
    }
  }

  fileprivate struct Spot {
    var group: Int
    var entry: Int
  }

  private(set) var entries: [ManifestEntry]
  fileprivate private(set) var groups: [Group] = []
  /// First declaration of each item, which determines its request.
  private var first: [Spot] = []
  private var others: [Int: [Spot]] = [:]
  /// Repeated items, and the number of the earlier request.
  private(set) var repeated: [Int: Int] = [:]

  init(
    _ entries: [ManifestEntry],
    declared known: DeclaredItems = DeclaredItems(),
    isListed: Bool = false
  ) {
    self.entries = entries
    first.reserveCapacity(entries.count)
    let anonymous = SegmentDeclaration(name: "", source: .inline([]))
    var numbers: [String: Int] = [:]
    for (item, entry) in entries.enumerated() {
      var declarations = known[entry]
      // A typed item may carry a digest that no segment declares.
      if declarations.isEmpty || isListed || !entry.digests.isEmpty {
        var own = entry
        own.isIdentifierMade = own.isIdentifierMade || own.id == nil
        declarations.append(DeclaredItems.Declaration(segment: anonymous, entry: own))
      }
      // If segments send different headers, the first counts; pinned items are the same for all.
      if declarations.count > 1 {
        let firstHeaders = Set(declarations[0].entry.headers)
        declarations.removeAll { $0.entry.digests.isEmpty && Set($0.entry.headers) != firstHeaders }
      }
      // Several ad spaces may share a tag; an item is the ad of one of them.
      let zone = declarations.first?.entry.zone
      declarations.removeAll { $0.entry.zone != zone }
      self.entries[item].zone = zone
      if zone != nil, let first = declarations.first { self.entries[item].url = first.entry.url }
      for (rank, declaration) in declarations.enumerated() {
        let name = declaration.segment.name
        let group = numbers[name] ?? groups.count
        if group == groups.count {
          groups.append(Group(segment: declaration.segment))
          numbers[name] = group
        }
        let spot = Spot(group: group, entry: groups[group].addEntry(declaration, of: item))
        let owner = groups[group].items[spot.entry]
        if owner != item { repeated[item] = owner }
        if rank == 0 { first.append(spot) } else { others[item, default: []].append(spot) }
      }
    }
  }

  var count: Int { entries.count }

  func url(_ item: Int) -> String {
    entries[item].url.string
  }

  func recordURL(_ item: Int) -> String {
    entries[item].recordURL
  }

  /// Whether the body stays in the cache; false if only segments with `store: false` name it.
  func isKept(_ item: Int) -> Bool {
    let spots = [first[item]] + (others[item] ?? [])
    let declaring = spots.map { groups[$0.group] }.filter { !$0.segment.name.isEmpty }
    return declaring.isEmpty || declaring.contains(where: \.isStored)
  }

  func isSingle(_ item: Int) -> Bool {
    others[item] == nil && repeated[item] == nil && !repeated.values.contains(item)
  }

  /// Whether any declaration has a trustworthy digest of the item.
  func isPinned(_ item: Int) -> Bool {
    !holds(item) { spot in
      let table = groups[spot.group].table
      if table.columnDigest(at: spot.entry) != nil { return false }
      return !table.hasExtras(at: spot.entry)
        || !table[spot.entry].digests.contains { $0.algorithm.isTrustworthy }
    }
  }

  func digest(of item: Int) -> ContentDigest? {
    let spots = [first[item]] + (others[item] ?? [])
    return spots.lazy.compactMap { spot -> ContentDigest? in
      let table = groups[spot.group].table
      if let digest = table.columnDigest(at: spot.entry) { return digest }
      guard table.hasExtras(at: spot.entry) else { return nil }
      let declared = table[spot.entry].digests.first { $0.algorithm == .sha256 }
      return declared.flatMap { ContentDigest(bytes: $0.bytes) }
    }.first
  }

  func fingerprint(_ item: Int, _ facts: Planner.Facts) -> UInt64 {
    let group = groups[first[item].group]
    return facts.fingerprint(of: group.table[first[item].entry], in: group.segment)
  }

  func selection(
    of record: ContentRecord,
    for item: Int,
    _ facts: Planner.Facts
  ) -> Variance.Selection {
    let group = groups[first[item].group]
    let entry = group.table[first[item].entry]
    return facts.selection(of: record, for: entry, in: group.segment)
  }

  /// Whether all declarations allow an older copy, stale for at most `limit`.
  func mayServeStale(
    _ record: ContentRecord,
    as item: Int,
    within limit: Duration,
    _ facts: Planner.Facts
  ) -> Bool {
    holds(item) { spot in
      StaleRule.mayServe(
        record,
        granted: Planner.lifetimes(
          groups[spot.group].table[spot.entry],
          ofSegments: CollectionOfOne(groups[spot.group].segment.lifetime),
          bound: facts.policy.freshnessLimit,
          form: record.type.flatMap { BundleForm(rawValue: $0) }
        ),
        maximumStale: limit,
        now: facts.now
      )
    }
  }

  func segments(_ isChosen: (Int) -> Bool) -> [(declaration: SegmentDeclaration, items: [Int])] {
    groups.compactMap { group in
      let positions = group.items.indices.filter { isChosen(group.items[$0]) }
      guard !positions.isEmpty else { return nil }
      var table = EntryTable()
      table.reserveCapacity(positions.count)
      table.append(group.table, at: positions)
      var segment = group.segment
      segment.source = .inline(Shared(table))
      // The user or client wants to hear of a failure, even of an optional item.
      segment.isRequired = true
      return (segment, positions.map { group.items[$0] })
    }
  }

  fileprivate func spots(of item: Int) -> [Spot] {
    [first[item]] + (others[item] ?? [])
  }

  fileprivate func holds(_ item: Int, by condition: (Spot) -> Bool) -> Bool {
    guard condition(first[item]) else { return false }
    return others.isEmpty || others[item]?.allSatisfy(condition) ?? true
  }
}

extension WantedItems.Group {
  fileprivate mutating func addEntry(_ declaration: DeclaredItems.Declaration, of item: Int) -> Int
  {
    // The least trusted declaration decides for the whole segment.
    segment.excerptOf = segment.excerptOf ?? declaration.segment.excerptOf
    var entry = declaration.entry
    entry.isRequired = true
    let count = table.count
    table.appendToColumns(entry)
    if table.count > count {
      items.append(item)
      return count
    }
    return table.position(of: URLKey(entry.recordURL)) ?? 0
  }
}

/// Decides which stored bodies may be delivered, with rules prepared once for all items.
struct KeptItems {
  private let items: WantedItems
  private let now: Instant
  /// Rulings of an offline run, and of a run that revalidates stale bodies.
  private var offline: [Planner.Rulings]
  private var online: [Planner.Rulings]

  init(_ items: WantedItems, _ facts: Planner.Facts) {
    self.items = items
    now = facts.now
    var policy = facts.policy
    policy.revalidatesAll = false
    policy.refetchesAll = false
    policy.wakesPaused = true
    // A stored body needs no permission to be fetched.
    policy.transportSecurity = TransportSecurity()
    policy.transportSecurity.allowsArbitraryLoads = true
    let rulings = { (facts: Planner.Facts) in
      items.groups.map { Planner.Rulings(of: $0.segment, entries: $0.table, facts: facts) }
    }
    policy.isOffline = true
    offline = rulings(facts.under(policy))
    policy.isOffline = false
    online = rulings(facts.under(policy))
  }

  /// Whether the declarations allow a stored body, however old it is.
  mutating func isSatisfied(_ item: Int, by record: ContentRecord) -> Bool {
    Self.isKept(item, of: items, record, under: &offline, now)
  }

  /// Whether at least one segment and the user's own request accept a stored body of any age.
  mutating func suitsOneSegment(_ item: Int, by record: ContentRecord) -> Bool {
    let spots = items.spots(of: item)
    let allowing = spots.filter {
      Self.isKept($0, of: items, record, under: &offline, now)
    }
    let isOwn = { [items] (spot: WantedItems.Spot) in items.groups[spot.group].segment.name.isEmpty
    }
    return allowing.count(where: isOwn) == spots.count(where: isOwn)
      && allowing.contains { !isOwn($0) }
  }

  mutating func isFresh(_ item: Int, _ record: ContentRecord) -> Bool {
    Self.isKept(item, of: items, record, under: &online, now)
      || isProven(item, record) && isSatisfied(item, by: record)
  }

  private mutating func isProven(_ item: Int, _ record: ContentRecord) -> Bool {
    items.spots(of: item).contains { spot in
      online[spot.group].decide(spot.entry, record: record) == (.keep, .digestMatches)
    }
  }

  private static func isKept(
    _ item: Int,
    of items: WantedItems,
    _ record: ContentRecord,
    under rulings: inout [Planner.Rulings],
    _ now: Instant
  ) -> Bool {
    items.holds(item) { isKept($0, of: items, record, under: &rulings, now) }
  }

  private static func isKept(
    _ spot: WantedItems.Spot,
    of items: WantedItems,
    _ record: ContentRecord,
    under rulings: inout [Planner.Rulings],
    _ now: Instant
  ) -> Bool {
    guard record.digest != nil else { return false }
    if let expiry = record.expiresAt, expiry <= now { return false }
    if items.groups[spot.group].table.hasExpired(at: spot.entry, now) { return false }
    return rulings[spot.group].decide(spot.entry, record: record).decision == .keep
  }
}

extension EntryTable {
  fileprivate func hasExpired(at position: Int, _ now: Instant) -> Bool {
    guard hasExtras(at: position), let expires = self[position].expires else { return false }
    return expires <= now
  }
}
