@unsafe @preconcurrency import Glibc
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

@Suite("Several jobs on one cache", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct JobsTests {
  private static let names = ["a", "b", "c", "d"]
  private static let urlCount = 40

  private let site = Site()
  private let moved: MovedBodies
  private let server: LoopbackServer
  private var home: Home

  init() throws {
    let (site, moved) = (site, MovedBodies())
    self.moved = moved
    server = try LoopbackServer { request in
      moved.count(request.path, site.page(for: request).status)
      return site.respond(to: request)
    }
    home = try Home(isInMemory: true)
    for number in 0..<Self.urlCount { put(number, version: 0) }
  }

  private func put(_ number: Int, version: Int) {
    site["/\(number)"] = Site.Page(String(repeating: "body \(number).\(version) ", count: 300))
  }

  private func url(_ number: Int) -> String {
    server.address("/\(number)")
  }

  private func declare(_ numbers: Set<Int>, as name: String, within size: String = "1GB") {
    let urls = numbers.sorted().map { url($0) }.joined(separator: ", ")
    home.configure(
      """
      name: \(name)
      segments: [{ name: basics, urls: [\(urls)] }]
      cache: { min_free: 0, size: \(size) }
      """,
      to: "\(name).yaml"
    )
  }

  /// Returns the URLs whose bodies are stored, and their total bytes.
  private func cached() throws -> (urls: Set<String>, bytes: Int) {
    let items = try home.run("list", "--json").json().list("items")
    let cached = items.filter { $0.text("state") == "cached" }
    let bytes = cached.reduce(0) { $0 + ($1.number("size") ?? 0) }
    return (Set(cached.compactMap { $0.text("url") }), bytes)
  }

  @Test("Runs of three names side by side succeed and fetch each body once")
  func threeNames() throws {
    for name in Self.names.prefix(3) { declare(Set(0..<Self.urlCount), as: name) }
    let runs = try Self.names.prefix(3).map { try home.start(["-q", "-c", "\($0).yaml"]) }
    for run in runs { #expect(run.finish().status == 0) }
    let counts = moved.drain()
    #expect(counts.count == Self.urlCount)
    #expect(counts.values.allSatisfy { $0 == 1 }, "\(counts)")
    for name in Self.names.prefix(3) {
      let listed = try home.run("status", "--json", "-c", "\(name).yaml").json()
      #expect(listed.number("segments.0.items") == Self.urlCount, "\(name)")
    }
    #expect(try home.run("verify").status == 0)
  }

  @Test("Runs of three names fetch one manifest and its parts once, night after night")
  func oneManifest() throws {
    for name in Self.names.prefix(3) {
      home.configure(
        """
        name: \(name)
        segments: [{ name: basics, manifest: "\(server.address("/index.xml"))" }]
        cache: { min_free: 0 }
        """,
        to: "\(name).yaml"
      )
    }
    let space = #"xmlns="http://www.sitemaps.org/schemas/sitemap/0.9""#
    for night in 1...3 {
      for part in 0..<3 {
        let urls = (0..<10).map { "<url><loc>\(url(part * 10 + $0))</loc></url>" }.joined()
        site["/\(part).xml"] = Site.Page("<urlset \(space)>\(urls)<!-- \(night) --></urlset>")
      }
      let parts = (0..<3).map { server.address("/\($0).xml") }
      let list = parts.map { "<sitemap><loc>\($0)</loc></sitemap>" }.joined()
      site["/index.xml"] = Site.Page(
        "<sitemapindex \(space)>\(list)<!-- \(night) --></sitemapindex>"
      )
      let runs = try Self.names.prefix(3).map { try home.start(["-q", "-c", "\($0).yaml"]) }
      for run in runs { #expect(run.finish().status == 0) }
      let counts = moved.drain()
      #expect(counts.count == (night == 1 ? 34 : 4), "night \(night): \(counts)")
      #expect(counts.values.allSatisfy { $0 == 1 }, "night \(night): \(counts)")
    }
    #expect(try home.run("verify").status == 0)
  }

  @Test("Runs of one name follow one another with `--wait` and name the run that they wait for")
  func oneName() throws {
    declare(Set(0..<Self.urlCount), as: "a")
    let runs = try (0..<3).map { _ in try home.start(["--wait", "-c", "a.yaml"]) }
    let ends = runs.map { $0.finish() }
    for end in ends { #expect(end.status == 0, "\(end)") }
    #expect(moved.drain().values.allSatisfy { $0 == 1 })
    // The other run may end before its pid is read.
    for end in ends where !end.errors.isEmpty {
      #expect(end.errors.contains("waiting: another run of `a` "), "\(end)")
    }
  }

  @Test("Runs of several names share one daily limit and exceed it only a little")
  func oneLimit() throws {
    let size = 20_000
    let page = Site.Page(Array(repeating: 1, count: size))
    for number in 0..<1_200 { site["/large/\(number)"] = page }
    for (rank, name) in Self.names.enumerated() {
      let urls = (0..<300).map { server.address("/large/\(rank * 300 + $0)") }
      home.configure(
        """
        name: \(name)
        segments: [{ name: basics, urls: [\(urls.joined(separator: ", "))] }]
        network: { type: ethernet, daily_limit: 4MB }
        cache: { min_free: 0 }
        """,
        to: "\(name).yaml"
      )
    }
    let runs = try Self.names.map { try home.start(["-q", "-c", "\($0).yaml"]) }
    for run in runs { #expect(run.finish().status == 75) }
    let bytes = moved.drain().values.reduce(0, +) * size
    print("of 4 MB four runs took \(bytes)")
    #expect(bytes > 3_000_000)
    // Each run learns of the others' bytes when it records its own; transfers in flight still
    // complete.
    #expect(bytes < 6_000_000)
  }

  /// Each run wants half of all bodies, and half of those have room.
  @Test("Runs that share one `cache.size` all end, and their reports agree with the cache")
  func oneSize() throws {
    var random = SeededRandom(3)
    let names = Self.names.prefix(3)
    let limit = 60_000
    for round in 1...Binary.rounds {
      if round % 5 == 1 { try home.removeCache() }
      for name in names {
        let numbers = (0..<Self.urlCount).shuffled(using: &random).prefix(Self.urlCount / 2)
        declare(Set(numbers), as: name, within: "60kB")
      }
      let runs = try names.map { name in
        try home.start(
          ["-q", "-c", "\(name).yaml", "--items", "all", "--report", "json=\(name).json"]
        )
      }
      for run in runs {
        let end = run.finish()
        #expect([0, 3].contains(end.status), "round \(round): \(end)")
      }
      let verify = try home.run("verify")
      #expect(verify.status == 0, "round \(round): \(verify)")
      let (cached, bytes) = try cached()
      #expect(bytes <= limit, "round \(round)")
      for name in names {
        let report = try #require(home.read("\(name).json"))
        let items = try Node(json: report).list("items")
        for item in items where item.text("state") == "cached" {
          let isHere = cached.contains(item.text("url") ?? "")
          let words = ["url", "action", "outcome", "source", "reason"].map { item.text($0) ?? "" }
          #expect(isHere, "round \(round): \(name) says \(words)")
        }
      }
    }
  }

  /// Four runs, a `get`, a `gc` and two readers run at once; in half of the rounds one is killed.
  @Test("Runs of several names report the truth, whatever the others do and however they end")
  func together() throws {
    var random = SeededRandom(5)
    var held: [String: Set<Int>] = [:]
    // Items that the cache may record for a name, including runs that were killed.
    var known: [String: Set<Int>] = [:]
    for round in 1...Binary.rounds {
      for number in 0..<Self.urlCount where Int.random(in: 0..<5, using: &random) == 0 {
        put(number, version: round)
      }
      for name in Self.names where held[name] == nil || Bool.random(using: &random) {
        let count = Int.random(in: 5...30, using: &random)
        held[name] = Set((0..<Self.urlCount).shuffled(using: &random).prefix(count))
        declare(held[name] ?? [], as: name)
      }
      _ = moved.drain()
      let requested = (0..<2).map { _ in url(Int.random(in: 0..<Self.urlCount, using: &random)) }
      home.configure("cache: { min_free: 0 }", to: "none.yaml")
      let commands =
        Self.names.map { ["-q", "-c", "\($0).yaml"] } + [
          ["get", "--path", "--revalidate", "-c", "none.yaml"] + requested,
          ["gc", "-c", "none.yaml"], ["verify"], ["list", "--json"],
        ]
      let programs = try commands.map { try home.start($0) }
      var killed: Int?
      if Bool.random(using: &random) {
        killed = Int.random(in: 0..<6, using: &random)
        usleep(UInt32.random(in: 0..<60_000, using: &random))
        programs[killed ?? 0].signal(SIGKILL)
      }
      for (number, program) in programs.enumerated() {
        let end = program.finish()
        guard number != killed else { continue }
        #expect(end.status == 0, "round \(round), \(commands[number]): \(end)")
      }
      let verify = try home.run("verify")
      #expect(verify.status == 0, "round \(round): \(verify)")
      // A body is fetched once, and again after a kill or a removal.
      //
      // A run that removes an item as its last owner may remove what another run has just fetched
      // or wants.
      let counts = moved.drain().filter { path, count in
        let number = Int(path.dropFirst()) ?? 0
        let removals = Self.names.count { name in
          known[name]?.contains(number) == true && held[name]?.contains(number) != true
        }
        return count > (killed == nil ? 1 : 2) + removals
      }
      #expect(counts.isEmpty, "round \(round): \(counts)")
      for (number, name) in Self.names.enumerated() {
        if number != killed { known[name] = [] }
        known[name, default: []].formUnion(held[name] ?? [])
      }
      let cached = try cached().urls
      for (number, name) in Self.names.enumerated() where number != killed {
        let missing = (held[name] ?? []).filter { !cached.contains(url($0)) }
        #expect(missing.isEmpty, "round \(round): \(name) misses \(missing.sorted())")
      }
    }
    let log = FileTree.status("\(home.cache)/index.sqlite-wal")?.st_size ?? 0
    print("after \(Binary.rounds) rounds the log has \(log) bytes")
    #expect(FileTree.names("\(home.cache)/partial").isEmpty)
  }

  @Test(
    "Runs lose nothing where the kernel grants a lock to all",
    .enabled(if: Tool.isInstalled("cc"), "needs cc")
  )
  mutating func lyingLocks() throws {
    home.write("int flock(int file, int operation) { return 0; }\n", to: "lie.c")
    let library = home.path("lie.so")
    let built = try home.tool("cc", "-shared", "-fPIC", "-o", library, home.path("lie.c"))
    try #require(built.status == 0, "\(built)")
    let large = Array(repeating: UInt8(7), count: 3 << 20)
    var random = SeededRandom(9)
    for name in ["a", "b"] { declare(Set(0..<12), as: name) }
    home.variables["LD_PRELOAD"] = library
    for round in 1...Binary.rounds {
      for number in 0..<12 where Bool.random(using: &random) { put(number, version: round) }
      site["/0"] = Site.Page(large + [UInt8(truncatingIfNeeded: round)], entityTag: "\"\(round)\"")
      let programs = try ["a", "b"].map { try home.start(["-q", "-c", "\($0).yaml"]) }
      if Bool.random(using: &random) {
        usleep(UInt32.random(in: 0..<60_000, using: &random))
        programs[0].signal(SIGKILL)
        _ = programs[0].finish()
      } else {
        #expect(programs[0].finish().status == 0, "round \(round)")
      }
      #expect(programs[1].finish().status == 0, "round \(round)")
      let verify = try home.run("verify")
      #expect(verify.status == 0, "round \(round): \(verify)")
    }
  }
}

/// How often the body of each path went over the wire.
private final class MovedBodies: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  func count(_ path: String, _ status: Int) {
    guard status == 200 || status == 206 else { return }
    counts.withLock { $0[path, default: 0] += 1 }
  }

  func drain() -> [String: Int] {
    counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
  }
}
