import PrefetchCore
import PrefetchDocuments
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite("Output of `status`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct StatusTests {
  private let home: Home
  private let site: Site
  private let server: LoopbackServer

  init() throws {
    let fresh = [HeaderField("Cache-Control", "max-age=7200")]
    let site = Site([
      "/two-hours": Site.Page("2h", headers: fresh), "/ask": Site.Page("ask"),
      "/m.json": Site.Page(#"["/two-hours"]"#),
    ])
    self.site = site
    server = try LoopbackServer { request in
      if request.path == "/hangs" { return Script([.silence]) }
      guard request.path == "/later" else { return site.respond(to: request) }
      return Script([.send(Script.head(503, [("Retry-After", "3600"), ("Content-Length", "0")]))])
    }
    home = try Home()
  }

  private func segment(_ name: String, _ paths: String..., more: String = "") -> String {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    return "  - { name: \(name), urls: [\(urls)] \(more) }"
  }

  /// Returns the seconds until each segment's next check; nil when every run checks.
  private func checks() throws -> [String: Int?] {
    let before = SystemClock().now().wall
    let status = try home.run("status", "--json").json()
    let pairs = status.list("segments").map { segment -> (String, Int?) in
      let until = segment.text("next_check").flatMap(Timestamp.parse)
      return (segment.text("name") ?? "", until.map { Int(($0 - before).milliseconds / 1000) })
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  @Test("`status` counts deferred items, and `list` names them")
  func waiting() throws {
    home.configure(
      """
      segments:
      \(segment("held", "/two-hours", "/ask"))
      cache: { min_free: 100000TB }
      """
    )
    #expect(try home.run().status == 75)
    #expect(try home.run("list").lines.map { $0.prefix(5) } == ["idle\t", "idle\t"])
    let status = try home.run("status", "--json").json()
    #expect(status.list("segments").map { $0.number("items") } == [2])
    #expect(status.list("segments").map { $0.text("state") } == ["deferred"])
    #expect(try home.run("--set", "cache.min_free=0").status == 0)
    #expect(try home.run("list", "--state", "cached").lines.count == 2)
  }

  @Test("The next check in `status` is the end of freshness or of a gate, or nothing")
  func nextCheck() throws {
    home.configure(
      """
      segments:
      \(segment("fresh", "/two-hours"))
      \(segment("mixed", "/two-hours", "/ask"))
      \(segment("gated", "/later"))
        - { name: listed, manifest: "\(server.address("/m.json"))" }
      cache: { min_free: 0 }
      """
    )
    #expect(try checks() == ["fresh": nil, "mixed": nil, "gated": nil, "listed": nil])
    // The gate applies to the host, so that its items come last.
    #expect(try home.run("run", "fresh", "mixed", "listed").status == 0)
    #expect(try home.run("run", "-j", "1").status == 75)
    let found = try checks()
    let (fresh, gated) = (found["fresh"] ?? nil, found["gated"] ?? nil)
    #expect(fresh.map { (7000...7200).contains($0) } == true)
    #expect(gated.map { (3400...3600).contains($0) } == true)
    #expect(found["mixed"] == .some(nil) && found["listed"] == .some(nil))
    let text = try home.run("status").output
    #expect(
      text.contains("next check ") && text.contains("asked us to wait until "),
      "\(text)"
    )
  }

  @Test(
    "The trend in `status` is the outcome of each segment in its last runs"
  )
  func trend() throws {
    home.configure(
      """
      segments:
      \(segment("good", "/ask"))
      \(segment("bad", "/ask", "/comes"))
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      """
    )
    let lines = { () throws -> [String] in
      try home.run("status").lines.prefix(2)
        .map { String($0.split(separator: "\t").last ?? "") }
    }
    #expect(try home.run("-q").status == 3)
    #expect(try lines() == ["current in the last run", "incomplete in the last run"])
    #expect(try home.run("-q").status == 3)
    #expect(try home.run("run", "-q", "good").status == 0)
    #expect(try lines() == ["current in the last 3 runs", "not current for 2 runs"])
    site["/comes"] = Site.Page("it came")
    #expect(try home.run("run", "-q", "bad").status == 0)
    #expect(try lines().last == "current in 1 of 3 runs")
    for _ in 0..<9 { #expect(try home.run("run", "-q", "bad").status == 0) }
    #expect(try lines() == ["current in the last 3 runs", "current in the last 10 runs"])
    let status = try home.run("status", "--json").json()
    let recent = status.list("segments").map { $0.list("recent") }
    #expect(recent.map(\.count) == [3, 10])
    #expect(recent.last?.last?.number("changed") == 1, "the newest come first")
    #expect(Set(recent.last?.map { $0.text("state") ?? "" } ?? []) == ["current"])
    let ends = recent.last?.compactMap { $0.text("finished") } ?? []
    #expect(ends == ends.sorted(by: >) && ends.count == 10)
  }

  @Test("Commands that ask no server need no tokens, and `check` names the way to do without")
  func withoutTokens() throws {
    home.configure(
      """
      segments:
      \(segment("a", "/ask", more: ", headers: { Authorization: \"Bearer ${env:TOKEN}\" }"))
      cache: { min_free: 0 }
      """
    )
    var owner = home
    owner.variables["TOKEN"] = "very-secret"
    try #require(owner.run("run", "-q").status == 0)
    for words in [["status"], ["list"], ["verify"], ["log"], ["stats"]] {
      let run = try home.run(words)
      #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    }
    #expect(try home.run("status").output.hasPrefix("a\tcurrent\t1 item"))
    #expect(try home.run("list").lines.count == 1)
    #expect(try home.run("run").status == 78)
    let checked = try home.run("check")
    #expect(checked.status == 78, "\(checked)")
    #expect(checked.errors.contains("`--no-secrets` checks without it"), "\(checked)")
    #expect(try home.run("check", "--no-secrets").status == 0)
  }

  @Test(
    "`status --max-age` fails for a segment that never succeeded"
  )
  func maximumAge() throws {
    home.configure(
      """
      segments:
      \(segment("done", "/ask"))
      \(segment("waits", "/hangs"))
      cache: { min_free: 0 }
      """
    )
    let new = try home.run("status", "--max-age", "26h")
    #expect(new.status == 3 && new.errors.contains("there is no cache at"), "\(new)")
    let run = try home.run("--deadline", "1s", "--json")
    #expect(run.status == 75, "\(run)")
    let status = try home.run("status", "--max-age", "26h")
    #expect(status.status == 3 && !status.errors.contains("`done`"), "\(status)")
    #expect(status.errors.contains("`waits` has never succeeded"), "\(status)")
  }
}
