import PrefetchCore
import Testing

@Suite struct BodyCheckTests {
  static let sha256 = ContentDigest(bytes: [UInt8](repeating: 7, count: 32))
  static let right = ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 7, count: 32))
  static let wrong = ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 8, count: 32))
  static let rightMD5 = ExpectedDigest(algorithm: .md5, bytes: [UInt8](repeating: 1, count: 16))
  static let wrongMD5 = ExpectedDigest(algorithm: .md5, bytes: [UInt8](repeating: 2, count: 16))

  static let rows: [(digests: [ExpectedDigest], size: Int64?, mime: String?, code: ErrorCode?)] = [
    ([], nil, nil, nil), ([], 10, nil, nil), ([], 11, nil, .corrupted), ([right], 10, nil, nil),
    ([wrong], 10, nil, .digestMismatch), ([wrong], 11, nil, .digestMismatch),
    ([wrong, right], nil, nil, nil), ([right, rightMD5], nil, nil, nil),
    ([right, wrongMD5], nil, nil, .digestMismatch),
    ([ExpectedDigest(algorithm: .sha512, bytes: [])], nil, nil, .digestMismatch),
    ([], nil, "text/plain", nil), ([], nil, "TEXT/plain; x=y", nil),
    ([], nil, "image/png", .unexpectedContent),
  ]

  @Test("Digest, size and type must be the declared ones", arguments: 0..<rows.count)
  func table(index: Int) throws {
    let row = Self.rows[index]
    var entry = ManifestEntry(url: try WebURL("https://a.example/"))
    entry.digests = row.digests
    entry.size = row.size
    entry.mime = row.mime
    let body = StagedBody(
      id: 1,
      digest: try #require(Self.sha256),
      size: 10,
      otherDigests: [.md5: [UInt8](repeating: 1, count: 16)]
    )
    let headers = HeaderBlock([HeaderField("content-type", "text/plain; charset=utf-8")])
    #expect(BodyCheck.objection(to: body, headers: headers, entry: entry)?.code == row.code)
    #expect(
      BodyCheck.objection(to: body, headers: HeaderBlock(), entry: entry)?.code
        == (row.code == .unexpectedContent ? nil : row.code)
    )
  }

  static let page = Array("<!doctype html>".utf8)

  @Test(
    "A page or an empty body replaces another body only with the right digest",
    arguments: [
      ([], 15, nil, nil, page, .unexpectedContent), ([right], 15, nil, nil, page, nil),
      ([rightMD5], 15, nil, nil, page, .unexpectedContent), ([], 0, 10, nil, [], .empty),
      ([], 0, 0, nil, [], nil), ([], 0, nil, nil, [], nil), ([], 0, 10, 0, [], nil),
      ([right], 0, 10, nil, [], nil), ([], 1, 10, nil, [65], nil),
    ] as [([ExpectedDigest], Int64, Int64?, Int64?, [UInt8], ErrorCode?)]
  )
  func defaults(
    digests: [ExpectedDigest],
    size: Int64,
    stored: Int64?,
    declared: Int64?,
    prefix: [UInt8],
    code: ErrorCode?
  ) throws {
    var entry = ManifestEntry(url: try WebURL("https://a.example/x.zip"))
    entry.digests = digests
    entry.size = declared
    let body = StagedBody(
      id: 1,
      digest: try #require(Self.sha256),
      size: size,
      otherDigests: [.md5: [UInt8](repeating: 1, count: 16)],
      prefix: prefix
    )
    let objection = BodyCheck.objection(
      to: body,
      headers: HeaderBlock(),
      entry: entry,
      stored: stored.map { BodyCheck.Stored(size: $0) }
    )
    #expect(objection?.code == code)
  }

  @Test("A body meets the expectations of every segment that declares it")
  func expectations() throws {
    let entry = ManifestEntry(url: try WebURL("https://a.example/x"))
    let body = StagedBody(id: 1, digest: try #require(Self.sha256), size: 3, prefix: [1, 2, 3])
    func code(_ expectations: [ContentExpectation]) -> ErrorCode? {
      BodyCheck.objection(
        to: body,
        headers: HeaderBlock(),
        entry: entry,
        expectations: expectations
      )?.code
    }
    let met = ContentExpectation(minimumSize: 3, beginnings: [[1, 2]])
    #expect(code([met, ContentExpectation()]) == nil)
    #expect(code([met, ContentExpectation(minimumSize: 4)]) == .unexpectedContent)
  }

  @Test("Parameters and suffixes are no part of a type's essence")
  func essence() {
    #expect(BodyCheck.essence("Image/SVG+XML; charset=utf-8") == "image/svg")
    #expect(BodyCheck.essence(" text/plain ") == "text/plain")
  }
}

@Suite struct ContentDigestTests {
  @Test("A digest reads what it writes, and nothing else")
  func roundTrip() throws {
    let bytes = (0..<32).map { UInt8($0 * 8) }
    let digest = try #require(ContentDigest(bytes: bytes))
    #expect(digest.bytes == bytes)
    #expect(ContentDigest(digest.description) == digest)
    #expect(ContentDigest(digest.hexadecimal.uppercased()) == digest)
    for text in [
      "", "sha256:", digest.hexadecimal + "0", String(digest.hexadecimal.dropLast()),
      "sha512:" + digest.hexadecimal,
    ] {
      #expect(ContentDigest(text) == nil)
    }
    #expect(ContentDigest(bytes: bytes.dropLast()) == nil)
  }

  @Test("Digests are ordered as their bytes are")
  func order() throws {
    let low = try #require(ContentDigest(bytes: [UInt8](repeating: 0, count: 31) + [255]))
    let high = try #require(ContentDigest(bytes: [1] + [UInt8](repeating: 0, count: 31)))
    #expect(low < high)
    #expect(low != high)
  }
}

@Suite struct SuggestionTests {
  @Test(
    "The nearest known name is within a third of the word's length",
    arguments: [
      ("chekcsum", "checksum"), ("sgements", "segments"), ("url", "url"), ("urls", "url"),
      ("Manifset", "manifest"), ("xyz", nil), ("", nil),
    ] as [(String, String?)]
  )
  func nearest(word: String, expected: String?) {
    let known = ["url", "checksum", "segments", "manifest"]
    #expect(Suggestion.nearest(to: word, among: known) == expected)
  }
}
