/// Changes that wait to become durable together: a commit costs about the same for one as for many.
struct CommitBatch: Sendable {
  /// Enough for the cost of a commit to vanish.
  static let limit = 1024
  /// Fewer of those that bring a record or a body, which is held until then.
  static let changeLimit = 512
  /// Enough for the system to be busy with them, so that the last batch of a run is no long one.
  static let byteLimit: Int64 = 64 << 20
  /// What is done is not kept from readers for longer than that.
  static let patience: Duration = .seconds(1)

  private(set) var changes: [StoreChange] = []
  private(set) var confirmations: [Confirmation] = []
  private(set) var joins: [SegmentKey: [Int64]] = [:]
  /// Items that settle when it is written.
  private(set) var items: [Int] = []
  /// Of the bodies.
  private var bytes: Int64 = 0
  private(set) var due: Duration?
  /// Items of the commit that is under way; a second commit waits for its end.
  private(set) var writing: [Int] = []
  private(set) var isWriting = false

  var isEmpty: Bool {
    changes.isEmpty && confirmations.isEmpty && joins.isEmpty
  }

  mutating func add(_ change: StoreChange, now: Duration) {
    changes.append(change)
    bytes += change.bodies.reduce(0) { $0 + $1.size }
    due = due ?? now + Self.patience
  }

  mutating func add(item: Int, _ change: StoreChange, now: Duration) {
    add(change, now: now)
    items.append(item)
  }

  mutating func confirm(item: Int, _ confirmation: Confirmation, now: Duration) {
    confirmations.append(confirmation)
    items.append(item)
    due = due ?? now + Self.patience
  }

  mutating func join(_ key: SegmentKey, items numbers: [Int64], now: Duration) {
    guard !numbers.isEmpty else { return }
    joins[key, default: []] += numbers
    due = due ?? now + Self.patience
  }

  func isDue(now: Duration, isIdle: Bool) -> Bool {
    guard !isEmpty, !isWriting, let due else { return false }
    let isFull =
      items.count >= Self.limit || changes.count >= Self.changeLimit || bytes >= Self.byteLimit
    return isIdle || isFull || now >= due
  }

  /// The changes in the order they must happen: records before the memberships that name them.
  mutating func take() -> [StoreChange] {
    var all = changes
    if !confirmations.isEmpty { all.append(.confirm(confirmations)) }
    all += joins.sorted { $0.key < $1.key }.map { .join($0.key, items: $0.value) }
    writing = items
    changes = []
    confirmations = []
    joins = [:]
    items = []
    bytes = 0
    due = nil
    isWriting = true
    return all
  }

  /// Empties it: what will never be written.
  mutating func drop() -> (items: [Int], bodies: [StagedBody]) {
    defer { (changes, confirmations, joins, items, bytes, due) = ([], [], [:], [], 0, nil) }
    return (items, changes.flatMap(\.bodies))
  }

  /// The items of the commit that has ended.
  mutating func written() -> [Int] {
    defer { writing = [] }
    isWriting = false
    return writing
  }
}
