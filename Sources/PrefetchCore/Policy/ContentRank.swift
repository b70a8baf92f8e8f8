/// Rank of content when not everything fits: a smaller one is kept longer.
package struct ContentRank: Hashable, Comparable, Sendable {
  /// Eviction class: 0 for declared content; the highest is evicted first.
  private var evictionClass: Int32
  private var priority: Int32
  private var segment: Int32
  private var itemPriority: Int32
  private var position: Int64

  package static func declared(
    priority: Int?,
    segment: Int,
    itemPriority: Int? = nil,
    position: Int64
  ) -> Self {
    Self(
      evictionClass: 0,
      priority: Int32(clamping: priority ?? .max),
      segment: Int32(clamping: segment),
      itemPriority: Int32(clamping: itemPriority ?? .max),
      position: position
    )
  }

  package static func manifest(priority: Int?, segment: Int) -> Self {
    declared(priority: priority, segment: segment, itemPriority: .min, position: -1)
  }

  package static let undeclared = Self(
    evictionClass: 1,
    priority: 0,
    segment: 0,
    itemPriority: 0,
    position: 0
  )

  /// Rank of content that is no longer declared and is removed at the end of the run.
  package static let toBeRemoved = Self(
    evictionClass: .max,
    priority: 0,
    segment: 0,
    itemPriority: 0,
    position: 0
  )

  /// Returns the rank of undeclared content by its eviction class; nil if `order` has none for it.
  package static func kept(
    _ age: Stock.Age,
    in order: [Room.Expendable],
    at now: Instant
  ) -> Self? {
    for (index, kind) in order.enumerated() where age.isOf(kind, at: now) {
      return Self(
        evictionClass: Int32(clamping: 1 + order.count - index),
        priority: 0,
        segment: 0,
        itemPriority: 0,
        // Least recently used content is evicted first.
        position: Int64.max.addingSaturated(-max(0, age.lastUse.milliseconds))
      )
    }
    return nil
  }

  package static func < (a: Self, b: Self) -> Bool {
    if a.evictionClass != b.evictionClass { return a.evictionClass < b.evictionClass }
    if a.priority != b.priority { return a.priority < b.priority }
    if a.segment != b.segment { return a.segment < b.segment }
    if a.itemPriority != b.itemPriority { return a.itemPriority < b.itemPriority }
    return a.position < b.position
  }
}

extension Room {
  /// Eviction classes of content that is evicted before anything declared.
  package enum Expendable: String, Hashable, Sendable, CaseIterable {
    case expired
    case consumed
    case leastRecentlyUsed = "lru"
  }

  package struct Rules: Hashable, Sendable {
    /// Limit of all bodies together, in bytes; nil for none.
    package var limit: Int64?
    /// Bytes to keep free on the disk; nil for a tenth of the file system, at most 1 GiB.
    package var minimumFree: Int64? = 0
    package var order = Expendable.allCases
    package var isAutomatic = true

    package init() {}

    package func minimumFree(of fileSystem: Int64) -> Int64 {
      minimumFree ?? min(1 << 30, fileSystem / 10)
    }
  }
}

extension Stock.Age {
  fileprivate func isOf(_ kind: Room.Expendable, at now: Instant) -> Bool {
    switch kind {
    case .expired: expiresAt.map { $0 <= now } ?? false
    case .consumed: consumedAt != nil
    case .leastRecentlyUsed: true
    }
  }
}
