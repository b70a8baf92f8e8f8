/// The room that a run's bodies are held to: the cache's own limit, and what must stay free on the
/// disk.
///
/// What it knows comes by readings, which its caller asks the store for. It decides before a request
/// (``request(_:_:)``) and once more before a commit (``admit(_:)``).
struct Space: Sendable {
  /// Why the store is asked how much room there is.
  private enum Question: Hashable, Sendable {
    /// Items wait for it.
    case items(isDetailed: Bool)
    /// A commit waits: another process may have written meanwhile.
    case commit(isDetailed: Bool)

    var isDetailed: Bool {
      switch self {
      case .items(let isDetailed), .commit(let isDetailed): isDetailed
      }
    }
  }

  let rules: Room.Rules
  /// Nil as long as the run had no need to look what the cache holds.
  var room: Room?
  /// What had been written by others when it was counted.
  private var version: Int64?
  /// What is free on the disk; nil where no rule asks, or it is not known.
  var free: Int64?
  private(set) var minimumFree: Int64 = 0
  private var question: Question?
  private(set) var isMeasured = false
  /// Whether it was looked what others have written, for the commit that is about to be made.
  private var isChecked = false
  /// How often in a row the store had no room for what this run thought there was room for.
  private var refusals = 0
  var promises = Promises()
  var line = RoomLine()
  /// Bodies that went for others.
  private(set) var evicted: Set<ContentDigest> = []
  /// How items ended whose bodies may have to go yet; those that were only kept are not among them.
  private(set) var endings: [URLKey: ItemAction] = [:]
  /// Whether the cache was brought within a limit that may have been lowered.
  var hasShrunk = false
  var forecast = Forecast()

  init(_ rules: Room.Rules) {
    self.rules = rules
  }

  /// Whether there is anything to hold the run's bodies to.
  var hasRules: Bool {
    rules.limit != nil || rules.minimumFree != 0
  }

  // MARK: Readings

  var isMeasuring: Bool { question != nil }

  /// Whether the first item to be asked for has to wait for a reading.
  var lacksReading: Bool {
    !isMeasured || rules.limit != nil && room == nil
  }

  /// Whether the bodies of the cache are to be counted, which takes longer; nil where the store is
  /// being asked already.
  mutating func beginReading(inDetail: Bool) -> Bool? {
    guard question == nil else { return nil }
    let isDetailed = inDetail || rules.limit != nil
    question = .items(isDetailed: isDetailed)
    return isDetailed
  }

  /// Begins the look that each commit of bodies waits for.
  mutating func beginCheck() -> Bool {
    let isDetailed = room == nil
    question = .commit(isDetailed: isDetailed)
    return isDetailed
  }

  /// Whether what was looked at is good for a commit, for this one alone.
  ///
  /// It is not looked at again: others may be busy for ever, and the store has the last word.
  mutating func takeCheck() -> Bool {
    guard room != nil, isChecked else { return false }
    isChecked = false
    return true
  }

  /// Whether bodies are counted by what was read, for which their order has to be known.
  func counts(_ reading: RoomReading) -> Bool {
    reading.stock != nil && refusals <= Self.patience
  }

  /// How often the same is given to a store that refuses it; another run may be busy for ever.
  private static let patience = 3

  /// Takes in what was read; false where those who wait for room have learnt nothing by it.
  mutating func take(_ reading: RoomReading, in order: ContentOrder?, foretells: Bool) -> Bool {
    let isDetailed = question?.isDetailed ?? false
    if case .commit = question {
      isChecked = true
      guard isDetailed else {
        question = nil
        note(reading)
        return false
      }
    }
    question = nil
    isMeasured = true
    if reading.stock != nil { room = nil }
    note(reading)
    if let order, let stock = reading.stock {
      version = reading.version
      room = Room(limit: rules.limit, stock: stock) { order.rank(of: $0, in: stock) }
      if foretells { forecast.stock = stock }
    } else if isDetailed {
      // What cannot be counted is found out by the commit; what that has refused has no room.
      room = Room(uncounted: refusals > 0 ? rules.limit : nil)
    }
    return true
  }

  /// How the disk stands, and what of it must stay free.
  mutating func note(_ reading: RoomReading) {
    free = reading.disk?.free
    minimumFree = reading.disk.map { rules.minimumFree(of: $0.size) } ?? 0
    // Another run has written, or something left: what may go has to be looked at again.
    if let used = reading.used, let room, room.isCounted,
      used != room.used || reading.version != version
    {
      self.room = nil
    }
  }

  /// What is declared stands elsewhere in the order than what is not: the bodies are counted anew.
  mutating func orderChanged() {
    room = nil
  }

  // MARK: Commits

  /// A body that is here, or several that come together.
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

  /// The bodies that have to go for what was admitted.
  mutating func takeEvicted(keepingWhatFits: Bool = true) -> [ContentDigest] {
    let going = room?.takeEvicted(keepingWhatFits: keepingWhatFits) ?? []
    evicted.formUnion(going)
    return going
  }

  /// A body that others have taken away.
  mutating func lose(_ digest: ContentDigest) {
    evicted.insert(digest)
  }

  mutating func committed(_ reading: RoomReading) {
    // Others may have become quieter, and room may be made again.
    if refusals > 0, room?.isCounted == false { room = nil }
    refusals = 0
    note(reading)
  }

  /// Another run has taken the room meanwhile: what there is has to be looked at again, and what was
  /// to go stays for now.
  mutating func refused(keeping kept: [ContentDigest]) {
    room = nil
    refusals += 1
    evicted.subtract(kept)
  }

  /// Whether bodies may have to go of which it has to be known how their items ended.
  var remembersEndings: Bool {
    rules.limit != nil || room != nil
  }

  mutating func note(_ ending: ItemAction, of key: URLKey) {
    endings[key] = ending
  }

  /// Brings a cache whose limit was lowered back within it.
  mutating func shrink() {
    hasShrunk = true
    room?.shrink()
  }
}
