import PrefetchCore
import PrefetchTestSupport
import Testing

/// Many items whose server is unavailable, and another server that has them.
@Suite("Alternates", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct AlternateTests {
  private static let count = 300
  private let home: Home
  private let dead: Int
  private let site: Site
  private let mirror: LoopbackServer

  init() throws {
    home = try Home()
    dead = LoopbackPort.free()
    let site = Site()
    for number in 0..<Self.count {
      site["/\(number)"] = Site.Page("item \(number)")
    }
    self.site = site
    mirror = try LoopbackServer { site.respond(to: $0) }
  }

  /// Declares the items at `base`, with the other servers as alternates in this order.
  private func declare(at base: String, alongside others: [String], _ more: String = "") {
    let urls = (0..<Self.count).map { "\"\(base)/\($0)\"" }.joined(separator: ", ")
    home.configure(
      """
      segments: [{ name: s, urls: [\(urls)], alternates: [\(others.joined(separator: ", "))], \
      ttl: 0s\(more) }]
      network: { concurrency: 2, retries: { items: 0, lookups: 0 } }
      cache: { min_free: 0 }
      """
    )
  }

  private func expectAll(
    _ run: ProgramRun,
    _ counter: String,
    sourceLocation: Testing.SourceLocation
  ) throws {
    #expect(run.status == 0, "\(run)", sourceLocation: sourceLocation)
    let totals = try run.totals()
    #expect(totals[counter] == Self.count, "\(totals)", sourceLocation: sourceLocation)
    #expect(try home.run("verify").status == 0, sourceLocation: sourceLocation)
  }

  @Test("An alternate supplies every item that a dead server does not", arguments: [1, 2])
  func deadServer(deadCount: Int) throws {
    let bases = [dead, LoopbackPort.free()].prefix(deadCount).map { "http://127.0.0.1:\($0)" }
    declare(at: bases[0], alongside: bases.dropFirst() + [mirror.address("/")])
    let plan = try home.run("plan", "--json")
    #expect(plan.status == 0, "\(plan)")
    try expectAll(home.run("--json"), "fetched", sourceLocation: #_sourceLocation)
    #expect(mirror.requests.count { $0.method == "GET" } == Self.count)

    // Bodies from the mirror are revalidated there, with the mirror's own validators.
    try expectAll(home.run("--json"), "revalidated", sourceLocation: #_sourceLocation)
    #expect(mirror.requests.suffix(Self.count).allSatisfy { $0.headers["If-None-Match"] != nil })
  }

  @Test(
    "An alternate supplies the items of a server that answers with `Retry-After`",
    arguments: [429, 503]
  )
  func quietServer(status: Int) throws {
    let quiet = try LoopbackServer { _ in .respond(status, [("Retry-After", "86400")]) }
    declare(at: quiet.address(""), alongside: [mirror.address("/")])
    try expectAll(home.run("--json"), "fetched", sourceLocation: #_sourceLocation)
    #expect(quiet.requests.count <= 4)
    // The gate is still closed in the next run, which starts with the other server.
    let count = quiet.requests.count
    try expectAll(home.run("--json"), "revalidated", sourceLocation: #_sourceLocation)
    #expect(quiet.requests.count == count)
  }

  @Test("A dead alternate does not turn a deferral into a failure")
  func quietAndDead() throws {
    let quiet = try LoopbackServer { _ in .respond(503, [("Retry-After", "86400")]) }
    declare(at: quiet.address(""), alongside: ["http://127.0.0.1:\(dead)"])
    let run = try home.run("--json")
    #expect(try run.status == 75 && run.totals()["deferred"] == Self.count, "\(run)")
  }

  @Test("Items are kept with `max_stale` and fail without it where all alternates are dead")
  func allDead() throws {
    var server: LoopbackServer? = try LoopbackServer { [site] in site.respond(to: $0) }
    let base = try #require(server?.address(""))
    declare(at: base, alongside: ["http://127.0.0.1:\(dead)"])
    #expect(try home.run().status == 0)
    server = nil
    declare(at: base, alongside: ["http://127.0.0.1:\(dead)"], ", max_stale: 1d")
    let stale = try home.run("--json")
    #expect(try stale.status == 0 && stale.totals()["kept"] == Self.count, "\(stale)")
    declare(at: base, alongside: ["http://127.0.0.1:\(dead)"])
    let failing = try home.run("--json")
    #expect(try failing.status == 69 && failing.totals()["failed"] == Self.count, "\(failing)")
    let document = try failing.json()
    let sources = document.list("items").map { $0.list("sources").count }
    #expect(sources.allSatisfy { $0 == 2 }, "\(failing)")
  }
}
