import PrefetchTestSupport
import Testing

@Suite("Ten nights against servers of every kind")
struct NightsTests {
  @Test("leave in the cache what RFC 9111 allows, and move no unchanged body twice")
  func nights() throws {
    var sums: [NightItem.Kind: NightRun.Tally] = [:]
    var failing: [NightItem.Kind: Int] = [:]
    var reasons: [String: Int] = [:]
    var failed: [Int] = []
    let seeds = Campaign.seed.map { $0...$0 } ?? 1...Campaign.seeds(usually: 100)
    for seed in seeds {
      let run = NightRun(seed: seed)
      try run.perform()
      for (kind, tally) in run.tallies { sums[kind] = sums[kind, default: .init()] + tally }
      for difference in run.differences {
        failing[difference.item.kind, default: 0] += 1
        let reason = difference.told.prefix { $0 != "`" && $0 != "\n" }.filter { !$0.isNumber }
        reasons["\(difference.item.kind.rawValue): \(reason)", default: 0] += 1
      }
      guard let first = run.differences.first else { continue }
      failed.append(seed)
      if failed.count <= 10 { Issue.record("seed \(seed), \(first)") }
    }
    for kind in NightItem.Kind.allCases {
      let tally = sums[kind, default: .init()]
      let words = NightRun.Tally.fields.map { "\(tally[keyPath: $0.path]) \($0.name)" }
      print("\(kind.rawValue): \(words.joined(separator: ", ")), \(failing[kind] ?? 0) wrong")
      guard Campaign.seed == nil else { continue }
      for field in NightRun.Tally.fields.prefix(5) {
        #expect(tally[keyPath: field.path] > 0, "\(kind.rawValue) saw no \(field.name)")
      }
    }
    for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) { print("\(count) × \(reason)") }
    let total = sums.values.reduce(NightRun.Tally(), +)
    for field in NightRun.Tally.fields {
      print("\(field.name): \(total[keyPath: field.path])")
      #expect(Campaign.seed != nil || total[keyPath: field.path] > 0, "no \(field.name)")
    }
    #expect(failed.isEmpty, "\(failed.count) of \(seeds.count) seeds: \(failed.prefix(40))")
  }
}
