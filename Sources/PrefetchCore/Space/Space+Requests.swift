/// Room for an item before it is asked for.
extension Space {
  /// What an item would take.
  struct Need: Sendable {
    /// Nil where neither its list nor an answer tells it.
    var size: Int64?
    /// Whether a body is to come: what is only looked at again needs nothing.
    var isNew: Bool
    var owner: Room.Owner
    /// Where it stands; looked at only where ``Space/ranks(_:)`` says so.
    var rank = ContentRank.passing

    fileprivate var bytes: Int64 {
      isNew ? size ?? 1 : 0
    }
  }

  enum Answer: Sendable {
    case granted(Grant)
    /// It stands in the line now; where a reading has to come first, whether that counts bodies.
    case waits(measuring: Bool?)
    /// There is no room as things stand, and it is asked about once more when nothing else is left.
    case parked
    /// There is room for no more than so many bytes of it, and nothing will change that.
    case full(available: Int64)
    /// The disk has no room for it.
    case deferred(free: Int64)
  }

  /// Within which bounds an item may be asked for.
  struct Grant: Sendable {
    /// By the cache's own limit.
    var roomLimit: Int64?
    /// By the disk, where its size was not told.
    var diskLimit: Int64?
    /// What has to go for it.
    var evicted: [ContentDigest] = []
  }

  /// Whether it matters where an item stands.
  func ranks(_ need: Need) -> Bool {
    rules.limit != nil || shortage(of: need.bytes) > 0
  }

  /// Whether an item may be asked for now; what is granted is promised to it.
  mutating func request(_ item: Int, _ need: Need) -> Answer {
    guard isMeasured, rules.limit == nil || room != nil else {
      return wait(item, measuring: false)
    }
    let bytes = need.bytes
    var grant = Grant()
    var rank = ContentRank.passing
    if rules.limit != nil, let room {
      rank = need.rank
      let promised = promises.bytes(before: rank)
      let available = room.available(for: rank, of: need.owner)
      // What is only looked at again needs nothing, even where a lowered limit is passed already.
      guard !need.isNew || bytes <= available else {
        guard line.isLastLook else {
          line.park(item)
          return .parked
        }
        return .full(available: available)
      }
      if need.isNew, promised > 0, bytes > available - promised {
        return wait(item, measuring: nil)
      }
      // What others were promised may yet turn out smaller; the commit decides.
      grant.roomLimit = max(1, available)
    }
    let shortage = shortage(of: bytes)
    if shortage > 0, let free {
      guard room != nil else { return wait(item, measuring: true) }
      guard room?.free(shortage, for: need.rank) == true else {
        return .deferred(free: free - promises.bytes)
      }
      grant.evicted = takeEvicted(keepingWhatFits: false)
      self.free = free + shortage
    }
    grant.diskLimit = need.isNew && need.size != nil ? nil : diskLeft
    promises.make(item, size: need.isNew ? need.size : need.size.map { _ in 0 }, rank: rank)
    line.foundRoom()
    return .granted(grant)
  }

  private mutating func wait(_ item: Int, measuring inDetail: Bool?) -> Answer {
    line.wait(item)
    return .waits(measuring: inDetail)
  }

  /// The same of a plain item; nil where there is something to decide.
  mutating func requestPlain(_ size: Int64?) -> Grant? {
    guard isMeasured, shortage(of: size ?? 1) <= 0 else { return nil }
    let grant = Grant(diskLimit: size == nil ? diskLeft : nil)
    promises.makePlain(size ?? 0)
    return grant
  }

  /// How many bytes more the disk would have to have, beside what is under way.
  private func shortage(of need: Int64) -> Int64 {
    guard minimumFree > 0, let free, need > 0 else { return 0 }
    return minimumFree.addingSaturated(promises.bytes).addingSaturated(need) - free
  }

  /// What the disk has for a body that has not been asked about yet.
  var diskLeft: Int64? {
    guard minimumFree > 0, let free else { return nil }
    return max(1, free.addingSaturated(-minimumFree).addingSaturated(-promises.bytes))
  }

  /// What is said of an item for which the cache's limit leaves too little.
  func full(need: Int64?, _ available: Int64) -> Failure {
    let sizes = SizeText.format(together: [max(0, available)] + (need.map { [$0] } ?? []))
    let size = need == nil ? "it is larger" : "it has \(sizes[1])"
    let total = SizeText.format(limit: rules.limit ?? 0)
    return Failure(
      .cacheFull,
      "what comes before it leaves \(sizes[0]) of the \(total) of `cache.size`, and \(size)"
    )
  }

  /// What is said of an item that waits for the disk.
  func diskObjection(to size: Int64?, free: Int64) -> String {
    DiskSpace.objection(to: size, free: free, keeping: minimumFree)
  }

  /// An item that has settled wants no more than it has got.
  mutating func end(_ item: Int, leavesRoom: Bool) {
    guard promises.drop(item) else { return }
    if leavesRoom || promises.isEmpty { line.tell() }
  }

  mutating func endPlain(_ size: Int64) {
    promises.dropPlain(size)
    if promises.isEmpty { line.tell() }
  }

  /// Those who wait and may have more room than before: others have less than was thought, or
  /// nothing is under way any more for which they would have to wait.
  mutating func takeRetries() -> [Int] {
    let hasNews = line.takeNews()
    guard hasNews || promises.isEmpty && !isMeasuring else { return [] }
    return line.takeWaiting()
  }
}
