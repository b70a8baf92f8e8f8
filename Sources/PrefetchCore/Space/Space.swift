/// Decides what fits into cache and disk and what is evicted, before a request and a commit.
struct Space: Sendable {
  private enum PendingReading: Hashable, Sendable {
    case items(isDetailed: Bool)
    /// A commit waits for it, since another process may have written.
    case commit(isDetailed: Bool)

    var isDetailed: Bool {
      switch self {
      case .items(let isDetailed), .commit(let isDetailed): isDetailed
      }
    }
  }

  let rules: Room.Rules
  /// Content of the cache by eviction rank; nil until a reading counts all bodies.
  var room: Room?
  /// The index's data version when ``room`` was counted.
  private var version: Int64?
  /// Free bytes on the disk; nil if unknown or no rule needs it.
  var free: Int64?
  private(set) var minimumFree: Int64 = 0
  private var pendingReading: PendingReading?
  private(set) var isMeasured = false
  private var isChecked = false
  private var refusals = 0
  var reservations = Reservations()
  var queue = RoomQueue()
  private(set) var evicted: Set<ContentDigest> = []
  /// Last action for each item whose body may still be evicted; kept items are absent.
  private(set) var lastActions: [URLKey: ItemAction] = [:]
  /// Whether the cache was shrunk to a limit that may have been lowered.
  var hasShrunk = false
  var forecast = Forecast()

  init(_ rules: Room.Rules) {
    self.rules = rules
  }

  var hasRules: Bool {
    rules.limit != nil || rules.minimumFree != 0
  }

  // MARK: Readings

  var isMeasuring: Bool { pendingReading != nil }

  var lacksReading: Bool {
    !isMeasured || rules.limit != nil && room == nil
  }

  /// Begins a reading and returns whether it counts all bodies; nil if one is in progress.
  mutating func beginReading(inDetail: Bool) -> Bool? {
    guard pendingReading == nil else { return nil }
    let isDetailed = inDetail || rules.limit != nil
    pendingReading = .items(isDetailed: isDetailed)
    return isDetailed
  }

  /// Begins the reading that a commit of bodies waits for; returns whether it counts all bodies.
  mutating func beginCheck() -> Bool {
    let isDetailed = room == nil
    pendingReading = .commit(isDetailed: isDetailed)
    return isDetailed
  }

  /// Returns whether a reading for the commit has come; uses it up, since one per commit is enough.
  mutating func consumeCheck() -> Bool {
    guard room != nil, isChecked else { return false }
    isChecked = false
    return true
  }

  /// Whether ``receive(_:in:predicts:)`` will count all bodies, and needs the content order.
  func counts(_ reading: RoomReading) -> Bool {
    reading.stock != nil && refusals <= Self.mostRefusals
  }

  /// Number of refused commits after which bodies are no longer counted.
  private static let mostRefusals = 3

  /// Takes a reading; returns whether waiting items should be tried again.
  mutating func receive(_ reading: RoomReading, in order: ContentOrder?, predicts: Bool) -> Bool {
    let isDetailed = pendingReading?.isDetailed ?? false
    if case .commit = pendingReading {
      isChecked = true
      guard isDetailed else {
        pendingReading = nil
        applyReading(reading)
        return false
      }
    }
    pendingReading = nil
    isMeasured = true
    if reading.stock != nil { room = nil }
    applyReading(reading)
    if let order, let stock = reading.stock {
      version = reading.version
      room = Room(
        limit: rules.limit,
        stock: stock,
        isPublished: { order.isPublished($0, in: stock) },
        rank: { order.rank(of: $0, in: stock) }
      )
      if predicts { forecast.stock = stock }
    } else if isDetailed {
      // The commit finds out what fits; after a refusal nothing more fits.
      room = Room(uncounted: refusals > 0 ? rules.limit : nil)
    }
    return true
  }

  /// Records the free disk space, and forgets ``room`` if another process has written.
  mutating func applyReading(_ reading: RoomReading) {
    free = reading.disk?.free
    minimumFree = reading.disk.map { rules.minimumFree(of: $0.size) } ?? 0
    if let used = reading.used, let room, room.isCounted,
      used != room.used || reading.version != version
    {
      self.room = nil
    }
  }

  /// Forgets ``room`` because newly declared items have other eviction ranks.
  mutating func orderChanged() {
    room = nil
  }

  // MARK: Commits

  struct Newcomer: Sendable {
    var rank: ContentRank
    var bodies: [(ContentDigest, Int64)]
    var owner: Room.Owner
  }

  mutating func admit(_ newcomer: Newcomer) -> Bool {
    for (digest, size) in newcomer.bodies {
      guard room?.admit(digest, size: size, rank: newcomer.rank, of: newcomer.owner) == true else {
        return false
      }
    }
    return true
  }

  mutating func drainEvicted(keepingWhatFits: Bool = true) -> [ContentDigest] {
    let digests = room?.drainEvicted(keepingWhatFits: keepingWhatFits) ?? []
    evicted.formUnion(digests)
    return digests
  }

  mutating func lose(_ digest: ContentDigest) {
    evicted.insert(digest)
  }

  mutating func committed(_ reading: RoomReading) {
    // Other processes may have stopped writing, so bodies can be counted again.
    if refusals > 0, room?.isCounted == false { room = nil }
    refusals = 0
    applyReading(reading)
  }

  /// Records that the store refused a commit; the bodies in `kept` were not evicted after all.
  mutating func refused(keeping kept: [ContentDigest]) {
    room = nil
    refusals += 1
    evicted.subtract(kept)
  }

  /// Whether ``lastActions`` is needed, because bodies may be evicted.
  var remembersLastActions: Bool {
    rules.limit != nil || room != nil
  }

  mutating func recordAction(_ action: ItemAction, of key: URLKey) {
    lastActions[key] = action
  }

  mutating func shrink() {
    hasShrunk = true
    room?.shrink()
  }
}
