import PrefetchCore
import PrefetchDocuments
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite("Restrictions of a list", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ListedHostTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/two": Site.Page("two")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
  }

  private func here(_ path: String) throws -> String {
    try server.url(path).string
  }

  /// Returns a URL of the server under another name.
  private func elsewhere(_ path: String) throws -> String {
    try here(path).replacing("127.0.0.1", with: "localhost")
  }

  private func declare(_ rules: String) throws {
    home.configure(
      """
      \(rules)
      cache: { min_free: 0 }
      segments: [{ name: files, manifest: "\(try here("/list.txt"))", format: list }]
      """
    )
  }

  @Test("An item on a host outside of `hosts` is refused before any request")
  func hosts() throws {
    site["/list.txt"] = Site.Page(try "\(here("/one"))\n\(elsewhere("/two"))\n")
    try declare("hosts: []")
    let run = try home.run("run")
    #expect(run.status == 5, "\(run)")
    #expect(run.errors.contains("`hosts` does not let a list name `localhost`"))
    #expect(run.errors.contains("[host_forbidden]"))
    #expect(site.requests.map(\.target).sorted() == ["/list.txt", "/one"])
    let plan = try home.run("plan", "--items", "all")
    #expect(plan.status == 5, "\(plan)")
    #expect(plan.output.contains("fail\tfiles\t-\t\(try elsewhere("/two"))"))
    let explained = try home.run("explain", try elsewhere("/two"))
    #expect(explained.output.contains("lists may not name `localhost`"), "\(explained)")
    try declare("hosts: [local*]")
    #expect(try home.run("run").status == 0)
  }

  @Test("The key `hosts` does not restrict the configuration and the user")
  func own() throws {
    home.configure(
      """
      hosts: []
      cache: { min_free: 0 }
      segments:
        - name: files
          urls: [{ url: "\(try here("/one"))", thumbnail: "\(try elsewhere("/two"))" }]
      """
    )
    #expect(try home.run("run").status == 0)
    let typed = try home.run("get", try elsewhere("/one"), "--output", "one")
    #expect(typed.status == 0, "\(typed)")
  }

  @Test("The key `hosts` does not restrict redirects, which `redirects` governs")
  func redirected() throws {
    site["/list.txt"] = Site.Page(try here("/moved") + "\n")
    site["/moved"] = try Site.Page(
      [],
      headers: [HeaderField("Location", elsewhere("/two"))],
      status: 302
    )
    try declare("hosts: []")
    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
  }

  @Test("A pattern in `hosts` that is no host is refused by `check`")
  func patterns() throws {
    for pattern in ["http://a.example", "a.example/x", "A.example"] {
      try declare("hosts: [\"\(pattern)\"]")
      #expect(try home.run("check").status == 78, "\(pattern)")
    }
    try declare("hosts: [\"*.example.com\", cdn-?.example, 127.0.0.1]")
    #expect(try home.run("check").status == 78, "a question mark belongs to no host")
    try declare("hosts: [\"*.example.com\", 127.0.0.1]")
    #expect(try home.run("check").status == 0)
  }

  @Test("A list with `strict` fails as a whole where a reader would leave items out")
  func strict() throws {
    let digest =
      "sha512-"
      + "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
    home.write(
      """
      {"lockfileVersion": 3, "packages": {
        "node_modules/a": {"version": "1.0.0", "resolved": "\(try here("/a.tgz"))", "integrity": "\(digest)"},
        "node_modules/b": {"version": "1.0.0", "resolved": "git+ssh://git@example.com/b.git#abc"}}}
      """,
      to: "package-lock.json"
    )
    site["/a.tgz"] = Site.Page("")
    for (strict, status) in [("false", Int32(0)), ("true", 3)] {
      home.configure(
        """
        cache: { min_free: 0 }
        segments: [{ name: files, manifest: ./package-lock.json, strict: \(strict) }]
        """
      )
      let run = try home.run("run")
      #expect(run.status == status, "\(run)")
      #expect(run.errors.contains("left out: `"), "\(run)")
      #expect(run.errors.contains("left_out") == (status == 3), "\(run)")
    }
  }

  @Test(
    "A newly signed list with an expiry date is fetched once the old signature expires",
    .enabled(if: Tool.isInstalled("minisign"), "needs minisign")
  )
  func signedAgain() throws {
    #expect(try home.tool("minisign", "-G", "-W", "-p", "pub", "-s", "sec").status == 0)
    let key = try #require(home.read("pub")?.split(separator: "\n").last)
    let list = "\(Digest.hexadecimal("one"))  one\n"
    home.write(list, to: "SHA256SUMS")
    site["/SHA256SUMS"] = Site.Page(Array(list.utf8), entityTag: "\"same\"")
    #expect(try home.tool("minisign", "-S", "-s", "sec", "-m", "SHA256SUMS").status == 0)
    site["/SHA256SUMS.minisig"] = Site.Page(try #require(home.read("SHA256SUMS.minisig")))
    func run(_ expiry: String) throws -> ProgramRun {
      home.configure(
        """
        manifest_keys: [\(key)]
        manifest_expiry: \(expiry)
        cache: { min_free: 0 }
        segments: [{ name: files, manifest: "\(try here("/SHA256SUMS"))" }]
        """
      )
      return try home.run("run")
    }
    #expect(try run("optional").status == 0)
    #expect(try run("required").status == 5)
    let signed = try home.run("manifest", "sign", "SHA256SUMS", "--key", "sec", "--expires", "7d")
    #expect(signed.status == 0, "\(signed)")
    site["/SHA256SUMS.minisig"] = Site.Page(try #require(home.read("SHA256SUMS.minisig")))
    let renewed = try run("required")
    #expect(renewed.status == 0, "\(renewed)")
  }

  @Test(
    "A list signed by minisign has a time of signing and no expiry",
    .enabled(if: Tool.isInstalled("minisign"), "needs minisign")
  )
  func expiry() throws {
    #expect(try home.tool("minisign", "-G", "-W", "-p", "pub", "-s", "sec").status == 0)
    let key = try #require(home.read("pub")?.split(separator: "\n").last)
    let list = "\(Digest.hexadecimal("one"))  one\n"
    home.write(list, to: "SHA256SUMS")
    #expect(try home.tool("minisign", "-S", "-s", "sec", "-m", "SHA256SUMS").status == 0)
    site["/SHA256SUMS"] = Site.Page(list)
    site["/SHA256SUMS.minisig"] = Site.Page(try #require(home.read("SHA256SUMS.minisig")))
    func declare(_ expiry: String) throws {
      home.configure(
        """
        manifest_keys: [\(key)]
        manifest_expiry: \(expiry)
        cache: { min_free: 0 }
        segments: [{ name: files, manifest: "\(try here("/SHA256SUMS"))" }]
        """
      )
    }
    try declare("required")
    let refused = try home.run("run")
    #expect(refused.status == 5, "\(refused)")
    #expect(refused.errors.contains("`manifest_expiry: optional` accepts that"))
    let unfit = try home.run("manifest", "check", "SHA256SUMS", "--key", String(key))
    #expect(unfit.status == 5, "\(unfit)")
    try declare("optional")
    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("states no end"))
    #expect(try home.run("manifest", "check", "SHA256SUMS", "--key", String(key)).status == 0)
    // An older list is not accepted again.
    let older = "\(Digest.hexadecimal("two"))  two\n"
    home.write(older, to: "old")
    let signed = try home.tool(
      "minisign",
      "-S",
      "-s",
      "sec",
      "-m",
      "old",
      "-t",
      "timestamp:1000000000\tfile:SHA256SUMS"
    )
    #expect(signed.status == 0, "\(signed)")
    site["/SHA256SUMS"] = Site.Page(older)
    site["/SHA256SUMS.minisig"] = Site.Page(try #require(home.read("old.minisig")))
    let back = try home.run("run")
    #expect(back.status == 5, "\(back)")
  }
}
