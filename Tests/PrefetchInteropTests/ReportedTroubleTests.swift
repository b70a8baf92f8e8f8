import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Commands beside `run` name the trouble of the last run.
@Suite("The trouble of the last run", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ReportedTroubleTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/two": Site.Page("two")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
  }

  private func declare(_ segment: String, _ more: String = "") {
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: files, \(segment) }]
      \(more)
      """
    )
  }

  private func declareItems(_ more: String = "", hooks: String = "") {
    let urls = ["/one", "/two"].map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    declare("urls: [\(urls)] \(more)", hooks)
  }

  @Test("`explain` of a list in a file says when a run read it, and why it failed last")
  func localList() throws {
    declare("manifest: list.json")
    home.write(#"{"format": "prefetch-manifest", "version": 1, "items": []"#, to: "list.json")
    #expect(try home.run().status != 0)
    for name in ["list.json", "./list.json", home.path("list.json")] {
      let run = try home.run("explain", name)
      #expect(run.status == 0, "\(run)")
      #expect(run.output.contains("segments   files"), "\(run)")
      #expect(run.output.contains("read in every run"), "\(run)")
      #expect(run.output.contains("; it failed at "), "\(run)")
    }
    let document = try home.run("explain", "list.json", "--json").json()
    #expect(document.text("url") == home.path("list.json"))
    #expect(document.text("history.0.outcome") == "failed")
    let schema = try RepositoryPage.schema("explain")
    #expect(SchemaCheck.problems(of: document, schema: schema) == [])
    #expect(try home.run("explain", "other.json").status == 4)
  }

  @Test("`explain` says once that an item is checked in every run")
  func checkedAlways() throws {
    declareItems()
    #expect(try home.run().status == 0)
    let run = try home.run("explain", server.address("/one"))
    let shown = run.lines.filter { $0.hasPrefix("fresh ") || $0.hasPrefix("decision ") }
    let text = "decision   revalidate: checked in every run: the server states no lifetime"
    #expect(shown.map(String.init) == [text], "\(run)")
  }

  @Test("`env` names the failure that keeps a segment from being current")
  func environment() throws {
    let publish = ", publish: { dir: tree, layout: basename }"
    declareItems(publish)
    let first = try home.run("env")
    #expect(first.errors.contains("`prefetch run` fetches it"), "\(first)")
    site["/two"] = nil
    #expect(try home.run().status == 3)
    let items = try home.run("env")
    #expect(items.output.isEmpty, "\(items)")
    #expect(items.errors.contains("1 item failed in the last run, the first"), "\(items)")
    #expect(items.errors.contains("404"), "\(items)")
    declare("manifest: \"\(server.address("/none.txt"))\", format: list \(publish)")
    #expect(try home.run().status != 0)
    let list = try home.run("env")
    #expect(list.errors.contains("/none.txt` failed in the last run"), "\(list)")
  }

  @Test("A dry run shows that a run would fetch an item whose body the store has lost")
  func lostBody() throws {
    declareItems(", ttl: 1h")
    #expect(try home.run().status == 0)
    let body = try #require(try home.run("path", server.address("/one")).lines.first)
    FileTree.remove(String(body))
    let plan = try home.run("run", "-n", "--detailed-exitcode")
    #expect(plan.status == 2, "\(plan)")
    #expect(plan.output.contains("fetch\tfiles\t3\t\(server.address("/one"))"), "\(plan)")
  }

  @Test("A command that a hook starts starts no hooks of the same cache, and those of others")
  func hookInHook() throws {
    home.write("#!/bin/sh\nenv > \(home.path("hook.env"))\n", to: "hook")
    #expect(try home.shell("chmod +x hook").status == 0)
    declareItems(hooks: "hooks: { run.finished: [\(home.path("hook"))] }")
    #expect(try home.run().status == 0)
    let name = "PREFETCH_HOOK_CACHES"
    let line = (home.read("hook.env") ?? "").split(separator: "\n").first {
      $0.hasPrefix(name + "=")
    }
    let value = String(try #require(line).dropFirst(name.count + 1))
    #expect(value == home.cache)
    // A command with the environment of the hook is one that the hook has started.
    FileTree.remove(home.path("hook.env"))
    var inner = home
    inner.variables[name] = value
    let run = try inner.run()
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("no hooks are started"), "\(run)")
    #expect(home.read("hook.env") == nil)
    inner.variables[name] = home.path("another")
    #expect(try inner.run().status == 0)
    #expect(home.read("hook.env")?.contains("\(home.path("another"))\n\(value)") == true)
  }
}
