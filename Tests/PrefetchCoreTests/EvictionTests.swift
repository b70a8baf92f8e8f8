import PrefetchCore
import Testing

@Suite("Eviction")
struct EvictionTests {
  private static let now = Instant(seconds: 1000)

  private func candidate(
    _ item: Int64,
    size: Int64 = 10,
    used: Int64 = 0,
    digest: UInt64? = nil,
    _ change: (inout Eviction.Candidate) -> Void = { _ in }
  ) -> Eviction.Candidate {
    var candidate = Eviction.Candidate(
      item: item,
      digest: ContentDigest(first: digest ?? UInt64(item), second: 1, third: 1, fourth: 1),
      size: size,
      lastUse: Instant(seconds: used)
    )
    change(&candidate)
    return candidate
  }

  private func choose(
    _ candidates: [Eviction.Candidate],
    need: Int64,
    for beneficiary: Eviction.Beneficiary = .limits,
    order: [Eviction.Kind] = Eviction.Kind.allCases
  ) -> Eviction.Choice {
    Eviction.choose(candidates, need: need, for: beneficiary, order: order, now: Self.now)
  }

  @Test("takes what was used longest ago, and no more than is needed")
  func leastRecentlyUsed() {
    let candidates = [candidate(1, used: 3), candidate(2, used: 1), candidate(3, used: 2)]
    #expect(choose(candidates, need: 0).items == [])
    #expect(choose(candidates, need: 10).items == [2])
    #expect(choose(candidates, need: 11).items == [2, 3])
    #expect(choose(candidates, need: 11).freed == 20)
    #expect(choose(candidates, need: 99).items == [2, 3, 1])
  }

  @Test("takes the expired and the consumed first, in the order that the rules say")
  func kinds() {
    let candidates = [
      candidate(1, used: 1),
      candidate(2, used: 9) { $0.consumedAt = Instant(seconds: 5) },
      candidate(3, used: 8) { $0.expiresAt = Self.now },
      candidate(4, used: 7) { $0.expiresAt = Instant(seconds: 1001) },
    ]
    #expect(choose(candidates, need: 99).items == [3, 2, 1, 4])
    #expect(choose(candidates, need: 99, order: [.consumed, .expired]).items == [2, 3])
    #expect(choose(candidates, need: 99, order: [.leastRecentlyUsed]).items == [1, 4, 3, 2])
  }

  @Test(
    "leaves a segment what less important ones want to replace",
    arguments: [
      (nil, [1]), (3, [1, 4]), (2, [1, 4, 3]), (1, [1, 4, 3, 2]),
    ] as [(Int?, [Int64])]
  )
  func priorities(_ priority: Int?, _ expected: [Int64]) {
    let candidates = [
      candidate(1, used: 9),
      candidate(2) { $0.holder = Eviction.Rank(priority: 2) },
      candidate(3) { $0.holder = Eviction.Rank(priority: 3) },
      candidate(4) { $0.holder = Eviction.Rank(priority: nil) },
    ]
    #expect(choose(candidates, need: 99, for: .segment(priority: priority)).items == expected)
    #expect(choose(candidates, need: 99).items == [1, 4, 3, 2])
  }

  @Test("takes what has expired whoever holds it")
  func expiredOfOthers() {
    let candidates = [
      candidate(1) {
        $0.holder = Eviction.Rank(priority: 1)
        $0.expiresAt = Instant(seconds: 1)
      }
    ]
    #expect(choose(candidates, need: 1, for: .segment(priority: nil)).items == [1])
  }

  @Test("takes a shared body with all its items, counted once, or leaves it")
  func shared() {
    var candidates = [candidate(1, used: 1, digest: 7), candidate(2, used: 5, digest: 7)]
    candidates.append(candidate(3, used: 3))
    #expect(choose(candidates, need: 99).items == [3, 1, 2])
    #expect(choose(candidates, need: 99).freed == 20)
    candidates[1].isLocked = true
    #expect(choose(candidates, need: 99).items == [3])
    candidates[1].isLocked = false
    candidates[1].holder = Eviction.Rank(priority: 1)
    #expect(choose(candidates, need: 99, for: .segment(priority: 1)).items == [3])
  }
}
