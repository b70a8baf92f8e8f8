import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Names of segments and items in the spellings of users.
@Suite("A name", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct NameTests {
  private let home: Home
  private let site: Site
  private let server: LoopbackServer

  init() throws {
    let site = Site()
    for name in ["one", "two"] { site["/\(name)"] = Site.Page("body of \(name)") }
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
  }

  private func remember() {
    site["/basics.json"] = Site.Page(Manifest.text([server.address("/one")]))
    home.configure(
      """
      subscriptions: remembered
      manifests: \(server.address("/{segment}.json"))
      segments: [basics]
      """
    )
  }

  @Test("An unknown segment ends a command with 64 before any request or change")
  func unknownSegments() throws {
    remember()
    for command in ["run", "plan"] {
      let run = try home.run(command, "nosuch")
      #expect(run.status == 64, "\(run)")
      #expect(run.errors.contains("no segment is called `nosuch`"))
    }
    #expect(server.requests.isEmpty)
    site["/more.json"] = Site.Page(Manifest.text([server.address("/two")]))
    #expect(try home.run("subscribe", " more\t", "--no-run").status == 0)
    #expect(try home.run("run", "more").status == 0)
    #expect(try home.run("status").output.contains("more\tcurrent"))
  }

  @Test("A subscribed segment is listed in status, before its first run too")
  func subscribedInStatus() throws {
    remember()
    #expect(try home.run().status == 0)
    #expect(try home.run("status", "--max-age", "1h").status == 0)
    site["/more.json"] = Site.Page(Manifest.text([server.address("/two")]))
    #expect(try home.run("subscribe", "more", "--no-run").status == 0)
    let new = try home.run("status", "--max-age", "1h")
    #expect(new.status == 3, "\(new)")
    #expect(new.lines.prefix(2).map { $0.prefix { $0 != "\t" } } == ["basics", "more"])
    #expect(try home.run("unsubscribe", "basics", "--no-run").status == 0)
    #expect(try home.run().status == 0)
    let left = try home.run("status", "--max-age", "1h")
    #expect(left.status == 0, "\(left)")
    #expect(left.lines.first?.hasPrefix("more\tcurrent") == true)
    #expect(!left.output.contains("basics"))
  }

  @Test("An empty name or a pattern is refused as a subscription and changes nothing")
  func oddSegments() throws {
    remember()
    #expect(try home.run().status == 0)
    for arguments in [
      ["subscribe", "--only", ""], ["subscribe", "  "], ["subscribe", "b*"],
      ["unsubscribe", "?asics"],
    ] {
      let run = try home.start(arguments).finish()
      #expect(run.status == 64, "\(run)")
    }
    #expect(try home.run("path", server.address("/one")).status == 0)
  }

  @Test("An id or a provider's id finds an item, stored or only declared")
  func ids() throws {
    home.configure(
      """
      segments:
        - name: basics
          urls:
            - { url: "\(server.address("/one"))", id: first, provider: shop }
            - { url: "\(server.address("/two"))", id: second, provider: shop }
      """
    )
    #expect(try home.run("explain", "shop/first", "--json").json().text("decision") == "fetch")
    #expect(try home.run("get", "shop/first").output == "body of one")
    #expect(try home.run("get", "second").output == "body of two")
    #expect(try home.run("path", "shop/second").status == 0)
    let several = try home.run("get", "--provider", "shop", "--id", "first,second", "--path")
    #expect(several.lines.count == 2, "\(several)")
    #expect(try home.run("path", "other/first").status == 4)
    home.configure(
      """
      segments:
        - { name: a, urls: [{ url: "\(server.address("/one"))", id: same, provider: shop }] }
        - { name: b, urls: [{ url: "\(server.address("/two"))", id: same, provider: shop }] }
      """
    )
    let check = try home.run("check")
    #expect(check.status == 78, "\(check)")
    #expect(check.errors.contains("config.duplicate-id"))
  }

  @Test("An unknown name does not keep `get` from other items, and each failure names its URL")
  func several() throws {
    home.configure("network: { retries: { items: 0, lookups: 0 } }")
    site["/busy"] = Site.Page([], status: 503)
    let run = try home.run(
      "get",
      "nothing",
      server.address("/one"),
      server.address("/none"),
      server.address("/busy"),
      "-o",
      "out/",
      "--json"
    )
    #expect(run.status == 3, "\(run)")
    let document = try run.json()
    #expect(document.at("items")?.sequence?.count == 1)
    let failures = document.at("failures")?.sequence ?? []
    let reported = failures.map {
      "\($0.text("error.code") ?? "") \($0.text("error.retryable") ?? "")"
    }
    #expect(Set(reported) == ["gone false", "server_busy true", "not_found false"])
    #expect(document.text("exit.retryable") == "true")
    #expect(home.read("out/one") == "body of one")
    let alone = try home.run("get", "nothing", server.address("/one"), "-o", "out/", "--json")
    #expect(alone.status == 3, "\(alone)")
    #expect(try alone.json().text("exit.retryable") == "false")
  }

  @Test("An unknown command has no help, and an unreadable list ends with 78")
  func slips() throws {
    #expect(try home.run("frobnicate", "--help").status == 64)
    #expect(try home.run("run", "--help").status == 0)
    let list = try home.run("get", "-", "--path", input: "{\"format\": 1}")
    #expect(list.status == 78, "\(list)")
  }

  @Test("A disabled configuration creates no files and sends no requests")
  func disabled() throws {
    home.configure("enabled: false\nsegments: [{ name: a, urls: [\(server.address("/one"))] }]")
    for arguments in [["run"], ["run", "--json"], ["plan", "--json"]] {
      let run = try home.start(arguments).finish()
      #expect(run.status == 0, "\(run)")
      #expect(!FileTree.exists(home.cache))
      #expect(!FileTree.exists(home.state))
    }
    #expect(server.requests.isEmpty)
  }
}
