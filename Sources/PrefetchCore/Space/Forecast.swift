/// Items and lists whose room and budget a dry run can judge only when it knows all of them.
struct Forecast: Sendable {
  /// An item that the dry run has probed and holds until the forecast.
  struct Item: Sendable {
    var item: Int
    /// Result of the probe; nil while the item keeps it itself.
    var result: ItemResult?
    var reportedSize: Int64?
  }

  var items: [Item] = []
  var lists: [StoreChange] = []
  var isBeingMade = false
  var isDiskShort = false
  var bytes: Int64 = 0
  /// Items that would be evicted: the store's row numbers and the segments that hold them.
  var evictions: [(item: Int64, segments: [SegmentKey])] = []
  var stock: Stock?
}

extension Space {
  /// Returns the held items and lists; later items settle without a forecast.
  mutating func beginForecast() -> (items: [Forecast.Item], lists: [StoreChange]) {
    hasShrunk = true
    forecast.isBeingMade = true
    defer { (forecast.items, forecast.lists) = ([], []) }
    return (forecast.items, forecast.lists)
  }

  /// Returns whether the disk has room in any case; if so, counts the item.
  mutating func predictsRoom(for size: Int64?) -> Bool {
    guard rules.limit == nil, isMeasured else { return false }
    guard let free else { return true }
    let left = free.addingSaturated(-forecast.bytes).addingSaturated(-minimumFree)
    guard left >= max(1, size ?? 1) else { return false }
    forecast.bytes += size ?? 0
    return true
  }

  enum Objection: Sendable {
    /// `cache.size` leaves `available` bytes.
    case full(available: Int64)
    /// `free` bytes are free on the disk, too few.
    case disk(free: Int64)
  }

  struct Coming: Sendable {
    var size: Int64?
    var rank: ContentRank
    var key: URLKey
    var digest: ContentDigest?

    fileprivate var roomKey: ContentDigest {
      digest ?? ContentDigest(placeholderFor: key)
    }
  }

  /// Returns the objection of `cache.size` to a body, without a trial, which would copy the room.
  func predictLimitObjection(to body: Coming) -> Objection? {
    let owner = Room.Owner.item(body.key)
    guard rules.limit != nil,
      room?.fits(body.roomKey, size: body.size ?? 1, rank: body.rank, of: owner) == false
    else { return nil }
    return .full(available: room?.available(for: body.rank, of: owner) ?? 0)
  }

  /// Returns the objection of the disk to a body; without one, counts the body.
  mutating func predictDiskObjection(to body: Coming) -> Objection? {
    guard let free, minimumFree > 0 else { return nil }
    let left = free.addingSaturated(-forecast.bytes)
    let shortage = minimumFree.addingSaturated(max(1, body.size ?? 1)) - left
    guard room?.free(shortage, for: body.rank) == true else { return .disk(free: left) }
    if shortage > 0 { forecast.isDiskShort = true }
    forecast.bytes += (body.size ?? 0) - max(0, shortage)
    return nil
  }

  mutating func predictAdmission(of body: Coming) {
    guard rules.limit != nil else { return }
    _ = room?.admit(body.roomKey, size: body.size ?? 1, rank: body.rank, of: .item(body.key))
  }

  /// Returns the objection to a body by its declared size alone, before any request.
  func predictObjection(toUnrequested body: Coming) -> Objection? {
    let need = body.size ?? 1
    let available = room?.available(for: body.rank, of: .item(body.key)) ?? .max
    if rules.limit != nil, need > available { return .full(available: available) }
    guard minimumFree > 0, let free else { return nil }
    let left = free.addingSaturated(-forecast.bytes)
    var trial = room
    let shortage = minimumFree.addingSaturated(need) - left
    guard shortage > 0, trial?.free(shortage, for: body.rank) != true else { return nil }
    return .disk(free: left)
  }

  mutating func endForecast() -> [ContentDigest] {
    forecast.isBeingMade = false
    if rules.limit != nil { room?.shrink() }
    return room?.drainEvicted(keepingWhatFits: !forecast.isDiskShort) ?? []
  }

  /// Records which items would lose these bodies; items in `leaving` are removed anyway.
  mutating func predictEvictions(of digests: [ContentDigest], leaving: Set<Int64>) {
    guard let stock = forecast.stock else { return }
    let evictedDigests = Set(digests)
    let inventory = stock.inventory
    for (position, row) in inventory.rows.enumerated()
    where row.hasBody && evictedDigests.contains(row.digest) && !leaving.contains(row.item) {
      // The item's new body may be smaller than the evicted one and fit.
      if room?.body(of: row.key) != nil { continue }
      let segments = inventory.holders(of: position).map { inventory.segmentKeys[$0] }
      forecast.evictions.append((row.item, segments))
    }
    forecast.stock = nil
  }
}

extension ContentDigest {
  /// Placeholder digest, unique per URL, for a body that no run has stored.
  fileprivate init(placeholderFor key: URLKey) {
    self.init(first: key.first, second: key.second, third: ~key.first, fourth: ~key.second)
  }
}
