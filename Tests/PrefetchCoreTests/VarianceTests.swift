import Testing

@testable import PrefetchCore

@Suite struct VarianceTests {
  static let key = VarianceKey([UInt8](0..<16))
  static let sentFields: [HeaderField] = [
    .init("Accept-Language", "de,  en"), .init("Authorization", "Bearer one"), .init("X-Key", ""),
  ]

  static func variance(
    _ vary: [String],
    _ sentFields: [HeaderField] = sentFields
  ) throws -> Variance? {
    let headers = HeaderBlock(vary.map { HeaderField("vary", $0) })
    let key = try #require(key)
    return Variance(
      Variance.hop(headers, requestFields: sentFields, url: nil, key: key).map { [$0] } ?? []
    )
  }

  @Test(
    "The `Vary` on codings selects nothing, and other names are sorted in lower case",
    arguments: [
      ([], []), ([""], []), (["Accept-Encoding"], []), (["accept-encoding , ACCEPT-ENCODING"], []),
      (["X-Key", "Accept, accept-encoding"], ["accept", "x-key"]), (["Accept, *"], ["*"]),
    ] as [([String], [String])]
  )
  func names(vary: [String], names: [String]) throws {
    #expect(try Self.variance(vary)?.hops.flatMap(\.names) ?? [] == names)
  }

  @Test(
    "A response serves requests with equal values of its selecting fields",
    arguments: [
      ("Accept-Language", [HeaderField("accept-language", "de ,en")], .same),
      (
        "Accept-Language", [HeaderField("Accept-Language", "de"), .init("Accept-Language", "en")],
        .same
      ),
      ("Accept-Language", [HeaderField("Accept-Language", "en, de")], .other),
      ("Accept-Language", [], .other),
      ("Authorization", [HeaderField("Authorization", "Bearer one")], .same),
      ("Authorization", [HeaderField("Authorization", "Bearer two")], .other),
      // A header sent empty differs from an absent one.
      ("X-Key", [], .other), ("X-Key", [HeaderField("X-Key", "")], .same),
      ("Cookie", [], .same), ("Cookie", [HeaderField("Cookie", "a=b")], .other),
      ("*", [], .unknown),
    ] as [(String, [HeaderField], Variance.Selection)]
  )
  func selection(vary: String, fields: [HeaderField], selection: Variance.Selection) throws {
    let made = try Self.variance([vary])
    let variance = try #require(made)
    let key = try #require(Self.key)
    #expect(variance.selection(key: key) { _ in fields } == selection)
  }

  @Test("Every hop is compared with the request at its own URL")
  func hops() throws {
    let key = try #require(Self.key)
    let vary = HeaderBlock([.init("Vary", "X-Key")])
    let own = [HeaderField("X-Key", "1")]
    let first = try #require(Variance.hop(vary, requestFields: own, url: nil, key: key))
    let second = try #require(
      Variance.hop(vary, requestFields: [], url: "https://b.example/", key: key)
    )
    let variance = try #require(Variance([first, second]))
    #expect(variance.selection(key: key) { $0 == nil ? own : [] } == .same)
    #expect(variance.selection(key: key) { _ in own } == .other)
    #expect(variance.selection(key: key) { _ in [] } == .other)
  }

  @Test("Another key makes other digests, and no value is stored in clear")
  func keyed() throws {
    let other = try #require(VarianceKey([UInt8](repeating: 1, count: 16)))
    let made = try Self.variance(["Authorization"])
    let variance = try #require(made)
    #expect(variance.selection(key: other) { _ in Self.sentFields } == .other)
    #expect(!"\(variance)".contains("one"))
    #expect(VarianceKey(other.bytes) == other)
    #expect(VarianceKey([1, 2]) == nil)
  }

  @Test(
    "The hash is SipHash-2-4, by the first of its authors' vectors",
    arguments: [
      (0, 0x726f_db47_dd0e_0e31), (1, 0x74f8_39c5_93dc_67fd), (8, 0x93f5_f579_9a93_2462),
      (15, 0xa129_ca61_49be_45e5),
    ] as [(Int, UInt64)]
  )
  func vectors(length: Int, hash: UInt64) throws {
    let key = try #require(Self.key)
    #expect(key.hash([UInt8](0..<UInt8(length))) == hash)
  }

  @Test("Differing fields are named in lower case")
  func differences() {
    let other: [HeaderField] = [.init("accept-language", "de,en"), .init("Authorization", "x")]
    #expect(Variance.difference(Self.sentFields, other) == ["authorization", "x-key"])
    #expect(Variance.difference(Self.sentFields, Self.sentFields) == [])
  }
}
