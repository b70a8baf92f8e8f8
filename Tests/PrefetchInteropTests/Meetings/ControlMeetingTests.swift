import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Controls and requests of single items in combination with other features.
@Suite(
  "Controls of items together with other features",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct ControlMeetingTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home
  private static let size = 20_000

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    for (index, name) in ["/a", "/b", "/c", "/t"].enumerated() {
      let bytes = [UInt8](repeating: UInt8(0x61 + index), count: Self.size)
      site[name] = Site.Page(
        bytes,
        entityTag: "\"\(name)\"",
        headers: [HeaderField("Cache-Control", "max-age=3600")]
      )
    }
  }

  /// Configures the paths; `thumbnail` gives `/a` a thumbnail.
  private func configure(
    _ paths: [String],
    _ lines: String = "cache: { min_free: 0 }",
    publishes: Bool = false,
    thumbnail: Bool = false
  ) {
    let urls = paths.map { path in
      let more = thumbnail && path == "/a" ? ", thumbnail: \"\(server.address("/t"))\"" : ""
      return "{ url: \"\(server.address(path))\"\(more) }"
    }
    let tree = publishes ? ", publish: { dir: tree, layout: basename }" : ""
    home.configure(
      "segments: [{ name: s, urls: [\(urls.joined(separator: ", "))]\(tree) }]\n\(lines)"
    )
  }

  /// Returns the names of the stored items.
  private func stored() throws -> [String] {
    try home.run("list", "--state", "cached,paused").lines.filter {
      !$0.contains("\t-\t") || $0.hasPrefix("cached")
    }
    .compactMap { $0.split(separator: "/").last.map(String.init) }.sorted()
  }

  private func bodies() -> Int {
    FileTree.objects(home.cache).count
  }

  private func published() -> [String] {
    FileTree.listing(home.work).keys.filter { $0.contains("/tree/") }
      .compactMap { $0.split(separator: "/").last.map(String.init) }.sorted()
  }

  private func plan() throws -> [String] {
    try home.run("plan").lines.map { line in
      let fields = line.split(separator: "\t").map(String.init)
      return "\(fields[0]) \(fields[3].split(separator: "/").last ?? "")"
    }
  }

  private func expectRun(
    _ status: Int32 = 0,
    _ location: Testing.SourceLocation = #_sourceLocation
  )
    throws
  {
    let run = try home.run("--json")
    #expect(run.status == status, "\(run)", sourceLocation: location)
    #expect(try home.run("verify").status == 0, sourceLocation: location)
  }

  // MARK: Pause

  @Test("A paused item is evicted as any other and is kept when no list declares it")
  func paused() throws {
    configure(["/a", "/b"])
    try expectRun()
    #expect(try home.run("pause", server.address("/a")).status == 0)
    configure(["/a", "/b"], "cache: { min_free: 0, size: \(Self.size + 100)B }")
    let gc = try home.run("gc")
    #expect(gc.status == 0)
    #expect(try home.run("path", server.address("/a")).status == 0)
    #expect(try home.run("path", server.address("/b")).status == 4)
    configure(["/b"])
    try expectRun()
    #expect(try home.run("path", server.address("/a")).status == 0, "a paused item stays")
    #expect(try home.run("resume", server.address("/a")).status == 0)
    #expect(try home.run("gc").status == 0)
    try expectRun()
  }

  @Test("A paused item is planned as deferred, and its tree is published without it")
  func pausedPublishing() throws {
    configure(["/a", "/b"], publishes: true)
    #expect(try home.run("pause", server.address("/a")).status == 0)
    #expect(try plan() == ["defer a", "fetch b"])
    try expectRun()
    #expect(published() == ["b"])
    #expect(try home.run("resume", server.address("/a")).status == 0)
    #expect(try plan() == ["fetch a"])
    try expectRun()
    #expect(published() == ["a", "b"])
  }

  // MARK: Lock

  @Test("A locked item survives limits, the end of its declaration, and `rm`")
  func locked() throws {
    configure(["/a", "/b"], publishes: true)
    try expectRun()
    #expect(try home.run("lock", server.address("/b")).status == 0)
    configure(["/a", "/b"], "cache: { min_free: 0, size: \(Self.size + 100)B }", publishes: true)
    _ = try home.run("gc")
    #expect(try home.run("path", server.address("/b")).status == 0)
    configure(["/a"], publishes: true)
    #expect(try plan().filter { $0.hasSuffix(" b") } == [], "a plan promises what the run refuses")
    try expectRun()
    #expect(try home.run("path", server.address("/b")).status == 0)
    #expect(try home.run("rm", server.address("/b")).status == 3)
    #expect(published() == ["a"])
    #expect(try home.run("unlock", server.address("/b")).status == 0)
    #expect(try home.run("rm", server.address("/b")).status == 0)
    #expect(try home.run("path", server.address("/b")).status == 4)
    try expectRun()
  }

  // MARK: Behaviour

  @Test("A withheld item breaks no limit, and is neither planned nor published")
  func withheld() throws {
    let rules = "download: { behavior: none }\ncache: { min_free: 0, max_file_size: 3B }"
    configure(["/a", "/b"], rules, publishes: true)
    #expect(try plan() == [])
    try expectRun()
    #expect(published() == [])
    let free = "download: { behavior: none }\ncache: { min_free: 0 }"
    configure(["/a", "/b"], free, publishes: true)
    #expect(try home.run("get", "-o", "x", server.address("/a")).status == 0)
    try expectRun()
    #expect(server.requests.count == 1)
    #expect(published() == ["a"], "what is there is published")
    configure(["/b"], free, publishes: true)
    _ = try home.run("--json", "--allow", "mass-removal")
    #expect(published() == [])
    #expect(try home.run("verify").status == 0)
  }

  @Test("An item that was stored before a behaviour withheld it stays until its declaration ends")
  func withheldLater() throws {
    configure(["/a", "/b", "/c"])
    try expectRun()
    let none = "download: { behavior: none }\ncache: { min_free: 0, ttl: 0s }"
    configure(["/a", "/b", "/c"], none)
    try expectRun()
    #expect(server.requests.count == 3, "no request is sent for it")
    configure(["/a", "/b"], none)
    #expect(try plan() == ["remove c"])
    try expectRun()
    #expect(try stored() == ["a", "b"])
  }

  // MARK: Thumbnails

  @Test("Thumbnails precede items even with little room, and are removed with their items")
  func thumbnails() throws {
    let little =
      "cache: { min_free: 0, size: \(2 * Self.size + 100)B }\nnetwork: { concurrency: 1 }"
    configure(["/b", "/a"], little, publishes: true, thumbnail: true)
    #expect(try plan() == ["fetch t", "fetch b", "fail a"])
    #expect(try home.run("--json").status == 3)
    #expect(server.requests.first { $0.method == "GET" }?.path == "/t")
    #expect(try stored() == ["b", "t"])
    configure(["/b", "/a"], publishes: true, thumbnail: true)
    try expectRun()
    #expect(published() == ["a", "b", "t"])
    configure(["/b"], publishes: true, thumbnail: true)
    #expect(Set(try plan()) == ["remove a", "remove t"])
    _ = try home.run("--json", "--allow", "mass-removal")
    #expect(try stored() == ["b"])
    #expect(published() == ["b"])
    #expect(try home.run("verify").status == 0)
  }

  @Test("Under `behavior: thumbnails` items are fetched by `get` and removed by `rm`")
  func thumbnailsAlone() throws {
    let rules = "download: { behavior: thumbnails }\ncache: { min_free: 0 }"
    configure(["/a", "/b"], rules, thumbnail: true)
    try expectRun()
    #expect(try stored() == ["t"])
    #expect(try home.run("get", "-o", "x", server.address("/a")).status == 0)
    #expect(try home.run("rm", "--keep-thumbnail", server.address("/a")).status == 0)
    #expect(try stored() == ["t"])
    #expect(try home.run("get", "-o", "x", server.address("/a")).status == 0)
    #expect(try home.run("rm", server.address("/a")).status == 0)
    #expect(try stored() == [])
  }

  // MARK: Consumption

  @Test("A consumed item is evicted first, however recently it was used")
  func consumed() throws {
    home.configure("cache: { min_free: 0 }")
    for path in ["/a", "/b", "/c"] {
      #expect(try home.run("get", "-o", "x", server.address(path)).status == 0)
    }
    let seen = try home.run(
      ["event", "consume", server.address("/c"), "--from", "0", "--to", "4", "--length", "4"]
    )
    #expect(seen.status == 0, "\(seen)")
    #expect(try home.run("list", "--unconsumed").lines.count == 2)
    #expect(try home.run("gc", "--set", "cache.size=\(2 * Self.size + 100)B").status == 0)
    #expect(try stored() == ["a", "b"])
    #expect(try home.run("gc", "--set", "cache.size=\(Self.size + 100)B").status == 0)
    #expect(try stored() == ["b"], "then what was used longest ago")
  }

  // MARK: Pull

  @Test("An item pulled by a client is planned as stored, published, and evicted first")
  func pulled() throws {
    configure(["/a", "/b"], publishes: true)
    let serving = try Serving(home, "--pull")
    #expect(try serving.client.get(server.servedPath("/a")).status == 200)
    #expect(try serving.client.get(server.servedPath("/c")).status == 200)
    #expect(try plan() == ["fetch b"])
    try expectRun()
    #expect(server.requests.count { $0.path == "/a" && $0.method == "GET" } == 1)
    #expect(published() == ["a", "b"])
    #expect(try home.run("path", server.address("/c")).status == 0)
    configure(
      ["/a", "/b"],
      "cache: { min_free: 0, size: \(2 * Self.size + 100)B }",
      publishes: true
    )
    #expect(try home.run("gc").status == 0)
    #expect(try stored() == ["a", "b"])
    // The server notices removals by other processes.
    #expect(
      try serving.client.get(server.servedPath("/c")).headers["cache-status"]?.contains("uri-miss")
        == true
    )
    #expect(try home.run("rm", server.address("/c")).status == 0)
    let run = serving.stop()
    #expect(run.status == 143 && run.errors.isEmpty, "\(run)")
    #expect(try home.run("verify").status == 0)
  }
}
