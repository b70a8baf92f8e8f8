@unsafe @preconcurrency import Glibc
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

@Suite("An interrupted run", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct InterruptionTests {
  private let home: Home
  private let site: Site
  private let silence = Silence()
  private let server: LoopbackServer

  init() throws {
    var pages = ["/done": Site.Page("done"), "/m.json": Site.Page(#"["/listed"]"#)]
    for name in ["/a", "/b", "/c", "/d", "/listed"] { pages[name] = Site.Page(name) }
    let (site, silence) = (Site(pages), silence)
    self.site = site
    server = try LoopbackServer { request in
      silence.holds(request.path) ? Script([.silence]) : site.respond(to: request)
    }
    home = try Home()
    let urls = ["/a", "/b", "/c", "/d"].map(server.address)
    home.configure(
      """
      segments:
        - { name: ready, urls: ["\(server.address("/done"))"] }
        - { name: slow, urls: [\(urls.joined(separator: ", "))] }
        - { name: listed, manifest: "\(server.address("/m.json"))" }
      network: { concurrency: 3 }
      cache: { min_free: 0 }
      """
    )
  }

  /// Ends a run once a manifest and two of the slow items hang.
  private func interrupt(_ arguments: [String], by number: CInt) throws -> ProgramRun {
    silence.fall(on: ["/a", "/b", "/c", "/d", "/m.json"])
    let run = try home.start(arguments)
    let end = ContinuousClock.now + .seconds(30)
    while silence.hanging < 3, ContinuousClock.now < end { poll(nil, 0, 2) }
    try #require(silence.hanging == 3)
    run.signal(number)
    return run.finish(within: 30)
  }

  @Test(
    "An interrupted run counts unfinished items as deferred and none as failed",
    arguments: [(SIGINT, CInt(130)), (SIGTERM, CInt(143))]
  )
  func counts(_ number: CInt, _ status: CInt) throws {
    let ended = try interrupt(["--json", "--report", "junit=report.xml"], by: number)
    #expect(ended.status == status, "\(ended)")
    let report = try ended.json()
    #expect(report.text("result") == "new_data")
    #expect(report.at("exit.retryable")?.text == "true")
    let totals = try ended.totals()
    #expect(totals["fetched"] == 1)
    #expect(totals["deferred"] == 4)
    #expect(totals["failed"] == 0)
    #expect(totals["items"] == 5)
    let states = report.list("segments").map { $0.text("state") }
    #expect(states == ["current", "deferred", "deferred"])
    #expect(report.text("segments.2.manifest.status") == "skipped")
    let items = report.list("items").filter { $0.text("action") == "defer" }
    #expect(items.count == 4)
    for item in items {
      #expect(item.text("outcome") == "deferred")
      #expect(item.text("reason") == "interrupted")
      #expect(item.text("state") == "idle")
      #expect(item.at("deferred.rule") == nil && item.text("error.code") == "cancelled")
    }
    #expect(ended.errors.contains("left for the next run: 4 items and 1 segment not looked into"))
    let suites = try #require(home.read("report.xml"))
    #expect(suites.contains(#"<skipped message="interrupted"/>"#))
    #expect(!suites.contains("<failure"))

    silence.fall(on: [])
    let next = try home.run("--json")
    #expect(next.status == 0, "\(next)")
    #expect(try next.totals()["fetched"] == 5)
  }

  @Test("An interrupted run leaves segments that it did not reach as they were")
  func leavesRest() throws {
    #expect(try home.run().status == 0)
    let before = try home.run("status", "--json").json()
    let success = try #require(before.text("segments.2.last_success"))
    let ended = try interrupt([], by: SIGINT)
    #expect(ended.status == 130, "\(ended)")
    #expect(ended.output.contains("listed  deferred     interrupted"), "\(ended)")
    #expect(!ended.output.contains("failed"), "\(ended)")
    let after = try home.run("status", "--json").json()
    #expect(after.text("segments.2.state") == "current")
    #expect(after.text("segments.2.last_success") == success)
    #expect(try home.run("path", server.address("/listed")).status == 0)
  }

  @Test("An interrupted run publishes nothing and reports its segment as deferred")
  func unpublished() throws {
    home.configure(
      """
      segments:
        - { name: tree, urls: ["\(server.address("/done"))", "\(server.address("/a"))"],
            publish: { dir: tree } }
        - { name: slow, urls: ["\(server.address("/b"))", "\(server.address("/c"))"] }
      cache: { min_free: 0 }
      """
    )
    let ended = try interrupt(["--json"], by: SIGTERM)
    #expect(ended.status == 143, "\(ended)")
    #expect(try ended.json().text("segments.0.state") == "deferred")
    #expect(FileTree.read(home.path("tree/\(server.host):\(server.port)/done")) == nil)
    silence.fall(on: [])
    #expect(try home.run().status == 0)
    #expect(
      FileTree.read(home.path("tree/\(server.host):\(server.port)/done")) == Array("done".utf8)
    )
  }
}

/// Paths at which a server does not respond.
private final class Silence: Sendable {
  private struct State {
    var paths: Set<String> = []
    var hanging = 0
  }

  private let state = Mutex(State())

  var hanging: Int {
    state.withLock { $0.hanging }
  }

  func fall(on paths: Set<String>) {
    state.withLock { $0 = State(paths: paths) }
  }

  func holds(_ path: String) -> Bool {
    state.withLock { state in
      guard state.paths.contains(path) else { return false }
      state.hanging += 1
      return true
    }
  }
}
