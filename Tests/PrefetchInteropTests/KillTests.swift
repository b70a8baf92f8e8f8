@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Killed at any moment", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct KillTests {
  private static let largeNames = (0..<3).map { "large/\($0).bin" }
  private static let names = (0..<24).map { "f\($0).txt" } + largeNames
  /// Bytes that may still be buffered on the way to the file at the kill.
  private static let slack = 256 << 10
  /// Bytes of a part that a kill may cost: progress is recorded after the write that passes 48 kB.
  private static let loss = (48 << 10) + slack

  private let home: Home
  private let site = Site()
  private let trap: KillTrap
  private let server: LoopbackServer
  /// Random bytes that large bodies are cut from, so that all offsets differ.
  private let noise: [UInt8]

  init() throws {
    home = try Home(isInMemory: true)
    let trap = KillTrap(site)
    self.trap = trap
    server = try LoopbackServer { trap.respond(to: $0) }
    var random = SeededRandom(1)
    noise = (0..<(6 << 17)).flatMap { _ in
      unsafe withUnsafeBytes(of: random.next()) { unsafe Array($0) }
    }
    home.configure(
      """
      segments:
        - name: basics
          manifest: \(server.address("/manifest.json"))
      cache: { min_free: 0 }
      """
    )
  }

  @Test("A killed run leaves a whole cache, loses nothing, and the next run completes it")
  func survives() throws {
    var random = SeededRandom(7)
    for name in Self.names { publish(name, &random) }
    for round in 0..<Binary.rounds {
      if Int.random(in: 0..<6, using: &random) == 0 { try home.removeCache() }
      let before = try held()
      for name in Self.names where Bool.random(using: &random) { publish(name, &random) }
      let kept = try kill(round, before, &random)
      let digests = publishManifest()

      let verify = try home.run("verify")
      #expect(verify.status == 0, "round \(round): \(verify)")
      let after = try held()
      for (name, digest) in before {
        let now = try #require(after[name], "round \(round) lost \(name)")
        #expect(now == digest || now == digests[name], "round \(round): \(name)")
      }
      try checkObjects(round)

      trap.set(nil)
      let next = try home.run("--json")
      #expect(next.status == 0, "round \(round): \(next)")
      let ranges = trap.requests.compactMap { $0.headers["Range"] }.sorted()
      #expect(ranges == kept.map { "bytes=\($0)-" }.sorted(), "round \(round)")
      #expect(try held() == digests, "round \(round)")
      #expect(try home.run("verify").status == 0, "round \(round)")
      try checkObjects(round)
      checkNames(round)
    }
  }

  // MARK: The server

  private func publish(_ name: String, _ random: inout SeededRandom) {
    let isLarge = name.hasPrefix("large/")
    let length = Int.random(in: isLarge ? 1 << 20...3_000_000 : 0...30_000, using: &random)
    let start = Int.random(in: 0...(noise.count - length), using: &random)
    put(Array(noise[start..<(start + length)]), name)
  }

  /// Publishes a body that runs revalidate.
  private func put(_ body: [UInt8], _ name: String) {
    site["/\(name)"] = Site.Page(
      body,
      entityTag: "\"\(Digest.hexadecimal(body))\"",
      headers: [HeaderField("Cache-Control", "no-cache")]
    )
  }

  /// Publishes a manifest in which half of the items have digests; returns the digests of all.
  @discardableResult
  private func publishManifest() -> [String: String] {
    var digests: [String: String] = [:]
    for name in Self.names { digests[name] = site["/\(name)"].map { Digest.hexadecimal($0.body) } }
    let entries = Self.names.map { name in
      Manifest.Entry(name, digest: Self.isPinned(name) ? digests[name] : nil)
    }
    put(Array(Manifest.text(entries).utf8), "manifest.json")
    return digests
  }

  private static func isPinned(_ name: String) -> Bool {
    names.firstIndex(of: name)?.isMultiple(of: 2) == true
  }

  /// Kills a run that waits within large bodies, at a request, or before any response.
  ///
  /// Returns the number of stored bytes of each interrupted body.
  private func kill(
    _ round: Int,
    _ before: [String: String],
    _ random: inout SeededRandom
  ) throws -> [Int] {
    if round.isMultiple(of: 3) { publish(Self.largeNames[round / 3 % 3], &random) }
    let digests = publishManifest()
    switch round % 3 {
    case 0:
      let count = Self.largeNames.count { before[$0] != digests[$0] }
      let size = Int.random(in: (2 * Self.slack)...900_000, using: &random)
      trap.set(.bytes(size, below: "/large/"))
      try killRun(round) {
        try #require(waitForParts(count, of: size - Self.slack), "round \(round)")
      }
      return recordedParts(round)
    case 1:
      let requestCount = Self.names.count { !Self.isPinned($0) || before[$0] != digests[$0] }
      // The manifest is the first request.
      let number = Int.random(in: 2...(1 + requestCount), using: &random)
      trap.set(.request(number))
      try killRun(round) { try #require(trap.waitForRequests(number), "round \(round)") }
    default:
      trap.set(.start)
      try killRun(round) { poll(nil, 0, CInt.random(in: 0...40, using: &random)) }
    }
    return recordedParts(round)
  }

  private func killRun(_ round: Int, once isThere: () throws -> Void) throws {
    let run = try home.start(["-q"])
    try isThere()
    run.signal(SIGKILL)
    let end = run.finish()
    #expect(end.status == 128 + SIGKILL, "round \(round): \(end)")
  }

  /// Sizes of all stored parts of bodies.
  private var parts: [Int] {
    FileTree.listing("\(home.cache)/partial")
      .filter { $0.key.hasSuffix(".body") && $0.value.size > 0 }.map(\.value.size)
  }

  /// Returns the recorded bytes of each part; bytes after them are not trusted.
  private func recordedParts(_ round: Int) -> [Int] {
    FileTree.listing("\(home.cache)/partial").compactMap { path, entry in
      guard path.hasSuffix(".body"), entry.size > 0 else { return nil }
      let facts = FileTree.read("\(path.dropLast(5)).facts") ?? []
      let line = String(decoding: facts, as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix("written ") }
      let recorded = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      #expect(
        recorded <= entry.size && entry.size - recorded <= Self.loss,
        "round \(round): \(path)"
      )
      return recorded > 0 ? recorded : nil
    }
  }

  /// Waits half a minute for the parts to reach a size; returns false otherwise.
  private func waitForParts(_ count: Int, of size: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      if parts.count(where: { $0 >= size }) == count { return true }
      poll(nil, 0, 2)
    }
    return false
  }

  // MARK: The cache

  /// Returns the digests that the cache lists, by name.
  private func held() throws -> [String: String] {
    guard FileTree.exists(home.cache) else { return [:] }
    let root = server.address("/")
    let items = try home.run("list", "--json").json().list("items")
    var held: [String: String] = [:]
    for item in items where item.text("state") == "cached" {
      guard let url = item.text("url"), let digest = item.text("digest") else { continue }
      held[String(url.dropFirst(root.count))] = String(digest.dropFirst("sha256:".count))
    }
    held["manifest.json"] = nil
    return held
  }

  /// Checks every object against its name with an independent program.
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
      "CACHEDIR.TAG", "index.backup.sqlite", "index.sqlite", "lock", "locks", "objects", "partial",
    ]
    // The tag's temporary file is the only one that no run can remove without a lock.
    let names = FileTree.names(home.cache).filter { !$0.hasPrefix("CACHEDIR.TAG.") }
    #expect(names == usual, "round \(round)")
    #expect(FileTree.names("\(home.cache)/partial").isEmpty, "round \(round)")
    #expect(FileTree.names(home.state) == ["logs", "state.lock", "state.sqlite"], "round \(round)")
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
