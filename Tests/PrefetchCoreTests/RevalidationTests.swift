import PrefetchCore
import Testing

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

  @Test("What belonged to the connection is left out wherever it stands")
  func storable() {
    let fields = (0..<6).map { HeaderField("X-\($0)", String(repeating: "v", count: $0)) }
    let dropped = [HeaderField("Connection", "close"), HeaderField("set-cookie", "")]
    for mask in 0..<1 << 7 {
      var mixed: [HeaderField] = []
      for place in 0...6 {
        if mask >> place & 1 == 1 { mixed.append(dropped[place % 2]) }
        if place < 6 { mixed.append(fields[place]) }
      }
      let kept = Revalidation.storable(HeaderBlock(mixed))
      #expect(kept == HeaderBlock(fields), "\(mask)")
    }
    #expect(Revalidation.storable(HeaderBlock(dropped)) == HeaderBlock())
  }
}
