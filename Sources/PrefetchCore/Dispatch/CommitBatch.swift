/// Changes that are committed together, since a commit of many costs about as much as one of a few.
struct CommitBatch: Sendable {
  /// Items of a full batch: enough for the cost of a commit to vanish.
  static let limit = 1024
  /// Changes and arrivals of a full batch; fewer, since their records and bodies are held.
  static let changeLimit = 512
  /// Body bytes of a full batch: enough to keep the disk busy, few enough for a short last commit.
  static let byteLimit: Int64 = 64 << 20
  /// Longest time that readers wait for a finished change.
  static let patience: Duration = .seconds(1)
  /// Longest wait while other runs need the results.
  private static let hurriedPatience: Duration = .milliseconds(100)
  /// Longest wait in a server, where each client waits for its item.
  static let patienceOfClients: Duration = .milliseconds(5)

  init(patience: Duration = Self.patience) {
    self.patience = patience
  }

  mutating func hurry() {
    guard Self.hurriedPatience < patience else { return }
    due = due.map { $0 - (patience - Self.hurriedPatience) }
    patience = Self.hurriedPatience
  }

  /// A change, and the item that settles when the change is committed.
  struct Pending: Sendable {
    var change: StoreChange
    var item: Int?
    /// Whether the change is dropped if it does not fit.
    var isSpare = false
  }

  private(set) var entries: [Pending] = []
  private var patience: Duration
  private var confirmations: [Confirmation] = []
  private var arrivals: [Arrival] = []
  private var joins: [SegmentKey: [Int64]] = [:]
  /// Answers to offer to other machines once their bodies are committed, by body digest.
  private var shared: [ContentDigest: [OriginAnswer]] = [:]
  private var writingShared: [OriginAnswer] = []
  /// Items of the confirmations and arrivals.
  private var plain: [Int] = []
  private var itemCount = 0
  private var bytes: Int64 = 0
  private(set) var due: Duration?
  /// Entries of the commit in progress; the next commit waits for its end.
  private var writing: [Pending] = []
  private var writingPlain: [Int] = []
  private(set) var isWriting = false

  var isEmpty: Bool {
    entries.isEmpty && arrivals.isEmpty && confirmations.isEmpty && joins.isEmpty
  }

  /// Whether any entry is not an eviction, and so may need room.
  var bringsBodies: Bool {
    entries.contains { if case .evict = $0.change { false } else { true } }
  }

  mutating func add(_ change: StoreChange, now: Duration) {
    add(Pending(change: change), now: now)
  }

  mutating func addSpare(_ change: StoreChange, now: Duration) {
    add(Pending(change: change, isSpare: true), now: now)
  }

  mutating func dropSpare() -> [StagedBody] {
    remove(at: entries.indices.filter { entries[$0].isSpare }).flatMap(\.change.bodies)
  }

  mutating func add(item: Int, _ change: StoreChange, now: Duration) {
    add(Pending(change: change, item: item), now: now)
  }

  private mutating func add(_ entry: Pending, now: Duration) {
    entries.append(entry)
    itemCount += entry.item == nil ? 0 : 1
    bytes += entry.change.bodies.reduce(0) { $0 + $1.size }
    due = due ?? now + patience
  }

  mutating func confirm(item: Int, _ confirmation: Confirmation, now: Duration) {
    confirmations.append(confirmation)
    plain.append(item)
    itemCount += 1
    due = due ?? now + patience
  }

  mutating func arrive(item: Int, _ arrival: Arrival, now: Duration) {
    arrivals.append(arrival)
    plain.append(item)
    itemCount += 1
    bytes += arrival.body.size
    due = due ?? now + patience
  }

  mutating func join(_ key: SegmentKey, items numbers: [Int64], now: Duration) {
    guard !numbers.isEmpty else { return }
    joins[key, default: []] += numbers
    due = due ?? now + patience
  }

  func isDue(now: Duration, isIdle: Bool) -> Bool {
    guard !isEmpty, !isWriting, let due else { return false }
    let isFull =
      itemCount >= Self.limit
      || entries.count + arrivals.count >= Self.changeLimit || bytes >= Self.byteLimit
    return isIdle || isFull || now >= due
  }

  mutating func remove(at places: [Int]) -> [Pending] {
    guard !places.isEmpty else { return [] }
    let refused = places.map { entries[$0] }
    let gone = Set(places)
    entries = entries.indices.filter { !gone.contains($0) }.map { entries[$0] }
    itemCount -= refused.count { $0.item != nil }
    return refused
  }

  /// Starts a commit; returns records before the memberships that name them, evictions last.
  mutating func take() -> [StoreChange] {
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
    writingPlain = plain
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
  mutating func takeBack() -> [ContentDigest] {
    var kept: [ContentDigest] = []
    for case .evict(let digests, _, _) in writing.map(\.change) { kept += digests }
    let (back, items) = (
      writing.filter { if case .evict = $0.change { false } else { true } }, writingPlain
    )
    (writing, writingPlain, isWriting) = ([], [], false)
    let newer = entries
    entries = back + newer
    plain = items + plain
    share(takeShared())
    itemCount += back.count { $0.item != nil } + items.count
    bytes += back.flatMap(\.change.bodies).reduce(0) { $0 + $1.size }
    due = due ?? .zero
    return kept
  }

  mutating func drop() -> (items: [Int], bodies: [StagedBody]) {
    defer { clear() }
    return (
      entries.compactMap(\.item) + plain, entries.flatMap(\.change.bodies) + arrivals.map(\.body)
    )
  }

  private mutating func clear() {
    (entries, arrivals, confirmations, joins, plain, itemCount, bytes) = ([], [], [], [:], [], 0, 0)
    due = nil
  }

  mutating func share(_ answers: [OriginAnswer]) {
    for answer in answers { shared[answer.digest, default: []].append(answer) }
  }

  /// Returns the answers to offer after the commit that has ended.
  mutating func takeShared() -> [OriginAnswer] {
    defer { writingShared = [] }
    return writingShared
  }

  /// Ends the commit and returns its items.
  mutating func written() -> [Int] {
    defer { (writing, writingPlain) = ([], []) }
    isWriting = false
    return writing.compactMap(\.item) + writingPlain
  }
}
