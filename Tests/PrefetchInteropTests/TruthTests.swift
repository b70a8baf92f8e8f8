import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Requests, responses and reports for content with unusual caching headers.
@Suite("Freshness of stored items", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TruthTests {
  private let home: Home
  private let site: Site
  private let server: LoopbackServer

  init() throws {
    let site = Site()
    site["/one"] = Site.Page("body of one")
    site["/two"] = Site.Page("body of two")
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    home.configure("segments: [{ name: basics, urls: [\(server.address("/one"))] }]")
  }

  private func sent(_ name: String, to path: String) -> [String?] {
    server.requests.filter { $0.path == path }.map { $0.headers[HeaderName(name)] }
  }

  @Test("A stored item is fresh for its `ttl` without a server's word, and revalidated after it")
  func lifetimes() throws {
    home.configure("segments: [{ name: basics, ttl: 1d, urls: [\(server.address("/one"))] }]")
    for _ in 0..<3 { #expect(try home.run("run").status == 0) }
    #expect(server.requests.count == 1)
    let explained = try home.run("explain", server.address("/one"), "--json").json()
    #expect(explained.at("freshness.state")?.text == "fresh")
    #expect(explained.at("freshness.rule")?.text == "`ttl` of segment `basics`")
    home.configure("segments: [{ name: basics, urls: [\(server.address("/one"))] }]")
    #expect(try home.run("run").status == 0)
    #expect(sent("If-None-Match", to: "/one").count == 2)
  }

  @Test("A stored item is revalidated with the tag's own bytes, and a Latin-1 redirect is escaped")
  func bytes() throws {
    let tag = Array("\"caf".utf8) + [0xE9, 0x22]
    let server = try LoopbackServer { request in
      switch request.path {
      case "/old":
        Script([
          .send(
            Array("HTTP/1.1 302 Found\r\nLocation: /".utf8) + [0xE9]
              + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
          )
        ])
      case "/%E9":
        HeaderText.encode(request.headers["If-None-Match"] ?? "") == tag
          ? .respond(304)
          : Script([
            .send(
              Array("HTTP/1.1 200 OK\r\nETag: ".utf8) + tag
                + Array("\r\nContent-Length: 2\r\n\r\nhi".utf8)
            )
          ])
      default: .respond(404, text: "no")
      }
    }
    home.configure("segments: [{ name: basics, urls: [\(server.address("/old"))] }]")
    #expect(try home.run("run").status == 0)
    let again = try home.run("run", "--json")
    #expect(try again.totals()["not_modified"] == 1)
    #expect(server.requests.map(\.path) == ["/old", "/%E9", "/old", "/%E9"])
  }

  @Test("A stored item or manifest without a valid tag is requested without one")
  func uselessValidators() throws {
    var page = Site.Page("body of one")
    page.entityTag = "*"
    page.lastModified = "yesterday"
    site["/one"] = page
    var list = Site.Page(Manifest.text([server.address("/one")]))
    list.entityTag = "\"a\", \"b\""
    list.lastModified = "0"
    list.headers = [.init("Content-Type", "application/json")]
    site["/list.json"] = list
    home.configure("segments: [{ name: basics, manifest: \(server.address("/list.json")) }]")
    for _ in 0..<2 { #expect(try home.run("run").status == 0) }
    site["/one"] = Site.Page("new body")
    #expect(try home.run("run").status == 0)
    #expect(server.requests.count == 6)
    #expect(
      sent("If-None-Match", to: "/one") + sent("If-None-Match", to: "/list.json")
        == [String?](repeating: nil, count: 6)
    )
    #expect(server.requests.allSatisfy { !$0.headers.has("If-Modified-Since") })
    #expect(try home.run("get", server.address("/one")).output == "new body")
  }

  @Test("A stored item is requested again past all caches where a 304 has another tag")
  func secondRequest() throws {
    let server = try LoopbackServer { request in
      let isUnconditional = request.headers["If-None-Match"] == nil
      return isUnconditional
        ? .respond(200, [("ETag", "\"1\"")], text: "body")
        : .respond(304, [("ETag", "\"2\"")])
    }
    home.configure("segments: [{ name: basics, urls: [\(server.address("/one"))] }]")
    for _ in 0..<2 { #expect(try home.run("run").status == 0) }
    #expect(server.requests.map { $0.headers["Cache-Control"] } == [nil, "max-age=0", "no-cache"])
    #expect(try home.run("run", "--refetch").status == 0)
    #expect(server.requests.last?.headers["Cache-Control"] == "no-cache")
    #expect(server.requests.last?.headers["If-None-Match"] == nil)
  }

  @Test("A lost or damaged body is fetched again by `get`, and offline ends with 74")
  func damaged() throws {
    let url = server.address("/one")
    site["/one"]?.headers = [.init("Cache-Control", "max-age=3600")]
    #expect(try home.run("run").status == 0)
    let path = try #require(try home.run("path", url).lines.first)
    for damage in ["body", "body of twx", nil] {
      #expect(try home.tool("rm", "-f", String(path)).status == 0)
      if let damage { FileTree.write(Array(damage.utf8), to: String(path)) }
      #expect(try home.run("path", url).status == 4)
      let offline = try home.run("get", "--offline", url)
      #expect(offline.status == 74, "\(offline)")
      #expect(offline.output == "")
      let count = server.requests.count
      let run = try home.run("get", url)
      #expect(run.status == 0, "\(run)")
      #expect(run.output == "body of one")
      #expect(server.requests.count == count + 1)
      #expect(server.requests.last?.headers.has("If-None-Match") == false)
      #expect(try home.run("verify").status == 0)
    }
    #expect(try home.run("path", "https://a.example/none").status == 4)
  }

  @Test("An item that is removed while `get --offline` delivers others is missing, not damaged")
  func removedMeanwhile() throws {
    let urls = (0..<24).map { server.address("/large/\($0)") }
    for number in urls.indices {
      site["/large/\(number)"] = Site.Page(Array(repeating: UInt8(number), count: 4 << 20))
    }
    let last = server.address("/one")
    let all = (urls + [last]).joined(separator: ", ")
    home.configure("segments: [{ name: basics, urls: [\(all)] }]")
    #expect(try home.run("run", "-q").status == 0)
    let run = try home.shell(
      """
      while :; do
        mkdir out
        $prefetch get --offline -o out/ \(urls.joined(separator: " ")) \(last) & get=$!
        until compgen -G 'out/*' >/dev/null; do :; done
        kill -STOP $get
        [ "$(ls out | wc -l)" -gt 20 ] || break
        # On a busy machine it was seen late: it has to stop before it looks for the last one.
        kill -CONT $get
        wait $get
        rm -r out
      done
      $prefetch rm \(last) >&2
      kill -CONT $get
      wait $get
      """,
      within: 60
    )
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("[item.not-cached]"), "\(run)")
    #expect(!run.errors.contains("[store.damaged]"), "\(run)")
    #expect(try home.run("verify").status == 0)
  }

  @Test("A stored item that is served stale is listed and reported once with its age")
  func stale() throws {
    home.configure(
      """
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: basics, max_stale: 1d, urls: [\(server.address("/one")), \(server.address("/two"))] }]
      """
    )
    #expect(try home.run("run").status == 0)
    for path in ["/one", "/two"] { site[path] = Site.Page([], status: 503) }
    for arguments in [["run", "--json"], ["run", "--json", "--offline"]] {
      let run = try home.start(arguments).finish()
      #expect(run.status == 0, "\(run)")
      let items = try run.json()["items"]?.sequence ?? []
      #expect(items.map { $0["outcome"]?.text } == ["stale", "stale"])
      #expect(try run.totals()["items"] == 2)
      #expect(try run.totals()["kept"] == 2)
      let warnings = run.errors.split(separator: "\n").filter { $0.contains("run.stale") }
      #expect(warnings.count == 1, "\(run)")
      #expect(
        warnings.first?.contains("2 items served stale; the oldest was last confirmed") == true
      )
    }
    home.configure(
      "segments: [{ name: basics, urls: [\(server.address("/one")), \(server.address("/new"))] }]"
    )
    let offline = try home.run("run", "--json", "--offline")
    #expect(offline.status == 69, "\(offline)")
    let items = try offline.json()["items"]?.sequence ?? []
    let ends = items.map { $0.at("error.code")?.text ?? $0["outcome"]?.text }
    #expect(Set(ends) == ["stale", "no_network", "removed"])
  }

  @Test("A fresh item does not satisfy `--revalidate` while its server fails, without `max_stale`")
  func unconfirmed() throws {
    home.configure(
      """
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: basics, ttl: 1d, urls: [\(server.address("/one"))] }]
      """
    )
    #expect(try home.run("run").status == 0)
    site["/one"] = Site.Page([], status: 503)
    for option in ["--revalidate", "--refetch"] {
      let run = try home.run("run", option)
      #expect(run.status == 69, "\(run)")
      #expect(run.errors.contains("the older copy is kept"))
    }
    #expect(try home.run("run").status == 0)
    #expect(try home.run("get", server.address("/one")).output == "body of one")
  }

  @Test("A stale item is not served where its server forbids that, or when it is too old")
  func forbidden() throws {
    let url = server.address("/one")
    home.configure("network: { retries: { items: 0, lookups: 0 } }")
    for (control, stale, isServed) in [
      ("no-cache", "", false), ("max-age=0, must-revalidate", "", false), ("max-age=0", "", true),
      ("max-age=10", "=85s", false), ("max-age=10", "=1h", true),
    ] {
      // The response arrives with an age of a hundred seconds.
      site["/one"] = Site.Page(
        "body",
        headers: [
          .init("Cache-Control", control), .init("Age", "100"),
        ]
      )
      #expect(try home.run("get", url, "--revalidate").status == 0)
      site["/one"] = Site.Page([], status: 503)
      let run = try home.run("get", url, "--max-stale\(stale)")
      #expect((run.status == 0) == isServed, "\(control) \(run)")
      #expect(run.output == (isServed ? "body" : ""))
    }
  }

  @Test("A remembered absence is used by `get` for a while, and requested again by a run")
  func absence() throws {
    let url = server.address("/none")
    home.configure("segments: [{ name: basics, urls: [\(url)] }]")
    for _ in 0..<3 { #expect(try home.run("get", url).status == 4) }
    #expect(server.requests.count == 1)
    let explained = try home.run("explain", url, "--json").json()
    #expect(explained.at("absence.status")?.text == "404")
    #expect(explained.at("absence.asked_again_at")?.text != nil)
    #expect(try home.run("explain", url).output.contains("asked again at"))
    #expect(try home.run("get", url, "--revalidate").status == 4)
    #expect(try home.run("run").status == 4)
    #expect(server.requests.count == 3)
    site["/none"] = Site.Page("now it is there")
    #expect(try home.run("run").status == 0)
    #expect(try home.run("get", url).output == "now it is there")
  }

  @Test("A remembered absence is not used where disabled, or where a digest pins the item")
  func noAbsence() throws {
    let url = server.address("/none")
    home.configure("cache: { negative_ttl: 0 }")
    for _ in 0..<2 { #expect(try home.run("get", url).status == 4) }
    #expect(server.requests.count == 2)
    home.configure(
      "segments: [{ name: basics, urls: [{ url: \(url), sha256: \(String(repeating: "0", count: 64)) }] }]"
    )
    for _ in 0..<2 { #expect(try home.run("get", url).status == 4) }
    #expect(server.requests.count == 4)
  }

  @Test("A failed item is retried after statuses that the configuration adds, and no others")
  func statuses() throws {
    let server = try LoopbackServer { .respond($0.path == "/busy" ? 403 : 400, text: "no") }
    home.configure(
      """
      network: { retries: { items: 2, delay: 1ms, max_delay: 1ms, statuses: [403] } }
      segments: [{ name: basics, urls: [\(server.address("/busy")), \(server.address("/bad"))] }]
      """
    )
    #expect(try home.run("run").status != 0)
    #expect(server.requests.filter { $0.path == "/busy" }.count == 3)
    #expect(server.requests.filter { $0.path == "/bad" }.count == 1)
  }

  @Test("A stored variant of one segment is not used for another one with other headers")
  func variants() throws {
    let server = try LoopbackServer { request in
      .respond(
        200,
        [("Vary", "accept-language"), ("Cache-Control", "max-age=3600")],
        text: "in \(request.headers["Accept-Language"] ?? "none")"
      )
    }
    let url = server.address("/page")
    home.configure(
      """
      segments:
        - { name: german, headers: { Accept-Language: de }, urls: [\(url)], publish: { dir: de } }
        - { name: english, headers: { Accept-Language: en }, urls: [\(url)], publish: { dir: en } }
      """
    )
    #expect(try home.run("check").errors.contains("config.other-headers"))
    for arguments in [["run"], ["run", "english"], ["run", "german"], ["run"]] {
      let run = try home.start(arguments).finish()
      #expect(
        run.status == (arguments.last == "german" ? 0 : arguments.count > 1 ? 4 : 3),
        "\(run)"
      )
      #expect(server.requests.count == 1)
    }
    #expect(try home.run("get", url).output == "in de")
    #expect(home.read("de/\(server.host):\(server.port)/page") == "in de")
    #expect(home.read("en/\(server.host):\(server.port)/page") == nil)
    // Without the first segment the second one keeps the item.
    home.configure(
      "segments: [{ name: english, headers: { Accept-Language: en }, urls: [\(url)], publish: { dir: en } }]"
    )
    #expect(try home.run("run").status == 0)
    #expect(home.read("en/\(server.host):\(server.port)/page") == "in en")
    #expect(server.requests.count == 2)
    // A renewed token causes a new request where it selects the response, and is never stored in
    // clear.
    let grep = try home.tool("grep", "-rl", "-e", "Accept-Language: en", home.cache)
    #expect(grep.output == "")
  }
}
