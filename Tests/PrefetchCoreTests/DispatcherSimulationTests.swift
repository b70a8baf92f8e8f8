import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite struct DispatcherSimulationTests {
  /// Blocks of hundreds of worlds; more blocks in a long campaign.
  private static let blocks: Range<UInt64> = 0..<(Campaign.isLong ? 8 : 1)

  @Test(
    "In any order of events, limits and ranks hold, each item settles once, and no body leaks",
    arguments: blocks
  )
  func anyOrder(block: UInt64) {
    var (contestedCount, heldBackCount) = (0, 0)
    for seed in block * 400..<(block + 1) * 400 {
      let pool = WorldPool(isWarm: seed.isMultiple(of: 5), losesHosts: true)
      var world = SimulatedWorld(seed: seed, pool: pool)
      let report = world.run()
      #expect(world.problems == [], "seed \(seed)")
      guard world.problems.isEmpty, report != nil else { return }
      contestedCount += world.order.contestedCount
      heldBackCount += world.order.heldBackCount
    }
    #expect(contestedCount > 100)
    #expect(heldBackCount > 50)
  }

  @Test(
    "No transfer starts while the network defers it, whatever the network does",
    arguments: blocks
  )
  func underRules(block: UInt64) {
    var deferredCount = 0
    for seed in block * 400..<(block + 1) * 400 {
      let pool = WorldPool(isWarm: seed.isMultiple(of: 5), hasNetworkRules: true)
      var world = SimulatedWorld(seed: seed, pool: pool)
      let report = world.run()
      #expect(world.problems == [], "seed \(seed)")
      guard world.problems.isEmpty, report != nil else { return }
      deferredCount += world.tally.deferredCount
    }
    #expect(deferredCount > 100)
  }

  @Test(
    "Manifests of any content settle once, leak nothing and end",
    arguments: blocks
  )
  func varied(block: UInt64) {
    var partCount = 0
    for seed in block * 400..<(block + 1) * 400 {
      let pool = WorldPool(losesHosts: true, isVaried: true)
      var world = SimulatedWorld(seed: seed, pool: pool)
      let report = world.run()
      #expect(world.problems == [], "seed \(seed)")
      guard world.problems.isEmpty, report != nil else { return }
      partCount += world.documentCommits
    }
    #expect(partCount > 20)
  }

  @Test(
    "Items of any content settle once, leak nothing and end",
    arguments: blocks
  )
  func bundles(block: UInt64) {
    var wholeCount = 0
    for seed in block * 400..<(block + 1) * 400 {
      var pool = WorldPool(hasNetworkRules: seed.isMultiple(of: 3), losesHosts: true)
      pool.hasBundles = true
      pool.isVaried = seed.isMultiple(of: 2)
      var world = SimulatedWorld(seed: seed, pool: pool)
      let report = world.run()
      #expect(world.problems == [], "seed \(seed)")
      guard world.problems.isEmpty, report != nil else { return }
      wholeCount += world.wholeCount
    }
    #expect(wholeCount > 10)
  }

  /// Runs without observers report plain items in groups.
  @Test("A run without observers does and counts the same", arguments: blocks)
  func briefly(block: UInt64) throws {
    var (confirmedCount, arrivedCount) = (0, 0)
    for seed in block * 800..<(block + 1) * 800 {
      let pool = WorldPool(
        isWarm: !seed.isMultiple(of: 3),
        hasBundles: seed.isMultiple(of: 7)
      )
      var watched = SimulatedWorld(seed: seed, pool: pool, isBrief: false)
      var brief = SimulatedWorld(seed: seed, pool: pool, isBrief: true)
      let (watchedReport, briefReport) = (watched.run(), brief.run())
      let reported = try #require(watchedReport, "seed \(seed)")
      let counted = try #require(briefReport, "seed \(seed)")
      #expect(reported.totals == counted.totals, "seed \(seed)")
      #expect(reported.segments.map(\.totals) == counted.segments.map(\.totals), "seed \(seed)")
      #expect(reported.segments.map(\.state) == counted.segments.map(\.state), "seed \(seed)")
      #expect(
        reported.items.map(\.url).sorted() == counted.items.map(\.url).sorted(),
        "seed \(seed)"
      )
      #expect(watched.confirmations == brief.confirmations, "seed \(seed)")
      #expect(watched.stored.sorted() == brief.stored.sorted(), "seed \(seed)")
      #expect(watched.problems + brief.problems == [], "seed \(seed)")
      #expect(watched.tally.confirmedCount + watched.tally.arrivedCount == 0, "seed \(seed)")
      guard reported.totals == counted.totals else { return }
      confirmedCount += brief.tally.confirmedCount
      arrivedCount += brief.tally.arrivedCount
    }
    #expect(confirmedCount > 100)
    #expect(arrivedCount > 10)
  }

  @Test("The same seed gives the same run")
  func replay() throws {
    var requestCount = 0
    for seed in 0..<200 as Range<UInt64> {
      let pool = WorldPool(
        hasNetworkRules: true,
        losesHosts: true,
        isVaried: true,
        hasBundles: seed.isMultiple(of: 2)
      )
      var first = SimulatedWorld(seed: seed, pool: pool)
      var second = SimulatedWorld(seed: seed, pool: pool)
      let reports = (first.run(), second.run())
      let reported = try #require(reports.0, "seed \(seed)")
      let again = try #require(reports.1, "seed \(seed)")
      #expect(reported.items == again.items, "seed \(seed)")
      #expect(reported.totals == again.totals, "seed \(seed)")
      #expect(reported.elapsed == again.elapsed, "seed \(seed)")
      #expect(first.requests == second.requests, "seed \(seed)")
      #expect(first.stored == second.stored, "seed \(seed)")
      requestCount += first.requests.count
    }
    #expect(requestCount > 500)
  }
}
