import PrefetchCore
import Testing

@Suite("Range requests for the rest of a body")
struct ResumeRuleTests {
  private static let noon = "Tue, 01 Jul 2025 12:00:00 GMT"

  @Test(
    "A strong tag is sent, or else a date that was at least a minute old",
    arguments: [
      ([("ETag", "\"a\"")], "\"a\""),
      ([("ETag", "\"\"")], "\"\""),
      ([("ETag", "W/\"a\"")], nil),
      ([("ETag", "a")], nil),
      ([("ETag", "\"a\"b\"")], nil),
      ([("ETag", "\"a b\"")], nil),
      ([("ETag", "\"")], nil),
      (
        [("ETag", "\"\(String(repeating: "a", count: 1_022))\"")],
        "\"\(String(repeating: "a", count: 1_022))\""
      ),
      ([("ETag", "\"\(String(repeating: "a", count: 1_023))\"")], nil),
      ([("ETag", "\"a\""), ("Accept-Ranges", "none")], nil),
      ([("ETag", "\"a\""), ("Accept-Ranges", "bytes")], "\"a\""),
      ([("Last-Modified", noon)], nil),
      ([("Last-Modified", noon), ("Date", "Tue, 01 Jul 2025 12:00:59 GMT")], nil),
      ([("Last-Modified", noon), ("Date", "Tue, 01 Jul 2025 12:01:00 GMT")], noon),
      ([("Last-Modified", noon), ("Date", "soon")], nil),
      ([("Last-Modified", "noon"), ("Date", noon)], nil),
      (
        [("ETag", "W/\"a\""), ("Last-Modified", noon), ("Date", "Wed, 02 Jul 2025 12:00:00 GMT")],
        noon
      ),
      (
        [
          ("Last-Modified", noon), ("Date", "Wed, 02 Jul 2025 12:00:00 GMT"),
          ("Vary", "accept-encoding"),
        ],
        noon
      ),
      // A later request may select another variant with the same date.
      (
        [
          ("Last-Modified", noon), ("Date", "Wed, 02 Jul 2025 12:00:00 GMT"),
          ("Vary", "Accept-Language"),
        ],
        nil
      ),
      ([("ETag", "\"a\""), ("Vary", "Accept-Language")], "\"a\""),
      ([], nil),
    ] as [([(String, String)], String?)]
  )
  func validator(headers: [(String, String)], expected: String?) {
    #expect(ResumeRule.validator(block(headers)) == expected)
  }

  @Test(
    "A part is continued only by the rest of the same body",
    arguments: [
      ([("Content-Range", "bytes 5-9/10")], nil),
      ([("Content-Range", "Bytes 5-9/*"), ("ETag", "\"a\"")], nil),
      ([("Content-Range", "bytes 5-9/10"), ("Content-Encoding", "identity")], nil),
      ([("Content-Range", "bytes 5-9/10"), ("Content-Encoding", "gzip")], .coded),
      ([("Content-Type", "Multipart/ByteRanges; boundary=x")], .severalParts),
      ([], .unreadableRange),
      ([("Content-Range", "bytes */10")], .unreadableRange),
      ([("Content-Range", "bytes 5-9")], .unreadableRange),
      ([("Content-Range", "bytes 5-10/10")], .unreadableRange),
      ([("Content-Range", "bytes 9-5/10")], .unreadableRange),
      ([("Content-Range", "bytes +5-9/10")], .unreadableRange),
      ([("Content-Range", "lines 5-9/10")], .unreadableRange),
      ([("Content-Range", "bytes 5-99999999999999999999/10")], .unreadableRange),
      ([("Content-Range", "bytes 5-9/10"), ("Content-Range", "bytes 5-9/10")], .unreadableRange),
      ([("Content-Range", "bytes 4-9/10")], .otherPart),
      ([("Content-Range", "bytes 6-9/10")], .otherPart),
      ([("Content-Range", "bytes 5-8/10")], .otherSize),
      ([("Content-Range", "bytes 5-10/11")], .otherSize),
      ([("Content-Range", "bytes 5-10/*")], .otherSize),
      ([("Content-Range", "bytes 5-9/10"), ("ETag", "\"b\"")], .otherBody),
      ([("Content-Range", "bytes 5-9/10"), ("ETag", "W/\"a\"")], .otherBody),
    ] as [([(String, String)], ResumeRule.Objection?)]
  )
  func continuation(headers: [(String, String)], expected: ResumeRule.Objection?) {
    let part = PartialBody(source: "http://a/", validator: "\"a\"", offset: 5, wholeSize: 10)
    #expect(ResumeRule.objection(to: block(headers), continuing: part) == expected)
  }

  @Test("A part of unknown size learns it from the response, which must have it")
  func unknownWhole() {
    let part = PartialBody(source: "http://a/", validator: Self.noon, offset: 5)
    let received = block([("Content-Range", "bytes 5-9/10"), ("ETag", "\"any\"")])
    #expect(ResumeRule.objection(to: received, continuing: part) == nil)
    #expect(ResumeRule.wholeSize(of: part, by: received) == 10)
    let untold = block([("Content-Range", "bytes 5-9/*")])
    #expect(ResumeRule.objection(to: untold, continuing: part) == .otherSize)
    let later = block([("Content-Range", "bytes 5-9/10"), ("Last-Modified", "later")])
    #expect(ResumeRule.objection(to: later, continuing: part) == .otherBody)
  }

  @Test(
    "A part is complete when the server reports its size as the whole",
    arguments: [("bytes */5", true), ("bytes */6", false), ("bytes */*", false), (nil, false)]
  )
  func complete(range: String?, expected: Bool) {
    let headers = block(range.map { [("Content-Range", $0)] } ?? [])
    var part = PartialBody(source: "http://a/", validator: "\"a\"", offset: 5)
    #expect(ResumeRule.isWhole(part, by: headers) == expected)
    part.wholeSize = 6
    #expect(!ResumeRule.isWhole(part, by: headers))
  }

  private func block(_ headers: [(String, String)]) -> HeaderBlock {
    HeaderBlock(headers.map { HeaderField($0.0, $0.1) })
  }
}

@Suite("The headers of a body that came in parts")
struct ResumedHeadTests {
  private static let first = [
    ("Date", "monday"), ("Age", "7"), ("Expires", "sunday"), ("Content-Type", "video/mp4"),
    ("ETag", "\"a\""), ("Last-Modified", "last year"), ("Content-Length", "10"),
    ("Cache-Control", "no-cache"), ("Cache-Control", "max-age=9"), ("X-First", "1"),
    ("Connection", "keep-alive"), ("Content-Encoding", "identity"),
  ]

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var response: [(String, String)]
    /// Expected lines of the head, in order.
    var expected: [(String, String)]

    init(_ name: String, _ response: [(String, String)], _ expected: [(String, String)]) {
      testDescription = name
      self.response = response
      self.expected = expected
    }
  }

  private static let kept = [
    ("Expires", "sunday"), ("Content-Type", "video/mp4"), ("ETag", "\"a\""),
    ("Last-Modified", "last year"), ("Cache-Control", "no-cache"), ("Cache-Control", "max-age=9"),
    ("X-First", "1"),
  ]

  static let rows: [Row] = [
    Row("nothing but the range", [("Content-Range", "bytes 5-9/10")], kept + [whole]),
    Row(
      "another clock",
      [("date", "tuesday"), ("age", "1"), ("Content-Length", "5")],
      kept + [("date", "tuesday"), ("age", "1"), whole]
    ),
    Row(
      "news",
      [
        ("Date", "tuesday"), ("cache-control", "max-age=60"), ("EXPIRES", "monday"),
        ("Content-Type", "video/webm"), ("etag", "\"a\""), ("X-Second", "2"), ("X-Second", "3"),
      ],
      [
        ("Last-Modified", "last year"), ("X-First", "1"), ("Date", "tuesday"),
        ("cache-control", "max-age=60"), ("EXPIRES", "monday"), ("Content-Type", "video/webm"),
        ("etag", "\"a\""), ("X-Second", "2"), ("X-Second", "3"), whole,
      ]
    ),
    Row(
      "what belongs to the message",
      [
        ("Connection", "close"), ("Keep-Alive", "timeout=5"), ("Transfer-Encoding", "chunked"),
        ("Content-Encoding", "identity"), ("Set-Cookie", "a=b"), ("Content-Range", "bytes 5-9/10"),
      ],
      kept + [whole]
    ),
  ]

  private static let whole = ("Content-Length", "10")

  @Test("The first headers stay, and a 206 renews the fields that it has", arguments: rows)
  func continued(_ row: Row) {
    let head = ResumeRule.head(of: part(), continuedBy: block(row.response))
    #expect(described(head) == described(block(row.expected)))
  }

  @Test("Bytes that are not text stay as they are, on both sides")
  func oddBytes() {
    var first = HeaderBlock([HeaderField("ETag", "\"a\"")])
    unsafe first.append(name: [0x41].span.bytes, value: [0x63, 0xE9, 0xFF].span.bytes)
    var response = HeaderBlock()
    unsafe response.append(name: [0x42].span.bytes, value: [0x80, 0xC3].span.bytes)
    let part = PartialBody(source: "", validator: "\"a\"", offset: 5, wholeSize: 10, head: first)
    var expected = first
    expected.append(response, at: 0)
    let head = ResumeRule.head(of: part, continuedBy: response)
    #expect(head.filtered { !head.isNamed($0, "Content-Length") } == expected)
  }

  @Test("A chain of parts renews the first headers each time")
  func chain() {
    var part = part()
    part.head = ResumeRule.head(of: part, continuedBy: block([("Date", "tuesday"), ("A", "1")]))
    part.head = ResumeRule.head(of: part, continuedBy: block([("Date", "friday"), ("B", "2")]))
    #expect(part.head.all("Date") == ["friday"])
    #expect(part.head["Content-Type"] == "video/mp4")
    #expect(part.head["A"] == "1")
    #expect(part.head["B"] == "2")
    #expect(part.head.all("Content-Length") == ["10"])
  }

  @Test("A 416 contributes only its date to the complete body", arguments: [true, false])
  func complete(hasDate: Bool) {
    let page = block([
      ("Content-Type", "text/html"), ("ETag", "of the page"), ("Cache-Control", "no-store"),
      ("Content-Range", "bytes */10"), ("Age", "3"),
    ])
    var response = page
    if hasDate { response.append(HeaderField("Date", "tuesday")) }
    var part = part()
    part.offset = 10
    let head = ResumeRule.headers(ofWhole: part, by: response)
    let date = hasDate ? [("Date", "tuesday")] : []
    #expect(described(head) == described(block(Self.kept + date + [Self.whole])))
  }

  @Test("The sent validator describes the body, whatever headers are known")
  func validator() {
    for (validator, name) in [("\"a\"", "ETag"), ("a date", "Last-Modified")] {
      let part = PartialBody(source: "", validator: validator, offset: 10, wholeSize: 10)
      #expect(ResumeRule.headers(ofWhole: part, by: HeaderBlock())[HeaderName(name)] == validator)
      #expect(ResumeRule.head(of: part, continuedBy: HeaderBlock())[HeaderName(name)] == validator)
    }
  }

  @Test("Connection headers are dropped, and an oversized head keeps only what matters")
  func lasting() throws {
    let usual = try #require(ResumeRule.lasting(block(Self.first)))
    #expect(!usual.has("Connection"))
    #expect(!usual.has("Content-Encoding"))
    #expect(usual["X-First"] == "1")
    let padding = (0..<60).map { ("X-\($0)", String(repeating: "x", count: 1_000)) }
    let long = try #require(ResumeRule.lasting(block(padding + Self.first)))
    #expect(!long.has("X-First"))
    #expect(long.all("Cache-Control") == ["no-cache", "max-age=9"])
    #expect(long["Content-Type"] == "video/mp4")
    #expect(long["ETag"] == "\"a\"")
    // A directive that was left out may forbid storing.
    let endless = ("Cache-Control", String(repeating: "x", count: 60_000))
    #expect(ResumeRule.lasting(block([endless] + Self.first)) == nil)
  }

  private func part() -> PartialBody {
    PartialBody(
      source: "http://a/",
      validator: "\"a\"",
      offset: 5,
      wholeSize: 10,
      head: block(Self.first)
    )
  }

  private func described(_ headers: HeaderBlock) -> [String] {
    headers.fields.map { "\($0.name): \($0.value)" }
  }

  private func block(_ headers: [(String, String)]) -> HeaderBlock {
    HeaderBlock(headers.map { HeaderField($0.0, $0.1) })
  }
}
