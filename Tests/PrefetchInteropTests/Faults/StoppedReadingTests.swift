@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("A reader that is stopped", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct StoppedReadingTests {
  @Test("A `get --offline` or `export` that SIGTERM ends does not call a body damaged")
  func isNoDamage() throws {
    // Long enough that some of the signals arrive while the body is hashed.
    let body = [UInt8](repeating: 7, count: 40 << 20)
    let site = Site(["/film": Site.Page(body)])
    let server = try LoopbackServer { site.respond(to: $0) }
    let home = try Home(isInMemory: true)
    home.configure(
      """
      segments: [{ name: films, urls: ["\(server.address("/film"))"] }]
      cache: { min_free: 0 }
      """
    )
    try #require(try home.run("run", "-q").status == 0)
    // A body whose time changed is hashed before it is given out.
    let object = try #require(FileTree.objects(home.cache).keys.first)
    let path = "\(home.cache)/objects/sha256/\(object.prefix(2))/\(object)"
    try #require(home.tool("touch", "-d", "2020-01-01", path).status == 0)
    var endCount = 0
    for round in 0..<30 {
      let arguments =
        round % 2 == 0
        ? ["get", "--offline", "--max-stale", "-o", "out", server.address("/film")]
        : ["export", "copy-\(round)"]
      let reader = try home.start(arguments)
      poll(nil, 0, CInt(round) * 4)
      reader.signal(SIGTERM)
      let run = reader.finish()
      if run.status == 128 + SIGTERM { endCount += 1 }
      #expect([0, 128 + SIGTERM].contains(run.status), "round \(round): \(run)")
    }
    #expect(endCount > 0, "no signal came in time")
  }
}
