@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("Removal of unused content", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct CollectTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    let site = Site(["/1": Site.Page("one"), "/2": Site.Page("second"), "/3": Site.Page("three")])
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    declare("[{ name: basics, urls: [\(server.address("/1")), \(server.address("/2"))] }]")
  }

  private func declare(_ segments: String, in name: String = "prefetch.yaml") {
    home.configure("segments: \(segments)", to: name)
  }

  private var cached: [Substring] {
    get throws { try home.run("list").lines.filter { !$0.contains("\t-\t") } }
  }

  @Test("`gc` creates no cache")
  func nothing() throws {
    let run = try home.run("gc", "--json")
    #expect(run.status == 0)
    #expect(try run.json().text("schema") == "prefetch-gc/1")
    #expect(!FileTree.exists(home.cache))
  }

  @Test("`gc` keeps declared items")
  func keeps() throws {
    #expect(try home.run().status == 0)
    let run = try home.run("gc")
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("0 items dropped"), "\(run)")
    #expect(try home.run("gc", "-q").output == "")
    #expect(try cached.count == 2)
  }

  @Test("`gc --dry-run` names exactly the items that `gc` removes, also those over the limit")
  func dryRunNamesItems() throws {
    declare("[{ name: other, urls: [\(server.address("/3"))] }]", in: "other.yaml")
    #expect(try home.run().status == 0)
    #expect(try home.run("-c", "other.yaml").status == 0)
    unsafe unlink(home.path("other.yaml"))
    let before = try Set(cached)
    let limit = ["--set", "cache.size=7"]
    let plan = try home.run(["gc", "--dry-run"] + limit)
    #expect(try Set(cached) == before)
    let drops = plan.lines.filter { $0.hasPrefix("  drops ") }
    #expect(drops.contains { $0.hasSuffix(server.address("/3")) }, "\(plan)")
    let document = try home.run(["gc", "--dry-run", "--json"] + limit).json()
    #expect(document.number("items") == drops.count)
    #expect(document.text("drops.0.url") != nil)

    let real = try home.run(["gc", "--json"] + limit).json()
    #expect(real.number("items") == drops.count, "\(plan)")
    let removed = try before.subtracting(cached)
    #expect(removed.count == drops.count)
    for line in drops {
      let url = line.split(separator: " ").last ?? ""
      #expect(removed.contains { $0.contains(url) }, "\(line)")
    }
  }

  @Test("`gc` removes the items of a configuration that is named or no longer exists")
  func forgets() throws {
    declare("[{ name: other, urls: [\(server.address("/3"))] }]", in: "other.yaml")
    #expect(try home.run().status == 0)
    #expect(try home.run("-c", "other.yaml").status == 0)
    #expect(try cached.count == 3)
    unsafe unlink(home.path("other.yaml"))
    let run = try home.run("gc", "--json").json()
    #expect(run.number("items") == 1)
    #expect(try cached.count == 2)

    let unknown = try home.run("gc", "--forget", "nope")
    #expect(unknown.status == 0 && unknown.errors.contains("nothing of `nope`"), "\(unknown)")
    let named = try home.run("gc", "--forget", home.path("prefetch.yaml"), "--json").json()
    #expect(named.number("items") == 2)
    #expect(named.number("bytes") == 9)
    #expect(try cached.isEmpty)
    #expect(try home.run("verify").status == 0)
  }

  @Test("`gc` brings the cache within its size, and the next run fetches what has room again")
  func limits() throws {
    #expect(try home.run().status == 0)
    #expect(try home.run("gc", "--set", "cache.size=6B").status == 0)
    #expect(try cached.count == 1)
    #expect(try home.run().status == 0)
    #expect(try cached.count == 2)
    #expect(try home.run("verify").status == 0)
  }
}
