import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

/// Controls of an item while another process transfers it.
@Suite("Controls of items in flight", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ControlsInFlightTests {
  private let home: Home
  private let begun = Gate()
  private let gate = Gate()
  private let server: LoopbackServer
  private static let body = [UInt8](repeating: 7, count: 20_000)
  private static let half = body.count / 2
  private static let tag = "\"one\""

  /// `/a` pauses halfway until the gate opens, unless a range is requested.
  ///
  /// `/asked` waits for the gate when it is revalidated.
  init() throws {
    let (begun, gate) = (begun, gate)
    home = try Home(isInMemory: true)
    server = try LoopbackServer { request in
      let headers = [("ETag", Self.tag)]
      if request.path == "/asked" {
        guard request.headers["If-None-Match"] != nil else {
          return Script.respond(200, headers, body: Self.body)
        }
        return Script([.open(begun), .pause(gate), .send(Script.head(304, headers))])
      }
      guard request.path == "/a" else { return Script.respond(200, text: request.path) }
      if let range = request.headers["Range"], let start = Int(range.dropFirst(6).dropLast()) {
        let end = Self.body.count
        return Script.respond(
          206,
          headers + [("Content-Range", "bytes \(start)-\(end - 1)/\(end)")],
          body: Array(Self.body[start...])
        )
      }
      let head = Script.head(200, headers + [("Content-Length", "\(Self.body.count)")])
      return Script([
        .send(head), .send(Array(Self.body[..<Self.half])), .open(begun), .pause(gate),
        .send(Array(Self.body[Self.half...])),
      ])
    }
    declare(["/a", "/b"])
  }

  private func declare(_ paths: [String]) {
    let urls = paths.map { server.address($0) }.joined(separator: ", ")
    home.configure("segments: [{ name: s, urls: [\(urls)] }]\ncache: { min_free: 0 }")
  }

  private func state(_ path: String) throws -> String? {
    try home.run("explain", "--json", server.address(path)).json().text("state")
  }

  private func waitFor(_ gate: Gate) {
    while gate.staysShut(for: .milliseconds(50)) {}
  }

  private func parts() -> Int {
    FileTree.listing(home.cache).keys.count { $0.hasSuffix(".body") }
  }

  @Test("`pause` stops a transfer, keeps its part, and does not change the run's status")
  func paused() throws {
    let run = try home.start(["--json"])
    waitFor(begun)
    #expect(try home.run("pause", server.address("/a")).status == 0)
    let end = run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(try end.json().text("segments.0.state") == "current")
    #expect(try end.json().list("items").contains { $0.text("deferred.rule") == "paused" })
    #expect(try state("/a") == "paused")
    #expect(try state("/b") == "cached")
    #expect(parts() == 1)
    #expect(try home.run("-q").status == 0)
    #expect(parts() == 1, "the next run leaves it")
    gate.open()
    #expect(try home.run("resume", server.address("/a")).status == 0)
    #expect(try home.run("-q").status == 0)
    let later = server.requests.last { $0.path == "/a" }
    #expect(later?.headers["Range"] != nil, "only the rest is asked for")
    #expect(try home.run("path", server.address("/a")).status == 0)
    #expect(try home.run("verify").status == 0)
  }

  @Test("`rm` stops a transfer and deletes its part, and the next run starts again")
  func removed() throws {
    let run = try home.start(["--json"])
    waitFor(begun)
    #expect(try home.run("rm", server.address("/a")).status == 0)
    let end = run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(parts() == 0)
    #expect(try home.run("path", server.address("/a")).status == 4)
    #expect(try home.run("list", "--json").json().list("items").count == 1)
    gate.open()
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("path", server.address("/a")).status == 0)
    #expect(server.requests.allSatisfy { $0.headers["Range"] == nil })
  }

  @Test("`lock` lets a transfer finish and protects the item")
  func locked() throws {
    let run = try home.start(["--json"])
    waitFor(begun)
    #expect(try home.run("lock", server.address("/a")).status == 0)
    gate.open()
    let end = run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(try state("/a") == "cached")
    #expect(try home.run("rm", server.address("/a")).status == 3)
    #expect(try home.run("path", server.address("/a")).status == 0)
  }

  @Test("An item that is removed during its revalidation stays removed in that run")
  func requestedAgain() throws {
    declare(["/asked", "/b"])
    #expect(try home.run("-q").status == 0)
    let run = try home.start(["--json", "--revalidate"])
    waitFor(begun)
    #expect(try home.run("rm", server.address("/asked")).status == 0)
    gate.open()
    let end = run.finish()
    #expect(end.status == 0, "\(end)")
    #expect(try home.run("path", server.address("/asked")).status == 4)
    #expect(try home.run("list", "--json").json().list("items").count == 1)
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("path", server.address("/asked")).status == 0)
    #expect(try home.run("verify").status == 0)
  }

  @Test("An update that is paused leaves the stored body")
  func update() throws {
    declare(["/asked", "/b"])
    #expect(try home.run("-q").status == 0)
    let run = try home.start(["--json", "--revalidate"])
    waitFor(begun)
    #expect(try home.run("pause", server.address("/asked")).status == 0)
    let end = run.finish()
    #expect(end.status == 0, "\(end)")
    gate.open()
    #expect(try state("/asked") == "paused")
    #expect(try home.run("path", server.address("/asked")).status == 0)
    #expect(try home.run("verify").status == 0)
  }

  @Test("`rm` deletes the part that a run left")
  func idlePart() throws {
    let run = try home.start(["-q"])
    waitFor(begun)
    #expect(try home.run("pause", server.address("/a")).status == 0)
    #expect(run.finish().status == 0)
    #expect(parts() == 1)
    #expect(try home.run("resume", server.address("/a")).status == 0)
    #expect(try home.run("rm", server.address("/a")).status == 0)
    #expect(parts() == 0)
    gate.open()
    #expect(try home.run("-q").status == 0)
    #expect(server.requests.allSatisfy { $0.headers["Range"] == nil })
  }

  @Test("`rm` stops `get` as it stops a run")
  func got() throws {
    let run = try home.start(["get", "--json", "-o", "out", server.address("/a")])
    waitFor(begun)
    #expect(try home.run("rm", server.address("/a")).status == 0)
    let end = run.finish()
    #expect(end.status != 0, "\(end)")
    #expect(try home.run("path", server.address("/a")).status == 4)
    #expect(parts() == 0)
    gate.open()
  }

  @Test("An item in flight is reported with its bytes by `list`, `explain` and `status`")
  func reported() throws {
    let url = server.address("/a")
    let run = try home.start(["-q"])
    waitFor(begun)
    var bytes: Int?
    for _ in 0..<500 where bytes == nil {
      bytes = try home.run("explain", "--json", url).json().number("progress.bytes")
    }
    #expect(bytes == Self.half)
    let explained = try home.run("explain", "--json", url).json()
    #expect(explained.text("state") == "downloading")
    #expect(explained.number("progress.total") == Self.body.count)
    let listed = try home.run("list", "--json", "--state", "downloading").json().list("items")
    #expect(listed.map { $0.text("url") } == [url])
    #expect(listed.first?.number("progress.bytes") == Self.half)
    let status = try home.run("status", "--json").json()
    #expect(status.text("transfers.0.url") == url)
    #expect(status.text("transfers.0.segment") == "s")
    #expect(status.number("transfers.0.bytes") == Self.half)
    #expect(status.number("segments.0.states.downloading") == 1)
    run.signal(9)
    #expect(run.finish().status == 137)
    #expect(try home.run("status", "--json").json().list("transfers").isEmpty)
    #expect(try home.run("explain", "--json", url).json().number("progress.bytes") == nil)
    gate.open()
    #expect(try home.run("-q").status == 0)
  }

  @Test("An item that is neither in flight nor stored is not found by `rm` and `lock`")
  func unknown() throws {
    #expect(try home.run("rm", server.address("/a")).status == 4)
    #expect(try home.run("lock", server.address("/a")).status == 4)
  }

  // MARK: Streams

  private struct Film {
    let home: Home
    let begun = Gate()
    let gate = Gate()
    let server: LoopbackServer

    /// Serves a film of four pieces; the last one pauses halfway until the gate opens.
    init() throws {
      let (begun, gate) = (begun, gate)
      home = try Home(isInMemory: true)
      server = try LoopbackServer { request in
        if request.path == "/film.m3u8" {
          let lines = (0..<4).map { "#EXTINF:2,\n\($0).ts" }
          return Script.respond(200, text: StreamGround.media(lines))
        }
        let body = [UInt8](repeating: 0x47, count: 4_000)
        guard request.path == "/3.ts" else { return Script.respond(200, body: body) }
        let head = Script.head(200, [("Content-Length", "4000"), ("ETag", "\"three\"")])
        return Script([
          .send(head), .send(Array(body[..<2_000])), .open(begun), .pause(gate),
          .send(Array(body[2_000...])),
        ])
      }
      home.configure(
        """
        cache: { min_free: 0 }
        segments:
          - name: films
            urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
        """
      )
    }
  }

  @Test("A paused stream keeps its stored pieces, and a removed one does not")
  func stream() throws {
    for word in ["pause", "rm"] {
      let film = try Film()
      let run = try film.home.start(["--json", "-j", "1"])
      waitFor(film.begun)
      #expect(try film.home.run(word, "film").status == 0)
      let end = run.finish()
      #expect(end.status == 0, "\(end)")
      let parts = FileTree.listing(film.home.cache).keys.count { $0.hasSuffix(".body") }
      let bodies = FileTree.objects(film.home.cache).count
      #expect(parts == (word == "rm" ? 0 : 1))
      #expect(word == "rm" ? bodies == 0 : bodies > 0, "\(bodies) bodies")
      film.gate.open()
      if word == "pause" { #expect(try film.home.run("resume", "film").status == 0) }
      #expect(try film.home.run("-q").status == 0)
      #expect(film.server.requests.count { $0.path == "/0.ts" } == (word == "rm" ? 2 : 1))
      #expect(try film.home.run("verify").status == 0)
    }
  }
}
