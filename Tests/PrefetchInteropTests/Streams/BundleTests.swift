@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Items of several files", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct BundleTests {
  private let home: Home
  private let site = Site()
  private let trap: KillTrap
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    let trap = KillTrap(site)
    self.trap = trap
    server = try LoopbackServer { trap.respond(to: $0) }
    configure()
  }

  private func configure(_ lines: String = "", cache: String = "") {
    home.configure(
      """
      cache: { min_free: 0\(cache) }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
        - name: films
          urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
      \(lines)
      """
    )
  }

  // MARK: Streams

  private func put(_ path: String, _ text: String) {
    site[path] = Site.Page(text)
  }

  /// Two variants; each piece has a body of its own for each version.
  private func publish(version: Int, pieces: Int = 8, size: Int = 2_000) {
    put(
      "/film.m3u8",
      """
      #EXTM3U
      #EXT-X-STREAM-INF:BANDWIDTH=1000
      low.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=9000
      high.m3u8

      """
    )
    for variant in ["low", "high"] {
      let lines = (0..<pieces).map { piece -> String in
        // The first half stays what it was.
        let name = "\(variant)-\(piece < pieces / 2 ? 0 : version)-\(piece).ts"
        put("/\(name)", String(repeating: "\(name) ", count: size / (name.utf8.count + 1)))
        return "#EXTINF:2,\n\(name)"
      }
      put("/\(variant).m3u8", Self.media(lines))
    }
  }

  private static func media(_ lines: [String], ending: String = "#EXT-X-ENDLIST") -> String {
    (["#EXTM3U", "#EXT-X-TARGETDURATION:2"] + lines + [ending]).joined(separator: "\n") + "\n"
  }

  /// What a player gets for each piece, one after the other; nil where anything is missing.
  private func played() throws -> String? {
    let serving = try Serving(home)
    defer { _ = serving.stop() }
    return try Self.play(serving)
  }

  private static func play(_ serving: Serving) throws -> String? {
    guard let pieces = try open(serving) else { return nil }
    return try pieces.map { try piece($0, serving) }.reduce("") { film, piece in
      piece.flatMap { next in film.map { $0 + next } }
    }
  }

  /// Where the pieces are that the playlists of now name.
  private static func open(_ serving: Serving) throws -> [String]? {
    let main = try serving.client.get("/-/item/-/film/film.m3u8")
    guard main.status == 200 else { return nil }
    let text = main.body
    guard let stream = text.split(separator: "\n").last(where: { !$0.hasPrefix("#") }) else {
      return nil
    }
    let playlist = try serving.client.get("/-/item/-/film/\(stream)")
    guard playlist.status == 200 else { return nil }
    let folder = stream.prefix { $0 != "/" }
    return playlist.body.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { "/-/item/-/film/\(folder)/\($0)" }
  }

  private static func piece(_ path: String, _ serving: Serving) throws -> String? {
    let piece = try serving.client.get(path)
    return piece.status == 200 ? piece.body : nil
  }

  private func film(version: Int, pieces: Int = 8, of variant: String = "low") -> String {
    (0..<pieces).map { piece in
      let name = "/\(variant)-\(piece < pieces / 2 ? 0 : version)-\(piece).ts"
      return site[name].map { String(decoding: $0.body, as: UTF8.self) } ?? ""
    }.joined()
  }

  // MARK: Trees

  /// What a player gets of the published copy; nil where anything is missing.
  private func playedFromTree() -> String? {
    guard let main = home.read("films/film/film.m3u8"),
      let stream = main.split(separator: "\n").last(where: { !$0.hasPrefix("#") }),
      let playlist = home.read("films/film/\(stream)")
    else { return nil }
    let pieces = playlist.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { home.read("films/film/\($0)") }
    return pieces.contains(nil) ? nil : pieces.compactMap(\.self).joined()
  }

  @Test(
    "A published stream is the old one or the new one, wherever its publisher is killed",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)"),
    arguments: ["hardlink", "copy"]
  )
  func published(link: String) throws {
    configure("    publish: { dir: films, layout: hls, link: \(link) }")
    publish(version: 1, pieces: 4, size: 200)
    #expect(try home.run("-q").status == 0)
    #expect(playedFromTree() == film(version: 1, pieces: 4))
    var version = 1
    var kills = 0
    for call in ["linkat", "renameat", "unlinkat"] {
      for moment in 1...40 {
        let old = film(version: version, pieces: 4)
        version += 1
        publish(version: version, pieces: 4, size: 200)
        let run = try home.shell(
          """
          strace -f -qq -o /dev/null -P films/film -P films/film/v1 -e trace=\(call) \
          -e inject=\(call):signal=KILL:when=\(moment) $prefetch -q
          """
        )
        let new = film(version: version, pieces: 4)
        let shown = playedFromTree()
        #expect(shown == old || shown == new, "\(call) \(moment)")
        if run.status == 0 { break }
        kills += 1
        #expect(try home.run("-q").status == 0, "\(call) \(moment)")
        #expect(playedFromTree() == new, "\(call) \(moment)")
        #expect(try home.run("verify", "-q").status == 0, "\(call) \(moment)")
        // A file for each piece, and the playlists; nothing of older films.
        let names = FileTree.listing(home.path("films")).filter {
          $0.value.mode & S_IFMT == S_IFREG
        }
        #expect(names.count == 6, "\(call) \(moment): \(names.keys.sorted())")
      }
    }
    #expect(kills > 6)
  }

  // MARK: Players

  private var leases: [String] {
    let folder = "\(home.cache)/locks/leases.d/"
    let names = FileTree.listing(folder).keys.map { $0.dropFirst(folder.count) }
    return Set(names.compactMap { $0.split(separator: "/").first.map { String($0) } }).sorted()
  }

  @Test("A stream that is replaced while it plays plays on as it began, for ten minutes")
  func replacedInPlay() throws {
    publish(version: 1)
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home)
    let begun = try #require(try Self.open(serving))
    let generation = try #require(begun[0].split(separator: "/").dropFirst(4).first)
    #expect(generation.hasPrefix("@") && begun.count == 8, "\(begun)")
    var played = try Self.piece(begun[0], serving)
    publish(version: 2)
    #expect(try home.run("-q").status == 0)
    for path in begun.dropFirst() {
      let piece = try Self.piece(path, serving)
      played = played.flatMap { begun in piece.map { begun + $0 } }
    }
    #expect(played == film(version: 1))
    #expect(try Self.play(serving) == film(version: 2))
    #expect(leases.count == 2)
    #expect(try home.run("verify", "-q").status == 0)
    _ = serving.stop()

    // Another server goes on with it, until nobody has read it for ten minutes.
    let next = try Serving(home)
    #expect(try next.client.get(begun[6]).status == 200)
    _ = next.stop()
    let old = generation.dropFirst()
    let aged = try home.shell("touch -d '-11 minutes' '\(home.cache)/locks/leases.d/\(old)/files'")
    #expect(aged.status == 0)
    let last = try Serving(home)
    #expect(try last.client.get(begun[6]).status == 410)
    #expect(try last.client.get("/-/item/-/film/@0123456789abcdef/v1.m3u8").status == 410)
    #expect(try last.client.get("/-/item/-/other/@0123456789abcdef/v1.m3u8").status == 404)
    #expect(try Self.play(last) == film(version: 2))
    _ = last.stop()
    #expect(try home.run("-q").status == 0)
    #expect(!leases.contains(String(old)), "\(leases)")
  }

  @Test("A stream that left its list plays on; what is declared takes its room where it is short")
  func removedInPlay() throws {
    publish(version: 1)
    put("/other", String(repeating: "x", count: 40_000))
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home)
    let begun = try #require(try Self.open(serving))
    let segments = """
      segments: [{ name: films, urls: ["\(server.address("/other"))"] }]
      network: { retries: { items: 0, lookups: 0 } }

      """
    home.configure(segments + "cache: { min_free: 0, purge: { max_fraction: 1 } }")
    let run = try home.run("-q", "--allow", "mass-removal")
    #expect(run.status == 0, "\(run)")
    #expect(try home.run("path", "film").status == 4)
    #expect(
      try Self.piece(begun[3], serving)
        == site["/low-0-3.ts"].map { String(decoding: $0.body, as: UTF8.self) }
    )
    put("/other", String(repeating: "y", count: 40_000))
    home.configure(segments + "cache: { min_free: 0, size: 50kB }")
    #expect(try home.run("-q").status == 0)
    #expect(leases.isEmpty, "\(leases)")
    #expect(try serving.client.get("/-/item/-/film/film.m3u8").status == 404)
    _ = serving.stop()
  }

  // MARK: Updates

  @Test("A changed playlist moves the changed pieces, and what is not played any more leaves")
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

  @Test("A piece that fails fails the item, and the old whole stays")
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

  @Test("Killed at any moment of an update there is the old whole or the new one")
  func killed() throws {
    var random = SeededRandom(3)
    publish(version: 0)
    #expect(try home.run("-q").status == 0)
    var last = 0
    for round in 1...Binary.rounds {
      publish(version: round, pieces: 20)
      let count = Int.random(in: 1...13, using: &random)
      trap.set(count > 12 ? nil : .request(count))
      let run = try home.start(["-q"])
      if count > 12 {
        poll(nil, 0, CInt.random(in: 0...60, using: &random))
      } else {
        try #require(trap.waitForRequests(count), "round \(round)")
      }
      run.signal(SIGKILL)
      _ = run.finish()
      #expect(try home.run("verify").status == 0, "round \(round)")
      let film = try played()
      let pieces = last == 0 ? 8 : 20
      let isOld = film == self.film(version: last, pieces: pieces)
      #expect(isOld || film == self.film(version: round, pieces: 20), "round \(round)")
      trap.set(nil)
      let next = try home.run("--json")
      #expect(next.status == 0, "round \(round): \(next)")
      #expect(try played() == self.film(version: round, pieces: 20), "round \(round)")
      #expect(try home.run("verify").output.contains("0 damaged"), "round \(round)")
      last = round
    }
    let objects = FileTree.objects(home.cache).count
    #expect(try home.run("gc").status == 0)
    #expect(FileTree.objects(home.cache).count == objects)
  }

  @Test("A run that is told to stop keeps what came, and the next one asks for the rest")
  func interrupted() throws {
    publish(version: 1, pieces: 12)
    trap.set(.request(8))
    let run = try home.start(["-q", "-j", "1"])
    try #require(trap.waitForRequests(8))
    run.signal(SIGTERM)
    #expect(run.finish().status == 143)
    #expect(try home.run("path", "film").status == 4)
    #expect(try home.run("list", "--state", "idle").output.contains("film.m3u8"))
    let came = Set(trap.requests.dropLast().map(\.path)).subtracting(["/film.m3u8", "/low.m3u8"])
    #expect(came.count == 5)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(came.isDisjoint(with: trap.requests.map(\.path)))
    #expect(try played() == film(version: 1, pieces: 12))
  }

  @Test("A limit that the new whole does not fit into leaves the old one whole")
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

  // MARK: Editions

  /// The film encoded again: other bytes under the same names, and other lengths.
  private func encodeAgain(_ edition: Int, pieces: Int = 6) {
    let lines = (0..<pieces).map { piece -> String in
      put("/same-\(piece).ts", String(repeating: "\(edition).\(piece) ", count: 300))
      return "#EXTINF:\(edition + 1),\nsame-\(piece).ts"
    }
    put("/film.m3u8", Self.media(lines))
  }

  @Test("A film that was encoded again under the same names is the new one as a whole")
  func reencoded() throws {
    configure("    publish: { dir: screen }")
    encodeAgain(1)
    #expect(try home.run("-q").status == 0)
    encodeAgain(2)
    // One piece happens to be the same.
    site["/same-3.ts"] = Site.Page(String(repeating: "1.3 ", count: 300))
    trap.set(nil)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(trap.requests.allSatisfy { $0.headers["If-None-Match"] != nil }, "\(trap.requests)")
    #expect(try shown() == (0..<6).map { "\($0 == 3 ? 1 : 2).\($0)" })
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.map(\.path) == ["/film.m3u8"], "unchanged")
    #expect(try home.run("verify").status == 0)
  }

  /// The first word of each piece in the published tree, in their order.
  private func shown() throws -> [String] {
    try home.shell("for f in $(find screen -name '*.ts' | sort); do cut -d' ' -f1 $f; done").lines
      .map(String.init)
  }

  @Test("Under an unchanged playlist `--revalidate` finds another piece, and `--refetch` asks anew")
  func revalidates() throws {
    configure("    publish: { dir: screen }")
    encodeAgain(1)
    #expect(try home.run("-q").status == 0)
    site["/same-2.ts"] = Site.Page(String(repeating: "9.2 ", count: 300))
    #expect(try home.run("-q").status == 0)
    #expect(try shown()[2] == "1.2")
    let plan = try home.run("plan", "--revalidate")
    #expect(plan.lines.allSatisfy { $0.hasPrefix("revalidate\t") }, "\(plan)")
    #expect(plan.output.contains("its pieces are asked about"), "\(plan)")
    trap.set(nil)
    #expect(try home.run("-q", "--revalidate").status == 0)
    #expect(trap.requests.count == 7)
    #expect(trap.requests.allSatisfy { $0.headers["If-None-Match"] != nil })
    #expect(try shown()[2] == "9.2")
    trap.set(nil)
    #expect(try home.run("-q", "--refetch").status == 0)
    #expect(trap.requests.count == 7)
    #expect(trap.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
    #expect(try home.run("verify").status == 0)
  }

  @Test("A piece or playlist whose body was lost comes back, and nothing else is asked for")
  func lost() throws {
    publish(version: 1, pieces: 4)
    #expect(try home.run("-q").status == 0)
    let files = try home.run("explain", "film", "--json").json().list("files")
    for file in files where file.text("name") != nil {
      let path = try #require(file.text("path"))
      FileTree.remove(path)
      trap.set(nil)
      #expect(try home.run("-q").status == 0, "\(file)")
      #expect(FileTree.read(path) != nil, "\(file)")
      #expect(trap.requests.count <= 3, "\(trap.requests.map(\.path))")
      #expect(try home.run("verify", "-q").status == 0, "\(file)")
    }
  }

  @Test("A playlist that became longer asks for what is new alone")
  func extended() throws {
    encodeAgain(1)
    #expect(try home.run("-q").status == 0)
    encodeAgain(1, pieces: 9)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(
      trap.requests.map(\.path).sorted()
        == ["/film.m3u8"] + (6..<9).map { "/same-\($0).ts" }
    )
  }

  @Test("What waits of an edition that never became whole is no piece of the next one")
  func abandoned() throws {
    configure("    publish: { dir: screen }")
    encodeAgain(1)
    site["/same-5.ts"] = nil
    #expect(try home.run("-q").status == 4)
    encodeAgain(2)
    site["/same-3.ts"] = nil
    #expect(try home.run("-q", "-j", "1").status == 4)
    encodeAgain(2)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(
      trap.requests.map(\.path).sorted()
        == ["/film.m3u8"] + (3..<6).map { "/same-\($0).ts" },
      "no piece that is whole moves twice"
    )
    #expect(try shown() == (0..<6).map { "2.\($0)" })
    // The same beside an old whole that is shown until then.
    encodeAgain(3)
    site["/same-4.ts"] = nil
    #expect(try home.run("-q", "-j", "1").status == 3)
    #expect(try shown() == (0..<6).map { "2.\($0)" })
    encodeAgain(3)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.allSatisfy { $0.headers["If-None-Match"] != nil })
    #expect(try shown() == (0..<6).map { "3.\($0)" })
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "What is no piece of a film is not stored in its place, and the next run brings it",
    arguments: [
      ("/key", "short", ""), ("/same-1.ts", "", ""),
      ("/same-1.ts", "{\"error\": \"log in\"}", ""),
      ("/same-1.ts", "<html>log in</html>", ""),
      ("/same-1.ts", "small", "    expect: { min_size: 1kB }"),
    ]
  )
  func strange(path: String, body: String, lines: String) throws {
    configure(lines)
    encodeAgain(1, pieces: 3)
    put("/key", "0123456789abcdef")
    put("/locked.ts", String(repeating: "0123456789abcdef", count: 100))
    let text = site["/film.m3u8"].map { String(decoding: $0.body, as: UTF8.self) } ?? ""
    put(
      "/film.m3u8",
      text.replacing(
        "#EXT-X-ENDLIST",
        with: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n#EXTINF:2,\nlocked.ts\n#EXT-X-ENDLIST"
      )
    )
    let right = site[path]
    put(path, body)
    let failed = try home.run("--json", "-j", "1")
    #expect(failed.status == 4, "\(failed)")
    #expect(try failed.json().text("items.0.error.message")?.contains(path) == true, "\(failed)")
    #expect(FileTree.objects(home.cache)[Digest.hexadecimal(body)] == nil)
    site[path] = right
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("path", "film").status == 0)
    #expect(FileTree.objects(home.cache)[Digest.hexadecimal(right?.body ?? [])] != nil)
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

  @Test("What came fast comes in high quality, once there is something new")
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

  @Test("A network that is measured to be poor takes no better quality", arguments: ["9GB", "1kB"])
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

  @Test("Two runs that want one stream at the same time ask for each of its files once")
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

  @Test("A stream leaves with its declaration as a whole, unless it is locked")
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

  @Test("Where the playlist of a variant cannot be had, its other place has the stream")
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

  // MARK: What is refused

  @Test(
    "What cannot be kept is refused by name, in a sentence",
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
    // Of one that is not whole what came waits unseen.
    #expect(FileTree.objects(home.cache).isEmpty || code == "corrupted")
    #expect(try home.run("path", "film").status == 4)
  }

  @Test("A stream without an end is live: refused, or taken as it is")
  func live() throws {
    publish(version: 1)
    put("/film.m3u8", Self.media(["#EXTINF:2,\nlow-0-0.ts"], ending: ""))
    let run = try home.run("--json")
    #expect(try run.json().text("items.0.error.code") == "live")
    configure("    live: snapshot")
    #expect(try home.run("-q").status == 0)
    put("/film.m3u8", Self.media(["#EXTINF:2,\nlow-0-0.ts", "#EXTINF:2,\nlow-0-1.ts"], ending: ""))
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

  @Test("Playlists that lead back, or to one another, are refused")
  func cycle() throws {
    publish(version: 1)
    put("/film.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nfilm.m3u8\n")
    let run = try home.run("--json")
    #expect(try run.json().text("items.0.error.code") == "unsupported")
    put("/film.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nother.m3u8\n")
    put("/other.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n")
    #expect(try home.run("--json").json().text("items.0.error.code") == "unsupported")
  }

  @Test("Signed addresses are one piece as long as nothing else changes")
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
    // The next run asks with what came last.
    let next = try home.run("--json")
    #expect(try next.totals()["not_modified"] == 1, "\(next)")
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("`explain` shows what a stream consists of, and what waits for the rest")
  func explained() throws {
    publish(version: 1, pieces: 4)
    #expect(try home.run("-q").status == 0)
    let whole = try home.run("explain", "film", "--json").json().list("files")
    // Two playlists and four pieces are its copy; two documents tell of them.
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

  @Test("A piece that was broken off goes on where it ended, in the same run and in the next")
  func resumes() throws {
    publish(version: 1, pieces: 1, size: 3_000_000)
    trap.set(.bytes(1_000_000, below: "/low-"))
    let first = try home.start(["-q"])
    while trap.requests.count < 3 { poll(nil, 0, 5) }
    let piece = "/low-1-0.ts"
    while FileTree.names(home.cache + "/partial").isEmpty { poll(nil, 0, 5) }
    poll(nil, 0, 200)
    first.signal(SIGTERM)
    #expect(first.finish().status == 143)
    trap.set(nil)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let asked = trap.requests.filter { $0.path == piece }
    #expect(asked.count == 1 && asked[0].headers["Range"] != nil, "\(asked)")
    #expect(try played() == film(version: 1, pieces: 1))
    #expect(try home.run("verify").status == 0)
  }

  /// A link that ends in the middle of one piece, and lets nothing through afterwards.
  private final class Link: Sendable {
    private struct State {
      var end: String?
      var isDown = false
      var sent: [String: Int] = [:]
      var asked: [String: Int] = [:]
    }

    private let state = Guarded(State())

    /// The piece in whose middle it ends next; nil for none.
    func mend(until end: String?) {
      state.withLock { ($0.end, $0.isDown) = (end, false) }
    }

    func sent(of path: String) -> Int { state.withLock { $0.sent[path] ?? 0 } }
    func asked(for path: String) -> Int { state.withLock { $0.asked[path] ?? 0 } }

    func carry(_ path: String, _ script: Script) -> Script {
      state.withLock { state in
        guard !state.isDown else { return Script([.close]) }
        guard case .send(let bytes)? = script.steps.first else { return script }
        let head = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0
        let isEnd = path == state.end
        state.isDown = isEnd
        let end = isEnd ? head + (bytes.count - head) / 2 : bytes.count
        state.asked[path, default: 0] += 1
        state.sent[path, default: 0] += end - head
        return isEnd ? Script([.send(Array(bytes[..<end])), .close]) : script
      }
    }
  }

  /// The film has 2.4 MB, and so has each other one.
  @Test(
    "A link that drops in each of three nights: the fourth has it whole, and no byte came twice",
    arguments: [nil, "2600kB"]
  )
  func drops(size: String?) throws {
    publish(version: 1, pieces: 8, size: 300_000)
    let link = Link()
    let site = site
    let far = try LoopbackServer { request in link.carry(request.path, site.respond(to: request)) }
    home.configure(
      """
      cache: { min_free: 0\(size.map { ", size: \($0)" } ?? "") }
      network: { concurrency: 1, retries: { items: 0, lookups: 0 } }
      segments: [{ name: films, urls: [{ url: "\(far.address("/film.m3u8"))", type: hls, id: film }] }]
      """
    )
    let pieces = (0..<8).map { "/low-\($0 < 4 ? 0 : 1)-\($0).ts" }
    for night in [1, 3, 6] {
      link.mend(until: pieces[night])
      let run = try home.run("-q")
      #expect(run.status == 4, "night \(night): \(run)")
      #expect(try played() == nil, "night \(night)")
    }
    link.mend(until: nil)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try played() == film(version: 1))
    for (number, piece) in pieces.enumerated() {
      #expect(link.sent(of: piece) == site[piece]?.body.count, "\(piece)")
      #expect(link.asked(for: piece) == ([1, 3, 6].contains(number) ? 2 : 1), "\(piece)")
    }
    #expect(try home.run("verify").status == 0)

    // An update that has no room beside the old film waits for no night.
    publish(version: 2, pieces: 8, size: 300_000)
    let update = (0..<8).map { "/low-\($0 < 4 ? 0 : 2)-\($0).ts" }
    link.mend(until: update[6])
    #expect(try home.run("-q").status == 3)
    let bytes = FileTree.objects(home.cache).values.reduce(0) { $0 + $1.size }
    #expect(size == nil ? bytes > 2_900_000 : bytes <= 2_600_000, "\(bytes)")
    link.mend(until: nil)
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 2))
    let asked = update[4...5].map { link.asked(for: $0) }
    #expect(asked == (size == nil ? [1, 1] : [2, 2]))
    let whole = FileTree.objects(home.cache).values.reduce(0) { $0 + $1.size }
    #expect(whole < 2_600_000)
  }

  @Test("What waits of a film that turns out not to fit goes with it")
  func waitsInVain() throws {
    publish(version: 1, pieces: 8, size: 300_000)
    let link = Link()
    let site = site
    let far = try LoopbackServer { request in link.carry(request.path, site.respond(to: request)) }
    home.configure(
      """
      cache: { min_free: 0, size: 2MB }
      network: { concurrency: 1, retries: { items: 0, lookups: 0 } }
      segments:
        - { name: films, urls: [{ url: "\(far.address("/film.m3u8"))", type: hls, id: film }] }
        - { name: other, urls: ["\(far.address("/other"))"] }
      """
    )
    put("/other", "small")
    link.mend(until: "/low-1-5.ts")
    #expect(try home.run("-q").status != 0)
    #expect(FileTree.objects(home.cache).values.reduce(0) { $0 + $1.size } > 1_000_000)
    link.mend(until: nil)
    let run = try home.run("--json")
    let failed = try run.json().list("items").first { $0.text("outcome") == "failed" }
    #expect(failed?.text("error.code") == "cache_full", "\(run)")
    #expect(FileTree.objects(home.cache).values.reduce(0) { $0 + $1.size } < 10_000)
    #expect(try home.run("verify", "-q").status == 0)
  }
}
