/// Where content stands when not everything fits: smaller is kept longer.
package struct ContentRank: Hashable, Comparable, Sendable {
  /// What is declared is on the first; then what goes before it, the later the sooner.
  private var tier: Int32
  private var priority: Int32
  private var segment: Int32
  private var itemPriority: Int32
  private var place: Int64

  /// An item of a segment that stands at `segment` in the configuration, at `place` in its list.
  package static func declared(
    priority: Int?,
    segment: Int,
    itemPriority: Int? = nil,
    place: Int64
  ) -> Self {
    Self(
      tier: 0,
      priority: Int32(clamping: priority ?? .max),
      segment: Int32(clamping: segment),
      itemPriority: Int32(clamping: itemPriority ?? .max),
      place: place
    )
  }

  /// What tells a segment what it holds, before all of that.
  package static func manifest(priority: Int?, segment: Int) -> Self {
    declared(priority: priority, segment: segment, itemPriority: .min, place: -1)
  }

  /// What no segment asks for, as it comes.
  package static let passing = Self(
    tier: 1,
    priority: 0,
    segment: 0,
    itemPriority: 0,
    place: 0
  )

  /// What is declared no more, and leaves at the end of the run.
  package static let leaving = Self(
    tier: .max,
    priority: 0,
    segment: 0,
    itemPriority: 0,
    place: 0
  )

  /// Of a kind that `order` lets go before anything declared; nil where it does not.
  package static func kept(
    _ age: Stock.Age,
    in order: [Room.Expendable],
    at now: Instant
  ) -> Self? {
    for (place, kind) in order.enumerated() where age.isOf(kind, at: now) {
      return Self(
        tier: Int32(clamping: 1 + order.count - place),
        priority: 0,
        segment: 0,
        itemPriority: 0,
        // What was used longer ago goes first.
        place: Int64.max.addingSaturated(-max(0, age.lastUse.milliseconds))
      )
    }
    return nil
  }

  package static func < (a: Self, b: Self) -> Bool {
    if a.tier != b.tier { return a.tier < b.tier }
    if a.priority != b.priority { return a.priority < b.priority }
    if a.segment != b.segment { return a.segment < b.segment }
    if a.itemPriority != b.itemPriority { return a.itemPriority < b.itemPriority }
    return a.place < b.place
  }
}

extension Room {
  /// What goes before anything that is declared.
  package enum Expendable: String, Hashable, Sendable, CaseIterable {
    /// Past the expiry that its manifest names.
    case expired
    /// Marked as done with.
    case consumed
    case leastRecentlyUsed = "lru"
  }

  /// How much the cache may take, and how room is made.
  package struct Rules: Hashable, Sendable {
    /// Of all bodies together; nil = any size.
    package var limit: Int64?
    /// What must stay free on the disk; nil = a share of the file system, by its size.
    package var minimumFree: Int64? = 0
    package var order = Expendable.allCases
    /// Whether anything may go without being asked.
    package var isAutomatic = true

    package init() {}

    /// What must stay free of a file system of so many bytes.
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
