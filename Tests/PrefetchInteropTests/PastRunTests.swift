import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Facts about past runs", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PastRunTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    configure(["/a", "/b"])
  }

  private func configure(_ paths: [String], of name: String = "basics") {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: \(name), urls: [\(urls)] }]
      """
    )
  }

  @Test("`log` keeps twenty changes of an item, however few runs are kept")
  func changesPerItem() throws {
    home.configure(
      """
      report: { history: 2 }
      cache: { min_free: 0 }
      segments: [{ name: basics, urls: ["\(server.address("/a"))"] }]
      """
    )
    for number in 0..<23 {
      site["/a"] = Site.Page("\(number)")
      #expect(try home.run("-q").status == 0)
    }
    #expect(try home.run("log").lines.count == 20)
  }

  @Test("`log` prints changes in order, of all items or of one")
  func log() throws {
    site["/a"] = Site.Page("one")
    _ = try home.run("-q")
    site["/a"] = Site.Page("two")
    site["/b"] = Site.Page("b")
    _ = try home.run("-q")
    _ = try home.run("-q")
    configure(["/a"])
    _ = try home.run("-q")
    let lines = try home.run("log").lines.map { $0.split(separator: "\t").dropFirst().prefix(2) }
    let (a, b) = (server.address("/a"), server.address("/b"))
    #expect(
      lines.map { $0.joined(separator: " ") }.sorted()
        == ["added \(a)", "added \(b)", "failed \(b)", "removed \(b)", "updated \(a)"]
    )
    #expect(lines.last?.joined(separator: " ") == "removed \(b)")
    #expect(try home.run("log", b).lines.count == 3)
    #expect(try home.run("log", "basics").lines.count == 2)
    #expect(try home.run("log", "--since", "1h").lines.count == 5)
    #expect(try home.shell("faketime -f +2h $prefetch log --since 1h").output.isEmpty)
    let unknown = try home.run("log", "nothing")
    #expect(unknown.status == 4 && unknown.errors.contains("nothing"))
    let document = try home.run("log", "--json", b).json()
    #expect(document.list("entries").map { $0.text("outcome") } == ["failed", "added", "removed"])
  }

  @Test("`stats` sums up past runs")
  func stats() throws {
    #expect(try home.run("stats").output == "no run is remembered\n")
    site["/a"] = Site.Page("one")
    for _ in 0..<3 { _ = try home.run("-q") }
    let document = try home.run("stats", "--json").json()
    #expect(document.number("runs") == 3 && document.number("ok") == 0)
    #expect(document.number("totals.fetched") == 1 && document.number("totals.failed") == 3)
    #expect(document.number("totals.requests") == server.requests.count)
    #expect(document.number("totals.bytes_saved") == 6)
    let lines = try home.run("stats").lines
    #expect(lines.first == "runs\t3, 0 of them ended well")
    #expect(lines.contains("hits\t33.3 % of all items looked at needed no transfer"), "\(lines)")
  }

  @Test("`stats` reports saved transfers and the response times of hosts")
  func savings() throws {
    let digest = "sha256:" + "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"
    site["/pinned"] = Site.Page("aaa")
    site["/asked"] = Site.Page("asked!", headers: [HeaderField("ETag", "\"1\"")])
    site["/fresh"] = Site.Page("fresh", headers: [HeaderField("Cache-Control", "max-age=7200")])
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: all
          urls:
            - { url: "\(server.address("/pinned"))", sha256: "\(digest)" }
            - "\(server.address("/asked"))"
            - "\(server.address("/fresh"))"
      """
    )
    for _ in 0..<3 { #expect(try home.run("-q").status == 0) }
    let listed = try home.run("--json", "--items", "all").json()
    #expect(listed.number("totals.bytes_saved_by_validators") == 6)
    #expect(listed.number("totals.bytes_saved_by_digests") == 3)
    let stats = try home.run("stats", "--json").json()
    let saved = ["validators", "digests", "lifetimes"].map { stats.number("saved.\($0)") }
    #expect(saved == [18, 9, 15] && stats.number("totals.bytes_saved") == 42)
    let hosts = stats.list("hosts")
    let host = String(server.address("").dropFirst("http://".count))
    #expect(hosts.map { $0.text("host") } == [host])
    #expect(hosts.first?.number("answers") == server.requests.count)
    let times = ["p50", "p90", "p99"].compactMap { hosts.first?.text("ttfb_ms.\($0)") }
      .compactMap { Double($0) }
    #expect(times.count == 3 && times == times.sorted() && times.allSatisfy { $0 > 0 })
    let lines = try home.run("stats").lines
    #expect(lines.contains("saved\t42 B: 18 B by validators, 9 B by digests, 15 B by lifetimes"))
    #expect(lines.last?.hasPrefix("answers\t\(host): 50 % within ") == true, "\(lines)")
    #expect(lines.last?.hasSuffix(", of \(server.requests.count) answers") == true, "\(lines)")
  }

  @Test("`stats` counts what an unchanged manifest saved")
  func quietSegments() throws {
    site["/a"] = Site.Page("aaa")
    let digest = "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"
    let entry = Manifest.Entry(server.address("/a"), digest: digest)
    site["/m.json"] = Site.Page(Manifest.text([entry]))
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: all, manifest: "\(server.address("/m.json"))" }]
      """
    )
    for _ in 0..<4 { #expect(try home.run("-q").status == 0) }
    let stats = try home.run("stats", "--json").json()
    #expect(stats.number("saved.digests") == 9 && stats.number("totals.bytes_saved") == 9)
  }

  @Test("A run names its changes and each failure reason of a host once")
  func summary() throws {
    let paths = (0..<30).map { "/x\($0)" }
    for path in paths.prefix(24) { site[path] = Site.Page(path) }
    configure(paths + ["/refused"], of: "many")
    let run = try home.run()
    #expect(run.status == 3)
    #expect(run.lines.count { $0.hasPrefix("  added ") } == 20)
    #expect(run.lines.contains("  and 4 more; see `prefetch log`"), "\(run.output)")
    let errors = run.errors.split(separator: "\n").filter { $0.hasPrefix("error:") }
    #expect(errors.count == 1, "\(run.errors)")
    let host = server.address("").dropFirst("http://".count)
    #expect(errors.first?.contains("\(host): 7 items: the server answered 404") == true)
    #expect(run.errors.contains("\nnext: "))
    #expect(try home.run("-v").errors.components("error:") == 7, "each by itself where asked for")
    let quiet = try home.run("-q")
    #expect(quiet.errors.contains("\nnext: "), "a mail says what to do")
  }
}

extension String {
  fileprivate func components(_ word: String) -> Int {
    split(separator: "\n").count { $0.hasPrefix(word) }
  }
}
