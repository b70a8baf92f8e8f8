import PrefetchCore
import Testing

@Suite struct VarianceTests {
  static let request: [HeaderField] = [
    .init("Accept-Language", "de,  en"), .init("Authorization", "Bearer one"), .init("X-Key", "k"),
  ]

  @Test(
    "An answer is kept apart by what it depends on, secrets by their presence",
    arguments: [
      (nil, nil), ("", nil), ("Accept-Encoding", nil), ("accept-encoding , ACCEPT-ENCODING", nil),
      ("Accept-Language", "accept-language:de, en"), ("Accept", "accept:"),
      ("Authorization", "authorization:set"), ("Cookie", "cookie:"), ("X-Key", "x-key:set"),
      ("Accept-Language, Accept-Encoding,Accept", "accept:\naccept-language:de, en"),
      ("*", "*:\naccept-language:de, en\nauthorization:set\nx-key:set"),
    ] as [(String?, String?)]
  )
  func keys(vary: String?, key: String?) {
    let response = HeaderBlock(vary.map { [HeaderField("vary", $0)] } ?? [])
    #expect(Variance.key(response, request: Self.request) == key)
    #expect(Variance.selects(response, key: key, request: Self.request))
    #expect(!Variance.selects(response, key: "other", request: Self.request))
  }

  @Test("A request that differs in what counts is another question; a new token is not")
  func differences() {
    let response = HeaderBlock([.init("Vary", "Accept-Language"), .init("Vary", "Authorization")])
    let key = Variance.key(response, request: Self.request)
    var other = Self.request
    other[1].value = "Bearer two"
    #expect(Variance.selects(response, key: key, request: other))
    other[0].value = "fr"
    #expect(!Variance.selects(response, key: key, request: other))
    #expect(!Variance.selects(response, key: key, request: [Self.request[0]]))
  }
}
