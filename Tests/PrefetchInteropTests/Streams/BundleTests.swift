@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Items of several files", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
final class BundleTests: StreamGround {
  @Test("A changed playlist fetches changed pieces and removes unused ones")
  func updates() throws {
    publish(version: 1)
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1))
    let objects = FileTree.objects(home.cache).count
    trap.set(nil)
    publish(version: 2)
    let update = try home.run("--json")
    #expect(update.status == 0)
    #expect(try update.json().number("totals.updated") == 1)
    #expect(
      trap.requests.map(\.path).sorted()
        == (["/film.m3u8", "/low.m3u8"] + (0..<8).map { "/low-\($0 < 4 ? 0 : 2)-\($0).ts" })
        .sorted()
    )
    #expect(
      trap.requests.filter { $0.headers["If-None-Match"] != nil }.map(\.path).sorted()
        == ["/film.m3u8"] + (0..<4).map { "/low-0-\($0).ts" } + ["/low.m3u8"],
      "what has the same name may be another"
    )
    #expect(try played() == film(version: 2))
    #expect(FileTree.objects(home.cache).count == objects)
    trap.set(nil)
    configure("    variant: high")
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 2, of: "high"))
    #expect(FileTree.objects(home.cache).count == objects, "the other variant left")
    #expect(try home.run("verify").status == 0)
    #expect(try home.run("rm", "film").status == 0)
    #expect(FileTree.objects(home.cache).isEmpty)
  }

  @Test("A failed piece fails the item, and the old stream stays complete")
  func fails() throws {
    publish(version: 1)
    site["/low-1-6.ts"] = nil
    let first = try home.run("--json", "-j", "1")
    #expect(first.status == 4, "\(first)")
    #expect(try first.json().text("items.0.error.code") == "gone")
    #expect(try first.json().text("items.0.error.message")?.contains("low-1-6.ts") == true)
    #expect(try home.run("path", "film").status == 4)
    #expect(try home.run("verify").status == 0)
    publish(version: 1)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(
      trap.requests.map(\.path).sorted()
        == ["/film.m3u8", "/low-1-6.ts", "/low-1-7.ts", "/low.m3u8"],
      "what came of it stayed, unseen"
    )
    publish(version: 2)
    site["/low-2-7.ts"] = nil
    #expect(try home.run("-q").status == 3)
    #expect(try played() == film(version: 1))
    #expect(try home.run("list", "--state", "cached").output.contains("film.m3u8"))
    #expect(try home.run("verify").status == 0)
    publish(version: 2)
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 2))
  }

  @Test("A new stream that exceeds a limit leaves the old one complete")
  func limited() throws {
    publish(version: 1, size: 4_000)
    configure(cache: ", size: 60kB")
    #expect(try home.run("-q").status == 0)
    publish(version: 2, pieces: 30, size: 4_000)
    let run = try home.run("--json")
    #expect(run.status == 3)
    #expect(try run.json().text("items.0.error.code") == "cache_full")
    #expect(try played() == film(version: 1))
    #expect(try home.run("verify").status == 0)
    configure("    max_file_size: 20kB")
    let strict = try home.run("--json")
    #expect(try strict.json().text("items.0.error.code") == "too_large")
    #expect(try played() == film(version: 1))
  }

  @Test("A damaged piece is fetched again, and nothing else")
  func repaired() throws {
    publish(version: 1)
    #expect(try home.run("-q").status == 0)
    let digest = Digest.hexadecimal(site["/low-0-2.ts"]?.body ?? [])
    let path = "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
    #expect(try home.tool("chmod", "u+w", path).status == 0)
    #expect(try home.tool("truncate", "-s", "-1", path).status == 0)
    #expect(try played() == nil, "it is not served as whole")
    #expect(try home.run("verify").status == 74)
    #expect(try home.run("verify", "--repair").status == 74)
    #expect(try home.run("verify").status == 0)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.map(\.path).sorted() == ["/film.m3u8", "/low-0-2.ts", "/low.m3u8"])
    #expect(try played() == film(version: 1))
  }

  @Test("A fast download leads to high quality at the next change")
  func automatic() throws {
    publish(version: 1)
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1))
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1), "nothing moves where nothing changed")
    let master = try #require(site["/film.m3u8"])
    put("/film.m3u8", String(decoding: master.body, as: UTF8.self) + "# new\n")
    #expect(try home.run("--dry-run").output.hasPrefix("update"))
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1, of: "high"))
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1, of: "high"))
  }

  @Test(
    "The first download takes the medium variant, and the whole stream counts as its size"
  )
  func first() throws {
    publish(version: 1)
    for name in ["least", "most"] {
      put("/\(name).m3u8", Self.media(["#EXTINF:2,\n\(name).ts"]))
      put("/\(name).ts", name)
    }
    put(
      "/film.m3u8",
      """
      #EXTM3U
      #EXT-X-STREAM-INF:BANDWIDTH=90000
      most.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=9000
      high.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=500
      least.m3u8

      """
    )
    site["/middling"] = Site.Page(String(repeating: "x", count: 5_000))
    configure("  - { name: files, urls: [\"\(server.address("/middling"))\"] }")
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1, of: "high"))
    // The stream's size is the sum of its files, not its playlist's alone.
    let sizes = try home.run("list", "--sort", "-size").lines.map { $0.hasSuffix("/film.m3u8") }
    #expect(sizes == [true, false])
  }

  @Test("`check` refuses `seconds` for an item that is not a stream")
  func length() throws {
    home.write(
      """
      segments:
        - { name: s, urls: [{ url: "https://a.example/a", seconds: 5 }] }
        - { name: t, urls: [{ url: "https://a.example/b.m3u8", type: hls, seconds: 5 }] }
      """
    )
    let check = try home.run("check")
    #expect(check.status == 78 && check.errors.contains("prefetch.yaml:2:"), "\(check)")
    #expect(check.errors.contains("`seconds` is for streams") && !check.errors.contains(":3:"))
  }

  @Test("A network of poor measured quality gets no better variant", arguments: ["9GB", "1kB"])
  func measured(good: String) throws {
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: films
          urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
      network: { type: wifi, quality: { good: \(good)/s } }
      """
    )
    publish(version: 1, size: 200_000)
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1))
    publish(version: 2, size: 200_000)
    let master = try #require(site["/film.m3u8"])
    put("/film.m3u8", String(decoding: master.body, as: UTF8.self) + "# new\n")
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 2, of: good == "9GB" ? "low" : "high"))
  }

  @Test("An unchanged stream gets a better variant once its host is known to be fast")
  func climbs() throws {
    publish(version: 1, size: 40_000)
    let high = film(version: 1, of: "high")
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1), "not in the run that fetched it first")
    // The cache has no room for the film.
    configure(cache: ", size: 1MB")
    let full = try home.run("--json")
    #expect(full.status == 0, "\(full)")
    #expect(try full.totals()["updated"] == 0, "\(full)")
    // Nor has a limit of volume.
    configure("    network: { daily_limit: 1GB }")
    #expect(try home.run("-q").status == 0)
    configure("    max_bitrate: 8000")
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1))
    configure()
    let plan = try home.run("plan")
    #expect(plan.output.hasPrefix("update\tfilms\t"), "\(plan)")
    #expect(plan.output.contains("its line brings a better variant"), "\(plan)")
    #expect(try played() == film(version: 1))
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["updated"] == 1, "\(run)")
    #expect(try played() == high)
    trap.set(nil)
    #expect(try home.run("plan").output.isEmpty)
    #expect(try home.run("-q").status == 0)
    #expect(try played() == high)
    #expect(trap.requests.allSatisfy { !$0.path.contains("low") })
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("A failed better variant leaves the stream as it was and is resumed later")
  func climbsInVain() throws {
    publish(version: 1, size: 40_000)
    let high = film(version: 1, of: "high")
    #expect(try home.run("-q").status == 0)
    let lost = site["/high-1-6.ts"]
    site["/high-1-6.ts"] = nil
    for _ in 0..<2 {
      let run = try home.run("--json", "-j", "1")
      #expect(run.status == 0, "\(run)")
      #expect(try run.totals()["updated"] == 0, "\(run)")
      #expect(try played() == film(version: 1))
      #expect(try home.run("verify", "-q").status == 0)
    }
    site["/high-1-6.ts"] = lost
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(try played() == high)
    let requested = Set(trap.requests.map(\.path).filter { $0.hasSuffix(".ts") })
    #expect(requested.contains("/high-1-6.ts"))
    #expect(requested.isSubset(of: ["/high-1-6.ts", "/high-1-7.ts"]), "what came stayed, unseen")
    #expect(try home.run("verify", "-q").status == 0)
    #expect(try home.run("gc").status == 0)
    #expect(FileTree.objects(home.cache).count == 8 + 4, "8 pieces, 2 playlists and their copies")
  }

  @Test("A new stream begins with the rate of its host in the last days")
  func hostRate() throws {
    publish(version: 1)
    let files = { (lines: String) in
      """
      cache: { min_free: 0 }
      segments:
        - { name: files, urls: ["\(self.server.address("/large"))"] }
      \(lines)
      """
    }
    let film = """
        - name: films
          urls: [{ url: "\(server.address("/film.m3u8"))", id: film, type: hls }]
      """
    site["/large"] = Site.Page(String(repeating: "x", count: 300_000))
    home.configure(files(""))
    #expect(try home.run("-q").status == 0)
    home.configure(files(film))
    #expect(try home.run("-q").status == 0)
    #expect(try played() == self.film(version: 1, of: "high"))
    // The speed of a `get` counts as well, but not a measurement of days ago.
    for age in [nil, "-8 days"] as [String?] {
      try home.removeCache()
      #expect(try home.tool("rm", "-rf", home.state).status == 0)
      home.configure(files(film))
      #expect(try home.run("get", server.address("/large"), "-o", "large").status == 0)
      if let age {
        let change = "UPDATE host_paces SET at=1000*unixepoch('now', '\(age)')"
        let database = "\(home.state)/state.sqlite"
        try #require(home.tool("sqlite3", database, change).status == 0)
      }
      #expect(try home.run("-q", "run", "films").status == 0)
      #expect(try played() == self.film(version: 1, of: age == nil ? "high" : "low"))
    }
  }

  @Test("An interrupted stream resumes its variant, although its host's rate is known by then")
  func begun() throws {
    publish(version: 1, pieces: 4, size: 100_000)
    site["/low-1-3.ts"] = nil
    #expect(try home.run("-q", "-j", "1").status == 4)
    publish(version: 1, pieces: 4, size: 100_000)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.map(\.path).filter { $0.hasSuffix(".ts") } == ["/low-1-3.ts"])
    #expect(try played() == film(version: 1, pieces: 4))
  }

  @Test("Two runs that fetch one stream at the same time request each file once")
  func together() throws {
    publish(version: 1, pieces: 40)
    for name in ["one", "two"] {
      home.configure(
        """
        name: \(name)
        cache: { min_free: 0 }
        segments:
          - name: films
            urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
        """,
        to: "\(name).yaml"
      )
    }
    trap.set(nil)
    let runs = try ["one", "two"].map { try home.start(["-q", "-c", "\($0).yaml"]) }
    for run in runs { #expect(run.finish().status == 0) }
    for path in Set(trap.requests.map(\.path)) where path.hasSuffix(".ts") {
      #expect(server.requests(of: path).count == 1, "\(path)")
    }
    #expect(try played() == film(version: 1, pieces: 40))
    #expect(try home.run("verify").status == 0)
  }

  @Test("A stream is removed as a whole with its declaration, unless it is locked")
  func leaving() throws {
    publish(version: 1)
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("lock", "film").status == 0)
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: films, urls: [], allow_empty: yes }]"
    )
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("gc", "--set", "cache.size=1").status == 0)
    #expect(try played() == film(version: 1))
    #expect(try home.run("unlock", "film").status == 0)
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("gc").status == 0)
    #expect(FileTree.objects(home.cache).isEmpty)
    #expect(try home.run("list").output.isEmpty)
  }

  @Test("A missing playlist of a variant is replaced by its alternate")
  func redundant() throws {
    publish(version: 1)
    put(
      "/film.m3u8",
      """
      #EXTM3U
      #EXT-X-STREAM-INF:BANDWIDTH=1000
      gone/low.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=1000
      low.m3u8

      """
    )
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 1))
  }

  @Test("A missing piece comes from an alternate, as items do")
  func alternates() throws {
    publish(version: 1)
    let whole = Site()
    for piece in 0..<8 {
      let path = "/low-\(piece < 4 ? 0 : 1)-\(piece).ts"
      whole[path] = site[path]
    }
    let other = try LoopbackServer { whole.respond(to: $0) }
    let film = film(version: 1)
    site["/low-0-2.ts"] = nil
    configure("    alternates: [\"\(other.address("/"))\"]")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(other.requests.map(\.path) == ["/low-0-2.ts"])
    #expect(try played() == film)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.map(\.path).sorted() == ["/film.m3u8", "/low.m3u8"])
  }

  @Test("A piece of a busy server is retried, as items are")
  func busy() throws {
    publish(version: 1)
    let requested = Guarded(0)
    let site = site
    let server = try LoopbackServer { request in
      guard request.path == "/low-0-2.ts" else { return site.respond(to: request) }
      let isFirst = requested.withLock { count in
        count += 1
        return count == 1
      }
      return isFirst ? .respond(503, text: "") : site.respond(to: request)
    }
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { delay: 1ms, max_delay: 2ms } }
      segments:
        - name: films
          urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(requested.withLock(\.self) == 2)
    #expect(try played() == film(version: 1))
  }

  // MARK: What is refused

  @Test(
    "A stream that cannot be stored is refused with its reason",
    arguments: [
      ("drm", "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple\"", "com.apple"),
      ("bad_url", "#EXT-X-KEY:METHOD=AES-128,URI=\"data:text/plain,x\"", "line 3"),
      ("bad_url", "#EXTINF:2,\nfile:///etc/passwd", "line 4"),
      ("manifest_invalid", "#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8", "master"),
      ("manifest_invalid", "#EXTINF:two,\na.ts", "line 3"),
      ("manifest_invalid", "#EXTINF:2,\n#EXT-X-BYTERANGE:10\nlow.m3u8", "line 5"),
      ("corrupted", "#EXTINF:2,\n#EXT-X-BYTERANGE:99@99999\nlow.m3u8", "range"),
    ]
  )
  func refused(code: String, lines: String, words: String) throws {
    publish(version: 1)
    put("/film.m3u8", Self.media([lines, "#EXTINF:2,\nlow-0-0.ts"]))
    let run = try home.run("--json")
    #expect(run.status != 0)
    #expect(try run.json().text("items.0.error.code") == code, "\(run)")
    #expect(try run.json().text("items.0.error.message")?.contains(words) == true, "\(run)")
    // Pieces of an incomplete stream are kept, but not shown.
    #expect(FileTree.objects(home.cache).isEmpty || code == "corrupted")
    #expect(try home.run("path", "film").status == 4)
  }

  @Test("A stream without an end is live, and is refused or stored as a snapshot")
  func live() throws {
    publish(version: 1)
    put("/film.m3u8", Self.media(["#EXTINF:2,\nlow-0-0.ts"], lastLine: ""))
    let run = try home.run("--json")
    #expect(try run.json().text("items.0.error.code") == "live")
    configure("    live: snapshot")
    #expect(try home.run("-q").status == 0)
    put(
      "/film.m3u8",
      Self.media(["#EXTINF:2,\nlow-0-0.ts", "#EXTINF:2,\nlow-0-1.ts"], lastLine: "")
    )
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home)
    let playlist = try serving.client.get("/-/item/-/film/film.m3u8")
    let generation = playlist.body.split(separator: "\n").first { $0.hasPrefix("@") }?.prefix(18)
    let text = playlist.body.replacing(generation ?? "@", with: "")
    let pieces = (1...2).map { number in
      let body = site["/low-0-\(number - 1).ts"].map { String(decoding: $0.body, as: UTF8.self) }
      return Digest.marking("v1/00000\(number).ts", body ?? "")
    }
    #expect(
      text.contains("\(pieces[0])\n#EXTINF:2,\n\(pieces[1])\n#EXT-X-ENDLIST\n"),
      "\(text)"
    )
    _ = serving.stop()
  }

  @Test("Playlists that refer to each other in a circle are refused")
  func cycle() throws {
    publish(version: 1)
    put("/film.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nfilm.m3u8\n")
    let run = try home.run("--json")
    #expect(try run.json().text("items.0.error.code") == "unsupported")
    put("/film.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nother.m3u8\n")
    put("/other.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n")
    #expect(try home.run("--json").json().text("items.0.error.code") == "unsupported")
  }

  @Test("Signed addresses are one piece while nothing else changes")
  func signed() throws {
    publish(version: 1)
    configure("    key_ignore: [token]")
    put("/film.m3u8", Self.media(["#EXTINF:2,\nlow-0-0.ts?token=1&a=b"]))
    #expect(try home.run("-q").status == 0)
    put("/film.m3u8", Self.media(["#EXTINF:2,\nlow-0-0.ts?token=2&a=b"]))
    trap.set(nil)
    let rotated = try home.run("--json")
    #expect(rotated.status == 0, "\(rotated)")
    #expect(trap.requests.map(\.path) == ["/film.m3u8"])
    #expect(try rotated.totals()["updated"] == 0, "another token is no other film: \(rotated)")
    #expect(try rotated.totals()["revalidated"] == 1, "\(rotated)")
    // The next run uses the last response's validators.
    let next = try home.run("--json")
    #expect(try next.totals()["not_modified"] == 1, "\(next)")
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("`explain` shows the files of a stream and its reserved pieces")
  func explained() throws {
    publish(version: 1, pieces: 4)
    #expect(try home.run("-q").status == 0)
    let whole = try home.run("explain", "film", "--json").json().list("files")
    // The copy has two playlists and four pieces, described by two documents.
    let names = whole.compactMap { $0.text("name") }
    #expect(names.count == 5 && names.allSatisfy { $0.hasPrefix("v1") }, "\(names)")
    #expect(whole.count == 7 && whole.allSatisfy { $0.text("waits") == "false" })
    #expect(whole.compactMap { $0.text("path") }.allSatisfy { FileTree.read($0) != nil })
    publish(version: 2, pieces: 4)
    site["/low-2-3.ts"] = nil
    #expect(try home.run("-q", "-j", "1").status != 0)
    let both = try home.run("explain", "film", "--json").json().list("files")
    #expect(both.count { $0.text("waits") == "true" } > 0, "\(both)")
    #expect(both.count { $0.text("name") != nil && $0.text("waits") == "false" } == 5)
    let text = try home.run("explain", "film").output
    #expect(
      text.contains("\nfile       v1/000001-") && text.contains(", waits for the rest\n"),
      "\(text)"
    )
    #expect(try home.run("list").output.split(separator: "\n").count == 1)
  }
}
