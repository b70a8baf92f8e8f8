@unsafe @preconcurrency import Glibc
import PrefetchDocuments
import Testing

@Suite(
  "Killed at any moment",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx")
)
struct KillTests {
  private static let names =
    (0..<24).map { "f\($0).txt" } + (0..<3).map { "large/\($0).bin" }

  private let home: Home
  private let nginx: Nginx
  /// What large bodies are cut from, so that no two offsets look alike.
  private let noise: [UInt8]

  init() throws {
    home = try Home(isInMemory: true)
    nginx = try Nginx()
    var random = SeededRandom(1)
    noise = (0..<(6 << 17)).flatMap { _ in
      unsafe withUnsafeBytes(of: random.next()) { unsafe Array($0) }
    }
    FileTree.makeFolder("\(nginx.files)/large")
    home.configure(
      """
      segments:
        - name: basics
          manifest: \(nginx.url("manifest.json"))
      cache: { min_free: 0 }
      """
    )
  }

  @Test("the cache is whole, nothing that was there is lost, and the next run completes it")
  func survives() throws {
    var random = SeededRandom(7)
    for name in Self.names { publish(name, &random) }
    var tally = Tally()
    for round in 0..<Binary.rounds {
      if Int.random(in: 0..<6, using: &random) == 0 { try home.removeCache() }
      let before = try held()
      for name in Self.names where Bool.random(using: &random) { publish(name, &random) }
      let digests = try publishManifest()
      _ = nginx.takeRequests()
      try kill(&tally, &random)

      let verify = try home.run("verify")
      #expect(verify.status == 0, "round \(round): \(verify)")
      let after = try held()
      for (name, digest) in before {
        let now = try #require(after[name], "round \(round) lost \(name)")
        #expect(now == digest || now == digests[name], "round \(round): \(name)")
      }
      try checkObjects(round)

      let next = try home.run("--json")
      #expect(next.status == 0, "round \(round): \(next)")
      tally.resumed += nginx.takeRequests().filter { $0.status == 206 }.count
      #expect(try held() == digests, "round \(round)")
      #expect(try home.run("verify").status == 0, "round \(round)")
      try checkObjects(round)
      checkNames(round)
    }
    print("killed \(tally.killed) of \(Binary.rounds) runs, resumed \(tally.resumed) transfers")
    #expect(tally.killed * 2 >= Binary.rounds)
    #expect(tally.resumed > 0 || Binary.rounds < 50)
  }

  private struct Tally {
    var killed = 0
    var resumed = 0
  }

  // MARK: The server

  private func publish(_ name: String, _ random: inout SeededRandom) {
    let isLarge = name.hasPrefix("large/")
    let length = Int.random(in: isLarge ? 1_000_000...3_000_000 : 0...30_000, using: &random)
    let start = Int.random(in: 0...(noise.count - length), using: &random)
    nginx.write(Array(noise[start..<(start + length)]), to: name)
  }

  /// Half of the items are named by their digests; those of all of them.
  private func publishManifest() throws -> [String: String] {
    let digests = try sums(Self.names, in: nginx.files)
    let entries = Self.names.enumerated().map { number, name in
      Manifest.Entry(name, digest: number % 2 == 0 ? digests[name] : nil)
    }
    nginx.write(Manifest.text(entries), to: "manifest.json")
    return digests
  }

  private func kill(_ tally: inout Tally, _ random: inout SeededRandom) throws {
    nginx.setSlow(true)
    defer { nginx.setSlow(false) }
    let run = try home.start(["-q"])
    // Half of them in the first moments, where files are made and opened.
    let longest = Bool.random(using: &random) ? 40 : 900
    poll(nil, 0, CInt.random(in: 0...CInt(longest), using: &random))
    run.signal(SIGKILL)
    if run.finish().status == 128 + SIGKILL { tally.killed += 1 }
  }

  // MARK: The cache

  /// The digests of what the cache says it has, by name.
  private func held() throws -> [String: String] {
    guard FileTree.exists(home.cache) else { return [:] }
    let root = nginx.url("")
    let items = try home.run("list", "--json").json().list("items")
    var held: [String: String] = [:]
    for item in items where item.text("state") == "cached" {
      guard let url = item.text("url"), let digest = item.text("digest") else { continue }
      held[String(url.dropFirst(root.count))] = String(digest.dropFirst("sha256:".count))
    }
    held["manifest.json"] = nil
    return held
  }

  /// Every body is what its name says, by another program's account.
  private func checkObjects(_ round: Int) throws {
    let paths = FileTree.objects(home.cache).keys.map { "\($0.prefix(2))/\($0)" }
    guard !paths.isEmpty else { return }
    let wrong = try sums(paths, in: "\(home.cache)/objects/sha256").filter { path, digest in
      path.dropFirst(3) != digest
    }
    #expect(wrong.isEmpty, "round \(round)")
  }

  private func checkNames(_ round: Int) {
    let usual = [
      "CACHEDIR.TAG", "index.backup.sqlite", "index.sqlite", "lock", "objects", "partial",
    ]
    // The tag's own draft is the one thing that nobody can clear away without a lock.
    let names = FileTree.names(home.cache).filter { !$0.hasPrefix("CACHEDIR.TAG.") }
    #expect(names == usual, "round \(round)")
    #expect(FileTree.names("\(home.cache)/partial").isEmpty, "round \(round)")
    #expect(FileTree.names(home.state) == ["state.lock", "state.sqlite"], "round \(round)")
  }

  private func sums(_ names: [String], in folder: String) throws -> [String: String] {
    let list = names.joined(separator: "\n")
    home.write(list + "\n", to: "sums.txt")
    let run = try home.shell("cd '\(folder)' && xargs sha256sum < '\(home.path("sums.txt"))'")
    try #require(run.status == 0, "\(run)")
    var sums: [String: String] = [:]
    for line in run.lines { sums[String(line.dropFirst(66))] = String(line.prefix(64)) }
    return sums
  }
}
