import PrefetchCore
import Testing

@Suite struct StaleRuleTests {
  static let now = Instant(seconds: 1_700_000_000)

  struct Row: Sendable {
    /// Seconds from now; nil where nothing is stated.
    var until: Int64?
    var expires: Int64?
    var ttl: Int64?
    var stale: Int64
    var control = ""
    var may: Bool
  }

  static let rows: [Row] = [
    Row(until: 10, stale: 0, control: "must-revalidate", may: true),
    Row(until: 10, expires: -1, stale: 900, may: false),
    Row(until: 10, expires: 0, stale: 900, may: false),
    Row(until: 0, stale: 0, may: false), Row(until: -10, stale: 0, may: false),
    Row(until: -10, stale: 9, may: false), Row(until: -10, stale: 10, may: true),
    Row(until: -10, stale: 10, control: "must-revalidate", may: false),
    Row(until: -10, expires: 1, stale: 10, may: true),
    // The response was stale on arrival: its expiry counts, not its arrival.
    Row(until: -90, stale: 89, may: false), Row(until: -90, stale: 90, may: true),
    // Without stated freshness, staleness begins at the response or at the end of the `ttl`.
    Row(until: nil, stale: 49, may: false), Row(until: nil, stale: 50, may: true),
    Row(until: nil, ttl: 30, stale: 19, may: false), Row(until: nil, ttl: 30, stale: 20, may: true),
    Row(until: nil, ttl: 60, stale: 0, may: true),
    Row(until: nil, stale: 1 << 40, control: "no-cache", may: false),
    Row(until: nil, stale: 1 << 40, control: "must-revalidate", may: false),
  ]

  @Test(
    "A stored copy serves while fresh, then within its bound, and never after its end",
    arguments: rows.indices
  )
  func table(index: Int) {
    let row = Self.rows[index]
    var record = ContentRecord(url: "https://a.example/", id: "a")
    record.validatedAt = Self.now + .seconds(-50)
    record.expiresAt = row.expires.map { Self.now + .seconds($0) }
    record.headers = HeaderBlock([.init("Cache-Control", row.control)])
    record.freshness =
      row.until.map { .declared(until: Self.now + .seconds($0)) }
      ?? Freshness(record.headers, at: Freshness.Timing(Self.now))
    func may() -> Bool {
      StaleRule.mayServe(
        record,
        granted: row.ttl.map { [.atMost(.seconds($0))] } ?? [],
        maximumStale: .seconds(row.stale),
        now: Self.now
      )
    }
    #expect(!may())
    record.digest = ContentDigest(bytes: [UInt8](repeating: 1, count: 32))
    #expect(may() == row.may)
    record.hops = [
      HopTerms(url: "https://a.example/", freshness: .alwaysRevalidate, mustRevalidate: true)
    ]
    if row.until ?? 0 <= 0, row.ttl ?? 0 < 50 { #expect(!may()) }
  }

  @Test("A stale copy replaces only the response of an unavailable server")
  func covers() {
    for code in ErrorCode.allCases where code != .http {
      #expect(
        StaleRule.covers(Failure(code, "x"), status: nil) == (code.category == .connectivity)
      )
    }
    for (status, covered) in [(nil, false), (403, false), (500, true), (505, true)]
      as [(Int?, Bool)]
    {
      #expect(StaleRule.covers(Failure(.http, "x"), status: status) == covered)
    }
  }
}
