import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("The origin of an item", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ItemOriginTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { .respond(200, text: $0.path) }
    declare(["/declared"])
  }

  private func declare(_ paths: [String]) {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure("segments: [{ name: s, urls: [\(urls)] }]\ncache: { min_free: 0 }")
  }

  private func origins(_ command: String...) throws -> [String: String] {
    var origins: [String: String] = [:]
    for item in try home.run(command).json().list("items") {
      let path = item.text("url").map { String($0.dropFirst(server.address("").count)) }
      origins[path ?? ""] = item.text("origin")
    }
    return origins
  }

  @Test("`list`, `explain` and the report name the origin of an item, and a segment has precedence")
  func origins() throws {
    #expect(try origins("run", "--json") == ["/declared": "segment"])
    #expect(try home.run("get", server.address("/asked")).status == 0)
    home.write("by hand", to: "file")
    #expect(try home.run("import", "file", "--url", server.address("/brought")).status == 0)
    let serving = try Serving(home, "--pull")
    for path in ["/served", "/asked", "/declared"] {
      #expect(try serving.client.get(server.servedPath(path)).status == 200)
    }
    _ = serving.stop()
    let whole = [
      "/declared": "segment", "/asked": "on_demand", "/brought": "on_demand",
      "/served": "passthrough",
    ]
    #expect(try origins("list", "--json") == whole)
    let explained = try home.run("explain", server.address("/served"), "--json").json()
    #expect(explained.text("item.origin") == "passthrough")
    // The first origin of an item does not change when it is fetched again or confirmed.
    #expect(try home.run("get", "--revalidate", server.address("/served")).status == 0)
    #expect(try origins("list", "--json") == whole)
    // Undeclared items leave when nothing is declared; declared items belong to the segment.
    declare(["/declared", "/served", "/asked"])
    #expect(try home.run("--items", "all").status == 0)
    #expect(
      try origins("list", "--json") == [
        "/declared": "segment", "/asked": "segment", "/brought": "on_demand", "/served": "segment",
      ]
    )
    #expect(
      try origins("run", "--json", "--items", "all") == [
        "/declared": "segment", "/asked": "segment", "/served": "segment",
      ]
    )
  }
}
