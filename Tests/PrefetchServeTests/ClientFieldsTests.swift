import PrefetchCore
import Testing

@testable import PrefetchServe

@Suite("Header fields of a client")
struct ClientFieldsTests {
  private func said(_ fields: [(String, String)]) -> ClientFields {
    ClientFields(fields.map { HeaderField($0.0, $0.1) })
  }

  private func variance(_ names: [String]) -> Variance? {
    Variance([Variance.Hop(url: nil, names: names, digest: 0)])
  }

  @Test("The fields of a client are equal in any order", arguments: ["Accept", "X-Mode"])
  func order(name: String) {
    let fields = [("DPR", "2"), (name, "a")]
    #expect(said(fields) == said(fields.reversed()))
    #expect(said(fields) != said([("DPR", "1"), (name, "a")]))
  }

  @Test(
    "The fields of a client exclude identity, connection, conditions and codings",
    arguments: [
      "Authorization", "COOKIE", "Proxy-Authorization", "User-Agent", "Accept-Encoding", "Host",
      "Connection", "TE", "Range", "If-None-Match", "Cache-Control", "Content-Length", "Origin",
      "Sec-Fetch-Site", "Referer",
    ]
  )
  func kept(name: String) {
    #expect(said([(name, "x")]).isEmpty)
  }

  @Test(
    "The fields of a client exclude wildcards and values that would break a request",
    arguments: [
      ("Accept", "*/*"), ("Accept", " */* "), ("Accept-Language", "*"), ("Accept-Charset", "*"),
      ("X-Mode", "a\u{1}b"), ("X-Mode", "a\r\nX-Other: b"),
    ]
  )
  func silent(field: (String, String)) {
    #expect(said([field]).isEmpty)
  }

  @Test("The fields of a client are reduced to those that a response depends on")
  func named() {
    let fields = said([("Accept", "text/html"), ("Accept-Language", "de"), ("DPR", "2")])
    #expect(fields.named(by: nil).isEmpty)
    #expect(fields.named(by: variance(["x-mode"])).isEmpty)
    let language = fields.named(by: variance(["accept-language", "x-mode"]))
    #expect(language == said([("Accept-Language", "de")]))
    #expect(fields.named(by: variance(["*"])) == fields)
    #expect(fields.named(by: variance(["dpr"])).isSubset(of: fields))
    #expect(!fields.isSubset(of: fields.named(by: variance(["dpr"]))))
  }

  @Test("The fields of a client go to other servers only without identity")
  func positions() {
    let fields = said([("Accept", "text/html"), ("X-Token", "a"), ("Prefer", "b")])
    #expect(fields.everywhere.map(\.name) == ["Accept", "Prefer"])
    #expect(fields.ofFirstOrigin.map(\.name) == ["X-Token"])
  }

  @Test(
    "The fields of a client select nothing where a response depends on other fields only",
    arguments: [
      (["cookie", "origin", "user-agent"], false), (["origin", "accept"], true), (["*"], true),
      (["x-token"], true),
    ]
  )
  func selecting(names: [String], isSelected: Bool) {
    #expect(ClientFields.select(variance(names)) == isSelected)
    #expect(!ClientFields.select(nil))
  }
}
