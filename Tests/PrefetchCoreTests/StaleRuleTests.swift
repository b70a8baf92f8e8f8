import PrefetchCore
import Testing

@Suite struct StaleRuleTests {
  static let now = Instant(seconds: 1_700_000_000)

  /// Seconds from now; nil where unknown.
  static let rows:
    [(fresh: Int64?, answered: Int64?, expires: Int64?, stale: Int64, must: Bool, may: Bool)] = [
      (10, -50, nil, 0, true, true), (10, -50, -1, 900, false, false),
      (10, -50, 0, 900, false, false),
      (0, -50, nil, 0, false, false), (-10, -50, nil, 0, false, false),
      (-10, -50, nil, 9, false, false),
      (-10, -50, nil, 10, false, true), (-10, -50, nil, 10, true, false),
      (-10, -50, 1, 10, false, true),
      (nil, -50, nil, 49, false, false), (nil, -50, nil, 50, false, true),
      (nil, nil, nil, 1 << 40, false, false),
    ]

  @Test(
    "A copy serves while fresh, then within its bound, never past its end",
    arguments: 0..<rows.count
  )
  func table(index: Int) {
    let row = Self.rows[index]
    let times = StaleRule.Times(
      freshUntil: row.fresh.map { Self.now + .seconds($0) },
      answeredAt: row.answered.map { Self.now + .seconds($0) },
      expiresAt: row.expires.map { Self.now + .seconds($0) }
    )
    let may = StaleRule.mayServe(
      times,
      maximumStale: .seconds(row.stale),
      mustRevalidate: row.must,
      now: Self.now
    )
    #expect(may == row.may)
  }

  @Test("A record serves by its own headers, and not without a body")
  func record() {
    var record = ContentRecord(url: "https://a.example/", id: "a")
    record.validatedAt = Self.now
    func may() -> Bool { StaleRule.mayServe(record, maximumStale: .seconds(60), now: Self.now) }
    #expect(!may())
    record.digest = ContentDigest(bytes: [UInt8](repeating: 1, count: 32))
    #expect(may())
    for control in ["must-revalidate", "no-cache"] {
      record.headers = HeaderBlock([.init("Cache-Control", control)])
      #expect(!may())
    }
  }

  @Test("Only a server that cannot be asked is stood in for")
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
