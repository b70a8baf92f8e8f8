@unsafe @preconcurrency import Glibc
import Testing

@Suite(
  "Killed at any moment",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx")
)
struct KillTests {
  private static let count = 24

  private let home: Home
  private let nginx: Nginx

  init() throws {
    home = try Home()
    nginx = try Nginx()
    nginx.write(Manifest.text((0..<Self.count).map { "f\($0).txt" }), to: "manifest.json")
    home.configure(
      """
      segments:
        - name: basics
          manifest: \(nginx.url("manifest.json"))
      """
    )
  }

  private func publish(_ number: Int, _ random: inout SeededRandom) -> String {
    let length = Int.random(in: 0...30_000, using: &random)
    let text =
      "\(UInt64.random(in: 0...UInt64.max, using: &random))" + String(repeating: "x", count: length)
    nginx.write(text, to: "f\(number).txt")
    return Digest.hexadecimal(text)
  }

  @Test("the cache is whole, and the next run completes it")
  func survives() throws {
    var random = SeededRandom(7)
    var digests = (0..<Self.count).map { publish($0, &random) }
    var killed = 0
    for round in 0..<Binary.rounds {
      if Int.random(in: 0..<3, using: &random) == 0 { try home.removeCache() }
      for number in 0..<Self.count where Bool.random(using: &random) {
        digests[number] = publish(number, &random)
      }
      nginx.setSlow(true)
      let run = try home.start([])
      // Half of them in the first moments, where files are made and opened.
      let longest = Bool.random(using: &random) ? 60 : 1500
      poll(nil, 0, CInt.random(in: 0...CInt(longest), using: &random))
      run.signal(SIGKILL)
      if run.finish().status == 128 + SIGKILL { killed += 1 }
      nginx.setSlow(false)

      let verify = try home.run("verify")
      #expect(verify.status == 0, "round \(round): \(verify)")
      let next = try home.run("--json")
      #expect(next.status == 0, "round \(round): \(next)")
      #expect(try home.run("verify").status == 0)
      #expect(Set(digests).isSubset(of: FileTree.objects(home.cache).keys), "round \(round)")
      // The tag's own draft is the one thing that nobody can clear away without a lock.
      #expect(
        FileTree.names(home.cache).filter { !$0.hasPrefix("CACHEDIR.TAG.") }
          == ["CACHEDIR.TAG", "index.sqlite", "lock", "objects", "partial"],
        "round \(round)"
      )
    }
    print("killed \(killed) of \(Binary.rounds) runs")
    #expect(killed * 2 >= Binary.rounds)
  }
}
