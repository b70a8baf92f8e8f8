import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

@Suite("A plan and the run after it agree", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PlanAgreementTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private func configure(_ segments: String..., network: String = "") {
    home.configure(
      """
      name: agreed
      network: { retries: { items: 0, lookups: 0 }\(network) }
      cache: { min_free: 0 }
      segments:
      \(segments.map { "  - { \($0) }" }.joined(separator: "\n"))
      """
    )
  }

  /// Returns the outcome of each item by its URL and segment.
  private func ends(_ report: Node) -> [String: String] {
    var ends: [String: String] = [:]
    for item in report.list("items") {
      let names = item.list("segments").compactMap(\.text).joined(separator: ",")
      let cause = item.text("error.code") ?? item.text("deferred.rule") ?? ""
      ends["\(names) \(item.text("url") ?? "")"] = "\(item.text("action") ?? "") \(cause)"
    }
    return ends
  }

  /// Runs and checks that items, segments and exit status are those of the plan; returns the
  /// report.
  @discardableResult
  private func agree(
    _ options: String...,
    location: Testing.SourceLocation = #_sourceLocation
  ) throws -> Node {
    let arguments = options + ["--json", "--items", "all"]
    let plan = try home.run(["plan"] + arguments)
    let run = try home.run(["run"] + arguments)
    let (planned, happened) = (try plan.json(), try run.json())
    let context = "\(plan)\n\(run)"
    #expect(ends(planned) == ends(happened), "\(context)", sourceLocation: location)
    for key in ["name", "state", "deferred.rule", "manifest.status"] {
      let words = [planned, happened].map { $0.list("segments").map { $0.text(key) } }
      #expect(words[0] == words[1], "\(key): \(context)", sourceLocation: location)
    }
    #expect(plan.status == run.status, "\(context)", sourceLocation: location)
    return happened
  }

  @Test("A plan and a run agree where HEAD reports another length with the same tag")
  func changedLength() throws {
    let body = Mutex(Array("a body".utf8))
    let server = try LoopbackServer { request in
      let bytes = body.withLock { $0 }
      let headers = [("ETag", "\"one\""), ("Content-Length", "\(bytes.count)")]
      let head = Script.head(200, headers)
      return Script([.send(request.method == "HEAD" ? head : head + bytes)])
    }
    configure("name: basics, urls: [\(server.address("/a"))]")
    try #require(try home.run("run", "-q").status == 0)
    body.withLock { $0 = Array("another, longer body".utf8) }
    let report = try agree()
    #expect(report.text("items.0.action") == "update")
  }

  @Test(
    "A plan and a run agree on items that are not stored",
    arguments: ["store: false", "head: true"]
  )
  func unstored(_ rule: String) throws {
    let site = Site(["/a": Site.Page("a"), "/large": Site.Page("a large body")])
    let server = try LoopbackServer { request in
      request.path == "/denied" && rule == "head: true"
        ? .respond(403, text: "") : site.respond(to: request)
    }
    let paths = ["/a", "/gone", "/large"] + (rule == "head: true" ? ["/denied"] : [])
    let urls = paths.map { server.address($0) }.joined(separator: ", ")
    configure(
      "name: passing, \(rule), max_file_size: 5, on_gone: remove, urls: [\(urls)]",
      "name: lost, \(rule), urls: [\(server.address("/lost"))]"
    )
    let report = try agree()
    #expect(report.text("exit.name") == "incomplete")
    #expect(report.text("segments.1.state") == "failed")
  }

  @Test("A plan and a run agree on the items of a deferred manifest, and `status` does too")
  func deferredManifest() throws {
    let site = Site([
      "/a": Site.Page(Array("a".utf8), entityTag: "\"a\""),
      "/b": Site.Page(Array("b".utf8), entityTag: "\"b\""),
    ])
    let server = try LoopbackServer { site.respond(to: $0) }
    let refused = #"{"url": "http://refused.example/x"}"#
    let items = ["/a", "/b"].map { #"{"url": "\#(server.address($0))"}"# } + [refused]
    let head = #"{"format": "prefetch-manifest", "version": 1, "items": ["#
    site["/m.json"] = Site.Page(
      "\(head)\(items.joined(separator: ","))]}",
      headers: [HeaderField("Content-Type", "application/json")]
    )
    let segments = [
      "name: listed, manifest: \(server.address("/m.json")), publish: { dir: tree }",
      "name: other, required: false, manifest: \(server.address("/m.json"))",
    ]
    let rule = ", network: { metered: defer }"
    configure(segments[0])
    try #require(try home.run("run", "-q").status == 5)
    configure(segments[0] + rule, segments[1] + rule)
    let report = try agree("--network", "wifi,metered")
    #expect(report.list("items").count == 3)
    #expect(report.list("items").allSatisfy { $0.text("deferred.rule") == "metered" })
    let states = report.list("segments").map { $0.text("state") }
    let status = try home.run("status", "--json").json()
    #expect(states == ["deferred", "deferred"])
    #expect(status.list("segments").map { $0.text("state") } == states)
    // The segment's state stays: nothing was removed, and the next run is as if this one had not
    // been.
    #expect(try home.run("list").lines.count >= 2)
    configure(segments[0], segments[1])
    let next = try home.run("run", "--json").json()
    #expect(next.number("totals.fetched") == 0)
    #expect(next.number("totals.removed") == 0)
  }

  @Test(
    "A plan and a run agree on a body that is too large for any period",
    arguments: ["daily_limit", "monthly_limit"]
  )
  func tooLargeForPeriod(_ limit: String) throws {
    let server = try LoopbackServer { request in
      let lacksValidator = request.path == "/plain"
      let headers =
        [("Content-Length", lacksValidator ? "300000" : "400000")]
        + (lacksValidator ? [] : [("ETag", "\"1\"")])
      let head = Script.head(200, headers)
      let body = [UInt8](repeating: 7, count: lacksValidator ? 300_000 : 400_000)
      return Script([.send(request.method == "HEAD" ? head : head + body)])
    }
    configure(
      "name: basics, urls: [\(server.address("/plain")), \(server.address("/tagged"))]",
      network: ", \(limit): 200kB"
    )
    let report = try agree()
    let ends = ends(report)
    #expect(ends["basics \(server.address("/plain"))"] == "fail too_large")
    #expect(ends["basics \(server.address("/tagged"))"] == "defer daily_limit")
  }

  @Test("A plan and a run agree on small bodies under a limit that counts response headers")
  func countedHeads() throws {
    let server = try LoopbackServer { request in
      let headers = [("X-Long", String(repeating: "x", count: 3_000)), ("Content-Length", "1000")]
      let head = Script.head(200, headers)
      let body = [UInt8](repeating: 7, count: 1_000)
      return Script([.send(request.method == "HEAD" ? head : head + body)])
    }
    let urls = (0..<6).map { server.address("/\($0)") }.joined(separator: ", ")
    configure("name: basics, urls: [\(urls)]", network: ", daily_limit: 10kB")
    let report = try agree()
    #expect(report.number("totals.fetched") == 3)
    #expect(report.number("totals.deferred") == 3)
  }
}
