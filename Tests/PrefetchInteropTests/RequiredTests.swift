import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("An item that is not required", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RequiredTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/two": Site.Page("two")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { request in
      guard request.path == "/later" else { return site.respond(to: request) }
      return Script([.send(Script.head(503, [("Retry-After", "3600"), ("Content-Length", "0")]))])
    }
    home = try Home()
  }

  private func item(_ path: String, _ more: String = "required: false") -> String {
    "{ url: \"\(server.address(path))\", \(more) }"
  }

  private func declare(_ segments: String...) {
    home.configure(
      """
      segments:
      \(segments.map { "  - { \($0) }" }.joined(separator: "\n"))
      network: { concurrency: 1, retries: { items: 0, lookups: 0 } }
      cache: { min_free: 0 }
      """
    )
  }

  private func requestCount(_ path: String) -> Int {
    server.requests.count { $0.path == path }
  }

  @Test("A failed item that is not required is reported, tried again, and leaves the status 0")
  func fails() throws {
    declare("name: s, urls: [\(item("/one", "required: true")), \(item("/none"))]")
    let plan = try home.run("plan")
    #expect(plan.status == 0, "\(plan)")
    #expect(plan.output.contains("fail\ts\t"), "\(plan)")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().text("segments.0.state") == "current")
    #expect(try run.totals()["failed"] == 1)
    #expect(run.errors.contains("warning: ") && run.errors.contains("/none"), "\(run)")
    let quiet = try home.run("-q")
    #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty, "\(quiet)")
    #expect(requestCount("/none") == 3)
    #expect(try home.run("status", "--max-age", "1h").status == 0)
    #expect(try home.run("get", server.address("/none")).status == 4)
  }

  @Test(
    "A failed item that is not required is tried again although its manifest is unchanged",
    arguments: [false, true]
  )
  func listed(isLines: Bool) throws {
    let items = [
      #"{"url": "/one", "ttl": "immutable"}"#,
      #"{"url": "/none", "ttl": "immutable", "required": false}"#,
      #"{"url": "ftp://nowhere/", "required": false}"#,
    ]
    let text =
      isLines
      ? #"{"format": "prefetch-manifest", "version": 1}"# + "\n" + items.joined(separator: "\n")
      : #"{"format": "prefetch-manifest", "version": 1, "items": ["# + items.joined(separator: ", ")
        + "]}"
    let path = isLines ? "/m.ndjson" : "/m.json"
    site[path] = Site.Page(Array(text.utf8), entityTag: "\"1\"")
    declare("name: s, manifest: \"\(server.address(path))\"")
    for round in 1...2 {
      let run = try home.run("--json")
      #expect(run.status == 0, "\(run)")
      #expect(try run.json().text("segments.0.state") == "current")
      #expect(try run.totals()["failed"] == 2)
      #expect(requestCount("/none") == round)
      #expect(requestCount("/one") == 1)
    }
  }

  @Test("An item is required when another segment requires it", arguments: [false, true])
  func shared(isReversed: Bool) throws {
    let lax = "name: lax, urls: [\(item("/one")), \(item("/none"))]"
    let strict = "name: strict, urls: [\(item("/two", "")), \(item("/none", ""))]"
    if isReversed { declare(strict, lax) } else { declare(lax, strict) }
    let run = try home.run("--json")
    #expect(run.status == 3, "\(run)")
    let report = try run.json()
    let states = report.list("segments").map {
      "\($0.text("name") ?? "") \($0.text("state") ?? "")"
    }
    #expect(states.sorted() == ["lax current", "strict incomplete"])
    #expect(try home.run("run", "lax").status == 0)
  }

  @Test("A deferred item that is not required does not defer the run")
  func deferred() throws {
    declare("name: s, urls: [\(item("/one")), \(item("/later"))]")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().text("segments.0.state") == "current")
    #expect(try run.totals()["deferred"] == 1)
    declare("name: s, urls: [\(item("/one")), \(item("/later", "required: true"))]")
    #expect(try home.run().status == 75)
  }

  @Test("An item that is not required counts when it breaks a rule of trust")
  func trust() throws {
    let digest = String(repeating: "0", count: 64)
    declare(
      "name: s, urls: [\(item("/one")), \(item("/two", "required: false, sha256: \(digest)"))]"
    )
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(try run.json().text("segments.0.state") == "incomplete")
  }

  @Test("A failed item that is not required does not delay an atomic tree")
  func atomic() throws {
    let publish = "publish: { dir: tree, layout: basename, atomic: true }"
    declare("name: s, urls: [\(item("/one", "")), \(item("/none", ""))], \(publish)")
    #expect(try home.run().status == 3)
    #expect(home.read("tree/one") == nil)
    declare("name: s, urls: [\(item("/one", "")), \(item("/none"))], \(publish)")
    let run = try home.run()
    #expect(run.status == 0, "\(run)")
    #expect(home.read("tree/one") == "one")
    let published = try home.run("publish")
    #expect(published.status == 0, "\(published)")
    site["/none"] = Site.Page("late")
    #expect(try home.run().status == 0)
    #expect(home.read("tree/none") == "late")
  }
}
