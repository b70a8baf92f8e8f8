/// Chooses which bodies leave the cache when room is needed.
package enum Eviction {
  /// What goes first.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Past the expiry that its manifest names.
    case expired
    /// Marked as done with.
    case consumed
    case leastRecentlyUsed = "lru"
  }

  /// How much the cache may take, and how room is made.
  package struct Rules: Hashable, Sendable {
    /// Of all bodies together; nil = any size.
    package var limit: Int64?
    /// What must stay free on the disk; nil = a share of the file system, by its size.
    package var minimumFree: Int64? = 0
    package var order = Kind.allCases
    /// Whether anything may go without being asked.
    package var isAutomatic = true

    package init() {}

    /// What must stay free of a file system of so many bytes.
    package func minimumFree(of fileSystem: Int64) -> Int64 {
      minimumFree ?? min(1 << 30, fileSystem / 10)
    }
  }

  /// For whom room is made.
  package enum Beneficiary: Hashable, Sendable {
    /// For a segment of this priority: only what less important ones hold may go for it.
    case segment(priority: Int?)
    /// For the limits themselves: the least important goes first, whatever it is.
    case limits
  }

  /// A stored body as one item names it.
  package struct Candidate: Hashable, Sendable {
    package var item: Int64
    package var digest: ContentDigest
    package var size: Int64
    /// Of the most important subscribed segment that holds it; nil where none does.
    package var holder: Rank?
    package var expiresAt: Instant?
    package var consumedAt: Instant?
    /// Or when it came, where no use is known.
    package var lastUse: Instant
    package var isLocked = false

    package init(item: Int64, digest: ContentDigest, size: Int64, lastUse: Instant) {
      self.item = item
      self.digest = digest
      self.size = size
      self.lastUse = lastUse
    }
  }

  /// A segment's priority as an order: 1 is the first, none the last.
  package struct Rank: Hashable, Comparable, Sendable {
    private let place: Int

    package init(priority: Int?) {
      place = priority ?? .max
    }

    /// Whether it matters less.
    package static func < (a: Self, b: Self) -> Bool {
      a.place > b.place
    }
  }

  /// What has to go.
  package struct Choice: Hashable, Sendable {
    package var items: [Int64] = []
    package var freed: Int64 = 0

    package init() {}
  }

  /// The items whose bodies go so that at least `need` bytes become free, or as many as may go.
  ///
  /// A body that several items share goes with all of them or not at all.
  package static func choose(
    _ candidates: [Candidate],
    need: Int64,
    for beneficiary: Beneficiary,
    order: [Kind],
    now: Instant
  ) -> Choice {
    var choice = Choice()
    guard need > 0 else { return choice }
    var bodies = bodies(candidates).filter { mayGo($0, for: beneficiary, now: now) }
    for kind in order {
      let splitting = bodies.partition { $0.all { $0.isOf(kind, now: now) } }
      for body in bodies[splitting...].sorted(by: Body.goesBefore) {
        guard choice.freed < need else { return choice }
        choice.items += body.candidates.map(\.item)
        choice.freed += body.size
      }
      bodies.removeSubrange(splitting...)
    }
    return choice
  }

  private struct Body {
    var candidates: [Candidate]

    var size: Int64 { candidates[0].size }
    /// The most important one.
    var holder: Rank? { candidates.compactMap(\.holder).max() }
    var lastUse: Instant { candidates.map(\.lastUse).max() ?? candidates[0].lastUse }

    func all(_ condition: (Candidate) -> Bool) -> Bool {
      candidates.allSatisfy(condition)
    }

    /// What nobody holds first, then what matters less, then what was used longer ago.
    static func goesBefore(_ a: Body, _ b: Body) -> Bool {
      switch (a.holder, b.holder) {
      case (nil, _?): return true
      case (_?, nil): return false
      case (let first?, let second?) where first != second: return first < second
      default: break
      }
      if a.lastUse != b.lastUse { return a.lastUse < b.lastUse }
      if a.size != b.size { return a.size > b.size }
      return a.candidates[0].item < b.candidates[0].item
    }
  }

  private static func bodies(_ candidates: [Candidate]) -> [Body] {
    var places: [ContentDigest: Int] = [:]
    var bodies: [Body] = []
    for candidate in candidates {
      if let place = places[candidate.digest] {
        bodies[place].candidates.append(candidate)
      } else {
        places[candidate.digest] = bodies.count
        bodies.append(Body(candidates: [candidate]))
      }
    }
    return bodies
  }

  private static func mayGo(_ body: Body, for beneficiary: Beneficiary, now: Instant) -> Bool {
    guard body.all({ !$0.isLocked }) else { return false }
    // What has expired is of use to nobody.
    if body.all({ $0.isOf(.expired, now: now) }) { return true }
    guard let holder = body.holder else { return true }
    switch beneficiary {
    case .limits: return true
    case .segment(let priority): return holder < Rank(priority: priority)
    }
  }
}

extension Eviction.Candidate {
  fileprivate func isOf(_ kind: Eviction.Kind, now: Instant) -> Bool {
    switch kind {
    case .expired: expiresAt.map { $0 <= now } ?? false
    case .consumed: consumedAt != nil
    case .leastRecentlyUsed: true
    }
  }
}
