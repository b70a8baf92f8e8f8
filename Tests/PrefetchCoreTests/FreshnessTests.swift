import PrefetchCore
import Testing

@Suite struct CacheControlTests {
  @Test("Directives are read whatever their case and spacing")
  func directives() {
    let control = CacheControl(
      "Max-Age = 60 , IMMUTABLE,no-store, must-revalidate, x=\"a, no-cache\""
    )
    #expect(control.maxAge == 60)
    #expect(control.isImmutable)
    #expect(control.hasNoStore)
    #expect(control.mustRevalidate)
    #expect(!control.hasNoCache)
  }

  @Test(
    "An age that cannot be read is stale, and the smaller of two counts",
    arguments: [
      ("max-age=60", 60), ("max-age=\"60\"", 60), ("max-age=x", 0), ("max-age=-1", 0),
      ("max-age", 0),
      ("max-age=1.5", 0), ("max-age=60, max-age=30", 30), ("max-age=99999999999999999999", 1 << 31),
      ("s-maxage=9", nil), ("", nil),
    ] as [(String, Int64?)]
  )
  func ages(header: String, seconds: Int64?) {
    #expect(CacheControl(header).maxAge == seconds)
  }

  @Test("no-cache for some fields only is none for a private cache")
  func qualified() {
    #expect(CacheControl("no-cache").hasNoCache)
    #expect(!CacheControl("no-cache=\"set-cookie\"").hasNoCache)
  }
}

@Suite struct FreshnessTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var headers: [HeaderField]
    var limits: [Freshness.Lifetime] = []
    /// Seconds after the answer; nil = ask every time, .max = never again.
    var seconds: Int64?

    var testDescription: String { name }
  }

  static let now = Instant(seconds: 1_700_000_000)

  static func date(_ offset: Int64) -> String {
    HTTPDate.format(now + .seconds(offset))
  }

  static let rows: [Row] = [
    Row(name: "nothing said", headers: [], seconds: nil),
    Row(name: "max-age", headers: [.init("Cache-Control", "max-age=60")], seconds: 60),
    Row(name: "max-age 0", headers: [.init("Cache-Control", "max-age=0")], seconds: nil),
    Row(
      name: "two header lines",
      headers: [.init("Cache-Control", "public"), .init("cache-control", "max-age=5")],
      seconds: 5
    ),
    Row(
      name: "Age is subtracted",
      headers: [.init("Cache-Control", "max-age=60"), .init("Age", "20")],
      seconds: 40
    ),
    Row(
      name: "older than its lifetime",
      headers: [.init("Cache-Control", "max-age=60"), .init("Age", "60")],
      seconds: nil
    ),
    Row(
      name: "an old Date is an age",
      headers: [.init("Cache-Control", "max-age=60"), .init("Date", date(-50))],
      seconds: 10
    ),
    Row(
      name: "a Date ahead of us is none",
      headers: [.init("Cache-Control", "max-age=60"), .init("Date", date(500))],
      seconds: 60
    ),
    Row(
      name: "an unreadable Age is none",
      headers: [.init("Cache-Control", "max-age=60"), .init("Age", "old")],
      seconds: 60
    ),
    Row(
      name: "a huge Age is an age",
      headers: [.init("Cache-Control", "max-age=60"), .init("Age", "99999999999999999999")],
      seconds: nil
    ),
    Row(
      name: "a negative Age is none",
      headers: [.init("Cache-Control", "max-age=60"), .init("Age", "-5")],
      seconds: 60
    ),
    Row(
      name: "the larger of Age and apparent age counts",
      headers: [
        .init("Cache-Control", "max-age=60"), .init("Age", "20"), .init("Date", date(-30)),
      ],
      seconds: 30
    ),
    Row(
      name: "a Date ten years back is an age",
      headers: [.init("Cache-Control", "max-age=60"), .init("Date", date(-315_360_000))],
      seconds: nil
    ),
    Row(
      name: "a Date ten years ahead is none",
      headers: [.init("Cache-Control", "max-age=60"), .init("Date", date(315_360_000))],
      seconds: 60
    ),
    Row(
      name: "Expires counts from a Date ten years back",
      headers: [.init("Expires", date(-315_359_900)), .init("Date", date(-315_360_000))],
      seconds: nil
    ),
    Row(
      name: "an unreadable Date is the time of receipt",
      headers: [.init("Expires", date(30)), .init("Date", "yesterday")],
      seconds: 30
    ),
    Row(
      name: "s-maxage is for others",
      headers: [.init("Cache-Control", "s-maxage=60")],
      seconds: nil
    ),
    Row(
      name: "no heuristics",
      headers: [.init("Last-Modified", date(-1_000_000)), .init("Date", date(0))],
      seconds: nil
    ),
    Row(
      name: "must-revalidate is fresh until it is not",
      headers: [.init("Cache-Control", "max-age=60, must-revalidate")],
      seconds: 60
    ),
    Row(name: "Expires", headers: [.init("Expires", date(30))], seconds: 30),
    Row(
      name: "Expires counts from Date",
      headers: [.init("Expires", date(3630)), .init("Date", date(3600))],
      seconds: 30
    ),
    Row(name: "Expires 0", headers: [.init("Expires", "0")], seconds: nil),
    Row(name: "Expires in the past", headers: [.init("Expires", date(-1))], seconds: nil),
    Row(
      name: "max-age beats Expires",
      headers: [.init("Expires", "0"), .init("Cache-Control", "max-age=7")],
      seconds: 7
    ),
    Row(name: "no-cache", headers: [.init("Cache-Control", "no-cache, max-age=60")], seconds: nil),
    Row(name: "no-store", headers: [.init("Cache-Control", "no-store, max-age=60")], seconds: nil),
    Row(
      name: "Vary *",
      headers: [.init("Cache-Control", "max-age=60"), .init("Vary", "*")],
      seconds: nil
    ),
    Row(
      name: "Vary on something",
      headers: [.init("Cache-Control", "max-age=60"), .init("Vary", "Accept-Encoding")],
      seconds: 60
    ),
    Row(
      name: "immutable outlives its age",
      headers: [.init("Cache-Control", "max-age=60, immutable")],
      seconds: .max
    ),
    Row(
      name: "immutable under a bound",
      headers: [.init("Cache-Control", "max-age=60, immutable")],
      limits: [.atMost(.seconds(90))],
      seconds: 90
    ),
    Row(
      name: "a bound shortens",
      headers: [.init("Cache-Control", "max-age=60")],
      limits: [.atMost(.seconds(15)), .atMost(.seconds(40))],
      seconds: 15
    ),
    Row(
      name: "a bound never lengthens",
      headers: [.init("Cache-Control", "max-age=60")],
      limits: [.atMost(.seconds(600))],
      seconds: 60
    ),
    Row(
      name: "a bound alone is no promise",
      headers: [],
      limits: [.atMost(.seconds(9))],
      seconds: nil
    ),
    Row(
      name: "a bound of nothing",
      headers: [.init("Cache-Control", "max-age=60")],
      limits: [.atMost(.zero)],
      seconds: nil
    ),
    Row(
      name: "declared immutable",
      headers: [.init("Cache-Control", "no-cache")],
      limits: [.immutable],
      seconds: .max
    ),
  ]

  @Test("An answer is fresh for as long as RFC 9111 says", arguments: rows)
  func table(row: Row) {
    let until = Freshness.freshUntil(
      headers: HeaderBlock(row.headers),
      receivedAt: Self.now,
      limits: row.limits
    )
    let expected = row.seconds.map { $0 == .max ? .distantFuture : Self.now + .seconds($0) }
    #expect(until == expected)
  }
}

@Suite struct FreshnessDetailTests {
  @Test("What the answer took to come adds to an Age, and to nothing that the clocks show already")
  func delay() {
    let control = HeaderField("Cache-Control", "max-age=60")
    for (headers, seconds) in [
      ([control, .init("Age", "20")], 35), ([control], 55),
      ([control, .init("Date", FreshnessTests.date(-30))], 30),
    ] as [([HeaderField], Int64)] {
      let until = Freshness.freshUntil(
        headers: HeaderBlock(headers),
        receivedAt: FreshnessTests.now,
        delay: .seconds(5),
        limits: []
      )
      #expect(until == FreshnessTests.now + .seconds(seconds))
    }
  }

  @Test(
    "Clocks a day apart are worth a word",
    arguments: [
      (0, nil), (86_400, nil), (86_401, 86_401), (-86_400, nil), (-90_000, -90_000),
    ] as [(Int64, Int64?)]
  )
  func skew(seconds: Int64, expected: Int64?) {
    let date = HeaderField("Date", FreshnessTests.date(seconds))
    let now = FreshnessTests.now
    let skew = Freshness.clockSkew(headers: HeaderBlock([date]), receivedAt: now)
    #expect(skew == expected.map { .seconds($0) })
    let relayed = HeaderBlock([date, .init("Age", "1")])
    #expect(Freshness.clockSkew(headers: relayed, receivedAt: now) == nil)
  }

  @Test(
    "no-store counts where it is to be honoured",
    arguments: [
      ("no-store", true, false), ("no-store", false, true), ("no-cache", true, true),
      ("max-age=1, No-Store", true, false),
    ]
  )
  func storing(control: String, honours: Bool, may: Bool) {
    let headers = HeaderBlock([.init("Cache-Control", control)])
    #expect(Freshness.mayStore(headers, honorsNoStore: honours) == may)
  }
}
