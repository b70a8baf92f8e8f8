import PrefetchTestSupport
import Testing

@Suite("A simulated fleet")
struct FleetTests {
  static func small(
    _ items: FleetPlan.Items,
    _ tier: FleetPlan.Tier,
    seed: Int = 1,
    splay: Duration = .seconds(1)
  ) -> FleetPlan {
    var plan = FleetPlan()
    (plan.items, plan.tier, plan.seed, plan.splay) = (items, tier, seed, splay)
    (plan.machineCount, plan.itemCount, plan.changedCount) = (6, 20, 2)
    return plan
  }

  private func played(_ plan: FleetPlan, inFull: Bool) -> FleetNight {
    let night = FleetNight(plan, isPlayedInFull: inFull)
    night.play()
    #expect(night.problems == [])
    return night
  }

  @Test(
    "A fleet sends the same requests when each machine or each distinct one is simulated",
    arguments: FleetPlan.Items.allCases,
    FleetPlan.Tier.allCases
  )
  func scaled(items: FleetPlan.Items, tier: FleetPlan.Tier) {
    var playedCount = 0
    for seed in 1...Campaign.seeds(usually: 1) / 40 + 1 {
      for splay in [1, 20] as [Int64] {
        let plan = Self.small(items, tier, seed: seed, splay: .seconds(splay))
        let (whole, scaled) = (played(plan, inFull: true), played(plan, inFull: false))
        #expect(whole.servers.origin == scaled.servers.origin, "\(plan)")
        #expect(whole.servers.tier == scaled.servers.tier, "\(plan)")
        #expect(whole.playedCount == plan.machineCount)
        playedCount += scaled.playedCount
      }
    }
    #expect(playedCount < 2 * 6)
  }

  @Test("A fleet sends the number of requests that can be computed by hand")
  func counted() {
    // The list and twenty items, of which two have changed; of a list with digests that has, too.
    let alone = played(Self.small(.silent, .none), inFull: false)
    let counts = alone.servers.origin
    #expect((counts.requests, counts.confirmed, counts.whole) == (6 * 21, 6 * 19, 6 * 2))
    #expect(counts.sentBytes == 6 * 2 * alone.servers.plan.bodySize)
    #expect(alone.playedCount == 1 && alone.servers.tier == FleetFigures())
    let pinned = played(Self.small(.pinned, .none), inFull: false).servers
    #expect((pinned.origin.requests, pinned.origin.whole) == (6 * 3, 6 * 3))
    // Machines that act at the same moment cannot use each other's uploads.
    let together = Self.small(.lasting, .trusted, splay: .zero)
    let race = played(together, inFull: false).servers
    #expect((race.origin.requests, race.origin.whole) == (6 * 21, 6 * 2))
    // Machines that start one after another need a single request for all of them.
    var apart = together
    apart.splay = .seconds(1_200)
    let calm = played(apart, inFull: false).servers
    #expect((calm.origin.requests, calm.origin.confirmed, calm.origin.whole) == (21, 19, 2))
    #expect(calm.tier.peak < race.tier.peak && calm.origin.peak < race.origin.peak)
  }
}
