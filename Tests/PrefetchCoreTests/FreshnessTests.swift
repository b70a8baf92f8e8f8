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

@Suite struct VarianceTests {
  static let request: [HeaderField] = [
    .init("Accept-Language", "de,  en"), .init("Authorization", "Bearer one"), .init("X-Key", "k"),
  ]

  @Test(
    "An answer is kept apart by what it depends on, secrets by their presence",
    arguments: [
      (nil, nil), ("", nil), ("Accept-Encoding", nil), ("accept-encoding , ACCEPT-ENCODING", nil),
      ("Accept-Language", "accept-language:de, en"), ("Accept", "accept:"),
      ("Authorization", "authorization:set"), ("Cookie", "cookie:"), ("X-Key", "x-key:set"),
      ("Accept-Language, Accept-Encoding,Accept", "accept:\naccept-language:de, en"),
      ("*", "*:\naccept-language:de, en\nauthorization:set\nx-key:set"),
    ] as [(String?, String?)]
  )
  func keys(vary: String?, key: String?) {
    let response = HeaderBlock(vary.map { [HeaderField("vary", $0)] } ?? [])
    #expect(Variance.key(response, request: Self.request) == key)
    #expect(Variance.selects(response, key: key, request: Self.request))
    #expect(!Variance.selects(response, key: "other", request: Self.request))
  }

  @Test("A request that differs in what counts is another question; a new token is not")
  func differences() {
    let response = HeaderBlock([.init("Vary", "Accept-Language"), .init("Vary", "Authorization")])
    let key = Variance.key(response, request: Self.request)
    var other = Self.request
    other[1].value = "Bearer two"
    #expect(Variance.selects(response, key: key, request: other))
    other[0].value = "fr"
    #expect(!Variance.selects(response, key: key, request: other))
    #expect(!Variance.selects(response, key: key, request: [Self.request[0]]))
  }
}

@Suite struct RevalidationTests {
  let stored = HeaderBlock([
    .init("Content-Type", "text/plain"), .init("ETag", "\"1\""), .init("Age", "500"),
    .init("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), .init("Cache-Control", "max-age=60"),
    .init("Content-Length", "5"),
  ])

  @Test("A 304 that only tells the time changes nothing")
  func clocks() {
    let told = HeaderBlock([
      .init("Date", "Mon, 07 Nov 1994 08:49:37 GMT"), .init("Expires", "0"), .init("etag", "\"1\""),
    ])
    let (headers, isChanged) = Revalidation.merge(stored: stored, confirmed: told)
    #expect(!isChanged)
    #expect(headers["Date"] == "Mon, 07 Nov 1994 08:49:37 GMT")
    #expect(headers["Expires"] == "0")
  }

  @Test("The age of the first answer is not the age of its confirmation")
  func age() {
    let merged = Revalidation.merge(stored: stored, confirmed: HeaderBlock()).headers
    let now = Instant(seconds: 1_700_000_000)
    #expect(
      Freshness.freshUntil(headers: merged, receivedAt: now, limits: []) == now + .seconds(60)
    )
  }

  @Test("A 304 renews headers, several lines of one name together, but never those of the body")
  func renews() {
    let told = HeaderBlock([
      .init("cache-control", "max-age=9"), .init("X-New", "a"), .init("X-New", "b"),
      .init("Content-Length", "0"), .init("Content-Type", "text/html"),
      .init("Connection", "close"),
      .init("Set-Cookie", "a=b"),
    ])
    let (headers, isChanged) = Revalidation.merge(stored: stored, confirmed: told)
    #expect(isChanged)
    #expect(headers.all("Cache-Control") == ["max-age=9"])
    #expect(headers.all("X-New") == ["a", "b"])
    #expect(headers["Content-Length"] == "5")
    #expect(headers["Content-Type"] == "text/plain")
    #expect(headers["Connection"] == nil)
    #expect(headers["Set-Cookie"] == nil)
  }

  @Test(
    "A 304 is believed when its entity tag is ours, weakly compared, or when it names none",
    arguments: [
      ("\"1\"", "\"1\"", true), ("W/\"1\"", "\"1\"", true), ("\"1\"", "W/\"1\"", true),
      ("\"2\"", "\"1\"", false), (nil, "\"1\"", true), ("\"2\"", nil, true),
    ] as [(String?, String?, Bool)]
  )
  func confirms(told: String?, held: String?, isConfirmed: Bool) {
    let response = HeaderBlock(told.map { [HeaderField("ETag", $0)] } ?? [])
    #expect(
      Revalidation.confirms(response, stored: Validators(entityTag: held)) == isConfirmed
    )
  }

  @Test(
    "Without tags to compare, a 304 must not name a later date than ours",
    arguments: [(0, true), (-1, true), (1, false)] as [(Int64, Bool)]
  )
  func confirmsDates(offset: Int64, isConfirmed: Bool) {
    let stored = Validators(lastModified: FreshnessTests.date(0))
    let told = HeaderField("Last-Modified", FreshnessTests.date(offset))
    #expect(Revalidation.confirms(HeaderBlock([told]), stored: stored) == isConfirmed)
    #expect(Revalidation.confirms(HeaderBlock([.init("Last-Modified", "x")]), stored: stored))
    let tagged = Validators(entityTag: "\"1\"", lastModified: FreshnessTests.date(0))
    let both = HeaderBlock([told, .init("ETag", "W/\"1\"")])
    #expect(Revalidation.confirms(both, stored: tagged))
  }

  @Test("A tag that only became strong or weak stays as it was, and is no change")
  func renewedTags() {
    let held = Validators(entityTag: "W/\"1\"", lastModified: "then")
    let told = HeaderBlock([.init("ETag", "\"1\"")])
    #expect(Revalidation.renewed(held, by: told) == held)
    let other = HeaderBlock([.init("ETag", "\"2\""), .init("Last-Modified", "now")])
    #expect(
      Revalidation.renewed(held, by: other) == Validators(entityTag: "\"2\"", lastModified: "now")
    )
    #expect(Revalidation.renewed(Validators(), by: told).entityTag == "\"1\"")
    #expect(Revalidation.renewed(held, by: HeaderBlock()) == held)
    let weak = HeaderBlock([.init("ETag", "W/\"1\"")])
    let merged = Revalidation.merge(stored: weak, confirmed: told)
    #expect(merged.headers == weak)
    #expect(!merged.isChanged)
  }

  @Test(
    "A date from the second in which the body was sent is not asked with",
    arguments: [
      ("\"1\"", -1, "\"1\" date"), ("\"1\"", 0, "\"1\""), (nil, 0, ""), (nil, -1, "date"),
      (nil, 5, ""), (nil, 59, ""), (nil, 60, "date"),
    ] as [(String?, Int64, String)]
  )
  func racyDates(tag: String?, offset: Int64, expected: String) {
    let validators = Validators(entityTag: tag, lastModified: FreshnessTests.date(offset))
    func words(_ stored: [HeaderField], receivedAt: Instant?) -> String {
      let sent = Revalidation.conditions(
        validators,
        stored: HeaderBlock(stored),
        receivedAt: receivedAt
      )
      return [sent.entityTag, sent.lastModified.map { _ in "date" }]
        .compactMap(\.self).joined(separator: " ")
    }
    let date = HeaderField("Date", FreshnessTests.date(0))
    #expect(words([date], receivedAt: nil) == expected)
    #expect(words([], receivedAt: FreshnessTests.now) == expected)
    #expect(words([date], receivedAt: FreshnessTests.now + .seconds(999)) == expected)
    #expect(
      words([], receivedAt: nil) == [tag, "date"].compactMap(\.self).joined(separator: " ")
    )
  }

  @Test("Order, case of names, clocks and connection headers make no difference")
  func differences() {
    let a = HeaderBlock([.init("ETag", "x"), .init("Vary", "y"), .init("Date", "1")])
    let b = HeaderBlock([.init("vary", "y"), .init("etag", "x"), .init("Alt-Svc", "h3")])
    #expect(!Revalidation.isDifferent(a, b))
    #expect(Revalidation.isDifferent(a, HeaderBlock([.init("ETag", "x"), .init("Vary", "z")])))
    #expect(Revalidation.storable(b).fields.map(\.name) == ["vary", "etag"])
  }
}
