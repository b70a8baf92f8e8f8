/// Item that left its list and stays until the listed items are stored.
package struct RetainedItem: Hashable, Sendable {
  package var item: Int64
  /// Time counted towards the grace; nil until a new item of the list was stored.
  package var counted: Duration?
  /// Start of the time not yet in ``counted``; nil while a deferral is the cause.
  package var countedSince: Instant?

  package init(item: Int64, counted: Duration? = nil, countedSince: Instant? = nil) {
    self.item = item
    self.counted = counted
    self.countedSince = countedSince
  }
}

/// Rule by which removals wait for their successors, with what a list still lacks.
package struct Retention: Hashable, Sendable {
  private var hasFailures = false
  private var hasDeferrals = false
  package var hasArrivals = false
  package private(set) var hasStale = false

  package init() {}

  package mutating func record(_ result: ItemResult) {
    if result.outcome == .added { hasArrivals = true }
    if result.outcome == .stale { hasStale = true }
    guard !result.isUsable else { return }
    if result.deferral?.rule == .age {
      // Some item of a feed is always too young, so what left it goes after its grace.
      hasFailures = true
    } else if let failure = result.failure {
      // Retained items do not help an item without room.
      hasFailures = hasFailures || failure.code != .cacheFull
    } else {
      hasDeferrals = hasDeferrals || result.outcome == .deferred
    }
  }

  package var isNeeded: Bool {
    hasFailures || hasDeferrals
  }

  /// Divides items that left the list into those that stay and those after their grace, if any.
  package func divide(
    _ items: [Int64],
    recorded: [RetainedItem],
    grace: Duration?,
    at now: Instant
  ) -> (staying: [RetainedItem], over: Set<Int64>) {
    guard isNeeded else { return ([], Set(items)) }
    let known = Dictionary(recorded.map { ($0.item, $0) }) { first, _ in first }
    var staying: [RetainedItem] = []
    var over: Set<Int64> = []
    for number in items {
      var item = known[number] ?? RetainedItem(item: number)
      if let since = item.countedSince, since < now {
        item.counted = (item.counted ?? .zero) + (now - since)
      }
      if hasArrivals { item.counted = item.counted ?? .zero }
      item.countedSince = item.counted != nil && !hasDeferrals ? now : nil
      if let counted = item.counted, let grace, counted >= grace, !hasDeferrals {
        over.insert(number)
      } else {
        staying.append(item)
      }
    }
    return (staying, over)
  }
}
