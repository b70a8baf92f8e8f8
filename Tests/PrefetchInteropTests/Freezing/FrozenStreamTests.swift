import PrefetchTestSupport
import Testing

@Suite("A lock file pins each file of a stream", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct FrozenStreamTests {
  private let ground: StreamGround

  init() throws {
    ground = try StreamGround()
  }

  private var lock: String { ground.home.read("prefetch.lock") ?? "" }

  private var requests: [String] { ground.site.requests.map(\.path) }

  private func freeze() throws {
    ground.publish(version: 1)
    #expect(try ground.home.run("run").status == 0)
    #expect(try ground.home.run("freeze").status == 0)
    ground.site.clearRequests()
  }

  @Test("A frozen stream asks nothing, and is fetched again file by file")
  func frozen() throws {
    try freeze()
    let lines = lock.split(separator: "\n")
    #expect(lines.count { $0.contains("\"item\":") } == 9, "\(lock)")
    #expect(lines.contains { $0.contains("/film.m3u8\"") && $0.contains("\"type\":\"hls\"") })
    let run = try ground.home.run("run", "--frozen")
    #expect(run.status == 0 && requests.isEmpty, "\(run) \(requests)")
    // Under the lock a run has no reason to ask for playlists.
    #expect(try ground.home.run("run").status == 0)
    #expect(requests.isEmpty)
    let film = try ground.played()
    try ground.home.removeCache()
    let again = try ground.home.run("run", "--frozen")
    #expect(again.status == 0, "\(again)")
    #expect(try ground.played() == film)
    #expect(try ground.home.run("freeze", "--check").status == 0)
  }

  @Test(
    "Another playlist or piece is refused",
    arguments: ["film.m3u8", "low.m3u8", "low-1-7.ts"]
  )
  func drifted(name: String) throws {
    try freeze()
    let body = ground.site["/\(name)"]?.body ?? []
    ground.put("/\(name)", String(decoding: body, as: UTF8.self) + "#\n")
    try ground.home.removeCache()
    let run = try ground.home.run("run")
    #expect(run.status == 5 && run.errors.contains("[drifted]"), "\(run)")
    let url = ground.server.address("/film.m3u8")
    let single = try ground.home.run("get", url, "-o", "film")
    #expect(single.status == 5 && single.errors.contains("[drifted]"), "\(single)")
    let unlocked = try ground.home.run("run", "--set", "lockfile=none")
    #expect(unlocked.status == 0, "\(unlocked)")
    let check = try ground.home.run("freeze", "--check")
    #expect(check.status == 2 && check.output.contains("~ films"), "\(check)")
    // The stored stream is another one, so the locked one is missing.
    #expect(try ground.home.run("run", "--frozen").status == 5)
    ground.publish(version: 1)
    #expect(try ground.home.run("run", "--frozen").status == 0)
    #expect(try ground.home.run("freeze", "--check").status == 0)
  }

  @Test("The lock as a list makes the same stream elsewhere, and pins its pieces")
  func list() throws {
    try freeze()
    ground.home.configure(
      """
      name: other
      cache: { min_free: 0, dir: other }
      lockfile: none
      segments:
        - { name: copy, manifest: prefetch.lock }
      """
    )
    let run = try ground.home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(requests.count { $0.hasSuffix(".ts") } == 8, "\(requests)")
    ground.site.clearRequests()
    #expect(try ground.home.run("run").status == 0 && requests.isEmpty)
    ground.put("/low-1-7.ts", String(repeating: "another piece ", count: 100))
    try #require(ground.home.tool("rm", "-r", ground.home.path("other")).status == 0)
    let drifted = try ground.home.run("run")
    #expect(drifted.status == 5 && drifted.errors.contains("[drifted]"), "\(drifted)")
  }
}
