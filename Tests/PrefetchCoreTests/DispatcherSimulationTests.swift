import PrefetchCore
import Testing

@Suite struct DispatcherSimulationTests {
  @Test(
    "Whatever happens in whatever order: caps hold, each item settles once, bodies are not leaked",
    arguments: 0..<8
  )
  func anyOrder(block: UInt64) {
    for seed in block * 400..<(block + 1) * 400 {
      var world = SimulatedWorld(seed: seed, pool: WorldPool())
      let report = world.run()
      #expect(world.problems == [], "seed \(seed)")
      #expect(report?.totals.items == Int64(world.settled), "seed \(seed)")
      #expect(report?.segments.allSatisfy { $0.totals.items >= 0 } == true)
      guard world.problems.isEmpty, report != nil else { return }
    }
  }

  @Test("The same seed is the same run")
  func replay() {
    var first = SimulatedWorld(seed: 42, pool: WorldPool())
    var second = SimulatedWorld(seed: 42, pool: WorldPool())
    #expect(first.run()?.items == second.run()?.items)
  }
}
