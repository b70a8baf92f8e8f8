@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A killed body of several ranges", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RangeKillTests {
  @Test("A body that was killed at any moment is resumed with its holes, over any number of ranges")
  func killed() throws {
    let home = try Home(isInMemory: true)
    var random = SeededRandom(11)
    let origin = try RangeOrigin(mebibytes: 160, rate: 30)
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(origin.url)"] }]
      cache: { min_free: 0 }
      network: { per_host: 16, retries: { delay: 1ms, max_delay: 2ms } }
      """
    )
    let digest = Digest.hexadecimal(origin.body)
    var resumedHoles = 0
    for round in 0..<Binary.rounds {
      try home.removeCache()
      var sent = origin.server.sentByteCount
      let first = sent
      let run = try home.start(["-q"])
      // From before the first range to before the end.
      sent += Int.random(in: (30 << 20)...(120 << 20), using: &random)
      try #require(origin.server.waitUntilSent(sent), "round \(round)")
      run.signal(SIGKILL)
      #expect(run.finish().status == 128 + SIGKILL)
      let count = origin.server.requests.count

      let ranges = round.isMultiple(of: 2) ? "auto" : "1"
      let next = try home.run("--json", "--set", "download.ranges=\(ranges)")
      #expect(next.status == 0, "round \(round): \(next)")
      #expect(Array(FileTree.objects(home.cache).keys) == [digest], "round \(round)")
      #expect(try home.run("verify").status == 0, "round \(round)")
      let later = origin.server.requests.dropFirst(count)
      #expect(later.first?.headers["If-Range"] == RangeOrigin.tag, "round \(round)")
      if later.count > 1 { resumedHoles += 1 }
      let total = origin.server.sentByteCount - first
      // Bytes in the buffers of connections are lost at a kill.
      #expect(total <= origin.body.count / 10 * 11, "round \(round): \(total)")
    }
    #expect(resumedHoles > 0)
  }
}
