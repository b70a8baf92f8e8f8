@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "Streams that are broken off, replaced or killed",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
final class BundleBreakTests: StreamGround {
  @Test(
    "A published stream is the old or the new one, wherever its publisher is killed",
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
        // A file for each piece and the playlists, and no file of older films.
        let names = FileTree.listing(home.path("films")).filter {
          $0.value.mode & S_IFMT == S_IFREG
        }
        #expect(names.count == 6, "\(call) \(moment): \(names.keys.sorted())")
      }
    }
    #expect(kills > 6)
  }

  @Test("A stream killed at any moment of an update is the old or the new one")
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

  @Test("A run that is stopped by a signal keeps its pieces, and the next run fetches the rest")
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

  @Test("An interrupted piece is resumed in the same run and in the next")
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
    let requests = trap.requests.filter { $0.path == piece }
    #expect(requests.count == 1 && requests[0].headers["Range"] != nil, "\(requests)")
    #expect(try played() == film(version: 1, pieces: 1))
    #expect(try home.run("verify").status == 0)
  }

  /// A link that breaks in the middle of one piece and stays down.
  private final class Link: Sendable {
    private struct State {
      var end: String?
      var isDown = false
      var sent: [String: Int] = [:]
      var requestCounts: [String: Int] = [:]
    }

    private let state = Guarded(State())

    /// Restores the link until the middle of the next piece; nil for no further break.
    func mend(until end: String?) {
      state.withLock { ($0.end, $0.isDown) = (end, false) }
    }

    func sent(of path: String) -> Int { state.withLock { $0.sent[path] ?? 0 } }
    func requestCount(for path: String) -> Int { state.withLock { $0.requestCounts[path] ?? 0 } }

    func carry(_ path: String, _ script: Script) -> Script {
      state.withLock { state in
        guard !state.isDown else { return Script([.close]) }
        guard case .send(let bytes)? = script.steps.first else { return script }
        let head = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0
        let isEnd = path == state.end
        state.isDown = isEnd
        let end = isEnd ? head + (bytes.count - head) / 2 : bytes.count
        state.requestCounts[path, default: 0] += 1
        state.sent[path, default: 0] += end - head
        return isEnd ? Script([.send(Array(bytes[..<end])), .close]) : script
      }
    }
  }

  /// The film has 2.4 MB, as have the films of the other rows.
  @Test(
    "A link that drops in three nights leads to a complete stream without repeated bytes",
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
      #expect(link.requestCount(for: piece) == ([1, 3, 6].contains(number) ? 2 : 1), "\(piece)")
    }
    #expect(try home.run("verify").status == 0)

    // An update without room beside the old film does not take several nights.
    publish(version: 2, pieces: 8, size: 300_000)
    let update = (0..<8).map { "/low-\($0 < 4 ? 0 : 2)-\($0).ts" }
    link.mend(until: update[6])
    #expect(try home.run("-q").status == 3)
    let bytes = FileTree.objects(home.cache).values.reduce(0) { $0 + $1.size }
    #expect(size == nil ? bytes > 2_900_000 : bytes <= 2_600_000, "\(bytes)")
    link.mend(until: nil)
    #expect(try home.run("-q").status == 0)
    #expect(try played() == film(version: 2))
    let counts = update[4...5].map { link.requestCount(for: $0) }
    #expect(counts == (size == nil ? [1, 1] : [2, 2]))
    let whole = FileTree.objects(home.cache).values.reduce(0) { $0 + $1.size }
    #expect(whole < 2_600_000)
  }

  @Test("Reserved pieces of a film that does not fit are removed with it")
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

  /// The bodies that the published playlist of a film without variants names.
  private func screened() throws -> String {
    try home.shell("cd films/film && cat $(grep -v '^#' film.m3u8)").output
  }

  private func publishStream(pieces: Int) {
    publish(version: 1, pieces: pieces)
    site["/film.m3u8"] = site["/low.m3u8"]
  }

  private static let partly = "    keep_partial: yes\n    publish: { dir: films, layout: hls }"

  @Test("The beginning of a film is shown under `keep_partial` until it is complete")
  func begun() throws {
    configure(Self.partly)
    publishStream(pieces: 8)
    let beginning = (0..<5).compactMap { site["/low-\($0 < 4 ? 0 : 1)-\($0).ts"]?.body }
    let lost = site["/low-1-5.ts"]
    site["/low-1-5.ts"] = nil
    let run = try home.run("--json", "-j", "1")
    #expect(run.status == 3, "\(run)")
    #expect(try run.json().text("items.0.outcome") == "failed", "\(run)")
    #expect(try home.run("list", "--state", "partial").output.contains("film.m3u8"))
    #expect(try Array(screened().utf8) == Array(beginning.joined()))
    #expect(try home.run("verify", "-q").status == 0)
    #expect(try home.run("plan").output.contains("only its beginning is stored"))
    // A second run requests nothing that is stored.
    trap.set(nil)
    #expect(try home.run("-q", "-j", "1").status == 3)
    #expect(trap.requests.map(\.path).first { $0.hasSuffix(".ts") } == "/low-1-5.ts")
    site["/low-1-5.ts"] = lost
    #expect(try home.run("-q").status == 0)
    #expect(try screened() == film(version: 1))
    #expect(try home.run("list", "--state", "cached").output.contains("film.m3u8"))
    // A new film that fails does not replace the complete one.
    put("/film.m3u8", Self.media(["#EXTINF:2,\nlow-0-0.ts", "#EXTINF:2,\nnone.ts"]))
    #expect(try home.run("-q").status == 3)
    #expect(try screened() == film(version: 1))
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("A run that is stopped by a signal shows the pieces that it stored")
  func begunAndStopped() throws {
    configure(Self.partly)
    publishStream(pieces: 12)
    trap.set(.request(8))
    let run = try home.start(["-q", "-j", "1"])
    try #require(trap.waitForRequests(8))
    run.signal(SIGTERM)
    #expect(run.finish().status == 143)
    #expect(try home.run("list", "--state", "partial").output.contains("film.m3u8"))
    let serving = try Serving(home)
    let playlist = try serving.client.get("/-/item/-/film/film.m3u8").body
    #expect(playlist.split(separator: "\n").count { !$0.hasPrefix("#") } == 6, "\(playlist)")
    _ = serving.stop()
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.count == 7, "\(trap.requests.map(\.path))")
    #expect(try screened() == film(version: 1, pieces: 12))
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test(
    "A temporary limit shows the beginning, and a permanent one shows nothing",
    arguments: [
      (lines: "network: { daily_limit: 9kB, concurrency: 1 }", more: "", status: 75, isShown: true),
      ("", "    max_file_size: 9kB", 4, false),
    ]
  )
  func begunUnderLimit(_ row: (lines: String, more: String, status: Int32, isShown: Bool)) throws {
    home.configure(
      """
      cache: { min_free: 0 }
      \(row.lines)
      segments:
        - name: films
          urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
      \(row.more)
      \(Self.partly)
        - { name: also, urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }] }
      """
    )
    publishStream(pieces: 8)
    let run = try home.run("--json")
    #expect(run.status == row.status, "\(run)")
    let shown = try home.run("list", "--state", "partial").output
    #expect(shown.contains("film.m3u8") == row.isShown, "\(run)")
    #expect(FileTree.objects(home.cache).isEmpty == !row.isShown)
    #expect((home.read("films/film/film.m3u8") != nil) == row.isShown)
    #expect(try home.run("verify", "-q").status == 0)
    // Only the bytes tell the sizes of the pieces.
    let plan = try home.run("plan")
    #expect(plan.status == (row.isShown ? row.status : 0), "\(plan)")
  }

  @Test("A re-encoded film is not shown together with the old one")
  func restarted() throws {
    configure(Self.partly)
    encodeAgain(1)
    site["/same-2.ts"] = nil
    #expect(try home.run("-q", "-j", "1").status == 3)
    encodeAgain(2)
    site["/same-4.ts"] = nil
    #expect(try home.run("-q", "-j", "1").status == 3)
    #expect(try screened().split(separator: " ").first == "2.0")
    let words = Set(try screened().split(separator: " ").map { $0.prefix(2) })
    #expect(words == ["2."], "\(words)")
    encodeAgain(2)
    #expect(try home.run("-q").status == 0)
    #expect(
      Set(try screened().split(separator: " ").map(String.init)) == [
        "2.0", "2.1", "2.2", "2.3", "2.4", "2.5",
      ]
    )
    #expect(try home.run("verify", "-q").status == 0)
  }
}
