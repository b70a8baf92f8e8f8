import PrefetchCore
import Testing

@testable import PrefetchStore

@Suite("Stored headers")
struct HeaderCodingTests {
  @Test("come back as they were", arguments: [0, 1, 127, 128, 20_000])
  func roundTrip(_ length: Int) throws {
    let text = String(repeating: "é", count: length)
    let headers = HeaderBlock([
      HeaderField("ETag", text), HeaderField("etag", ""), HeaderField("X-" + text, "1"),
      HeaderField("ETAG", "a"),
    ])
    let bytes = HeaderCoding.encode(headers)
    #expect(unsafe HeaderCoding.decode(bytes.span.bytes) == headers)
  }

  @Test(
    "that nobody wrote are recognised",
    arguments: [
      [255, 0], [1], [1, 2, 65], [0, 1], [1, 255, 255, 255, 255, 255, 255], [1, 128],
    ] as [[UInt8]]
  )
  func garbage(_ bytes: [UInt8]) {
    #expect(unsafe HeaderCoding.decode(bytes.span.bytes) == nil)
  }
}
