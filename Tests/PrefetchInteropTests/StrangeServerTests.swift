import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "A server that only a manifest chose",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct StrangeServerTests {
  @Test("A server that only a manifest chose gets no header of a general rule, by `run` or `get`")
  func headers() throws {
    let stranger = try LoopbackServer { _ in
      .respond(200, [("ETag", "\"1\""), ("Cache-Control", "no-cache")], text: "x")
    }
    let url = stranger.address("/x")
    let publisher = try LoopbackServer { _ in
      .respond(200, [("Content-Type", "application/json")], text: Manifest.text([url]))
    }
    let home = try Home()
    home.configure(
      """
      segments: [{ name: s, manifest: "\(publisher.address("/m.json"))" }]
      transport: { rules: [{ match: { method: GET }, headers: { X-Api-Key: key } }] }
      """
    )
    var keys: [String?] { stranger.requests.map { $0.headers["X-Api-Key"] } }
    #expect(try home.run("run").status == 0)
    #expect(publisher.requests.map { $0.headers["X-Api-Key"] } == ["key"])
    #expect(keys == [nil])
    let items = try home.run("list", "--json").json()
    let id = try #require(items.text("items.0.id"), "\(items)")
    let byID = try home.run("get", "--revalidate", id)
    #expect(byID.status == 0, "\(byID)")
    #expect(keys == [nil, nil])
    // A user who names a URL has chosen its server.
    let byURL = try home.run("get", "--revalidate", url)
    #expect(byURL.status == 0, "\(byURL)")
    #expect(keys == [nil, nil, "key"])
  }
}
