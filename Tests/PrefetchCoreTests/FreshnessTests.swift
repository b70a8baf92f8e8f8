import PrefetchCore
import Testing

@Suite struct CacheControlTests {
  @Test("Directives are read in any case and spacing")
  func directives() {
    let control = CacheControl(
      "Max-Age = 60 , IMMUTABLE,no-store, must-revalidate, x=\"a, no-cache\""
    )
    #expect(control.maxAge == 60)
    #expect(control.hasNoStore)
    #expect(control.mustRevalidate)
    #expect(!control.hasNoCache)
  }

  @Test(
    "An unreadable `max-age` counts as zero, and the smaller of two counts",
    arguments: [
      ("max-age=60", 60), ("max-age=\"60\"", 60), ("max-age=x", 0), ("max-age=-1", 0),
      ("max-age", 0),
      ("max-age=1.5", 0), ("max-age=60, max-age=30", 30), ("max-age=99999999999999999999", 1 << 31),
      ("s-maxage=9", nil), ("", nil), ("max-age=3 600", 0), ("max-age=\"3 600\"", 0),
      ("x=\"a\\\", max-age=1\", max-age=100", 100), ("x=\"a\\\\\", max-age=1", 1),
      ("max-age=\"6\\0\"", 60), ("x=\"unended, max-age=9", nil), ("max-age=5;x", 0),
    ] as [(String, Int64?)]
  )
  func ages(header: String, seconds: Int64?) {
    #expect(CacheControl(header).maxAge == seconds)
  }

  @Test("A `no-cache` with field names withholds these fields only")
  func qualified() {
    #expect(CacheControl("no-cache").hasNoCache)
    let control = CacheControl("no-cache=\"Set-Cookie, X-A\"")
    #expect(!control.hasNoCache)
    #expect(control.withheldFields == ["set-cookie", "x-a"])
  }

  @Test("A cache with `must-understand` ignores `no-store`")
  func understanding() {
    #expect(!CacheControl("must-understand, no-store").hasNoStore)
    #expect(!CacheControl("no-store, must-understand").hasNoStore)
    #expect(CacheControl("no-store").hasNoStore)
  }
}

@Suite struct FreshnessTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var headers: [HeaderField]
    var limits: [Freshness.Lifetime] = []
    /// Seconds of freshness from the response; nil always revalidates, .max never.
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
      name: "immutable ends with the lifetime",
      headers: [.init("Cache-Control", "max-age=60, immutable")],
      seconds: 60
    ),
    Row(
      name: "immutable alone states no lifetime",
      headers: [.init("Cache-Control", "immutable")],
      seconds: nil
    ),
    Row(
      name: "of a list of ages the first counts",
      headers: [.init("Cache-Control", "max-age=60"), .init("Age", "20 , 50")],
      seconds: 40
    ),
    Row(
      name: "of two lines of ages the first counts",
      headers: [.init("Cache-Control", "max-age=60"), .init("Age", "20"), .init("Age", "50")],
      seconds: 40
    ),
    Row(
      name: "a ttl beats neither no-store",
      headers: [.init("Cache-Control", "no-store")],
      limits: [.atMost(.seconds(9))],
      seconds: nil
    ),
    Row(
      name: "nor no-cache",
      headers: [.init("Cache-Control", "no-cache")],
      limits: [.atMost(.seconds(9))],
      seconds: nil
    ),
    Row(
      name: "nor max-age=0",
      headers: [.init("Cache-Control", "max-age=0")],
      limits: [.atMost(.seconds(9))],
      seconds: nil
    ),
    Row(
      name: "nor an Expires that is no date",
      headers: [.init("Expires", "tomorrow")],
      limits: [.atMost(.seconds(9))],
      seconds: nil
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
      name: "a ttl is the lifetime where nothing is stated",
      headers: [],
      limits: [.atMost(.seconds(90)), .atMost(.seconds(9))],
      seconds: 9
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

  @Test("A response is fresh for as long as RFC 9111 says", arguments: rows)
  func table(row: Row) {
    let freshness = Freshness(HeaderBlock(row.headers), at: Freshness.Timing(Self.now))
    let until = freshness.end(under: row.limits, respondedAt: Self.now)
    guard let seconds = row.seconds else {
      #expect((until ?? Self.now) <= Self.now)
      return
    }
    #expect(until == (seconds == .max ? .distantFuture : Self.now + .seconds(seconds)))
    #expect(Freshness(until: freshness.columns.until, kind: freshness.columns.kind) == freshness)
  }
}

@Suite struct FreshnessDetailTests {
  @Test("The response time adds to an `Age`, and the body's time to both ages")
  func delay() {
    let control = HeaderField("Cache-Control", "max-age=60")
    // The request was sent ten seconds ago, and the head arrived five seconds ago.
    let timing = Freshness.Timing(
      FreshnessTests.now,
      elapsed: .seconds(10),
      sinceHead: .seconds(5)
    )
    for (headers, seconds) in [
      ([control, .init("Age", "20")], 30), ([control], 50),
      ([control, .init("Date", FreshnessTests.date(-30))], 30),
      ([control, .init("Date", FreshnessTests.date(30))], 50),
    ] as [([HeaderField], Int64)] {
      let freshness = Freshness(HeaderBlock(headers), at: timing)
      #expect(freshness == .declared(until: FreshnessTests.now + .seconds(seconds)))
    }
  }

  @Test("A chain is as fresh as its least fresh hop, and a silent one takes the ttl")
  func chains() {
    let now = FreshnessTests.now
    let (soon, late) = (
      Freshness.declared(until: now + .seconds(5)), Freshness.declared(until: now + .seconds(50))
    )
    let silent = Freshness.undeclared(until: .distantFuture)
    #expect(late.joined(with: soon) == soon)
    #expect(soon.joined(with: late) == soon)
    #expect(soon.joined(with: .alwaysRevalidate) == .alwaysRevalidate)
    #expect(silent.joined(with: .alwaysRevalidate) == .alwaysRevalidate)
    let mixed = late.joined(with: silent)
    #expect(mixed == .undeclared(until: now + .seconds(50)))
    #expect(mixed == silent.joined(with: late))
    #expect(mixed.end(under: [], respondedAt: now) == now)
    #expect(mixed.end(under: [.atMost(.seconds(9))], respondedAt: now) == now + .seconds(9))
    #expect(mixed.end(under: [.atMost(.seconds(90))], respondedAt: now) == now + .seconds(50))
    #expect(Freshness.alwaysRevalidate.end(under: [.atMost(.seconds(90))], respondedAt: now) == nil)
    #expect(Freshness.alwaysRevalidate.end(under: [.immutable], respondedAt: now) == .distantFuture)
  }

  @Test(
    "A `no-store` counts where the rules honor it",
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
