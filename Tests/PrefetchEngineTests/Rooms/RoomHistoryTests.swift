import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A cache that is too small")
struct RoomHistoryTests {
  @Test("A small cache holds items by rank, never exceeds its limit and reaches a stable state")
  func histories() throws {
    var sums: [(name: String, count: Int)] = []
    var objections: [String] = []
    let seeds =
      Campaign.seed.map { $0...$0 }
      ?? 1...(Campaign.isLong ? 20_000 : Campaign.seeds(usually: 100))
    var total = RoomHistory.Sums()
    var prints: [StableHash] = []
    for seed in seeds {
      let history = RoomHistory(seed: seed)
      try history.perform()
      objections += history.objections
      prints.append(history.print)
      total.add(history.sums)
    }
    sums = total.named
    print(
      "\(seeds.count) histories: " + sums.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
    )
    for objection in objections.prefix(20) { Issue.record("\(objection)") }
    #expect(objections.isEmpty, "\(objections.count) objections")
    guard Campaign.seed == nil else { return }
    #expect(Fingerprints.differences("rooms", Array(prints.prefix(60))) == [])
    // Runs check the room before a commit, so that refused commits are rare.
    for sum in sums where sum.name != "refused commits" {
      #expect(sum.count > 0, "no \(sum.name)")
    }
  }
}

extension RoomHistory.Sums {
  mutating func add(_ other: Self) {
    nights += other.nights
    fetched += other.fetched
    evictions += other.evictions
    full += other.full
    refusals += other.refusals
    wrongSizes += other.wrongSizes
    gets += other.gets
    lowered += other.lowered
    conflicts += other.conflicts
  }

  var named: [(name: String, count: Int)] {
    [
      ("nights", nights), ("fetched", fetched), ("evictions", evictions), ("cache_full", full),
      ("refusals", refusals), ("wrong sizes", wrongSizes), ("gets", gets),
      ("lowered limits", lowered), ("refused commits", conflicts),
    ]
  }
}
