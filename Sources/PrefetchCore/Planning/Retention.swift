/// An item that left its segment's list and stays until the items that the list names are stored.
package struct RetainedItem: Hashable, Sendable {
  /// The number of the item's record.
  package var item: Int64
  /// Time that counts towards ``Retention/grace``; nil before anything new of the list was stored.
  package var counted: Duration?
  /// Start of the time that counts and is not in ``counted`` yet; nil while a deferral is the cause.
  package var countedSince: Instant?

  package init(item: Int64, counted: Duration? = nil, countedSince: Instant? = nil) {
    self.item = item
    self.counted = counted
    self.countedSince = countedSince
  }
}

/// The rule by which removals wait for their successors: what one segment's list still lacks.
package struct Retention: Hashable, Sendable {
  /// Whether a required item of the list failed and nothing is stored of it.
  private var hasFailures = false
  /// Whether a required item of the list is deferred and nothing is stored of it.
  private var hasDeferrals = false
  /// Whether the run stored a body of an item that had none.
  package var hasArrivals = false
  /// Whether a required item is an older copy that no server confirmed.
  package private(set) var hasStale = false

  package init() {}

  /// Records the end of a required item of the list.
  package mutating func note(_ result: ItemResult) {
    if result.outcome == .added { hasArrivals = true }
    if result.outcome == .stale { hasStale = true }
    guard !result.isUsable else { return }
    if let failure = result.failure {
      // An item for which there is no room comes no sooner for what stays.
      hasFailures = hasFailures || failure.code != .cacheFull
    } else {
      hasDeferrals = hasDeferrals || result.outcome == .deferred
    }
  }

  /// Whether items that left the list stay.
  package var isNeeded: Bool {
    hasFailures || hasDeferrals
  }

  /// Divides items that left the list into those that stay and those whose grace is over.
  ///
  /// Without a grace none is over.
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
