import PrefetchTestSupport
import Testing

/// Machines, or jobs on one cache, that each fetch a shard of one list.
@Suite("Shards of a run", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ShardTests {
  private static let count = 200
  private let server: LoopbackServer
  private let site: Site

  init() throws {
    let site = Site()
    for number in 0..<Self.count { site["/\(number)"] = Site.Page("item \(number)") }
    site["/list.json"] = Site.Page(Manifest.text((0..<Self.count).map { "\($0)" }))
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
  }

  private func home(_ more: String = "") throws -> Home {
    let home = try Home()
    home.configure(
      """
      segments: [{ name: s, manifest: "\(server.address("/list.json"))"\(more) }]
      cache: { min_free: 0 }
      """
    )
    return home
  }

  private var requestCounts: [String: Int] {
    server.requests.reduce(into: [:]) { $0[$1.path, default: 0] += 1 }
  }

  @Test("Four machines fetch every item once, and a fifth shard takes a fifth of them")
  func machines() throws {
    let homes = try (0..<4).map { _ in try home() }
    var fetched = 0
    for (index, home) in homes.enumerated() {
      let run = try home.run("--shard", "\(index)/4", "--json")
      #expect(run.status == 0, "\(run)")
      let report = try run.json()
      #expect(report.text("run.shard") == "\(index)/4")
      #expect(report.text("segments.0.state") == "current")
      fetched += report.number("totals.fetched") ?? 0
      let status = try home.run("status", "--json").json()
      #expect(status.text("segments.0.shard") == "\(index)/4")
      #expect(try home.run("status").output.contains("\tshard \(index)/4"))
      #expect(try home.run("verify").status == 0)
    }
    #expect(fetched == Self.count)
    #expect(requestCounts.removing("/list.json").allSatisfy { $0.value == 1 })
    #expect(requestCounts.count == Self.count + 1)
    // An additional shard makes the others smaller without removing items.
    for (index, home) in homes.enumerated() {
      let before = try home.run("list").output.split(separator: "\n").count
      let run = try home.run("--shard", "\(index)/5", "--json")
      #expect(run.status == 0, "\(run)")
      #expect(try run.totals()["removed"] == 0 && run.totals()["fetched"] == 0)
      #expect(try home.run("list").output.split(separator: "\n").count == before)
    }
    let fifth = try home()
    let run = try fifth.run("--shard", "4/5", "--json")
    #expect((20...60).contains(try run.json().number("totals.fetched") ?? 0), "\(run)")
  }

  @Test("A shard keeps items that their server removed, and the run of all shards removes them")
  func gone() throws {
    let home = try home(", on_gone: remove, ttl: 0s")
    #expect(try home.run().status == 0)
    for number in 0..<20 { site["/\(number)"] = nil }
    let stored = try home.run("list").lines.count
    for index in 0..<2 {
      let run = try home.run("--shard", "\(index)/2", "--json")
      #expect(try run.status == 0 && run.totals()["removed"] == 0, "\(run)")
    }
    #expect(try home.run("list").lines.count == stored)
    let run = try home.run("--json")
    #expect(try run.status == 0 && run.totals()["removed"] == 20, "\(run)")
  }

  @Test(
    "Shards on one cache run beside each other, and a run of all has nothing left to fetch"
  )
  func oneCache() throws {
    let home = try home()
    let runs = try (0..<4).map { try home.start(["--shard", "\($0)/4", "--json"]) }
    for run in runs {
      let end = run.finish(within: 60)
      #expect(end.status == 0, "\(end)")
    }
    #expect(requestCounts.removing("/list.json").allSatisfy { $0.value == 1 })
    #expect(requestCounts.count == Self.count + 1)
    let whole = try home.run("--json")
    #expect(whole.status == 0, "\(whole)")
    #expect(try whole.totals()["fetched"] == 0)
    #expect(try whole.json().text("run.shard") == nil)
    #expect(try home.run("status", "--json").json().text("segments.0.shard") == nil)
    // Only a run of the whole configuration removes items.
    site["/list.json"] = Site.Page(Manifest.text((0..<150).map { "\($0)" }))
    for index in 0..<4 {
      #expect(try home.run("--shard", "\(index)/4", "--json").totals()["removed"] == 0)
    }
    #expect(try home.run("--json").totals()["removed"] == 50)
  }

  @Test("A shard evicts no item of another one in a cache that is too small")
  func room() throws {
    for number in 0..<12 {
      site["/\(number)"] = Site.Page("item \(number)" + String(repeating: "x", count: 990))
    }
    site["/list.json"] = Site.Page(Manifest.text((0..<12).map { "\($0)" }))
    let home = try home(", ttl: 1h")
    var held: Set<String> = []
    for round in 1...3 {
      for index in 0..<2 {
        let run = try home.run("--shard", "\(index)/2", "--set", "cache.size=7kB", "--json")
        #expect([0, 3, 4].contains(run.status), "\(run)")
        #expect(try run.totals()["removed"] == 0, "\(run)")
        #expect(try round == 1 || run.totals()["fetched"] == 0, "\(run)")
      }
      let items = try home.run("list", "--state", "cached", "--json").json().list("items")
      let now = Set(items.compactMap { $0.text("url") })
      #expect(held.isEmpty || held == now)
      held = now
    }
    #expect((4...6).contains(held.count), "\(held)")
  }

  @Test("The guards see the whole list, and an invalid item fails in one shard")
  func guards() throws {
    let home = try home()
    #expect(try home.run("--shard", "0/4").status == 0)
    site["/list.json"] = Site.Page(Manifest.text((0..<60).map { "\($0)" }))
    let cut = try home.run("--shard", "0/4", "--json")
    #expect(cut.status != 0)
    #expect(try cut.json().text("segments.0.manifest.error.code") == "manifest_guard", "\(cut)")
    let bad = (0..<199).map { "\($0)" } + ["ftp://host.example/a"]
    site["/list.json"] = Site.Page(Manifest.text(bad))
    let failed = try (0..<4).map { index in
      try home.run("--shard", "\(index)/4", "--json").json().number("totals.failed") ?? 0
    }
    #expect(failed.reduce(0, +) == 1)
  }

  @Test("A shard without items of a short list is not an empty list")
  func few() throws {
    site["/list.json"] = Site.Page(Manifest.text(["0"]))
    let home = try home(", fail_on_empty: true")
    for index in 0..<4 {
      let run = try home.run("--shard", "\(index)/4")
      #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    }
    #expect(requestCounts["/0"] == 1)
  }

  @Test("The scheduler's variables select the shard, and an invalid shard ends with 64")
  func words() throws {
    var home = try home()
    let none = try home.run("--shard", "env")
    #expect(none.status == 64 && none.errors.contains("SLURM_ARRAY_TASK_ID"), "\(none)")
    for word in ["4/4", "1", "a/b", ""] {
      #expect(try home.run("--shard", word).status == 64)
    }
    home.variables["CI_NODE_INDEX"] = "2"
    home.variables["CI_NODE_TOTAL"] = "3"
    #expect(try home.run("--shard", "env", "--json").json().text("run.shard") == "1/3")
    let planned = try home.run("plan", "--shard", "0/3", "--json")
    #expect(try planned.json().text("run.shard") == "0/3")
    let published = try self.home(", publish: { dir: ./tree }")
    let part = try published.run("--shard", "0/3")
    #expect(part.status == 0 && part.errors.contains("nothing is published"), "\(part)")
    #expect(published.read("tree") == nil && !FileTree.exists(published.path("tree")))
    for index in 1..<3 { #expect(try published.run("--shard", "\(index)/3").status == 0) }
    #expect(try published.run("run").status == 0)
    #expect(FileTree.exists(published.path("tree")), "a whole run makes the tree")
  }
}

extension [String: Int] {
  fileprivate func removing(_ key: String) -> Self {
    filter { $0.key != key }
  }
}
