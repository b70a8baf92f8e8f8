import PrefetchCore
import PrefetchSystem
import PrefetchTestSupport
import Testing

/// A machine whose clock was once ahead, or is now behind.
@Suite(
  "A clock that was ahead",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Tool.isInstalled("faketime"), "needs faketime")
)
struct WrongClockTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
  }

  /// Runs the program with a clock shifted from the real time.
  private func run(_ shift: String, _ arguments: String...) throws -> ProgramRun {
    site.clearRequests()
    return try home.tool("faketime", ["-f", shift, try #require(Binary.path)] + arguments)
  }

  private func serve(_ text: String) {
    site["/a"] = Site.Page(text, headers: [HeaderField("Cache-Control", "max-age=600")])
  }

  @Test(
    "A clock that was ahead suppresses no request, and one warning names it",
    arguments: [false, true]
  )
  func ahead(hasManifest: Bool) throws {
    serve("old")
    site["/list.txt"] = Site.Page("\(server.address("/a"))\n")
    let source =
      hasManifest
      ? "manifest: \"\(server.address("/list.txt"))\"" : "urls: [\"\(server.address("/a"))\"]"
    home.configure("segments: [{ name: s, \(source) }]\ncache: { min_free: 0 }")
    let ahead = try run("+400d", "run")
    #expect(ahead.status == 0, "\(ahead)")
    serve("new")
    let status = try run("+0", "status", "--max-age", "1d")
    #expect(status.status == 3, "\(status)")
    let again = try run("+0", "run")
    #expect(again.status == 0, "\(again)")
    #expect(again.errors.components("[run.clock]") == 1, "\(again)")
    #expect(site.requests.contains { $0.path == "/a" })
    #expect(try home.run("get", "--offline", server.address("/a")).output == "new")
    let third = try run("+0", "run")
    #expect(third.errors.isEmpty, "\(third)")
    #expect(!site.requests.contains { $0.path == "/a" })
    #expect(try run("+0", "status", "--max-age", "1d").status == 0)
  }

  @Test("A clock that was ahead leaves confirmed items usable offline and within `max_stale`")
  func offline() throws {
    serve("old")
    home.configure(
      """
      segments: [{ name: s, urls: ["\(server.address("/a"))"] }]
      cache: { min_free: 0, max_stale: 1h }
      network: { retries: { items: 0 } }
      """
    )
    #expect(try run("+400d", "run", "-q").status == 0)
    #expect(try run("+0", "run", "-q", "--offline").status == 0)
    site["/a"] = Site.Page([], status: 503)
    let run = try run("+0", "run", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().text("items.0.outcome") == "stale")
  }

  @Test(
    "A clock that is ahead of servers expires nothing",
    arguments: [false, true]
  )
  func expiry(hasManifest: Bool) throws {
    let expires = Timestamp.format(SystemClock().now().wall + .seconds(10 * 86_400))
    let entry = #"{"url": "\#(server.address("/a"))", "expires": "\#(expires)"}"#
    let other = #"{"url": "\#(server.address("/b"))"}"#
    for path in ["/a", "/b"] { site[path] = dated(path) }
    let text = #"{"format": "prefetch-manifest", "version": 1, "items": [\#(entry), \#(other)]}"#
    site["/list.json"] = dated(text)
    home.write(text, to: "list.json")
    let list = hasManifest ? "\"\(server.address("/list.json"))\"" : "./list.json"
    home.configure("segments: [{ name: s, manifest: \(list) }]\ncache: { min_free: 0 }")
    #expect(try run("+0", "run", "-q").status == 0)
    let ahead = try run("+400d", "run", "--json")
    #expect(ahead.status == 0, "\(ahead)")
    #expect(ahead.errors.components("[run.clock]") == 1, "\(ahead)")
    #expect(try ahead.totals()["removed"] == 0, "\(ahead)")
    #expect(try run("+400d", "gc", "-q").status == 0)
    #expect(try home.run("get", "--offline", server.address("/a")).output == "/a")
    // Once the servers' dates agree, the items have expired.
    for path in ["/a", "/b"] { site[path] = dated(path, days: 20) }
    site["/list.json"] = dated(text, days: 20)
    let later = try run("+20d", "run", "--json")
    #expect(later.status == 0 && !later.errors.contains("servers say"), "\(later)")
    #expect(try later.totals()["removed"] == 1, "\(later)")
  }

  private func dated(_ text: String, days: Int = 0) -> Site.Page {
    let date = HTTPDate.format(SystemClock().now().wall + .seconds(days * 86_400))
    return Site.Page(text, headers: [HeaderField("Date", date)])
  }

  @Test("A clock that was ahead clears no use of a limit")
  func limit() throws {
    for name in ["/a", "/b"] { site[name] = Site.Page(String(repeating: name, count: 10_000)) }
    func configure(_ names: [String]) {
      home.configure(
        """
        segments: [{ name: s, urls: [\(names.map { "\"\(server.address($0))\"" }.joined(separator: ", "))] }]
        cache: { min_free: 0 }
        network: { daily_limit: 20kB }
        """
      )
    }
    configure(["/a"])
    #expect(try run("+0", "run", "-q").status == 0)
    configure(["/a", "/b"])
    #expect(try run("+400d", "run", "-q").status == 0)
    try home.removeCache()
    #expect(try run("+0", "run", "-q").status == 75)
    #expect(site.requests.isEmpty)
  }

  @Test("A clock that was ahead expires no part and no lock")
  func partAndLock() throws {
    let body = [UInt8](repeating: 7, count: 300_000)
    let broken = try LoopbackServer { request in
      let headers = [
        ("ETag", "\"one\""), ("Date", HTTPDate.format(SystemClock().now().wall)),
      ]
      guard request.path == "/film" else { return Script.respond(200, headers, text: "a") }
      if let range = request.headers["Range"], let start = Int(range.dropFirst(6).dropLast()) {
        return Script.respond(
          206,
          headers + [("Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)")],
          body: Array(body[start...])
        )
      }
      let head = Script.head(200, headers + [("Content-Length", "\(body.count)")])
      return Script([.send(head + body.prefix(200_000)), .close])
    }
    home.configure(
      """
      segments: [{ name: s, urls: ["\(broken.address("/a"))", "\(broken.address("/film"))"] }]
      cache: { min_free: 0 }
      network: { retries: { items: 0 } }
      """
    )
    #expect(try run("+0", "run", "-q").status == 3)
    #expect(try run("+0", "lock", "--for", "1h", broken.address("/a")).status == 0)
    #expect(try run("+400d", "rm", broken.address("/a")).status == 3)
    #expect(try run("+400d", "gc", "-q").status == 0)
    // So long without a network, by a clock that is right.
    #expect(try run("+9d", "gc", "-q").status == 0)
    #expect(try run("+0", "run", "-q").status == 0)
    #expect(broken.requests.last { $0.path == "/film" }?.headers["Range"] != nil)
    #expect(try run("+0", "path", broken.address("/a")).status == 0)
  }

  @Test("A clock that was ahead drops no event that waits for its collector")
  func events() throws {
    site["/a"] = dated("a")
    home.configure(
      "segments: [{ name: s, urls: [\"\(server.address("/a"))\"] }]\ncache: { min_free: 0 }"
    )
    #expect(try run("+0", "run", "-q").status == 0)
    #expect(try run("+0", "event", "log", "one").status == 0)
    #expect(try run("+400d", "event", "log", "two").status == 0)
    #expect(try run("+0", "event", "list").lines.count == 2)
  }

  @Test("A clock that was ahead keeps the totals of days on which it was right")
  func usageOfCorrectDays() throws {
    for name in ["/a", "/b", "/c", "/d"] { site[name] = Site.Page(name) }
    let urls = ["/a", "/b", "/c", "/d"].map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      segments: [{ name: s, urls: [\(urls)] }]
      cache: { min_free: 0 }
      network: { daily_limit: 1B, concurrency: 1 }
      """
    )
    #expect(try run("+0", "run", "-q").status == 75)
    #expect(try run("+400d", "run", "-q").status == 75)
    #expect(!site.requests.isEmpty)
    let again = try run("+0", "run", "--json")
    #expect(again.status == 75, "\(again)")
    #expect(site.requests.isEmpty, "the day's limit is spent")
  }

  @Test("A clock that was ahead leaves no `Retry-After` gate of more than a day")
  func gate() throws {
    site["/a"] = Site.Page([], headers: [HeaderField("Retry-After", "7200")], status: 503)
    home.configure(
      """
      segments: [{ name: s, urls: ["\(server.address("/a"))"] }]
      cache: { min_free: 0 }
      network: { retries: { wait: 1s } }
      """
    )
    #expect(try run("+400d", "run", "-q").status == 75)
    #expect(try run("+400d", "run", "-q").status == 75)
    #expect(site.requests.isEmpty)
    serve("new")
    #expect(try run("+0", "run", "-q").status == 0)
  }
}

extension String {
  /// Returns the number of occurrences of a text.
  fileprivate func components(_ text: String) -> Int {
    ranges(of: text).count
  }
}
