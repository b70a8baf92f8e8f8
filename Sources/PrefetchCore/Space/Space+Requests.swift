extension Space {
  struct Need: Sendable {
    var size: Int64?
    /// Whether a new body is expected; a revalidation needs no room.
    var isNew: Bool
    var owner: Room.Owner
    /// Eviction rank; needed only if ``Space/ranks(_:)`` returns true.
    var rank = ContentRank.undeclared

    fileprivate var bytes: Int64 {
      isNew ? size ?? 1 : 0
    }
  }

  enum Verdict: Sendable {
    case granted(Grant)
    /// The item waits for others (nil) or for a reading, which counts all bodies if true.
    case waits(measuring: Bool?)
    case parked
    /// The item does not fit, and nothing in flight can change that.
    case full(available: Int64)
    case deferred(free: Int64)
  }

  struct Grant: Sendable {
    var roomLimit: Int64?
    /// Limit by the free disk space, for an unknown size.
    var diskLimit: Int64?
    var evicted: [ContentDigest] = []
  }

  /// Whether the answer depends on the item's eviction rank.
  func ranks(_ need: Need) -> Bool {
    rules.limit != nil || shortage(of: need.bytes) > 0
  }

  mutating func request(_ item: Int, _ need: Need) -> Verdict {
    guard isMeasured, rules.limit == nil || room != nil else {
      return wait(item, measuring: false)
    }
    let bytes = need.bytes
    var grant = Grant()
    var rank = ContentRank.undeclared
    if rules.limit != nil, let room {
      rank = need.rank
      let reserved = reservations.bytes(before: rank)
      let available = room.available(for: rank, of: need.owner)
      // A revalidation needs no room, even when a lowered limit is already exceeded.
      guard !need.isNew || bytes <= available else {
        guard queue.isLastLook else {
          queue.park(item)
          return .parked
        }
        return .full(available: available)
      }
      if need.isNew, reserved > 0, bytes > available - reserved {
        return wait(item, measuring: nil)
      }
      // Other reservations may shrink; the commit decides.
      grant.roomLimit = max(1, available)
    }
    let shortage = shortage(of: bytes)
    if shortage > 0, let free {
      guard room != nil else { return wait(item, measuring: true) }
      guard room?.free(shortage, for: need.rank) == true else {
        return .deferred(free: free - reservations.bytes)
      }
      grant.evicted = drainEvicted(keepingWhatFits: false)
      self.free = free + shortage
    }
    grant.diskLimit = need.isNew && need.size != nil ? nil : diskLeft
    reservations.make(item, size: need.isNew ? need.size : need.size.map { _ in 0 }, rank: rank)
    queue.foundRoom()
    return .granted(grant)
  }

  private mutating func wait(_ item: Int, measuring inDetail: Bool?) -> Verdict {
    queue.wait(item)
    return .waits(measuring: inDetail)
  }

  /// Reserves room for a plain item; nil if the decision needs an active item.
  mutating func requestSimple(_ size: Int64?) -> Grant? {
    guard isMeasured, shortage(of: size ?? 1) <= 0 else { return nil }
    let grant = Grant(diskLimit: size == nil ? diskLeft : nil)
    reservations.addSimple(size ?? 0)
    return grant
  }

  private func shortage(of need: Int64) -> Int64 {
    guard minimumFree > 0, let free, need > 0 else { return 0 }
    return minimumFree.addingSaturated(reservations.bytes).addingSaturated(need) - free
  }

  /// Size limit by the free disk space for a body of unknown size; nil without a rule.
  var diskLeft: Int64? {
    guard minimumFree > 0, let free else { return nil }
    return max(1, free.addingSaturated(-minimumFree).addingSaturated(-reservations.bytes))
  }

  func full(need: Int64?, _ available: Int64) -> Failure {
    let sizes = SizeText.format(together: [max(0, available)] + (need.map { [$0] } ?? []))
    let size = need == nil ? "this item needs more" : "this item needs \(sizes[1])"
    let total = SizeText.format(limit: rules.limit ?? 0)
    return Failure(.cacheFull, "no room: \(sizes[0]) of \(total) (`cache.size`) left, \(size)")
  }

  func diskObjection(to size: Int64?, free: Int64) -> String {
    DiskSpace.objection(to: size, free: free, keeping: minimumFree)
  }

  mutating func end(_ item: Int, leavesRoom: Bool) {
    guard reservations.drop(item) else { return }
    if leavesRoom || reservations.isEmpty { queue.announceRoom() }
  }

  mutating func endSimple(_ size: Int64) {
    reservations.removeSimple(size)
    if reservations.isEmpty { queue.announceRoom() }
  }

  /// Returns the waiting items if a reservation has shrunk, or none is left.
  mutating func drainRetries() -> [Int] {
    let hasNews = queue.consumeNews()
    guard hasNews || reservations.isEmpty && !isMeasuring else { return [] }
    return queue.drainWaiting()
  }
}
