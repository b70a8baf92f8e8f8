import PrefetchCore
import Testing

@Suite("Asking for the rest of a body")
struct ResumeRuleTests {
  private static let noon = "Tue, 01 Jul 2025 12:00:00 GMT"

  @Test(
    "A strong tag may be sent, else a date that had rested for a minute",
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
      ([], nil),
    ] as [([(String, String)], String?)]
  )
  func validator(headers: [(String, String)], expected: String?) {
    #expect(ResumeRule.validator(block(headers)) == expected)
  }

  @Test(
    "Only the rest of the same body continues a part",
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

  @Test("A part whose whole nobody knew learns it from the answer, which must tell it")
  func unknownWhole() {
    let part = PartialBody(source: "http://a/", validator: Self.noon, offset: 5)
    let told = block([("Content-Range", "bytes 5-9/10"), ("ETag", "\"any\"")])
    #expect(ResumeRule.objection(to: told, continuing: part) == nil)
    #expect(ResumeRule.wholeSize(told) == 10)
    let untold = block([("Content-Range", "bytes 5-9/*")])
    #expect(ResumeRule.objection(to: untold, continuing: part) == .otherSize)
    let later = block([("Content-Range", "bytes 5-9/10"), ("Last-Modified", "later")])
    #expect(ResumeRule.objection(to: later, continuing: part) == .otherBody)
  }

  @Test(
    "A part is the whole when the server knows a whole of that size",
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
