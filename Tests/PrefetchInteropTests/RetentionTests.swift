import PrefetchCore
import PrefetchTestSupport
import Testing

/// A list that names files before they exist.
@Suite("Items that left a list", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RetentionTests {
  private let ground: MirrorGround
  private var home: Home { ground.home }

  init() throws {
    ground = try MirrorGround()
  }

  private func declare(_ rules: String = "", _ more: String = "cache: { min_free: 0 }") {
    home.configure(
      """
      segments: [{ name: s, manifest: "\(ground.server.address("/list.txt"))", \
      publish: { dir: tree, layout: basename }\(rules) }]
      network: { retries: { items: 0, wait: 0s } }
      \(more)
      """
    )
  }

  private func list(_ paths: [String]) {
    ground.serve(paths.map { "\(ground.server.address($0))\n" }.joined(), at: "/list.txt")
  }

  private func run(_ arguments: String..., status: Int32) throws -> [String: Int] {
    let run = try home.run(arguments + ["--json"])
    #expect(run.status == status, "\(run)")
    return try run.totals()
  }

  private var names: [String] { ground.files("tree").keys.sorted() }

  private func serve(_ paths: [String]) {
    for path in paths { ground.serve("body of \(path)", at: path) }
  }

  private static let old = (1...20).map { "/old-\($0)" }
  private static let new = (1...20).map { "/new-\($0)" }

  @Test("Items that left a list stay stored and published until their successors are stored")
  func untilStored() throws {
    serve(Self.old)
    list(Self.old)
    declare()
    #expect(try run("run", status: 0)["fetched"] == 20)
    let before = names
    list(Self.new)
    var totals = try run("plan", status: 3)
    #expect((totals["failed"], totals["retained"], totals["removed"]) == (20, 20, 0), "\(totals)")
    totals = try run("run", status: 3)
    #expect((totals["failed"], totals["retained"], totals["removed"]) == (20, 20, 0), "\(totals)")
    #expect(names == before)
    #expect(try home.run("verify").status == 0)
    let plan = try home.run("plan", "--items", "all")
    let keeps = plan.lines.filter { $0.hasPrefix("keep\ts\t") && $0.contains("/old-") }
    #expect(keeps.count == 20, "\(plan)")
    #expect(keeps.allSatisfy { $0.hasSuffix("kept until the listed items are stored") })

    serve(Array(Self.new.dropLast()))
    totals = try run("run", status: 3)
    #expect((totals["fetched"], totals["retained"], totals["removed"]) == (19, 20, 0), "\(totals)")
    #expect(names.count == 39)
    serve(Self.new)
    totals = try run("run", status: 0)
    #expect((totals["fetched"], totals["retained"], totals["removed"]) == (1, 0, 20), "\(totals)")
    #expect(names == Self.new.map { String($0.dropFirst()) }.sorted())
  }

  @Test("Items that left a list stay in a mirror whose checksums arrive before its files")
  func mirror() throws {
    let list = ground.server.address("/pub/SHA256SUMS")
    ground.publish(files: ["app-13.1.txt": "old", "notes-13.1.txt": "old notes"])
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.publish(files: ["app-13.2.txt": "new", "notes-13.2.txt": "new notes"])
    ground.site["/pub/app-13.2.txt"] = nil
    ground.site["/pub/notes-13.2.txt"] = nil
    #expect(try ground.mirror(list, "dir").status == 3)
    #expect(ground.files().keys.filter { $0.contains("13.1") }.count == 2, "\(ground.files())")
    ground.publish(files: ["app-13.2.txt": "new", "notes-13.2.txt": "new notes"])
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files()["app-13.2.txt"] == "new")
    #expect(ground.files()["app-13.1.txt"] == nil)
  }

  @Test("Items that left a list stay while a successor is deferred, and their segment is deferred")
  func deferred() throws {
    serve(["/a", "/b"])
    list(["/a", "/b"])
    declare()
    _ = try run("run", status: 0)
    list(["/a", "/c"])
    ground.site["/c"] = Site.Page(
      [],
      headers: [HeaderField("Retry-After", "3600")],
      status: 503
    )
    let run = try home.run("--json")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("segments.0.state") == "deferred")
    #expect(try run.totals()["retained"] == 1)
    #expect(names == ["a", "b"])
  }

  @Test("Items that a rule of the configuration excludes are removed at once")
  func excluded() throws {
    serve(["/a", "/b"])
    list(["/a", "/b"])
    declare()
    _ = try run("run", status: 0)
    list(["/a", "/b", "/missing"])
    declare(", exclude: [b]")
    let totals = try run("run", status: 3)
    #expect((totals["retained"], totals["removed"]) == (0, 1), "\(totals)")
    #expect(names == ["a"])
  }

  @Test("Items that left a list are removed although an item that is not required fails")
  func notRequired() throws {
    serve(["/a", "/b"])
    let items = { (paths: [String]) in
      let entries = paths.map { path in
        #"{"url": "\#(ground.server.address(path))", "required": \#(path != "/missing")}"#
      }
      let text = #"{"format": "prefetch-manifest", "version": 1, "items": ["#
      ground.serve(text + entries.joined(separator: ", ") + "]}", at: "/list.txt")
    }
    items(["/a", "/b"])
    declare()
    _ = try run("run", status: 0)
    items(["/a", "/missing"])
    #expect(try run("run", status: 0)["removed"] == 1)
    #expect(names == ["a"])
  }

  @Test("Items that left a list yield their name in a tree to a successor")
  func sameName() throws {
    serve(["/1/app", "/1/notes"])
    list(["/1/app", "/1/notes"])
    declare()
    _ = try run("run", status: 0)
    serve(["/2/app"])
    list(["/2/app", "/2/missing"])
    #expect(try run("run", status: 3)["retained"] == 2)
    #expect(ground.files("tree") == ["app": "body of /2/app", "notes": "body of /1/notes"])
  }

  @Test(
    "Items that left a list are removed after a grace that begins with the first stored successor"
  )
  func grace() throws {
    serve(["/a", "/b"])
    list(["/a", "/b"])
    let rules = "cache: { min_free: 0, purge: { grace: 0s } }"
    declare("", rules)
    _ = try run("run", status: 0)
    list(["/c", "/d"])
    #expect(try run("run", status: 3)["retained"] == 2)
    #expect(try run("run", status: 3)["retained"] == 2)
    serve(["/c"])
    let totals = try run("run", status: 3)
    #expect((totals["fetched"], totals["removed"], totals["retained"]) == (1, 2, 0), "\(totals)")
    #expect(names == ["c"])
  }

  @Test("Items that left a list are evicted for their successors under a limit of size")
  func room() throws {
    for path in ["/a", "/b", "/c"] {
      ground.serve(String(repeating: path, count: 20_000), at: path)
    }
    list(["/a", "/b"])
    declare("", "cache: { min_free: 0, size: 100kB }")
    _ = try run("run", status: 0)
    list(["/c", "/missing"])
    let totals = try run("run", status: 3)
    #expect(totals["fetched"] == 1, "\(totals)")
    #expect(names.contains("c"))
    #expect(FileTree.objects(home.cache).count <= 3)
    #expect(try home.run("verify").status == 0)
  }
}
