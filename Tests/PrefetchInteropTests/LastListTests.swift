import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "The last good list stays in force",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct LastListTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    for name in ["a", "b", "c", "d"] {
      site["/\(name)"] = Site.Page("first \(name)", headers: Self.stale)
    }
  }

  /// Headers that make every run revalidate.
  private static let stale = [HeaderField("Cache-Control", "max-age=0")]

  private func list(_ names: String...) throws -> String {
    try names.map { try server.url("/\($0)").string + "\n" }.joined()
  }

  private func declare(_ rules: String = "", manifest: String? = nil) throws {
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
        - name: files
          manifest: "\(try manifest ?? server.url("/list").string)"
          publish: { dir: tree, layout: basename, link: copy }
          \(rules)
      """
    )
  }

  /// Damages what the run must not repair: loses a body, deletes a published file and changes `b`.
  private func disturb() throws {
    let path = try home.run("path", server.url("/a").string)
    let lost = try home.tool("rm", path.output.split(separator: "\n").joined(), home.path("tree/a"))
    try #require(lost.status == 0, "\(path) \(lost)")
    site["/b"] = Site.Page("second b", headers: Self.stale)
    site.clearRequests()
  }

  struct Trouble: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: String
    var page: @Sendable (LastListTests) throws -> Site.Page
  }

  static let troubles = [
    Trouble(testDescription: "an empty list", code: "manifest_guard") { _ in Site.Page("") },
    Trouble(testDescription: "too few items", code: "manifest_guard") {
      Site.Page(try $0.list("a"))
    },
    Trouble(testDescription: "not found", code: "gone") { _ in Site.Page([], status: 404) },
    Trouble(testDescription: "a server in trouble", code: "server_busy") { _ in
      Site.Page([], status: 503)
    },
  ]

  @Test(
    "The last good list is refreshed and published when the new list is refused or fails",
    arguments: troubles
  )
  func kept(trouble: Trouble) throws {
    site["/list"] = Site.Page(try list("a", "b", "c", "d"))
    try declare()
    #expect(try home.run("run").status == 0)
    try disturb()
    site["/list"] = try trouble.page(self)
    let run = try home.run("run", "--json")
    #expect(run.status == 3, "\(run)")
    #expect(
      Set(site.requests.map(\.path)) == ["/list", "/a", "/b", "/c", "/d"],
      "\(site.requests.map(\.path))"
    )
    let report = try run.json()
    #expect(report.text("segments.0.manifest.error.code") == trouble.code)
    #expect(report.text("segments.0.state") == "incomplete")
    #expect(report.text("totals.removed") == "0")
    #expect(report.text("totals.fetched") == "1")
    #expect(report.text("totals.updated") == "1")
    for (name, body) in [("a", "first a"), ("b", "second b"), ("c", "first c"), ("d", "first d")] {
      #expect(home.read("tree/\(name)") == body)
    }
    // The next good list decides again.
    site["/list"] = Site.Page(try list("a", "b", "c"))
    #expect(try home.run("run").status == 0)
    #expect(home.read("tree/d") == nil)
  }

  static let strangers = [
    Trouble(testDescription: "an HTML page", code: "manifest_guard") { _ in
      Site.Page("<!doctype html><title>x</title>")
    },
    Trouble(testDescription: "a list that no reader takes", code: "manifest_invalid") { _ in
      Site.Page("ftp://x.example/y\n")
    },
  ]

  @Test(
    "The last good list is served without requests when another host answers in the list's place",
    arguments: strangers
  )
  func strange(trouble: Trouble) throws {
    site["/list"] = Site.Page(try list("a", "b", "c", "d"))
    try declare()
    #expect(try home.run("run").status == 0)
    site["/list"] = try trouble.page(self)
    site["/b"] = try trouble.page(self)
    site.clearRequests()
    let run = try home.run("run", "--json")
    #expect(run.status == 3, "\(run)")
    #expect(try run.json().text("segments.0.manifest.error.code") == trouble.code)
    #expect(site.requests.map(\.path) == ["/list"])
    #expect(home.read("tree/b") == "first b")
  }

  @Test("The cache stays as it was when no server is reachable")
  func unreachable() throws {
    let lone = Site(["/x": Site.Page("x", headers: Self.stale)])
    var publisher: LoopbackServer? = try LoopbackServer { lone.respond(to: $0) }
    lone["/list"] = Site.Page(try #require(publisher).url("/x").string + "\n")
    try declare(manifest: #require(publisher).url("/list").string)
    #expect(try home.run("run").status == 0)
    publisher = nil
    let run = try home.run("run")
    #expect(run.status == 69, "\(run)")
    #expect(home.read("tree/x") == "x")
  }

  @Test("The items of the last good list are updated when only the list's server is not reachable")
  func elsewhere() throws {
    let lists = Site(["/list": Site.Page(try list("a", "b"))])
    var publisher: LoopbackServer? = try LoopbackServer { lists.respond(to: $0) }
    try declare(manifest: #require(publisher).url("/list").string)
    #expect(try home.run("run").status == 0)
    try disturb()
    publisher = nil
    let run = try home.run("run")
    #expect(run.status == 3, "\(run)")
    #expect(home.read("tree/a") == "first a")
    #expect(home.read("tree/b") == "second b")
  }

  @Test("The last good list stays in force when one of its pages cannot be fetched")
  func pages() throws {
    func page(_ name: String, next: String?) throws -> Site.Page {
      let url = try server.url("/\(name)").string
      let rest = next.map { #", "next": "\#($0)""# } ?? ""
      return Site.Page(
        #"{"format": "prefetch-manifest", "version": 1, "items": [{"url": "\#(url)"}]\#(rest)}"#
      )
    }
    site["/list"] = try page("a", next: "/2")
    site["/2"] = try page("b", next: nil)
    try declare()
    #expect(try home.run("run").status == 0)
    try disturb()
    site["/list"] = try page("c", next: "/2")
    site["/2"] = Site.Page([], status: 404)
    let run = try home.run("run")
    #expect(run.status == 3, "\(run)")
    #expect(home.read("tree/a") == "first a")
    #expect(home.read("tree/b") == "second b")
    #expect(home.read("tree/c") == nil)
  }

  @Test(
    "A changed page or sitemap needs a good signature, and a renewed signature alone changes nothing",
    .enabled(if: Tool.isInstalled("minisign"), "needs minisign"),
    arguments: [false, true]
  )
  func renewedSignatures(isSitemap: Bool) throws {
    for name in ["own", "other"] {
      let made = try home.tool("minisign", "-G", "-W", "-p", "\(name).pub", "-s", "\(name).key")
      try #require(made.status == 0)
    }
    let key = try #require(home.read("own.pub")?.split(separator: "\n").last)
    func sign(_ name: String, by owner: String = "own", at second: Int) throws {
      try #require(
        home.tool(
          "minisign",
          "-S",
          "-s",
          "\(owner).key",
          "-m",
          name,
          "-t",
          "timestamp:\(second)"
        ).status == 0
      )
      site["/\(name).minisig"] = Site.Page(
        try #require(home.read("\(name).minisig")),
        headers: Self.stale
      )
    }
    func put(_ name: String, _ text: String) {
      home.write(text, to: name)
      site["/\(name)"] = Site.Page(text, headers: Self.stale)
    }
    func putRest(_ names: String...) {
      let urls = names.map { server.address("/\($0)") }
      if isSitemap {
        put("rest", "<urlset>\(urls.map { "<url><loc>\($0)</loc></url>" }.joined())</urlset>")
      } else {
        let items = urls.map { #"{"url": "\#($0)"}"# }.joined(separator: ", ")
        put("rest", #"{"format": "prefetch-manifest", "version": 1, "items": [\#(items)]}"#)
      }
    }
    let (a, rest) = (server.address("/a"), server.address("/rest"))
    put(
      "list",
      isSitemap
        ? "<sitemapindex><sitemap><loc>\(rest)</loc></sitemap></sitemapindex>"
        : #"{"format": "prefetch-manifest", "version": 1, "items": [{"url": "\#(a)"}], "next": "\#(rest)"}"#
    )
    putRest("b")
    for name in ["list", "rest"] { try sign(name, at: 1_700_000_000) }
    home.configure(
      """
      cache: { min_free: 0 }
      manifest_expiry: optional
      segments:
        - name: files
          manifest: "\(server.address("/list"))"
          manifest_keys: ["\(key)"]
          publish: { dir: tree, layout: basename, link: copy }
      """
    )
    let first = try home.run("run", "-q")
    try #require(first.status == 0, "\(first)")
    #expect(home.read("tree/b") == "first b")
    try sign("rest", at: 1_700_000_100)
    let renewed = try home.run("run", "-q")
    #expect(renewed.status == 0, "\(renewed)")
    putRest("b", "c")
    try sign("rest", by: "other", at: 1_700_000_200)
    let forged = try home.run("run", "-q")
    #expect(forged.status == 5, "\(forged)")
    #expect(home.read("tree/b") == "first b" && home.read("tree/c") == nil)
    #expect(try home.run("status", "--nagios").status == 2)
    // All pages of a list state one time.
    try sign("rest", at: 1_700_000_000)
    #expect(try home.run("run", "-q").status == 0)
    #expect(home.read("tree/c") == "first c")
    #expect(try home.run("status", "--nagios").status == 0)
  }

  @Test(
    "A new list counts though its signature has the time of the last one",
    .enabled(if: Tool.isInstalled("minisign"), "needs minisign")
  )
  func signatureOfOneTime() throws {
    try #require(home.tool("minisign", "-G", "-W", "-p", "pub", "-s", "key").status == 0)
    let key = try #require(home.read("pub")?.split(separator: "\n").last)
    func put(_ names: String...) throws {
      let items = try names.map { #"{"url": "\#(try server.url("/\($0)"))"}"# }
      home.write(
        """
        {"format": "prefetch-manifest", "version": 1, "generated": "2026-02-02T00:00:00Z",
         "expires": "2099-01-01T00:00:00Z", "items": [\(items.joined(separator: ", "))]}
        """,
        to: "list"
      )
      try #require(home.run("manifest", "sign", "list", "--key", "key").status == 0)
      site["/list"] = Site.Page(try #require(home.read("list")), headers: Self.stale)
      site["/list.minisig"] = Site.Page(
        Array(try #require(home.read("list.minisig")).utf8),
        lastModified: "Mon, 02 Feb 2026 00:00:00 GMT"
      )
    }
    try declare("manifest_keys: [\"\(key)\"]")
    try put("a")
    try #require(home.run("run").status == 0)
    try put("a", "b")
    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(home.read("tree/b") == "first b")
  }

  @Test(
    "The last good list stays in force when a signed list is older, and only digests are fetched",
    .enabled(if: Tool.isInstalled("minisign"), "needs minisign")
  )
  func rollback() throws {
    try #require(home.tool("minisign", "-G", "-W", "-p", "pub", "-s", "key").status == 0)
    let key = try #require(home.read("pub")?.split(separator: "\n").last)
    func sign(_ generated: String) throws {
      let digest = Digest.hexadecimal("first a")
      home.write(
        """
        {"format": "prefetch-manifest", "version": 1, "generated": "\(generated)", "expires": "2099-01-01T00:00:00Z",
         "items": [{"url": "\(try server.url("/a"))", "digests": {"sha256": "\(digest)"}},
                   {"url": "\(try server.url("/b"))"}, {"url": "\(try server.url("/c"))"}]}
        """,
        to: "list"
      )
      let signed = try home.run("manifest", "sign", "list", "--key", "key")
      try #require(signed.status == 0, "\(signed)")
      site["/list"] = Site.Page(try #require(home.read("list")))
      site["/list.minisig"] = Site.Page(try #require(home.read("list.minisig")))
    }
    try declare("manifest_keys: [\"\(key)\"]")
    try sign("2026-02-02T00:00:00Z")
    #expect(try home.run("run").status == 0)
    try disturb()
    try sign("2026-01-01T00:00:00Z")
    let run = try home.run("run")
    #expect(run.status == 5, "\(run)")
    #expect(Set(site.requests.map(\.path)) == ["/list", "/list.minisig", "/a"], "\(run)")
    #expect(home.read("tree/a") == "first a")
    #expect(home.read("tree/b") == "first b")
  }

  @Test(
    "The last good list yields to another segment's list that pins a new body of the same URL",
    arguments: [true, false],
    ["sha256", "sha512"]
  )
  func yieldsToPinningList(isFirst: Bool, algorithm: String) throws {
    func pins(_ text: String) throws -> Site.Page {
      let sum = try home.shell("printf %s '\(text)' | \(algorithm)sum")
      let digest = sum.output.prefix { $0 != " " }
      let url = try server.url("/a").string
      return Site.Page(
        #"{"format": "prefetch-manifest", "version": 1, "items": [{"url": "\#(url)", "digests": {"\#(algorithm)": "\#(digest)"}}]}"#
      )
    }
    func segment(_ name: String) throws -> String {
      let list = try server.url("/\(name)").string
      return
        "{ name: \(name), manifest: '\(list)', format: native, publish: { dir: \(name), layout: basename, link: copy } }"
    }
    let names = isFirst ? ["old", "new"] : ["new", "old"]
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [\(try names.map(segment).joined(separator: ", "))]
      """
    )
    site["/old"] = try pins("first a")
    site["/new"] = try pins("first a")
    #expect(try home.run("run").status == 0)
    site["/a"] = Site.Page("second a", headers: Self.stale)
    site["/new"] = try pins("second a")
    site["/old"] = Site.Page([], status: 503)
    for night in 0..<3 {
      site.clearRequests()
      let run = try home.run("run", "--json", "--items", "all")
      #expect(run.status == 3, "night \(night): \(run)")
      let report = try run.json()
      let states = Dictionary(
        uniqueKeysWithValues: report.list("segments").map { ($0.text("name"), $0.text("state")) }
      )
      #expect(states == ["old": "incomplete", "new": "current"], "night \(night): \(run)")
      #expect(
        site.requests.filter { $0.path == "/a" }.count == (night == 0 ? 1 : 0),
        "night \(night): \(site.requests.map(\.path))"
      )
      // The failed list's pinned body stays in its own tree, and no other body replaces it.
      #expect(home.read("old/a") == "first a")
      #expect(home.read("new/a") == "second a")
    }
    site["/old"] = try pins("second a")
    #expect(try home.run("run").status == 0)
    #expect(home.read("old/a") == "second a")
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "The last good list gets its file back when the server confirms the body to another segment",
    arguments: ["sha256", "sha512"],
    [true, false]
  )
  func confirmedForAnother(algorithm: String, isFirst: Bool) throws {
    let url = try server.url("/a").string
    site["/a"] = Site.Page(Array("first a".utf8), entityTag: "\"1\"", headers: Self.stale)
    let sum = try home.shell("printf %s 'first a' | \(algorithm)sum").output.prefix { $0 != " " }
    site["/list"] = Site.Page(
      #"{"format": "prefetch-manifest", "version": 1, "items": [{"url": "\#(url)", "digests": {"\#(algorithm)": "\#(sum)"}}]}"#
    )
    let other = "{ name: other, urls: ['\(url)'] }"
    let rules = "format: native, publish: { dir: tree, layout: basename, link: copy }"
    let files = "{ name: files, manifest: '\(try server.url("/list").string)', \(rules) }"
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [\((isFirst ? [files, other] : [other, files]).joined(separator: ", "))]
      """
    )
    #expect(try home.run("run").status == 0)
    site["/list"] = Site.Page([], status: 503)
    try #require(home.tool("rm", home.path("tree/a")).status == 0)
    site.clearRequests()
    #expect(try home.run("run").status == 3)
    #expect(site.requests.map(\.path).contains("/a"))
    #expect(home.read("tree/a") == "first a")
  }
}
