import PrefetchCore
import Testing

@Suite struct ValidatorTests {
  @Test(
    "A single tag is sent as it was received, and no or several tags are not",
    arguments: [
      ("\"1\"", true), ("W/\"1\"", true), ("\"\"", true), ("one", true), ("W/one", true),
      ("\"a b\"", true), ("\"a,b\"", true), ("*", false), ("W/*", false), ("", false),
      ("W/", false),
      ("\"1", false), ("1\"", false), ("\"", false), ("\"1\", \"2\"", false), ("a,b", false),
      ("\"a\"b\"", false), ("W/\"1", false), ("w/\"1\"", false),
    ]
  )
  func tags(tag: String, isSent: Bool) {
    #expect((Validators(entityTag: tag).entityTag == tag) == isSent)
  }

  @Test("A tag of more than a kilobyte is ignored")
  func longTags() {
    let tag = "\"" + String(repeating: "a", count: 1_022) + "\""
    #expect(Validators(entityTag: tag).entityTag == tag)
    #expect(Validators(entityTag: tag + "x").isEmpty)
  }

  @Test(
    "A date in none of the three forms is not sent",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Sunday, 06-Nov-94 08:49:37 GMT", true),
      ("Sun Nov  6 08:49:37 1994", true), ("yesterday", false), ("0", false), ("", false),
      ("1994-11-06T08:49:37Z", false), ("Sun, 06-Nov-1994 08:49:37 GMT", false),
    ]
  )
  func dates(date: String, isSent: Bool) {
    #expect((Validators(lastModified: date).lastModified == date) == isSent)
  }
}

@Suite struct HeaderTextTests {
  @Test(
    "Header values keep their bytes",
    arguments: [
      [0x22, 0x63, 0x61, 0x66, 0xE9, 0x22], Array("\u{E9}\u{4E2D}".utf8), [0xFF, 0xFE], [0xC3],
      [0xEF, 0x9F, 0xA9, 0x41], [0xEF, 0x9E, 0x80], Array(0x20...0xFF), [], [0xC3, 0xA9, 0xE9],
    ] as [[UInt8]]
  )
  func roundTrips(bytes: [UInt8]) {
    #expect(HeaderText.encode(HeaderText.decode(bytes[...])) == bytes)
    var block = HeaderBlock()
    unsafe block.append(name: Array("ETag".utf8).span.bytes, value: bytes.span.bytes)
    #expect(HeaderBlock(block.fields) == block)
  }

  @Test("UTF-8 is itself; only other text is escaped, byte by byte")
  func escaping() {
    #expect(HeaderText.decode(Array("é".utf8)[...]) == "é")
    #expect(HeaderText.escaped("/é") == "/é")
    #expect(HeaderText.escaped(HeaderText.decode([0x2F, 0xE9, 0x20, 0xC3, 0xA9])) == "/%E9 %C3%A9")
    #expect(HeaderText.readable(HeaderText.decode([0x61, 0xE9])) == "a\u{FFFD}")
  }
}
