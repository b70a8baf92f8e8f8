import PrefetchCore
import PrefetchTestSupport
import Testing

/// Sums over the seeds of a session.
private struct NightSums {
  var tallies: [NightItem.Kind: NightTally] = [:]
  /// Number of differences per kind and reason.
  var reasons: [NightItem.Kind: [String: Int]] = [:]
  var failed: [Int] = []
  var prints: [StableHash] = []
  /// First difference of every reason, with its details.
  var examples: [String: String] = [:]

  mutating func add(_ run: NightRun, seed: Int) {
    for (kind, tally) in run.tallies { tallies[kind] = tallies[kind, default: .init()] + tally }
    for difference in run.differences {
      let reason = difference.reason
      reasons[difference.item.kind, default: [:]][reason, default: 0] += 1
      if examples[reason] == nil { examples[reason] = "seed \(seed), \(difference)" }
    }
    prints.append(run.print)
    if !run.differences.isEmpty { failed.append(seed) }
  }

  func describe(_ kind: NightItem.Kind) -> String {
    let reported = (reasons[kind] ?? [:]).sorted { $0.key < $1.key }
    let lines = reported.map { "\n    \($0.value) × \($0.key)" }
    return "\(kind.rawValue): \(tallies[kind, default: .init()])\(lines.joined())"
  }
}

@Suite("Ten nights against servers of every kind")
struct NightsTests {
  @Test("Ten nights leave in the cache what RFC 9111 allows and fetch no unchanged body twice")
  func nights() throws {
    let sums = try live(Campaign.seeds(usually: 40)) { .memory(MemoryStore()) }
    for kind in NightItem.Kind.allCases { print(sums.describe(kind)) }
    let total = sums.tallies.values.reduce(NightTally(), +)
    print("all: \(total)")
    guard Campaign.seed == nil else { return }
    #expect(Fingerprints.differences("nights", Array(sums.prints.prefix(40))) == [])
    for (name, path) in NightTally.fields { #expect(total[keyPath: path] > 0, "no \(name)") }
    for kind in NightItem.Kind.allCases {
      let tally = sums.tallies[kind, default: .init()]
      for (name, path) in NightTally.fields.prefix(4) {
        #expect(tally[keyPath: path] > 0, "\(kind.rawValue) saw no \(name)")
      }
      // `Vary: *` makes a response unusable for every later request.
      #expect((tally.keeps > 0) == (kind != .wildcard), "\(kind.rawValue): \(tally.keeps) keeps")
    }
  }

  @Test("Ten nights have the same result in a folder that is opened again each night")
  func disk() throws {
    _ = try live(Campaign.seeds(usually: 40) / 4) { .disk(try TemporaryDirectory()) }
  }

  private func live(_ count: Int, in medium: () throws -> NightCache.Medium) throws -> NightSums {
    var sums = NightSums()
    let seeds = Campaign.seed.map { $0...$0 } ?? 1...count
    for seed in seeds {
      let run = NightRun(seed: seed, in: try medium())
      try run.perform()
      sums.add(run, seed: seed)
    }
    for example in sums.examples.values.sorted().prefix(20) { Issue.record("\(example)") }
    let reported = sums.failed.prefix(40)
    #expect(sums.failed.isEmpty, "\(sums.failed.count) of \(seeds.count): \(reported)")
    return sums
  }
}
