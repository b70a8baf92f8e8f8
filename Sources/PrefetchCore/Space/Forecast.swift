/// What a dry run can say only once it knows all that a run would bring: whether there is room for it,
/// and whether together it uses up a budget.
struct Forecast: Sendable {
  /// An item that a dry run has asked about, and cannot settle before it knows what else would come.
  struct Item: Sendable {
    var item: Int
    /// What a probe has told, where nothing else is kept of the item.
    var result: ItemResult?
    /// How large a body would come, where a probe has told.
    var toldSize: Int64?
  }

  var items: [Item] = []
  /// What a run would store for segments themselves.
  var lists: [StoreChange] = []
  /// Whether it is being made.
  var isBeingMade = false
  /// Whether some of it has to go for the sake of the disk.
  var isDiskShort = false
  /// Of what a dry run would bring.
  var bytes: Int64 = 0
  /// Items that would lose their bodies, by the store's numbers, and who holds them.
  var evictions: [(item: Int64, segments: [SegmentKey])] = []
  /// What it is made from.
  var stock: Stock?
}

extension Space {
  /// What it is made of; what is asked for from now on ends without it.
  mutating func beginForecast() -> (items: [Forecast.Item], lists: [StoreChange]) {
    hasShrunk = true
    forecast.isBeingMade = true
    defer { (forecast.items, forecast.lists) = ([], []) }
    return (forecast.items, forecast.lists)
  }

  /// Whether an item surely finds a place on the disk; if so, it takes it.
  mutating func foretellFits(_ size: Int64?) -> Bool {
    guard rules.limit == nil, isMeasured else { return false }
    guard let free else { return true }
    let left = free.addingSaturated(-forecast.bytes).addingSaturated(-minimumFree)
    guard left >= max(1, size ?? 1) else { return false }
    forecast.bytes += size ?? 0
    return true
  }

  /// Why a run would not bring an item.
  enum Objection: Sendable {
    /// The cache has room for no more than so many bytes of it.
    case full(available: Int64)
    /// So many bytes are free on the disk.
    case disk(free: Int64)
  }

  /// The body that an item would bring.
  struct Coming: Sendable {
    var size: Int64?
    var rank: ContentRank
    var key: URLKey
    var digest: ContentDigest?

    fileprivate var place: ContentDigest {
      digest ?? ContentDigest(standingFor: key)
    }
  }

  /// Whether the cache's limit would keep a body out.
  ///
  /// Nothing is changed and taken back: that would copy the whole room for each item.
  func foretellFull(_ body: Coming) -> Objection? {
    let owner = Room.Owner.item(body.key)
    guard rules.limit != nil,
      room?.fits(body.place, size: body.size ?? 1, rank: body.rank, of: owner) == false
    else { return nil }
    return .full(available: room?.available(for: body.rank, of: owner) ?? 0)
  }

  /// Whether the disk would keep a body out; else it takes its place there.
  mutating func foretellDisk(_ body: Coming) -> Objection? {
    guard let free, minimumFree > 0 else { return nil }
    let left = free.addingSaturated(-forecast.bytes)
    let shortage = minimumFree.addingSaturated(max(1, body.size ?? 1)) - left
    guard room?.free(shortage, for: body.rank) == true else { return .disk(free: left) }
    if shortage > 0 { forecast.isDiskShort = true }
    forecast.bytes += (body.size ?? 0) - max(0, shortage)
    return nil
  }

  mutating func foretellAdmitted(_ body: Coming) {
    guard rules.limit != nil else { return }
    _ = room?.admit(body.place, size: body.size ?? 1, rank: body.rank, of: .item(body.key))
  }

  /// Whether a run would not even ask for a body of which no more is known than its list tells.
  func foretellUnasked(_ body: Coming) -> Objection? {
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

  /// Ends it with the bodies that would go for what comes.
  mutating func endForecast() -> [ContentDigest] {
    forecast.isBeingMade = false
    if rules.limit != nil { room?.shrink() }
    return room?.takeEvicted(keepingWhatFits: !forecast.isDiskShort) ?? []
  }

  /// Finds the items that lose such bodies, but for those that leave anyway.
  mutating func foretellEvictions(of digests: [ContentDigest], leaving: Set<Int64>) {
    guard let stock = forecast.stock else { return }
    let going = Set(digests)
    let inventory = stock.inventory
    for (position, row) in inventory.rows.enumerated()
    where row.hasBody && going.contains(row.digest) && !leaving.contains(row.item) {
      // What comes for it may be smaller than what went.
      if room?.body(of: row.key) != nil { continue }
      let segments = inventory.holders(of: position).map { inventory.segmentKeys[$0] }
      forecast.evictions.append((row.item, segments))
    }
    forecast.stock = nil
  }
}

extension ContentDigest {
  /// For a body that no run has seen: as much its own as the URL is.
  fileprivate init(standingFor key: URLKey) {
    self.init(first: key.first, second: key.second, third: ~key.first, fourth: ~key.second)
  }
}
