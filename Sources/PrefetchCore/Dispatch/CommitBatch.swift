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
  /// The same while others wait for what is done.
  private static let hurriedPatience: Duration = .milliseconds(100)
  /// The same for clients of a server, each of which waits for its item.
  static let patienceOfClients: Duration = .milliseconds(5)

  init(patience: Duration = Self.patience) {
    self.patience = patience
  }

  /// Others wait for what is done.
  mutating func hurry() {
    guard Self.hurriedPatience < patience else { return }
    due = due.map { $0 - (patience - Self.hurriedPatience) }
    patience = Self.hurriedPatience
  }

  /// A change, and the item that settles when it is written.
  struct Pending: Sendable {
    var change: StoreChange
    var item: Int?
    /// Whether it gives way where there is no room.
    var isSpare = false
  }

  private(set) var entries: [Pending] = []
  private var patience: Duration
  private var confirmations: [Confirmation] = []
  private var arrivals: [Arrival] = []
  private var joins: [SegmentKey: [Int64]] = [:]
  /// What other machines may have once their bodies are written.
  private var shared: [ContentDigest: [OriginAnswer]] = [:]
  private var writingShared: [OriginAnswer] = []
  /// Items that settle when it is written, besides those of single entries.
  private var plain: [Int] = []
  private var itemCount = 0
  /// Of the bodies.
  private var bytes: Int64 = 0
  private(set) var due: Duration?
  /// The commit that is under way; a second one waits for its end.
  private var writing: [Pending] = []
  private var writingPlain: [Int] = []
  private(set) var isWriting = false

  var isEmpty: Bool {
    entries.isEmpty && arrivals.isEmpty && confirmations.isEmpty && joins.isEmpty
  }

  /// Whether anything in it takes room, or names a body that it did not before.
  var bringsBodies: Bool {
    entries.contains { if case .evict = $0.change { false } else { true } }
  }

  mutating func add(_ change: StoreChange, now: Duration) {
    add(Pending(change: change), now: now)
  }

  /// Adds what is only kept as long as it fits.
  mutating func addSpare(_ change: StoreChange, now: Duration) {
    add(Pending(change: change, isSpare: true), now: now)
  }

  /// Takes out what is kept only as long as it fits; returns its bodies.
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

  /// Takes out what will not be written, for others to see to.
  mutating func remove(at places: [Int]) -> [Pending] {
    guard !places.isEmpty else { return [] }
    let refused = places.map { entries[$0] }
    let gone = Set(places)
    entries = entries.indices.filter { !gone.contains($0) }.map { entries[$0] }
    itemCount -= refused.count { $0.item != nil }
    return refused
  }

  /// The changes in the order they must happen: records before the memberships that name them, and
  /// what goes after what comes.
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

  /// What was taken has to wait: it goes before all that has come since.
  ///
  /// Returns what was to go for it, and stays for now.
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

  /// Empties it: what will never be written.
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

  /// What goes with the commit that has ended.
  mutating func takeShared() -> [OriginAnswer] {
    defer { writingShared = [] }
    return writingShared
  }

  /// The items of the commit that has ended.
  mutating func written() -> [Int] {
    defer { (writing, writingPlain) = ([], []) }
    isWriting = false
    return writing.compactMap(\.item) + writingPlain
  }
}
