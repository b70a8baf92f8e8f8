import PrefetchCore
import Testing

@Suite struct RevalidationTests {
  let stored = HeaderBlock([
    .init("Content-Type", "text/plain"), .init("ETag", "\"1\""), .init("Age", "500"),
    .init("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), .init("Cache-Control", "max-age=60"),
    .init("Content-Length", "5"),
  ])

  @Test("A 304 with only a new date changes nothing")
  func clocks() {
    let received = HeaderBlock([
      .init("Date", "Mon, 07 Nov 1994 08:49:37 GMT"), .init("Expires", "0"), .init("etag", "\"1\""),
    ])
    let (headers, isChanged) = Revalidation.merge(stored: stored, confirmed: received)
    #expect(!isChanged)
    #expect(headers["Date"] == "Mon, 07 Nov 1994 08:49:37 GMT")
    #expect(headers["Expires"] == "0")
  }

  @Test("The age of the first response is not the age of its confirmation")
  func age() {
    let merged = Revalidation.merge(stored: stored, confirmed: HeaderBlock()).headers
    let now = Instant(seconds: 1_700_000_000)
    #expect(
      Freshness(merged, at: Freshness.Timing(now)) == .declared(until: now + .seconds(60))
    )
  }

  @Test("A 304 renews headers by name, but never those of the body")
  func renews() {
    let received = HeaderBlock([
      .init("cache-control", "max-age=9"), .init("X-New", "a"), .init("X-New", "b"),
      .init("Content-Length", "0"), .init("Content-Type", "text/html"),
      .init("Connection", "close"),
      .init("Set-Cookie", "a=b"),
    ])
    let (headers, isChanged) = Revalidation.merge(stored: stored, confirmed: received)
    #expect(isChanged)
    #expect(headers.all("Cache-Control") == ["max-age=9"])
    #expect(headers.all("X-New") == ["a", "b"])
    #expect(headers["Content-Length"] == "5")
    #expect(headers["Content-Type"] == "text/plain")
    #expect(headers["Connection"] == nil)
    #expect(headers["Set-Cookie"] == nil)
  }

  @Test(
    "A 304 is accepted with a weakly equal entity tag, or with none",
    arguments: [
      ("\"1\"", "\"1\"", true), ("W/\"1\"", "\"1\"", true), ("\"1\"", "W/\"1\"", true),
      ("\"2\"", "\"1\"", false), (nil, "\"1\"", true), ("\"2\"", nil, false),
      ("*", "\"1\"", true), ("*", nil, true), ("\"1", "\"2\"", true), ("one", "one", true),
      ("W/\"a\"", "W/\"b\"", false),
    ] as [(String?, String?, Bool)]
  )
  func confirms(received: String?, held: String?, isConfirmed: Bool) {
    let response = HeaderBlock(received.map { [HeaderField("ETag", $0)] } ?? [])
    #expect(
      Revalidation.confirms(response, stored: Validators(entityTag: held)) == isConfirmed
    )
  }

  @Test("A 304 answers the sent condition, whatever date it has", arguments: [0, -1, 1])
  func confirmsDates(offset: Int64) {
    let stored = Validators(lastModified: FreshnessTests.date(0))
    let received = HeaderField("Last-Modified", FreshnessTests.date(offset))
    #expect(Revalidation.confirms(HeaderBlock([received]), stored: stored))
  }

  @Test("A tag that only became strong or weak is kept and is no change")
  func renewedTags() {
    let (then, now) = (FreshnessTests.date(-9), FreshnessTests.date(0))
    let held = Validators(entityTag: "W/\"1\"", lastModified: then)
    let received = HeaderBlock([.init("ETag", "\"1\"")])
    #expect(Revalidation.renewed(held, by: received) == held)
    let other = HeaderBlock([.init("ETag", "\"2\""), .init("Last-Modified", now)])
    #expect(
      Revalidation.renewed(held, by: other) == Validators(entityTag: "\"2\"", lastModified: now)
    )
    #expect(Revalidation.renewed(Validators(), by: received).entityTag == "\"1\"")
    #expect(Revalidation.renewed(held, by: HeaderBlock()) == held)
    let weak = HeaderBlock([.init("ETag", "W/\"1\"")])
    let merged = Revalidation.merge(stored: weak, confirmed: received)
    #expect(merged.headers == weak)
    #expect(!merged.isChanged)
  }

  @Test(
    "A date from the second of the response is not sent",
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

  @Test(
    "Fields named by `Connection` or a qualified `no-cache` are dropped, except the body's"
  )
  func namedFields() {
    let headers = HeaderBlock([
      .init("Connection", "X-Hop , ETag"), .init("x-hop", "1"), .init("ETag", "\"1\""),
      .init("Cache-Control", "max-age=5, no-cache=\"X-Who, vary\""), .init("X-Who", "me"),
      .init("Vary", "Accept"),
    ])
    #expect(Revalidation.storable(headers).fields.map(\.name) == ["ETag", "Cache-Control", "Vary"])
    let merged = Revalidation.merge(stored: HeaderBlock(), confirmed: headers).headers
    #expect(merged.fields.map(\.name) == ["ETag", "Cache-Control", "Vary"])
  }

  @Test("Only a strong tag is sent for another variant")
  func acrossVariants() {
    let date = FreshnessTests.date(-100)
    for (tag, sent) in [("\"1\"", "\"1\""), ("W/\"1\"", nil), ("one", nil), (nil, nil)]
      as [(String?, String?)]
    {
      let held = Validators(entityTag: tag, lastModified: date)
      for selection in [Variance.Selection.other, .unknown] {
        let conditions = Revalidation.conditions(
          held,
          stored: HeaderBlock(),
          receivedAt: FreshnessTests.now,
          selection: selection
        )
        #expect(conditions == Validators(entityTag: sent))
      }
    }
  }

  @Test("Connection headers are dropped wherever they are")
  func storable() {
    let fields = (0..<6).map { HeaderField("X-\($0)", String(repeating: "v", count: $0)) }
    let dropped = [HeaderField("Connection", "close"), HeaderField("set-cookie", "")]
    for mask in 0..<1 << 7 {
      var mixed: [HeaderField] = []
      for index in 0...6 {
        if mask >> index & 1 == 1 { mixed.append(dropped[index % 2]) }
        if index < 6 { mixed.append(fields[index]) }
      }
      let kept = Revalidation.storable(HeaderBlock(mixed))
      #expect(kept == HeaderBlock(fields), "\(mask)")
    }
    #expect(Revalidation.storable(HeaderBlock(dropped)) == HeaderBlock())
  }
}
