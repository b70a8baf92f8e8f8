import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Ordinary items whose bodies turn out to be playlists or VAST documents.
@Suite("Recognised items", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RecognisedTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    put("/film.m3u8", Self.playlist, type: "application/vnd.apple.mpegurl")
    put("/1.ts", "one")
    put("/2.ts", "two")
    put("/lo.mp4", "film of the ad")
    put("/tag", vast, type: "application/xml")
  }

  private static let playlist =
    "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n1.ts\n#EXTINF:2,\n2.ts\n#EXT-X-ENDLIST\n"

  private var vast: String {
    """
    <VAST version="3.0"><Ad id="7"><InLine><AdSystem>s</AdSystem><AdTitle>t</AdTitle>
    <Impression>\(server.address("/never"))</Impression><Creatives><Creative><Linear>
    <Duration>00:00:10</Duration><MediaFiles><MediaFile type="video/mp4">\(server.address("/lo.mp4"))</MediaFile>
    </MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
    """
  }

  private func put(_ path: String, _ text: String, type: String? = nil) {
    site[path] = Site.Page(text, headers: type.map { [HeaderField("Content-Type", $0)] } ?? [])
  }

  private func declare(_ items: [String], _ lines: String = "", extra: String = "") {
    let urls = items.map { $0.hasPrefix("{") ? $0 : "\"\(server.address($0))\"" }
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
        - name: mixed
          urls: [\(urls.joined(separator: ", "))]
      \(lines)
      \(extra)
      """
    )
  }

  private func paths(behind count: Int = 0) -> [String] {
    server.requests.dropFirst(count).map(\.path).sorted()
  }

  private func item(_ name: String) throws -> Node {
    let items = try home.run("list", "--json").json().list("items")
    return try #require(items.first { $0.text("url")?.hasSuffix(name) == true })
  }

  private func later(_ minutes: Int, _ arguments: String) throws -> ProgramRun {
    try home.shell("exec faketime -f +\(minutes)m $prefetch \(arguments)")
  }

  @Test("An ordinary item that is a playlist becomes a stream, and one that is VAST an ad")
  func becomesWhole() throws {
    declare(["/film.m3u8", "/tag"])
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(paths() == ["/1.ts", "/2.ts", "/film.m3u8", "/lo.mp4", "/tag"])
    #expect(try item("/film.m3u8").text("type") == "hls")
    #expect(try item("/tag").text("type") == "vast")
    #expect(try home.run("list", "--type", "hls").lines.count == 1)
    let reported = try run.json().list("items").compactMap { $0.text("type") }
    #expect(Set(reported) == ["hls", "vast"], "\(run)")
    let tag = try #require(try item("/tag").text("id"))
    #expect(try home.run("get", tag).output == "film of the ad")
    let explained = try home.run("explain", "--json", server.address("/film.m3u8")).json()
    #expect(explained.list("files").contains { $0.text("url")?.hasSuffix("/2.ts") == true })
    let id = try #require(try item("/film.m3u8").text("id"))
    let serving = try Serving(home)
    let main = try serving.client.get("/-/item/-/\(id)/film.m3u8")
    #expect(main.status == 200 && main.body.contains("#EXT-X-ENDLIST"), "\(main)")
    let address = server.address("/film.m3u8").dropFirst("http://".utf8.count)
    let own = try serving.client.get("/\(address)")
    #expect([200, 302, 307].contains(own.status) && !own.body.contains("\n1.ts"), "\(own)")
    _ = serving.stop()
    #expect(try home.run("verify").status == 0)
    #expect(!paths().contains("/never"))
  }

  @Test("The second night requests no ad within its hour and revalidates the stream")
  func secondNight() throws {
    declare(["/film.m3u8", "/tag"])
    #expect(try home.run("-q").status == 0)
    let requestCount = server.requests.count
    let plan = try home.run("--dry-run", "--items", "all")
    #expect(plan.status == 0 && !plan.output.contains("fetch"), "\(plan)")
    #expect(paths(behind: requestCount) == ["/film.m3u8"])
    let planned = server.requests.count
    let second = try home.run("--json")
    #expect(second.status == 0, "\(second)")
    #expect(paths(behind: planned) == ["/film.m3u8"])
    #expect(server.requests.last?.headers["If-None-Match"] != nil)
    #expect(try second.json().number("totals.revalidated") == 1)
    #expect(try second.json().number("totals.kept") == 1)
    let third = server.requests.count
    #expect(try later(61, "-q").status == 0)
    #expect(paths(behind: third) == ["/film.m3u8", "/tag"], "the hour is over")
    put("/3.ts", "three")
    put(
      "/film.m3u8",
      Self.playlist.split(separator: "2.ts").joined(separator: "3.ts"),
      type: "application/vnd.apple.mpegurl"
    )
    #expect(try home.run("-q").status == 0)
    #expect(paths().contains("/3.ts"))
    #expect(try home.run("gc").status == 0)
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "A playlist or an ad stays a file where its declaration says so",
    arguments: ["type", "sha256", "sha512", "fragment", "publish", "head"]
  )
  func staysFile(_ reason: String) throws {
    var items: [String] = []
    var lines = ""
    for (path, body) in [("/film.m3u8", Self.playlist), ("/tag", vast)] {
      let url = server.address(path)
      switch reason {
      case "type": items.append("{ url: \"\(url)\", type: file }")
      case "sha256": items.append("{ url: \"\(url)\", sha256: \(Digest.hexadecimal(body)) }")
      case "sha512":
        let file = home.write(body, to: "body")
        let digest = try home.shell("sha512sum \(file)").output.prefix(128)
        items.append("{ url: \"\(url)\", sha512: \(digest) }")
      case "fragment": items.append("{ url: \"\(url)#sha256=\(Digest.hexadecimal(body))\" }")
      case "publish":
        items.append(path)
        lines = "    publish: { dir: \"\(home.path("tree"))\", layout: basename }"
      default:
        items.append(path)
        lines = "    store: false"
      }
    }
    declare(items, lines)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(paths() == ["/film.m3u8", "/tag"])
    guard reason != "head" else { return }
    #expect(try home.run("get", server.address("/film.m3u8")).output == Self.playlist)
    #expect(try home.run("get", server.address("/tag")).output == vast)
    #expect(try item("/film.m3u8").text("type") == "file")
    let requestCount = server.requests.count
    #expect(try home.run("-q").status == 0)
    #expect(paths(behind: requestCount).allSatisfy { ["/film.m3u8", "/tag"].contains($0) })
    #expect(try item("/film.m3u8").text("type") == "file", "the second night changes nothing")
    if reason == "publish" {
      #expect(home.read("tree/film.m3u8") == Self.playlist)
      #expect(try home.shell("ls tree").lines == ["film.m3u8", "tag"])
      // Without a tree the items have the types of their bodies.
      declare(["/film.m3u8", "/tag"])
      #expect(try home.run("-q").status == 0)
      #expect(try item("/film.m3u8").text("type") == "hls")
      #expect(try item("/tag").text("type") == "vast")
    }
  }

  @Test("`mirror` copies playlists and ads as files")
  func mirrored() throws {
    let list = home.write(
      "\(server.address("/film.m3u8"))\n\(server.address("/tag"))\n",
      to: "list.txt"
    )
    let local = "transport_security.NSAllowsLocalNetworking=true"
    let run = try home.run("mirror", list, home.path("copy"), "--set", local)
    #expect(run.status == 0, "\(run)")
    #expect(home.read("copy/film.m3u8") == Self.playlist && home.read("copy/tag") == vast)
    #expect(paths() == ["/film.m3u8", "/tag"])
  }

  @Test("A tree of streams has a recognised stream in the form of a declared one")
  func streamTree() throws {
    let publish = "    publish: { dir: \"\(home.path("tree"))\", layout: hls }"
    declare(["{ url: \"\(server.address("/film.m3u8"))\", id: film }"], publish)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let names = try home.shell("cd tree && find . -type f | sort").lines
    #expect(names.contains("./film/film.m3u8") && names.count >= 3, "\(names)")
    declare(["{ url: \"\(server.address("/film.m3u8"))\", id: film, type: hls }"], publish)
    #expect(try home.run("-q").status == 0)
    #expect(try home.shell("cd tree && find . -type f | sort").lines == names)
    declare(["{ url: \"\(server.address("/film.m3u8"))\", id: film }"], publish)
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("publish").status == 0)
    #expect(try home.shell("cd tree && find . -type f | sort").lines == names)
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "Type and content decide together, also after a byte order mark and blanks",
    arguments: [
      ["/film.m3u8", "", "\u{FEFF}\n ", "hls"],
      ["/film.m3u8", "text/plain; charset=utf-8", "", "hls"],
      ["/live", "audio/mpegurl", " \r\n", "hls"],
      ["/notes.txt", "text/plain", "", "file"],
      ["/film.m3u8", "text/css", "", "file"],
      ["/tag.xml", "text/xml", "\u{FEFF} <?xml version=\"1.0\"?>\n<!-- an ad -->\n", "vast"],
      ["/tag", "", "<?xml version=\"1.0\"?>", "vast"],
      ["/tag", "text/html", "", "file"],
      ["/tag", "application/xml", "<html><body>", "file"],
      ["/tag", "application/json", "", "file"],
    ]
  )
  func typeAndContent(_ example: [String]) throws {
    let (path, type, before, kind) = (example[0], example[1], example[2], example[3])
    let isPlaylist = !path.hasPrefix("/tag")
    put(path, before + (isPlaylist ? Self.playlist : vast), type: type.isEmpty ? nil : type)
    declare([path])
    let run = try home.run("--json")
    // Neither HTML nor an XML page that contains an ad counts as an ad.
    #expect(run.status == 0, "\(example): \(run)")
    #expect(try item(path).text("type") == kind, "\(example)")
    #expect(try home.run("-q").status == 0)
    #expect(try item(path).text("type") == kind, "\(example)")
  }

  @Test("A stream that is none any more becomes a file, and a file may become a stream")
  func changes() throws {
    declare(["/film.m3u8"])
    #expect(try home.run("-q").status == 0)
    put("/film.m3u8", "no list any more", type: "text/plain")
    #expect(try home.run("-q").status == 0)
    #expect(try item("/film.m3u8").text("type") == "file")
    #expect(try home.run("get", server.address("/film.m3u8")).output == "no list any more")
    #expect(FileTree.objects(home.cache).count == 1, "its pieces are gone")
    put("/film.m3u8", Self.playlist, type: "text/plain")
    #expect(try home.run("-q").status == 0)
    #expect(try item("/film.m3u8").text("type") == "hls")
    #expect(try home.run("verify").status == 0)
  }

  @Test("A playlist that `get` stored becomes a stream once a segment declares it")
  func named() throws {
    declare(["/1.ts"])
    #expect(try home.run("get", server.address("/film.m3u8")).output == Self.playlist)
    declare(["/film.m3u8"])
    #expect(try home.run("-q").status == 0)
    #expect(try item("/film.m3u8").text("type") == "hls")
    let requestCount = server.requests.count
    #expect(try home.run("-q").status == 0)
    #expect(paths(behind: requestCount) == ["/film.m3u8"])
  }

  @Test("A segment that publishes plain files keeps a shared playlist a file")
  func disputed() throws {
    let other = """
        - name: files
          publish: { dir: "\(home.path("tree"))", layout: basename }
          urls: ["\(server.address("/film.m3u8"))"]
      """
    declare(["/film.m3u8"], extra: other)
    #expect(try home.run("-q").status == 0)
    #expect(home.read("tree/film.m3u8") == Self.playlist)
    let requestCount = server.requests.count
    let second = try home.run("--json")
    #expect(second.status == 0, "\(second)")
    #expect(paths(behind: requestCount) == ["/film.m3u8"])
    #expect(try second.json().number("totals.not_modified") == 1)
    #expect(home.read("tree/film.m3u8") == Self.playlist)
  }

  @Test("Shards take a recognised stream as a whole")
  func shards() throws {
    declare(["/film.m3u8", "/tag"])
    for shard in ["0/2", "1/2"] {
      #expect(try home.run("--shard", shard, "-q").status == 0)
    }
    #expect(paths() == ["/1.ts", "/2.ts", "/film.m3u8", "/lo.mp4", "/tag"])
    #expect(try item("/film.m3u8").text("type") == "hls")
  }

  @Test("A failed piece fails the recognised stream, and the next run fetches the rest")
  func continues() throws {
    site["/2.ts"] = nil
    declare(["/film.m3u8"])
    let first = try home.run("--json", "-j", "1")
    #expect(first.status == 4, "\(first)")
    #expect(try home.run("path", server.address("/film.m3u8")).status == 4)
    put("/2.ts", "two")
    let requestCount = server.requests.count
    #expect(try home.run("-q").status == 0)
    #expect(paths(behind: requestCount) == ["/2.ts", "/film.m3u8"])
    #expect(try item("/film.m3u8").text("type") == "hls")
  }
}
