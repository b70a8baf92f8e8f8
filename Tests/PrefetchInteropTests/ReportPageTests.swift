import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("The report as a page, of real runs", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ReportPageTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    for name in ["/a", "/b"] { site[name] = Site.Page("body of \(name)") }
    site["/moved"] = Site.Page([], headers: [HeaderField("Location", "/b?target")], status: 302)
    site["/b?target"] = Site.Page("target")
    site["/list?token=letmein"] = Site.Page("secret list")
    let url = { [server] (path: String) in "\"\(server.address(path))\"" }
    home.configure(
      """
      name: newsroom <b>
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      transport: { rules: [{ match: "http://127.0.0.1*/**", headers: { X-Key: s3cret-value } }] }
      segments:
        - { name: basics, urls: [\(url("/a")), \(url("/b")), \(url("/moved"))] }
        - { name: extras, urls: [\(url("/gone")), \(url("/list?token=letmein"))] }
      """
    )
  }

  private func page(_ options: String...) throws -> String {
    let run = try home.run(["-q", "--report", "html=page.html"] + options)
    #expect(run.status == 3, "\(run)")
    return try #require(home.read("page.html"))
  }

  private func section(_ id: String, of page: String) throws -> String {
    let parts = page.split(separator: "<section id=\"\(id)\"", maxSplits: 1)
    let part = try #require(parts.count == 2 ? parts[1] : nil, "no section `\(id)`")
    let lines = String(part.split(separator: "</section>", maxSplits: 1)[0])
    return lines.replacing("<wbr>", with: "")
  }

  @Test("The report page shows the run, every request and past runs")
  func contents() throws {
    _ = try page()
    let requestCount = server.requests.count
    let page = try page("--refetch")
    #expect(page.contains("<title>prefetch: incomplete, newsroom &lt;b&gt;</title>"))
    let requests = try section("requests", of: page)
    #expect(requests.contains("<caption>6 requests, in the order in which they began"))
    #expect(server.requests.count - requestCount == 6, "hops count")
    #expect(requests.matches(of: /<tr role="row"><th role="rowheader"/).count == 6)
    for path in ["/a", "/b", "/moved", "/b?target", "/gone", "/list?token=***"] {
      #expect(requests.contains("\(server.address(path))<span"), "\(path)")
    }
    #expect(requests.contains("waiting for the answer"))
    #expect(try section("failures", of: page).contains("\(server.address("/gone"))"))
    #expect(try section("segments", of: page).contains("incomplete"))
    #expect(try section("bytes", of: page).contains("received in"))
    #expect(try section("slowest", of: page).contains("127.0.0.1"))
    let history = try section("history", of: page)
    #expect(history.matches(of: /<tr role="row"><th role="rowheader"/).count == 2)
    #expect(history.contains(", this run") && history.contains("incomplete"))
  }

  @Test("The report page has no secret and nothing that a browser would run or fetch")
  func quiet() throws {
    let page = try page()
    for text in ["letmein", "s3cret", "<script", "src=", "@import", "url(", "<b>"] {
      #expect(!page.contains(text), "\(text)")
    }
    #expect(page.matches(of: /href="(?!#|data:,")/).isEmpty)
    #expect(page.contains("default-src 'none'"))
  }

  @Test("The report page is written where another run has the lock, and without a network")
  func troubles() throws {
    let gate = Gate()
    let held = try LoopbackServer { [site] request in
      Script([.pause(gate)] + site.respond(to: request).steps)
    }
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: basics, urls: [\"\(held.address("/a"))\"] }]"
    )
    let first = try home.start(["-q"])
    #expect(held.waitForRequest("/a"))
    #expect(try home.run("-q", "--report", "html=held.html").status == 75)
    gate.open()
    _ = first.finish()
    let locked = try #require(home.read("held.html"))
    #expect(locked.contains("deferred by lock") && locked.hasSuffix("</html>\n"))
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: basics, urls: ["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"] }]
      """
    )
    #expect(try home.run("-q", "--report", "html=away.html").status == 69)
    let away = try #require(home.read("away.html"))
    #expect(try section("failures", of: away).contains("<code>connect</code>"))
    #expect(try section("requests", of: away).contains("connecting"))
  }

  @Test("The report page of many items stays short and says what it leaves out")
  func bounds() throws {
    let paths = (0..<1500).map { "/many/\($0)" }
    for path in paths { site[path] = Site.Page(path) }
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: many, urls: [\(urls)] }]"
    )
    #expect(try home.run("-q", "--report", "html=page.html").status == 0)
    let page = try #require(home.read("page.html"))
    #expect(page.contains("The 200 of 1500 requests that took longest"))
    #expect(page.contains("1300 are left out"))
    #expect(page.utf8.count < 300_000)
  }

  @Test("Each item has the figures of its last request in JSON")
  func figures() throws {
    let run = try home.run("--json")
    let items = try run.json().list("items")
    let item = try #require(items.first { $0.text("url") == server.address("/a") })
    #expect(item.text("remote_ip") == "127.0.0.1")
    #expect((item.number("request_bytes") ?? 0) > 20)
    #expect((item.number("response_bytes") ?? 0) > 9)
    let started = try #require(item.text("started").flatMap(Timestamp.parse))
    let began = try #require(try run.json().text("run.started").flatMap(Timestamp.parse))
    #expect(started >= began)
    #expect(item.text("connect_ms") != nil || item.text("ttfb_ms") != nil)
  }

  @Test(
    "The report page is shown by a browser with its style, and loads nothing else",
    .enabled(if: Tool.isInstalled("chromium"), "needs chromium")
  )
  func browser() throws {
    site["/page.html"] = Site.Page(
      try page(),
      headers: [HeaderField("Content-Type", "text/html")]
    )
    site.clearRequests()
    let browser = try home.tool(
      "chromium",
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      "--user-data-dir=\(home.path("profile"))",
      "--enable-logging=stderr",
      "--dump-dom",
      server.address("/page.html")
    )
    #expect(browser.output.contains("id=\"history-title\""), "\(browser)")
    #expect(!browser.errors.contains("CONSOLE"), "a browser tells so of what its policy refuses")
    #expect(site.requests.map(\.path) == ["/page.html"])
  }
}
