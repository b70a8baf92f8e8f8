@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Rules in force while a segment's last good list replaces a failed one.
@Suite(
  "A failed list together with other features",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct FailedListTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer
  private static let names = ["a", "b", "c", "d"]

  /// Serves four items: two pinned by digest, two that every run revalidates.
  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    for name in Self.names { serve("first \(name)", at: name) }
    listItems(Self.names)
    configure()
    try #require(home.run("run").status == 0)
    failList()
  }

  private func serve(_ text: String, at name: String) {
    site["/\(name)"] = Site.Page(
      Array(text.utf8),
      entityTag: "\"\(Digest.hexadecimal(text).prefix(12))\"",
      headers: [HeaderField("Cache-Control", "max-age=0")]
    )
  }

  private func listItems(_ names: [String]) {
    let items = names.map { name in
      let digest = Digest.hexadecimal("first \(name)")
      let pin = ["a", "b"].contains(name) ? ", \"digests\": {\"sha256\": \"\(digest)\"}" : ""
      return "{\"url\": \"\(server.address("/\(name)"))\"\(pin)}"
    }
    site["/list"] = Site.Page(
      "{\"format\": \"prefetch-manifest\", \"version\": 1, \"items\": [\(items.joined(separator: ", "))]}"
    )
  }

  private func failList() {
    site["/list"] = Site.Page([], status: 503)
    site.clearRequests()
  }

  private func configure(
    segment: String = "",
    publishing: String = "dir: tree, layout: basename",
    others: [String] = [],
    cache: String = "",
    name: String = "night"
  ) {
    let list = "manifest: '\(server.address("/list"))', format: native"
    let main = "{ name: files, \(list), publish: { \(publishing) } \(segment) }"
    home.configure(
      """
      name: \(name)
      cache: { min_free: 0 \(cache) }
      network: { retries: { items: 0, lookups: 0 }, concurrency: 1 }
      segments: [\(([main] + others).joined(separator: ", "))]
      """
    )
  }

  private func remove(_ path: String) throws {
    try #require(unsafe unlink(path) == 0, "\(path)")
  }

  private func loseBody(_ name: String) throws {
    let digest = Digest.hexadecimal("first \(name)")
    try remove("\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)")
  }

  /// Requests by path, without the list's.
  private func drainLog() -> [String] {
    defer { site.clearRequests() }
    return site.requests.map(\.path).filter { $0 != "/list" }.sorted()
  }

  private var tree: [String: String] {
    Dictionary(
      uniqueKeysWithValues: FileTree.names(home.path("tree")).map {
        ($0, home.read("tree/\($0)") ?? "")
      }
    )
  }

  private static let whole = Dictionary(uniqueKeysWithValues: names.map { ($0, "first \($0)") })

  @Test("A dry run under a failed list predicts the totals of the run")
  func plan() throws {
    try loseBody("a")
    serve("second c", at: "c")
    let plan = try home.run("plan", "--json", "--items", "all")
    #expect(drainLog() == ["/a", "/c", "/d"])
    let run = try home.run("run", "--json", "--items", "all")
    #expect(plan.status == 3 && run.status == 3, "\(plan) \(run)")
    #expect(drainLog() == ["/a", "/c", "/d"])
    for key in ["kept", "fetched", "updated", "revalidated", "failed", "removed", "retained"] {
      let planned = try plan.totals()[key] ?? -1
      let done = try run.totals()[key] ?? -2
      // A dry run reports confirmed items as kept.
      if ["kept", "revalidated"].contains(key) { continue }
      #expect(planned == done, "\(key)")
    }
    #expect(tree["c"] == "second c")
  }

  @Test(
    "A shard under a failed list revalidates its own items and counts no others as retained",
    arguments: [0, 1]
  )
  func shard(number: Int) throws {
    let run = try home.run("run", "--shard", "\(number)/2", "--json", "--items", "all")
    #expect([3, 69].contains(run.status), "\(run)")
    let report = try run.json()
    #expect(report.text("totals.retained") == "0", "\(run)")
    #expect(report.text("totals.removed") == "0", "\(run)")
    let own = Set(report.list("items").compactMap { $0.text("url") })
    let requested = Set(drainLog().map { server.address($0) })
    #expect(requested.isSubset(of: own), "\(requested) of \(own)")
    #expect(tree == Self.whole)
  }

  @Test("An atomic tree under a failed list stays, and a lost file returns in a new generation")
  func atomic() throws {
    listItems(Self.names)
    configure(publishing: "dir: whole, layout: basename, atomic: true")
    #expect(try home.run("run").status == 0)
    failList()
    let before = FileTree.status(home.path("whole"))?.st_ino
    #expect(try home.run("run").status == 3)
    #expect(FileTree.status(home.path("whole"))?.st_ino == before)
    for name in Self.names { #expect(home.read("whole/\(name)") == "first \(name)") }
  }

  @Test("A paused item under a failed list is not requested and keeps its file")
  func paused() throws {
    #expect(try home.run("pause", server.address("/c")).status == 0)
    serve("second c", at: "c")
    #expect(try home.run("run").status == 3)
    #expect(drainLog() == ["/d"])
    #expect(tree == Self.whole)
  }

  @Test("An item that a user removed is fetched again by a run under a failed list")
  func removed() throws {
    #expect(try home.run("rm", server.address("/a")).status == 0)
    #expect(try home.run("run").status == 3)
    #expect(drainLog() == ["/a", "/c", "/d"])
    #expect(tree == Self.whole)
  }

  @Test("An item that `exclude` drops stays under a failed list until a good one")
  func excluded() throws {
    configure(segment: ", exclude: [b]")
    #expect(try home.run("run").status == 3)
    #expect(tree == Self.whole)
    listItems(Self.names)
    #expect(try home.run("run").status == 0)
    #expect(tree["b"] == nil && tree.count == 3)
  }

  @Test("A lowered `cache.size` evicts the same under a failed list as under a good one")
  func lowered() throws {
    listItems(Self.names)
    let size = (site["/list"]?.body.count ?? 0) + 2 * "first a".utf8.count
    failList()
    configure(cache: ", size: \(size)B")
    let run = try home.run("run", "--json", "--items", "all")
    #expect(run.status == 3, "\(run)")
    func isStored(_ name: String) throws -> Bool {
      try home.run("path", server.address("/\(name)")).status == 0
    }
    #expect(try Self.names.filter(isStored) == ["a", "b"], "\(run)")
    listItems(Self.names)
    #expect(try home.run("run").status == 3)
    #expect(try Self.names.filter(isStored) == ["a", "b"])
  }

  @Test("`gc` under a failed list removes nothing of the list in force")
  func collected() throws {
    #expect(try home.run("run").status == 3)
    #expect(try home.run("gc").status == 0)
    _ = drainLog()
    #expect(try home.run("run").status == 3)
    #expect(drainLog() == ["/c", "/d"])
    #expect(tree == Self.whole)
  }

  @Test("A segment that a run does not name is left as it is under a failed list")
  func unselected() throws {
    let inline = "{ name: other, urls: ['\(server.address("/c"))'] }"
    configure(others: [inline])
    #expect(try home.run("run", "other").status == 0)
    #expect(drainLog() == ["/c"])
    #expect(site.requests.isEmpty)
    let all = try home.run("run", "--json")
    #expect(all.status == 3, "\(all)")
    #expect(drainLog() == ["/c", "/d"])
    let states = try all.json().list("segments").map { $0.text("state") }
    #expect(states == ["incomplete", "current"], "\(all)")
  }

  @Test("A run of another configuration keeps the items of a list that failed")
  func otherIdentity() throws {
    home.write(
      """
      name: day
      allow_http: [127.0.0.1]
      cache: { min_free: 0 }
      segments: [{ name: files, urls: ['\(server.address("/c"))'] }]
      """,
      to: "day.yaml"
    )
    #expect(try home.run("run").status == 3)
    #expect(try home.run("run", "-c", "day.yaml").status == 0)
    home.write("name: day\ncache: { min_free: 0 }\nsegments: []\n", to: "day.yaml")
    let emptied = try home.run("run", "-c", "day.yaml")
    #expect(emptied.status == 0, "\(emptied)")
    #expect(try home.run("path", server.address("/c")).status == 0)
    #expect(tree == Self.whole)
  }

  @Test("Copies within `max_stale` serve when the list and the servers fail")
  func stale() throws {
    configure(segment: ", max_stale: 1d")
    for name in ["c", "d"] { site["/\(name)"] = Site.Page([], status: 503) }
    let run = try home.run("run", "--json", "--items", "all")
    #expect([3, 69].contains(run.status), "\(run)")
    let outcomes = try run.json().list("items").map { $0.text("outcome") }
    #expect(outcomes == ["unchanged", "unchanged", "stale", "stale"], "\(run)")
    #expect(tree == Self.whole)
  }

  @Test("A body that `verify --repair` drops is fetched again under a failed list")
  func repaired() throws {
    let digest = Digest.hexadecimal("first b")
    let path = "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
    try remove(path)
    FileTree.write(Array("wrong b".utf8), to: path)
    #expect(try home.run("verify", "--repair").status == 74)
    #expect(try home.run("run").status == 3)
    #expect(drainLog().contains("/b"))
    #expect(tree == Self.whole)
    #expect(try home.run("verify").status == 0)
  }

  @Test("A lost item under a failed list is adopted from a user's file without a request")
  func adopted() throws {
    configure(publishing: "dir: tree, layout: basename, adopt: true")
    try loseBody("a")
    try remove(home.path("tree/a"))
    home.write("first a", to: "tree/a")
    #expect(try home.run("run").status == 3)
    #expect(drainLog() == ["/c", "/d"])
    #expect(tree == Self.whole)
    #expect(try home.run("verify").status == 0)
  }

  @Test("A newer good list replaces the one that stays in force after a failure")
  func afterwards() throws {
    listItems(["a", "c", "d"])
    #expect(try home.run("run").status == 0)
    #expect(tree["b"] == nil)
    failList()
    #expect(try home.run("run").status == 3)
    #expect(drainLog() == ["/c", "/d"], "the list in force is the last good one")
    #expect(tree["b"] == nil)
  }
}
