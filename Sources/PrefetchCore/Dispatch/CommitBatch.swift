/// Changes that are committed together, since a commit of many costs about as much as one of a few.
struct CommitBatch: Sendable {
  /// Items of a full batch: enough for the cost of a commit to vanish.
  static let limit = 1024
  /// Changes and arrivals of a full batch; fewer, since their records and bodies are held.
  static let changeLimit = 512
  /// Body bytes of a full batch: enough to keep the disk busy, few enough for a short last commit.
  static let byteLimit: Int64 = 64 << 20
  /// Longest time that readers wait for a finished change.
  static let usualDelay: Duration = .seconds(1)
  /// Longest wait while other runs need the results.
  private static let hurriedDelay: Duration = .milliseconds(100)
  /// Longest wait in a server, where each client waits for its item.
  static let clientDelay: Duration = .milliseconds(5)

  init(delay: Duration = Self.usualDelay) {
    self.delay = delay
  }

  mutating func commitSoon() {
    guard Self.hurriedDelay < delay else { return }
    due = due.map { $0 - (delay - Self.hurriedDelay) }
    delay = Self.hurriedDelay
  }

  /// A change, and the item that settles when the change is committed.
  struct Pending: Sendable {
    var change: StoreChange
    var item: Int?
    /// Whether the change is dropped if it does not fit.
    var isOptional = false
  }

  private(set) var entries: [Pending] = []
  private var delay: Duration
  private var confirmations: [Confirmation] = []
  private var arrivals: [Arrival] = []
  private var joins: [SegmentKey: [Int64]] = [:]
  /// Answers to offer to other machines once their bodies are committed, by body digest.
  private var shared: [ContentDigest: [OriginResponse]] = [:]
  private var writingShared: [OriginResponse] = []
  private var simple: [Int] = []
  private var itemCount = 0
  private var bytes: Int64 = 0
  private(set) var due: Duration?
  /// Entries of the commit in progress; the next commit waits for its end.
  private var writing: [Pending] = []
  private var writingSimple: [Int] = []
  private(set) var isWriting = false

  var isEmpty: Bool {
    entries.isEmpty && arrivals.isEmpty && confirmations.isEmpty && joins.isEmpty
  }

  var bringsBodies: Bool {
    entries.contains { if case .evict = $0.change { false } else { true } }
  }

  mutating func add(_ change: StoreChange, now: Duration) {
    add(Pending(change: change), now: now)
  }

  mutating func addOptional(_ change: StoreChange, now: Duration) {
    add(Pending(change: change, isOptional: true), now: now)
  }

  mutating func dropOptional() -> [StagedBody] {
    remove(at: entries.indices.filter { entries[$0].isOptional }).flatMap(\.change.bodies)
  }

  mutating func add(item: Int, _ change: StoreChange, now: Duration) {
    add(Pending(change: change, item: item), now: now)
  }

  private mutating func add(_ entry: Pending, now: Duration) {
    entries.append(entry)
    itemCount += entry.item == nil ? 0 : 1
    bytes += entry.change.bodies.reduce(0) { $0 + $1.size }
    due = due ?? now + delay
  }

  mutating func confirm(item: Int, _ confirmation: Confirmation, now: Duration) {
    confirmations.append(confirmation)
    simple.append(item)
    itemCount += 1
    due = due ?? now + delay
  }

  mutating func arrive(item: Int, _ arrival: Arrival, now: Duration) {
    arrivals.append(arrival)
    simple.append(item)
    itemCount += 1
    bytes += arrival.body.size
    due = due ?? now + delay
  }

  mutating func join(_ key: SegmentKey, items numbers: [Int64], now: Duration) {
    guard !numbers.isEmpty else { return }
    joins[key, default: []] += numbers
    due = due ?? now + delay
  }

  func isDue(now: Duration, isIdle: Bool) -> Bool {
    guard !isEmpty, !isWriting, let due else { return false }
    let isFull =
      itemCount >= Self.limit
      || entries.count + arrivals.count >= Self.changeLimit || bytes >= Self.byteLimit
    return isIdle || isFull || now >= due
  }

  mutating func remove(at indices: [Int]) -> [Pending] {
    guard !indices.isEmpty else { return [] }
    let refused = indices.map { entries[$0] }
    let removed = Set(indices)
    entries = entries.indices.filter { !removed.contains($0) }.map { entries[$0] }
    itemCount -= refused.count { $0.item != nil }
    return refused
  }

  /// Starts a commit; returns records before the memberships that name them, evictions last.
  mutating func beginCommit() -> [StoreChange] {
    writing = entries
    var all: [StoreChange] = arrivals.isEmpty ? [] : [.arrived(arrivals)]
    var last: [StoreChange] = []
    for entry in entries {
      if case .evict = entry.change { last.append(entry.change) } else { all.append(entry.change) }
    }
    let known = all.count
    if !confirmations.isEmpty { all.append(.confirm(confirmations)) }
    all += joins.sorted { $0.key < $1.key }.map { .join($0.key, items: $0.value) }
    let others = all.prefix(arrivals.isEmpty ? 0 : 1) + all.dropFirst(known)
    writing.append(contentsOf: others.map { Pending(change: $0) })
    writingSimple = simple
    clear()
    isWriting = true
    if !shared.isEmpty {
      for body in all.flatMap(\.bodies) {
        writingShared += shared.removeValue(forKey: body.digest) ?? []
      }
    }
    return all + last
  }

  /// Puts the changes of a refused commit back first; returns the digests of its dropped evictions.
  mutating func rollBack() -> [ContentDigest] {
    var kept: [ContentDigest] = []
    for case .evict(let digests, _, _) in writing.map(\.change) { kept += digests }
    let (back, items) = (
      writing.filter { if case .evict = $0.change { false } else { true } }, writingSimple
    )
    (writing, writingSimple, isWriting) = ([], [], false)
    let newer = entries
    entries = back + newer
    simple = items + simple
    share(drainShared())
    itemCount += back.count { $0.item != nil } + items.count
    bytes += back.flatMap(\.change.bodies).reduce(0) { $0 + $1.size }
    due = due ?? .zero
    return kept
  }

  mutating func removeAll() -> (items: [Int], bodies: [StagedBody]) {
    defer { clear() }
    return (
      entries.compactMap(\.item) + simple, entries.flatMap(\.change.bodies) + arrivals.map(\.body)
    )
  }

  private mutating func clear() {
    (entries, arrivals, confirmations, joins, simple, itemCount, bytes) = (
      [], [], [], [:], [], 0, 0
    )
    due = nil
  }

  mutating func share(_ responses: [OriginResponse]) {
    for response in responses { shared[response.digest, default: []].append(response) }
  }

  mutating func drainShared() -> [OriginResponse] {
    defer { writingShared = [] }
    return writingShared
  }

  mutating func endCommit() -> [Int] {
    defer { (writing, writingSimple) = ([], []) }
    isWriting = false
    return writing.compactMap(\.item) + writingSimple
  }
}
