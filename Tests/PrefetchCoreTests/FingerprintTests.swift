import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Simulated runs match their recorded fingerprints") struct FingerprintTests {
  static let pools: [(name: String, seeds: Int, pool: @Sendable (UInt64) -> WorldPool)] = [
    ("any", 400, { WorldPool(isWarm: $0.isMultiple(of: 5), losesHosts: true) }),
    ("rules", 400, { WorldPool(isWarm: $0.isMultiple(of: 5), hasNetworkRules: true) }),
    ("varied", 400, { _ in WorldPool(losesHosts: true, isVaried: true) }),
    (
      "bundles", 400,
      { seed in
        var pool = WorldPool(hasNetworkRules: seed.isMultiple(of: 3), losesHosts: true)
        pool.hasBundles = true
        pool.isVaried = seed.isMultiple(of: 2)
        return pool
      }
    ),
    (
      "brief", 200,
      { WorldPool(isWarm: !$0.isMultiple(of: 3), hasBundles: $0.isMultiple(of: 7)) }
    ),
  ]

  @Test(
    "Simulated runs in worlds of any order match their recorded fingerprints",
    arguments: pools.map(\.name)
  )
  func worlds(_ name: String) throws {
    let (_, seeds, pool) = try #require(Self.pools.first { $0.name == name })
    let prints = (0..<UInt64(seeds)).map { seed in
      let isBrief: Bool? = name == "brief" ? true : nil
      var world = SimulatedWorld(seed: seed, pool: pool(seed), isBrief: isBrief)
      var print = StableHash()
      print.combine(world.run())
      print.combine(world.requests.joined(separator: " "))
      print.combine(world.stored.joined(separator: " "))
      print.combine("\(world.confirmations)")
      return print
    }
    #expect(Fingerprints.differences(name, prints) == [])
  }

  @Test("Simulated runs with slow servers match their recorded fingerprints")
  func times() throws {
    let prints = try (0..<100).map { seed in
      var random = SeededRandom(mixing: [seed, 40])
      var world = try PriorityTests.world(
        jobs: Int.random(in: 1...6, using: &random),
        items: Int.random(in: 0...5, using: &random),
        of: random.happens(50) ? ["none": "b"] : [:],
        manifestsOn: random.happens(30) ? ["fifty": "b"] : [:]
      )
      world.policy.deadline = random.happens(30) ? .seconds(20) : nil
      world.mode = random.happens(20) ? .plan : .run
      let urls = Array(world.manifests.keys).sorted()
      for url in urls + (0..<6).map({ "https://a/one/\($0)" }) where random.happens(40) {
        world.replies[url] = (0..<Int.random(in: 1...3, using: &random)).map { _ in
          switch Int.random(in: 0..<4, using: &random) {
          case 0: .slow(Int.random(in: 1...90, using: &random))
          case 1: .refusal([404, 500, 503].randomElement(using: &random) ?? 404)
          case 2: .gate(Int.random(in: 1...400, using: &random))
          default: .success
          }
        }
      }
      var print = StableHash()
      print.combine(world.run())
      print.combine("\(world.log)")
      return print
    }
    #expect(Fingerprints.differences("times", prints) == [])
  }
}
