import Testing

@testable import PrefetchCore

@Suite("Stored headers")
struct StoredHeadersTests {
  @Test("Stored headers are read as they were written", arguments: [0, 1, 127, 128, 20_000])
  func roundTrip(_ length: Int) throws {
    let text = String(repeating: "é", count: length)
    let fields = [
      HeaderField("ETag", text), HeaderField("etag", ""), HeaderField("X-" + text, "1"),
      HeaderField("ETAG", "a"),
    ]
    let headers = HeaderBlock(fields)
    var bytes: [UInt8] = []
    headers.append(to: &bytes)
    let read = HeaderBlock(stored: unsafe bytes.span.bytes)
    #expect(read == headers)
    #expect(read?.fields == fields)
    #expect(read?.all("eTAG") == [text, "", "a"])
  }

  @Test(
    "Invalid stored headers are recognised",
    arguments: [
      [255, 0], [1], [1, 2, 65], [0, 1], [1, 255, 255, 255, 255, 255, 255], [1, 128],
    ] as [[UInt8]]
  )
  func garbage(_ bytes: [UInt8]) {
    #expect(HeaderBlock(stored: unsafe bytes.span.bytes) == nil)
  }

  @Test("Stored headers find every well-known name in each of its spellings")
  func names() {
    for code in 1...WellKnownNames.highestCode {
      let spelling = WellKnownNames.spelling(of: code)
      let bytes = Array(spelling.utf8)
      #expect(WellKnownNames.code(of: unsafe bytes.span.bytes) == code)
      let odd = String(spelling.enumerated().map { $0 % 2 == 0 ? $1 : Character($1.uppercased()) })
      for name in [spelling, spelling.uppercased(), odd] {
        let block = HeaderBlock([HeaderField("X", "0"), HeaderField(name, "1")])
        #expect(block.fields[1] == HeaderField(name, "1"))
        #expect(block[HeaderName(spelling.lowercased())] == "1", "\(name)")
        #expect(block[HeaderName(spelling.uppercased())] == "1", "\(name)")
        let indices = Array(block.indices)
        let names = HeaderNames([spelling.lowercased()])
        #expect(indices.map { block.isNamed($0, anyOf: names) } == [false, true], "\(name)")
        #expect(names.contains(block.headerName(at: indices[1])), "\(name)")
        #expect(HeaderName(name) == HeaderName(spelling))
      }
    }
    #expect(HeaderBlock([HeaderField("Dates", "1"), HeaderField("Dat", "1")])["Date"] == nil)
  }
}
