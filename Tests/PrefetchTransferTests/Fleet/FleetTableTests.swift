internal import Glibc
import PrefetchTestSupport
import Testing

/// The table that `Tests/Benchmarks/fleet` prints: a thousand machines and ten thousand items.
@Suite(
  "The table of a fleet",
  .enabled(if: FleetTable.isEnabled, "Tests/Benchmarks/fleet makes it")
)
struct FleetTableTests {
  @Test("Every night of the fleet table ends without problems")
  func table() {
    print(FleetTable.head)
    for (items, tier) in FleetTable.rows {
      for splay in [1, 1_200, 7_200] as [Int64] {
        var plan = FleetPlan()
        (plan.items, plan.tier, plan.splay) = (items, tier, .seconds(splay))
        let night = FleetNight(plan)
        night.play()
        #expect(night.problems == [])
        print(FleetTable.line(night))
      }
    }
  }
}

enum FleetTable {
  static var isEnabled: Bool { unsafe getenv("PREFETCH_FLEET") != nil }

  /// Freshness only matters for a trusted tier, since all stored responses are a day old.
  static let rows: [(FleetPlan.Items, FleetPlan.Tier)] = [
    (.silent, .none), (.silent, .untrusted), (.silent, .trusted), (.lasting, .trusted),
    (.pinned, .none), (.pinned, .untrusted), (.pinned, .trusted),
  ]

  static let head = """
    | known of bodies | tier | begun within | origin: asked | 304 | bodies | GB | peak/s | \
    tier: asked | given | taken | GB out | GB in | peak/s | played |
    | --- | --- | ---: \(String(repeating: "| ---: ", count: 12))|
    """

  static func line(_ night: FleetNight) -> String {
    let plan = night.servers.plan
    let (origin, tier) = (night.servers.origin, night.servers.tier)
    let minutes = plan.splay.components.seconds / 60
    let cells = [
      plan.items.rawValue, plan.tier.rawValue, minutes == 0 ? "1 s" : "\(minutes) min",
      grouped(origin.requests), grouped(origin.confirmed), grouped(origin.whole),
      gigabytes(origin.sentBytes), grouped(origin.peak),
      grouped(tier.requests), grouped(tier.whole), grouped(tier.written),
      gigabytes(tier.sentBytes), gigabytes(tier.receivedBytes), grouped(tier.peak),
      grouped(night.playedCount),
    ]
    return "| \(cells.joined(separator: " | ")) |"
  }

  private static func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.indices.map { index in
      let isGroup = index > 0 && (digits.count - index).isMultiple(of: 3)
      return "\(isGroup ? "," : "")\(digits[index])"
    }.joined()
  }

  private static func gigabytes(_ bytes: Int64) -> String {
    let hundredths = (bytes + 5_000_000) / 10_000_000
    let rest = String(hundredths % 100)
    return "\(hundredths / 100).\(rest.count < 2 ? "0" : "")\(rest)"
  }
}
