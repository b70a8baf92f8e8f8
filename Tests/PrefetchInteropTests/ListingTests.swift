import PrefetchCore
import PrefetchTestSupport
import Testing

/// Sort orders of `list` for items in any state.
@Suite("Sorted lists", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ListingTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    site["/b"] = Site.Page("bbbb")
    site["/d"] = Site.Page("dd")
    site["/film.m3u8"] = Site.Page(StreamGround.media(["#EXTINF:2,\n1.ts", "#EXTINF:2,\n2.ts"]))
    for piece in ["1", "2"] {
      site["/\(piece).ts"] = Site.Page(String(repeating: piece, count: 400))
    }
  }

  /// `a` fails, `c` is left to `get`, `d` gets paused, and `e` is declared after the run.
  private func configure(_ more: String...) {
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: s, manifest: ./list.json, base: "\(server.address("/"))" }]
      """
    )
    let items = [
      #"{ "url": "film.m3u8", "type": "hls", "id": "film" }"#, #"{ "url": "a" }"#,
      #"{ "url": "b" }"#, #"{ "url": "c", "behavior": "none" }"#, #"{ "url": "d" }"#,
    ]
    let list = (items + more).joined(separator: ", ")
    home.write(
      #"{ "format": "prefetch-manifest", "version": 1, "items": [\#(list)] }"#,
      to: "list.json"
    )
  }

  private func names(_ words: String...) throws -> [String] {
    let run = try home.start(["list"] + words).finish()
    #expect(run.status == 0, "\(run)")
    return run.lines.map { line in
      line.split(separator: "/").last.map(String.init) ?? ""
    }
  }

  @Test("Items without a body are sorted by their keys")
  func everyState() throws {
    configure()
    #expect(try home.run("-q").status == 3)
    #expect(try home.run("pause", server.address("/d")).status == 0)
    configure(#"{ "url": "e" }"#)
    let states = "cached,failed,paused,discovered,queued,pending"
    #expect(
      try names("--state", states, "--sort", "name") == ["a", "b", "c", "d", "e", "film.m3u8"]
    )
    #expect(
      try names("--state", states, "--sort", "-name") == ["film.m3u8", "e", "d", "c", "b", "a"]
    )
    // A stream has the size of all its files; an item without a body sorts as the smallest.
    let sizes = try names("--state", states, "--sort", "-size")
    #expect(sizes.prefix(3) == ["film.m3u8", "b", "d"], "\(sizes)")
    #expect(Set(sizes.suffix(3)) == ["a", "c", "e"])
    let rising = try names("--state", states, "--sort", "size,-name")
    #expect(rising == ["e", "c", "a", "d", "b", "film.m3u8"])
    let json = try home.run("list", "--state", states, "--sort", "state,name", "--json").json()
    let reported = json.list("items").compactMap { $0.text("state") }
    #expect(reported == reported.sorted())
    #expect(reported.count == 6)
    for key in ["url", "id", "provider", "segment", "type", "fetched", "validated", "used"] {
      let up = try names("--state", states, "--sort", "\(key),name")
      #expect(up.sorted() == ["a", "b", "c", "d", "e", "film.m3u8"], "\(key)")
    }
    #expect(try home.run("rm", server.address("/b")).status == 0)
    home.configure("cache: { min_free: 0 }\nsegments: []")
    let unavailable = try names("--state", "deleted,cached,paused,failed", "--sort", "name")
    #expect(unavailable.contains("b") && unavailable == unavailable.sorted())
  }
}
