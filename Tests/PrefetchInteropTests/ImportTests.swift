import PrefetchCore
import PrefetchTestSupport
import Testing

/// Content that arrived by other means than the network.
@Suite("Imported content", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ImportTests {
  private let site: Site
  private let server: LoopbackServer
  /// The machine that had the network.
  private let giver: Home
  private let taker: Home

  init() throws {
    let site = Site()
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
    giver = try Home(isInMemory: true)
    taker = try Home(isInMemory: true)
    for home in [giver, taker] { declare(home, ["a", "b", "c"]) }
    for name in ["a", "b", "c"] { site["/\(name)"] = Site.Page("the body of \(name)") }
  }

  private func declare(_ home: Home, _ names: [String], _ more: String = "") {
    let urls = names.map { "\"\(server.address("/\($0)"))\"" }.joined(separator: ", ")
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: s, urls: [\(urls)]\(more) }]
      """
    )
  }

  /// Methods and paths since the last call.
  private func drainRequests() -> [String] {
    defer { site.clearRequests() }
    return site.requests.map { "\($0.method) \($0.target)" }.sorted()
  }

  /// Returns every file below a folder with its time and size.
  private func listing(_ path: String) throws -> String {
    try giver.shell("find '\(path)' -printf '%p %T@ %s %m\\n' | sort").output
  }

  // MARK: Another cache

  @Test("The next run confirms content from another cache and fetches no body again")
  func anotherCache() throws {
    #expect(try giver.run("-q").status == 0)
    let before = try listing(giver.cache)
    _ = drainRequests()
    let imported = try taker.run("import", "--cache", giver.cache)
    #expect(imported.status == 0, "\(imported)")
    #expect(imported.output.contains("imported 3 items"), "\(imported)")
    #expect(drainRequests().isEmpty)
    #expect(try listing(giver.cache) == before)
    // The imported body is available without a declaration.
    #expect(try taker.run("get", "--offline", server.address("/a")).output == "the body of a")
    let plan = try taker.run("plan", "--items", "all")
    #expect(plan.status == 0, "\(plan)")
    #expect(plan.lines.map { $0.prefix { $0 != "\t" } } == ["keep", "keep", "keep"], "\(plan)")
    _ = drainRequests()
    let run = try taker.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["revalidated"] == 3, "\(run)")
    #expect(try run.totals()["fetched"] == 0)
    let items = try taker.run("list", "--json").json().list("items")
    let segments = items.map { $0.text("segments.0") }
    #expect(segments == ["s", "s", "s"])
    #expect(try taker.run("verify", "-q").status == 0)
    // A second import finds nothing new.
    let again = try taker.run("import", "--cache", giver.cache)
    #expect(again.output.contains("imported 0 items"), "\(again)")
  }

  @Test("An export of a stream is imported completely")
  func stream() throws {
    let pieces = (0..<4).map { "#EXTINF:2,\n\($0).ts" }
    let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nlow.m3u8\n"
    site["/film.m3u8"] = Site.Page(main)
    site["/low.m3u8"] = Site.Page(StreamGround.media(pieces))
    for number in 0..<4 { site["/\(number).ts"] = Site.Page("piece \(number)") }
    for home in [giver, taker] {
      home.configure(
        """
        cache: { min_free: 0 }
        segments:
          - name: films
            urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
        """
      )
    }
    #expect(try giver.run("-q").status == 0)
    #expect(try giver.run("export", "stick").status == 0)
    _ = drainRequests()
    #expect(try taker.run("import", "--cache", giver.path("stick")).status == 0)
    #expect(try taker.run("-q").status == 0)
    #expect(drainRequests() == ["GET /film.m3u8", "GET /low.m3u8"])
    let serving = try Serving(taker)
    defer { _ = serving.stop() }
    #expect(try StreamGround.play(serving) == (0..<4).map { "piece \($0)" }.joined())
  }

  @Test("Damaged and missing bodies are named and not imported")
  func damage() throws {
    #expect(try giver.run("-q").status == 0)
    let spoilt = try giver.shell(
      """
      f=$($prefetch path \(server.address("/a"))) && chmod u+w $f && echo other > $f
      rm -f $($prefetch path \(server.address("/b")))
      """
    )
    #expect(spoilt.status == 0, "\(spoilt)")
    let imported = try taker.run("import", "--cache", giver.cache)
    #expect(imported.status == 3, "\(imported)")
    for name in ["a", "b"] {
      #expect(imported.errors.contains("/\(name)` was left out"), "\(imported)")
    }
    let stored = try taker.run("list", "--json").json().list("items").compactMap { $0.text("url") }
    #expect(stored == [server.address("/c")])
    // A body that differs from its declaration is not imported either.
    let digest = Digest.hexadecimal("another body")
    declare(taker, [], "")
    taker.configure(
      """
      segments: [{ name: s, urls: ["\(server.address("/c"))#sha256=\(digest)"] }]
      """
    )
    try taker.removeCache()
    let refused = try taker.run("import", "--cache", giver.cache, "--json")
    #expect(refused.status == 5, "\(refused)")
    #expect(try refused.json().list("left_out").count == 3)
  }

  @Test("A folder without a cache is refused as an import with 4")
  func missing() throws {
    let none = try taker.run("import", "--cache", taker.path("nowhere"))
    #expect(none.status == 4, "\(none)")
    #expect(none.errors.contains("[import.nothing]"))
    let json = try taker.run("import", "--cache", taker.work, "--json")
    #expect(json.status == 4, "\(json)")
    #expect(try json.json().text("schema") == "prefetch-error/1")
    #expect(!FileTree.exists(taker.cache))
    #expect(try taker.run("import", "--cache", "x", "--url", "https://a/").status == 64)
    #expect(try taker.run("import").status == 64)
  }

  @Test("An imported response that varies is revalidated with its strong tag")
  func variants() throws {
    let page = Site.Page("a variant", headers: [HeaderField("Vary", "X-Key")])
    site["/a"] = page
    for home in [giver, taker] { declare(home, ["a"], ", headers: { X-Key: one }") }
    #expect(try giver.run("-q").status == 0)
    #expect(try taker.run("import", "--cache", giver.cache).status == 0)
    let run = try taker.run("--json")
    #expect(try run.totals()["revalidated"] == 1, "\(run)")
    #expect(try run.totals()["fetched"] == 0)
  }

  // MARK: A file

  @Test("An imported file without a digest is compared with the server's head, by plan and run")
  func oneFile() throws {
    let date = "Tue, 14 Nov 2023 22:13:20 GMT"
    let page = Site.Page(Array("the body of a".utf8), entityTag: "\"a\"", lastModified: date)
    site["/a"] = page
    declare(taker, ["a"])
    taker.write("the body of a", to: "file")
    #expect(try taker.shell("touch -d @1700000000 file").status == 0)
    #expect(try taker.run("import", "file", "--url", server.address("/a")).status == 0)
    let plan = try taker.run("plan", "--items", "all")
    #expect(plan.output.hasPrefix("keep\t"), "\(plan)")
    #expect(drainRequests() == ["HEAD /a"])
    let run = try taker.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["revalidated"] == 1, "\(run)")
    #expect(drainRequests() == ["HEAD /a"])
    // Afterwards the item is revalidated like any other.
    #expect(try taker.run("--json").totals()["not_modified"] == 1)
    #expect(drainRequests() == ["GET /a"])
  }

  @Test(
    "An imported file with another or unknown time or length is fetched",
    arguments: ["time", "length", "silent", "no HEAD"]
  )
  func otherFile(_ what: String) throws {
    let date = "Tue, 14 Nov 2023 22:13:20 GMT"
    var page = Site.Page(Array("the body of a".utf8), entityTag: "\"a\"", lastModified: date)
    if what == "silent" { page.lastModified = nil }
    site["/a"] = page
    let (site, refusesHead) = (site, what == "no HEAD")
    let server = try LoopbackServer { request in
      request.method == "HEAD" && refusesHead ? .respond(405) : site.respond(to: request)
    }
    taker.configure("segments: [{ name: s, urls: [\"\(server.address("/a"))\"] }]")
    taker.write(what == "length" ? "a longer body of a" : "the BODY of a", to: "file")
    // A newer file would pass for unchanged by its date alone.
    let time = what == "time" ? 1_700_000_999 : 1_700_000_000
    #expect(try taker.shell("touch -d @\(time) file").status == 0)
    #expect(try taker.run("import", "file", "--url", server.address("/a")).status == 0)
    let plan = try taker.run("plan")
    let action = what == "no HEAD" || what == "silent" ? "" : "update"
    if !action.isEmpty { #expect(plan.output.hasPrefix("\(action)\t"), "\(plan)") }
    let run = try taker.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["updated"] == 1, "\(run)")
    #expect(try taker.run("get", "--offline", server.address("/a")).output == "the body of a")
  }

  @Test("An imported file keeps its own time in a mirrored folder")
  func times() throws {
    taker.write("the body of a", to: "file")
    #expect(try taker.shell("touch -d @1600000000 file").status == 0)
    let digest = Digest.hexadecimal("the body of a")
    taker.write("\(digest)  a\n", to: "SHA256SUMS")
    let folders = ["--cache-dir", "cache", "--state-dir", "state"]
    let url = server.address("/a")
    #expect(try taker.run(["import", "file", "--url", url] + folders).status == 0)
    let words = ["mirror", "SHA256SUMS", "out", "--base-url", server.address("/")]
    let settings = [
      "--set", "transport_security.NSAllowsLocalNetworking=true", "--set", "cache.min_free=0",
    ]
    // The first run imports the file for the list, and its time is known afterwards.
    for _ in 0..<2 {
      let run = try taker.run(words + settings + folders)
      #expect(run.status == 0, "\(run)")
    }
    #expect(drainRequests().isEmpty)
    #expect(try taker.shell("stat -c %Y out/a").output == "1600000000\n")
  }
}
