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

  @Test("Order, case of names, clocks and connection headers make no difference")
  func differences() {
    let a = HeaderBlock([.init("ETag", "x"), .init("Vary", "y"), .init("Date", "1")])
    let b = HeaderBlock([.init("vary", "y"), .init("etag", "x"), .init("Alt-Svc", "h3")])
    #expect(!Revalidation.isDifferent(a, b))
    #expect(Revalidation.isDifferent(a, HeaderBlock([.init("ETag", "x"), .init("Vary", "z")])))
    #expect(Revalidation.storable(b).fields.map(\.name) == ["vary", "etag"])
  }
}
