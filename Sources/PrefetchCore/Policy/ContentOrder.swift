/// Order in which a cache keeps its content, as one configuration sees it.
package struct ContentOrder: Sendable {
  package struct Segment: Sendable {
    package var priority: Int?
    package var position: Int
    /// Declared entries; nil while they are unknown, and all stored items count as declared.
    package var entries: Shared<EntryTable>?
    package var isPublished: Bool

    package init(
      priority: Int?,
      position: Int,
      entries: Shared<EntryTable>? = nil,
      isPublished: Bool = false
    ) {
      self.priority = priority
      self.position = position
      self.entries = entries
      self.isPublished = isPublished
    }
  }

  package let identity: String
  package var segments: [String: Segment] = [:]
  package var unsubscribed: Set<SegmentKey> = []
  /// Whether items of the configuration's other segments are about to be removed.
  package var removesOtherSegments = true
  /// Whether other shards of the configuration bring the rest, which this run must not evict.
  package var isShared = false
  private let rules: Room.Rules
  private let now: Instant

  package init(identity: String, rules: Room.Rules, recorded: [SegmentRecord], now: Instant) {
    self.identity = identity
    self.rules = rules
    self.now = now
    unsubscribed = Set(recorded.filter { $0.state == .unsubscribed }.map(\.key))
  }

  /// Returns the rank of an inventory item; nil if it has to stay.
  package func rank(of position: Int, in stock: Stock) -> ContentRank? {
    let row = stock.inventory.rows[position]
    guard rules.isAutomatic, !row.isLocked else { return nil }
    var best: ContentRank?
    for segment in segments.values {
      guard let rank = rank(of: row.key, in: segment) else { continue }
      best = min(best ?? rank, rank)
    }
    var isLeaving = false
    for holder in stock.inventory.holders(of: position) {
      let key = stock.inventory.segmentKeys[holder]
      guard !unsubscribed.contains(key) else { continue }
      guard key.identity == identity else { return nil }
      let segment = segments[key.name]
      guard segment?.entries == nil, segment != nil || !removesOtherSegments else {
        isLeaving = true
        continue
      }
      guard !isShared else { return nil }
      let rank = ContentRank.declared(
        priority: segment?.priority,
        segment: segment?.position ?? .max,
        position: row.item
      )
      best = min(best ?? rank, rank)
    }
    if let best { return best }
    if isLeaving { return isShared ? nil : .toBeRemoved }
    let age = stock.ages[position] ?? Stock.Age(lastUse: Instant(milliseconds: 0))
    return .kept(age, in: rules.order, at: now)
  }

  /// Whether a tree shows the item: its file stays when the body goes, which frees nothing.
  package func isPublished(_ position: Int, in stock: Stock) -> Bool {
    let published = segments.filter(\.value.isPublished)
    guard !published.isEmpty else { return false }
    let inventory = stock.inventory
    return published.contains { name, segment in
      if let entries = segment.entries {
        return entries.value.position(of: inventory.rows[position].key) != nil
      }
      return inventory.holders(of: position).contains { holder in
        inventory.segmentKeys[holder] == SegmentKey(identity: identity, name: name)
      }
    }
  }

  private func rank(of key: URLKey, in segment: Segment) -> ContentRank? {
    guard let entries = segment.entries, let entry = entries.value.position(of: key) else {
      return nil
    }
    return Self.rank(of: entry, in: segment, at: now)
  }

  package static func rank(of entry: Int, in segment: Segment, at now: Instant) -> ContentRank? {
    guard let entries = segment.entries else { return nil }
    var priority: Int?
    if entries.value.hasExtras(at: entry) {
      let full = entries.value[entry]
      if let expires = full.expires, expires <= now { return nil }
      priority = full.priority
    }
    return .declared(
      priority: segment.priority,
      segment: segment.position,
      itemPriority: priority,
      position: Int64(entry)
    )
  }
}
