/// How much the cache may hold, what it holds, and what goes when not everything fits.
///
/// All content stands in one order, and what stands later gives way to what stands earlier, never
/// the other way round. So what was put out for something better does not come back for it, and
/// nothing is fetched and put out in turns. It predicts before a request and decides before a
/// commit; the store holds the sum to the limit once more, in the transaction that commits.
package struct Room: Sendable {
  /// A body that may go.
  private struct Candidate: Comparable, Sendable {
    var rank: ContentRank
    var digest: ContentDigest

    static func < (a: Self, b: Self) -> Bool {
      a.rank == b.rank ? a.digest < b.digest : a.rank < b.rank
    }
  }

  private struct Body: Sendable {
    var size: Int64
    /// Of the most important that names it; nil where it has to stay.
    var rank: ContentRank?
    /// How many items name it.
    var names: Int
    /// Whether it was here at the beginning, and when it came otherwise.
    var arrival = 0
  }

  /// What an item has got since the beginning; another body like it may have come after it went.
  private struct Holding: Sendable {
    var digest: ContentDigest
    var arrival: Int
  }

  package let limit: Int64
  /// The bytes of all bodies that the index names, each once.
  package private(set) var used: Int64
  private var bodies: [ContentDigest: Body] = [:]
  /// Whether it is known what the cache holds.
  package let isCounted: Bool
  private let inventory: Inventory
  private var holdings: [URLKey: Holding] = [:]
  private var lastArrival = 0
  /// What may go, the last one first.
  private var candidates: [Candidate] = []
  /// What went since the caller was told.
  private var evicted: [(digest: ContentDigest, body: Body)] = []

  /// `rank` says where an item of the inventory stands; nil for what has to stay.
  package init(limit: Int64?, stock: Stock, rank: (Int) -> ContentRank?) {
    self.limit = limit ?? .max
    used = stock.used
    inventory = stock.inventory
    isCounted = true
    // What consists of several files comes and goes as one.
    var besides: [Int: Int64] = [:]
    for part in stock.inventory.parts { besides[part.row, default: 0] += part.size }
    for (position, row) in stock.inventory.rows.enumerated() where row.hasBody {
      let own = stock.pinned[row.digest] != nil ? nil : rank(position)
      guard var body = bodies[row.digest] else {
        let size = row.size + (besides[position] ?? 0)
        bodies[row.digest] = Body(size: size, rank: own, names: 1)
        continue
      }
      body.names += 1
      body.rank = Self.first(body.rank, own)
      bodies[row.digest] = body
    }
    for (digest, document) in stock.pinned {
      bodies[digest, default: Body(size: document.size, rank: nil, names: 0)].names +=
        document.names
    }
    for (digest, body) in bodies {
      guard let rank = body.rank else { continue }
      candidates.append(Candidate(rank: rank, digest: digest))
    }
    candidates.sort()
  }

  /// A cache of which it is not known what it holds, but that it is full where it has a limit.
  package init(uncounted limit: Int64?) {
    self.limit = limit ?? .max
    used = limit ?? 0
    inventory = Inventory()
    isCounted = false
  }

  /// Nil, which is what has to stay, comes before everything.
  private static func first(_ a: ContentRank?, _ b: ContentRank?) -> ContentRank? {
    guard let a, let b else { return nil }
    return min(a, b)
  }

  // MARK: Foresight

  /// Whose body it is that comes.
  package enum Owner: Sendable {
    case item(URLKey)
    /// A segment's, which had this one before.
    case document(ContentDigest?)
  }

  /// The body that an item has, as it is now and not as it was when the stock was taken.
  package func body(of key: URLKey) -> ContentDigest? {
    let held: Holding
    if let newer = holdings[key] {
      held = newer
    } else if let position = inventory.position(of: key), inventory.rows[position].hasBody {
      held = Holding(digest: inventory.rows[position].digest, arrival: 0)
    } else {
      return nil
    }
    return bodies[held.digest]?.arrival == held.arrival ? held.digest : nil
  }

  /// Nil where it is not known.
  package func holds(_ digest: ContentDigest) -> Bool? {
    isCounted ? bodies[digest] != nil : nil
  }

  private func replaced(by owner: Owner) -> ContentDigest? {
    switch owner {
    case .item(let key): body(of: key)
    case .document(let old): old
    }
  }

  /// How many bytes could be had for something of that rank, with those of what it replaces.
  package func available(for rank: ContentRank, of owner: Owner) -> Int64 {
    let replaced = replaced(by: owner)
    var bytes = limit.addingSaturated(-used).addingSaturated(released(by: replaced))
    for candidate in candidates.reversed() {
      guard candidate.rank > rank else { break }
      if candidate.digest == replaced { continue }
      bytes = bytes.addingSaturated(bodies[candidate.digest]?.size ?? 0)
    }
    return bytes
  }

  /// Whether so many more bytes fit without evictions.
  package func hasRoom(for bytes: Int64) -> Bool {
    used.addingSaturated(bytes) <= limit
  }

  private func released(by replaced: ContentDigest?) -> Int64 {
    guard let replaced, let body = bodies[replaced], body.names == 1 else { return 0 }
    return body.size
  }

  /// Whether a body would be admitted.
  package func fits(
    _ digest: ContentDigest,
    size: Int64,
    rank: ContentRank,
    of owner: Owner
  ) -> Bool {
    bodies[digest] != nil || going(for: size, rank, replacing: replaced(by: owner)) != nil
  }

  /// What would have to go for a new body; nil where it does not fit.
  private func going(
    for size: Int64,
    _ rank: ContentRank,
    replacing replaced: ContentDigest?
  ) -> [ContentDigest]? {
    let released = released(by: replaced)
    let need = used.addingSaturated(size).addingSaturated(-released).addingSaturated(-limit)
    return choose(need, after: rank, except: released > 0 ? replaced : nil)
  }

  // MARK: Decisions

  /// Takes a body in, for which others go, but no more than have to.
  ///
  /// False where it does not fit, and then nothing goes.
  package mutating func admit(
    _ digest: ContentDigest,
    size: Int64,
    rank: ContentRank,
    of owner: Owner
  ) -> Bool {
    let replaced = replaced(by: owner)
    if replaced == digest, bodies[digest] != nil { return true }
    if bodies[digest] != nil {
      if let replaced { drop(replaced) }
      join(digest, rank)
    } else {
      guard let going = going(for: size, rank, replacing: replaced) else { return false }
      if let replaced { drop(replaced) }
      for digest in going { evict(digest) }
      lastArrival += 1
      insert(digest, Body(size: size, rank: rank, names: 1, arrival: lastArrival))
    }
    if case .item(let key) = owner, let body = bodies[digest] {
      holdings[key] = Holding(digest: digest, arrival: body.arrival)
    }
    return true
  }

  /// Has so many bytes come free for something of that rank, as far as enough may go for it.
  package mutating func free(
    _ bytes: Int64,
    for rank: ContentRank,
    isPartEnough: Bool = false
  ) -> Bool {
    guard let going = choose(bytes, after: rank, isPartEnough: isPartEnough) else { return false }
    for digest in going { evict(digest) }
    return true
  }

  /// Lets go for the limit's own sake, from the end of the order, as far as anything may.
  package mutating func shrink() {
    let going = choose(used.addingSaturated(-limit), after: nil, isPartEnough: true) ?? []
    for digest in going { evict(digest) }
  }

  /// What has to go since the last time: what came later may have made room for some of it.
  package mutating func takeEvicted(keepingWhatFits: Bool = true) -> [ContentDigest] {
    defer { evicted = [] }
    var going: [ContentDigest] = []
    for (digest, body) in evicted.sorted(by: { $0.body.rank ?? .passing < $1.body.rank ?? .passing }
    ) {
      if keepingWhatFits, bodies[digest] == nil, used.addingSaturated(body.size) <= limit {
        insert(digest, body)
      } else if bodies[digest] == nil {
        going.append(digest)
      }
    }
    return going
  }

  /// From the end of the order until it is enough, without what turned out not to be needed.
  private func choose(
    _ need: Int64,
    after rank: ContentRank?,
    except replaced: ContentDigest? = nil,
    isPartEnough: Bool = false
  ) -> [ContentDigest]? {
    guard need > 0 else { return [] }
    var freed: Int64 = 0
    var chosen: [(digest: ContentDigest, size: Int64)] = []
    for candidate in candidates.reversed() {
      guard freed < need, rank.map({ candidate.rank > $0 }) ?? true else { break }
      if candidate.digest == replaced { continue }
      let size = bodies[candidate.digest]?.size ?? 0
      chosen.append((candidate.digest, size))
      freed += size
    }
    guard freed >= need else { return isPartEnough ? chosen.map(\.digest) : nil }
    var going: [ContentDigest] = []
    for (digest, size) in chosen.reversed() {
      if freed - size >= need {
        freed -= size
      } else {
        going.append(digest)
      }
    }
    return going
  }

  // MARK: Changes

  /// One item more has a body that is here already.
  private mutating func join(_ digest: ContentDigest, _ rank: ContentRank) {
    guard var body = bodies[digest] else { return }
    body.names += 1
    if let old = body.rank, rank < old {
      withdraw(digest, old)
      body.rank = rank
      offer(digest, rank)
    }
    bodies[digest] = body
  }

  private mutating func evict(_ digest: ContentDigest) {
    guard let body = bodies[digest] else { return }
    evicted.append((digest, body))
    remove(digest)
  }

  /// One item fewer names it.
  private mutating func drop(_ digest: ContentDigest) {
    guard var body = bodies[digest] else { return }
    body.names -= 1
    guard body.names == 0 else {
      bodies[digest] = body
      return
    }
    remove(digest)
  }

  private mutating func insert(_ digest: ContentDigest, _ body: Body) {
    bodies[digest] = body
    used += body.size
    if let rank = body.rank { offer(digest, rank) }
  }

  private mutating func remove(_ digest: ContentDigest) {
    guard let body = bodies.removeValue(forKey: digest) else { return }
    used -= body.size
    if let rank = body.rank { withdraw(digest, rank) }
  }

  private mutating func offer(_ digest: ContentDigest, _ rank: ContentRank) {
    let candidate = Candidate(rank: rank, digest: digest)
    candidates.insert(candidate, at: place(of: candidate))
  }

  private mutating func withdraw(_ digest: ContentDigest, _ rank: ContentRank) {
    let place = place(of: Candidate(rank: rank, digest: digest))
    guard place < candidates.count, candidates[place].digest == digest else { return }
    candidates.remove(at: place)
  }

  private func place(of candidate: Candidate) -> Int {
    var (low, high) = (0, candidates.count)
    while low < high {
      let middle = (low + high) / 2
      if candidates[middle] < candidate { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// What the cache holds, as room is made of it.
package struct Stock: Sendable {
  package var inventory: Inventory
  /// The bytes of all bodies that the index names, manifests too.
  package var used: Int64
  /// Bodies that a segment needs to know what it holds.
  package var pinned: [ContentDigest: Document]
  /// Of items that no segment holds or whose content expires, by their rows.
  package var ages: [Int: Age]

  /// A manifest, or what belongs to one.
  package struct Document: Hashable, Sendable {
    package var size: Int64
    /// How many segments name it.
    package var names: Int

    package init(size: Int64, names: Int) {
      self.size = size
      self.names = names
    }
  }

  package struct Age: Hashable, Sendable {
    package var expiresAt: Instant?
    package var consumedAt: Instant?
    /// Or when it came, where no use is known.
    package var lastUse: Instant

    package init(lastUse: Instant, expiresAt: Instant? = nil) {
      self.lastUse = lastUse
      self.expiresAt = expiresAt
    }
  }

  package init(
    inventory: Inventory = Inventory(),
    used: Int64 = 0,
    pinned: [ContentDigest: Document] = [:],
    ages: [Int: Age] = [:]
  ) {
    self.inventory = inventory
    self.used = used
    self.pinned = pinned
    self.ages = ages
  }
}
