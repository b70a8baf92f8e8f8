/// Limit and content of the cache, and what is evicted when not everything fits.
///
/// All content has one order, in which only later content makes room for earlier content.
/// The store enforces the limit again in the transaction that commits.
package struct Room: Sendable {
  private struct Candidate: Comparable, Sendable {
    var rank: ContentRank
    var digest: ContentDigest

    static func < (a: Self, b: Self) -> Bool {
      a.rank == b.rank ? a.digest < b.digest : a.rank < b.rank
    }
  }

  private struct Body: Sendable {
    var size: Int64
    /// Best rank of the items with this body; nil if it has to stay.
    var rank: ContentRank?
    var names: Int
    /// Whether the files of a tree keep its blocks.
    var isPublished = false
    /// Number of the arrival; 0 if the body was here at the beginning.
    var arrival = 0
  }

  /// Body that an item got since the beginning; `arrival` tells it from a later copy.
  private struct Holding: Sendable {
    var digest: ContentDigest
    var arrival: Int
  }

  package let limit: Int64
  /// Bytes of all bodies in the index, each counted once.
  package private(set) var used: Int64
  private var bodies: [ContentDigest: Body] = [:]
  package let isCounted: Bool
  private let inventory: Inventory
  private var holdings: [URLKey: Holding] = [:]
  private var lastArrival = 0
  /// Bodies that may be evicted, in the order of rank; the last is evicted first.
  private var candidates: [Candidate] = []
  private var evicted: [(digest: ContentDigest, body: Body)] = []

  /// Creates the room of a known cache; `rank` returns nil for inventory items that have to stay.
  package init(
    limit: Int64?,
    stock: Stock,
    isPublished: (Int) -> Bool = { _ in false },
    rank: (Int) -> ContentRank?
  ) {
    self.limit = limit ?? .max
    used = stock.used
    inventory = stock.inventory
    isCounted = true
    // An item of several files is evicted as a whole.
    var otherBytes: [Int: Int64] = [:]
    for file in stock.inventory.files { otherBytes[file.row, default: 0] += file.size }
    for (position, row) in stock.inventory.rows.enumerated() where row.hasBody {
      let own = stock.pinned[row.digest] != nil ? nil : rank(position)
      guard var body = bodies[row.digest] else {
        let size = row.size + (otherBytes[position] ?? 0)
        bodies[row.digest] = Body(
          size: size,
          rank: own,
          names: 1,
          isPublished: own != nil && isPublished(position)
        )
        continue
      }
      body.names += 1
      if own != nil, isPublished(position) { body.isPublished = true }
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

  /// Creates the room of a cache with unknown content, which is full if it has a limit.
  package init(uncounted limit: Int64?) {
    self.limit = limit ?? .max
    used = limit ?? 0
    inventory = Inventory()
    isCounted = false
  }

  private static func first(_ a: ContentRank?, _ b: ContentRank?) -> ContentRank? {
    guard let a, let b else { return nil }
    return min(a, b)
  }

  // MARK: Foresight

  package enum Owner: Sendable {
    case item(URLKey)
    case document(ContentDigest?)
  }

  /// Returns the present body of an item, rather than the one in the stock.
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

  package func holds(_ digest: ContentDigest) -> Bool? {
    isCounted ? bodies[digest] != nil : nil
  }

  private func replaced(by owner: Owner) -> ContentDigest? {
    switch owner {
    case .item(let key): body(of: key)
    case .document(let old): old
    }
  }

  /// Returns the bytes available at a rank: free, evictable, and those of the replaced body.
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

  package func hasRoom(for bytes: Int64) -> Bool {
    used.addingSaturated(bytes) <= limit
  }

  private func released(by replaced: ContentDigest?) -> Int64 {
    guard let replaced, let body = bodies[replaced], body.names == 1 else { return 0 }
    return body.size
  }

  package func fits(
    _ digest: ContentDigest,
    size: Int64,
    rank: ContentRank,
    of owner: Owner
  ) -> Bool {
    bodies[digest] != nil || evictionsNeeded(for: size, rank, replacing: replaced(by: owner)) != nil
  }

  private func evictionsNeeded(
    for size: Int64,
    _ rank: ContentRank,
    replacing replaced: ContentDigest?
  ) -> [ContentDigest]? {
    let released = released(by: replaced)
    let need = used.addingSaturated(size).addingSaturated(-released).addingSaturated(-limit)
    return chooseEvictions(need, after: rank, except: released > 0 ? replaced : nil)
  }

  // MARK: Decisions

  /// Admits a body and evicts only as much as needed; false, without evictions, if it does not fit.
  package mutating func admit(
    _ digest: ContentDigest,
    size: Int64,
    rank: ContentRank,
    of owner: Owner
  ) -> Bool {
    let replaced = replaced(by: owner)
    if replaced == digest, bodies[digest] != nil { return true }
    if bodies[digest] != nil {
      if let replaced { removeReference(replaced) }
      join(digest, rank)
    } else {
      guard let evictions = evictionsNeeded(for: size, rank, replacing: replaced) else {
        return false
      }
      if let replaced { removeReference(replaced) }
      for digest in evictions { evict(digest) }
      lastArrival += 1
      insert(digest, Body(size: size, rank: rank, names: 1, arrival: lastArrival))
    }
    if case .item(let key) = owner, let body = bodies[digest] {
      holdings[key] = Holding(digest: digest, arrival: body.arrival)
    }
    return true
  }

  /// Frees `bytes` of the disk by a later rank; false, without evictions, if too few, unless
  /// `acceptsLess`.
  package mutating func free(
    _ bytes: Int64,
    for rank: ContentRank,
    acceptsLess: Bool = false
  ) -> Bool {
    let choice = chooseEvictions(bytes, after: rank, acceptsLess: acceptsLess, isOfDisk: true)
    guard let evictions = choice else { return false }
    for digest in evictions { evict(digest) }
    return true
  }

  package mutating func shrink() {
    let evictions =
      chooseEvictions(used.addingSaturated(-limit), after: nil, acceptsLess: true) ?? []
    for digest in evictions { evict(digest) }
  }

  /// Returns the evictions since the last call; later changes may have made room for some of them.
  package mutating func drainEvicted(keepingWhatFits: Bool = true) -> [ContentDigest] {
    defer { evicted = [] }
    var evictions: [ContentDigest] = []
    for (digest, body) in evicted.sorted(by: {
      $0.body.rank ?? .undeclared < $1.body.rank ?? .undeclared
    }
    ) {
      if keepingWhatFits, bodies[digest] == nil, used.addingSaturated(body.size) <= limit {
        insert(digest, body)
      } else if bodies[digest] == nil {
        evictions.append(digest)
      }
    }
    return evictions
  }

  /// Chooses from the end of the order until the need is met, without choices that proved needless.
  private func chooseEvictions(
    _ need: Int64,
    after rank: ContentRank?,
    except replaced: ContentDigest? = nil,
    acceptsLess: Bool = false,
    isOfDisk: Bool = false
  ) -> [ContentDigest]? {
    guard need > 0 else { return [] }
    var freed: Int64 = 0
    var chosen: [(digest: ContentDigest, size: Int64)] = []
    for candidate in candidates.reversed() {
      guard freed < need, rank.map({ candidate.rank > $0 }) ?? true else { break }
      if candidate.digest == replaced { continue }
      if isOfDisk, bodies[candidate.digest]?.isPublished == true { continue }
      let size = bodies[candidate.digest]?.size ?? 0
      chosen.append((candidate.digest, size))
      freed += size
    }
    guard freed >= need else { return acceptsLess ? chosen.map(\.digest) : nil }
    var evictions: [ContentDigest] = []
    for (digest, size) in chosen.reversed() {
      if freed - size >= need {
        freed -= size
      } else {
        evictions.append(digest)
      }
    }
    return evictions
  }

  // MARK: Changes

  private mutating func join(_ digest: ContentDigest, _ rank: ContentRank) {
    guard var body = bodies[digest] else { return }
    body.names += 1
    if let old = body.rank, rank < old {
      removeCandidate(digest, old)
      body.rank = rank
      addCandidate(digest, rank)
    }
    bodies[digest] = body
  }

  private mutating func evict(_ digest: ContentDigest) {
    guard let body = bodies[digest] else { return }
    evicted.append((digest, body))
    remove(digest)
  }

  private mutating func removeReference(_ digest: ContentDigest) {
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
    if let rank = body.rank { addCandidate(digest, rank) }
  }

  private mutating func remove(_ digest: ContentDigest) {
    guard let body = bodies.removeValue(forKey: digest) else { return }
    used -= body.size
    if let rank = body.rank { removeCandidate(digest, rank) }
  }

  private mutating func addCandidate(_ digest: ContentDigest, _ rank: ContentRank) {
    let candidate = Candidate(rank: rank, digest: digest)
    candidates.insert(candidate, at: insertionIndex(of: candidate))
  }

  private mutating func removeCandidate(_ digest: ContentDigest, _ rank: ContentRank) {
    let index = insertionIndex(of: Candidate(rank: rank, digest: digest))
    guard index < candidates.count, candidates[index].digest == digest else { return }
    candidates.remove(at: index)
  }

  private func insertionIndex(of candidate: Candidate) -> Int {
    var (low, high) = (0, candidates.count)
    while low < high {
      let middle = (low + high) / 2
      if candidates[middle] < candidate { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

package struct Stock: Sendable {
  package var inventory: Inventory
  package var used: Int64
  /// Documents that segments need, by digest; never evicted.
  package var pinned: [ContentDigest: Document]
  package var ages: [Int: Age]

  package struct Document: Hashable, Sendable {
    package var size: Int64
    package var names: Int

    package init(size: Int64, names: Int) {
      self.size = size
      self.names = names
    }
  }

  package struct Age: Hashable, Sendable {
    package var expiresAt: Instant?
    package var consumedAt: Instant?
    /// Time of the last use; of the arrival if no use is known.
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
