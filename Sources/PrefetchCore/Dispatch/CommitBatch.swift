/// Changes that wait to become durable together: a commit costs about the same for one as for many.
struct CommitBatch: Sendable {
  /// Enough for the cost of a commit to vanish, few enough open files for any limit.
  static let limit = 256
  /// What is done is not kept from readers for longer than that.
  static let patience: Duration = .seconds(1)

  private(set) var changes: [StoreChange] = []
  private(set) var joins: [SegmentKey: [String]] = [:]
  /// Items that settle when it is written.
  private(set) var items: [Int] = []
  private(set) var due: Duration?
  /// Items of the commit that is under way; a second commit waits for its end.
  private(set) var writing: [Int] = []
  private(set) var isWriting = false

  var isEmpty: Bool {
    changes.isEmpty && joins.isEmpty
  }

  mutating func add(_ change: StoreChange, now: Duration) {
    changes.append(change)
    due = due ?? now + Self.patience
  }

  mutating func add(
    item: Int,
    _ change: StoreChange,
    joining keys: [SegmentKey],
    url: String,
    now: Duration
  ) {
    add(change, now: now)
    items.append(item)
    for key in keys { joins[key, default: []].append(url) }
  }

  mutating func join(_ key: SegmentKey, urls: [String], now: Duration) {
    guard !urls.isEmpty else { return }
    joins[key, default: []] += urls
    due = due ?? now + Self.patience
  }

  func isDue(now: Duration, isIdle: Bool) -> Bool {
    guard !isEmpty, !isWriting, let due else { return false }
    return isIdle || items.count >= Self.limit || now >= due
  }

  /// The changes in the order they must happen: records before the memberships that name them.
  mutating func take() -> [StoreChange] {
    let all = changes + joins.sorted { $0.key < $1.key }.map { .join($0.key, urls: $0.value) }
    writing = items
    changes = []
    joins = [:]
    items = []
    due = nil
    isWriting = true
    return all
  }

  /// Empties it: what will never be written.
  mutating func drop() -> (items: [Int], bodies: [StagedBody]) {
    defer { (changes, joins, items, due) = ([], [:], [], nil) }
    return (items, changes.compactMap(\.body))
  }

  /// The items of the commit that has ended.
  mutating func written() -> [Int] {
    defer { writing = [] }
    isWriting = false
    return writing
  }
}
