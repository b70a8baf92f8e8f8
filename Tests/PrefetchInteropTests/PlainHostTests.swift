import PrefetchCore
import PrefetchDocuments
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite("A host of `allow_http`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PlainHostTests {
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

  /// Returns a URL of the server under a name that no test allows.
  private func elsewhere(_ path: String) throws -> String {
    try here(path).replacing("127.0.0.1", with: "localhost")
  }

  private func configure(_ rules: String, _ urls: String...) {
    home.write(
      """
      \(rules)
      cache: { min_free: 0 }
      segments:
        - name: files
          urls: [\(urls.map { "\"\($0)\"" }.joined(separator: ", "))]
      """
    )
  }

  @Test(
    "A host of `allow_http` is used over plain http, and another name of the same server is not"
  )
  func exact() throws {
    try configure("allow_http: [127.0.0.1]", here("/one"), elsewhere("/two"))
    let run = try home.run("run", "--report", "json=report.json")
    #expect(run.status == 5, "\(run)")
    #expect(site.requests.map(\.target) == ["/one"])
    let explained = try home.run("explain", here("/one"), "--json").json()
    #expect(explained.text("security.entry") == "allow_http.127.0.0.1")
    #expect(explained.text("security.decision") == "allowed")
  }

  @Test("A refusal of plain http names `allow_http`, and following the hint is enough")
  func hint() throws {
    try configure("", here("/one"))
    let refused = try home.run("run")
    #expect(refused.status == 5, "\(refused)")
    #expect(refused.errors.contains("`--set allow_http=127.0.0.1`"))
    #expect(!refused.errors.contains("NSAllows"))
    let checked = try home.run("check")
    #expect(checked.status == 78)
    #expect(checked.errors.contains("`--set allow_http=127.0.0.1`"))
    #expect(try home.run("run", "--set", "allow_http=127.0.0.1").status == 0)
    #expect(try home.run("check", "--set", "allow_http=127.0.0.1").status == 0)
  }

  @Test("A refusal of plain http offers no exception for a host that a redirect or a list names")
  func undeclared() throws {
    site["/gone"] = try Site.Page(
      [],
      headers: [HeaderField("Location", elsewhere("/two"))],
      status: 302
    )
    site["/list.txt"] = try Site.Page(elsewhere("/two") + "\n")
    try home.write(
      """
      allow_http: 127.0.0.1
      cache: { min_free: 0 }
      segments:
        - { name: redirected, urls: ["\(here("/gone"))"] }
        - { name: listed, manifest: "\(here("/list.txt"))", format: list }
      """
    )
    let run = try home.run("run")
    #expect(run.status == 5, "\(run)")
    #expect(run.errors.contains("plain http to `localhost` is not allowed"))
    #expect(!run.errors.contains("allow_http"))
    #expect(!run.errors.contains("NSAllows"))
    #expect(!site.requests.contains { $0.target == "/two" })
  }

  @Test("A host of `allow_http` is refused beside an exception of its own, and after its expiry")
  func conflicts() throws {
    configure(
      """
      allow_http: [nas.lan]
      transport_security: { NSExceptionDomains: { nas.lan: {} } }
      """,
      "http://nas.lan/a"
    )
    let both = try home.run("check")
    #expect(both.status == 78, "\(both)")
    #expect(
      both.errors.contains("`nas.lan` is under both `allow_http` and `NSExceptionDomains`")
    )
    try configure(
      "allow_http: [{ host: 127.0.0.1, reason: old camera, expires: 2020-01-31 }]",
      here("/one")
    )
    let over = try home.run("run")
    #expect(over.status == 5, "\(over)")
    #expect(over.errors.contains("expired on 2020-01-31"))
    #expect(try home.run("check").status == 78)
    #expect(site.requests.isEmpty)
    for (value, words) in [
      ("'*.lan'", "wildcard"), ("http://nas.lan", "scheme"), ("nas.lan:80", "port"),
      ("10.0.0.0/8", "not a host name"), ("NAS.lan", "lower case"),
    ] {
      configure("allow_http: [\"\(value.replacing("'", with: ""))\"]", "https://nas.lan/a")
      let run = try home.run("check")
      #expect(run.status == 78, "\(run)")
      #expect(run.errors.contains(words), "\(run)")
    }
  }

  @Test("A host of `allow_http` gets no credentials of netrc in the clear")
  func narrow() throws {
    let netrc = "machine 127.0.0.1 login me password secret"
    let made = try home.shell("mkdir -p ~ && echo '\(netrc)' >~/.netrc && chmod 600 ~/.netrc")
    #expect(made.status == 0, "\(made)")
    try configure("allow_http: [127.0.0.1]\nnetwork: { netrc: true }", here("/one"))
    #expect(try home.run("run").status == 0)
    let request = try #require(site.requests.last)
    #expect(request.headers["Authorization"] == nil)
  }

  @Test("`init` writes `allow_http` for the hosts of a list, and `check` accepts it")
  func begins() throws {
    home.write(
      "http://nas.lan/a\nhttp://[::1]:8080/b\nhttp://dot.lan./c\nhttps://fine.example/d\n",
      to: "urls.txt"
    )
    #expect(try home.run("init", "--from", "urls.txt").status == 0)
    let text = try #require(home.read("prefetch.yaml"))
    #expect(text.contains("\nallow_http:\n"), "\(text)")
    let document = try home.run("config", "--json").json()
    let hosts = document.list("config.allow_http").map { $0.text("host") }
    #expect(hosts == ["::1", "nas.lan"], "\(text)")
  }
}
