import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Validates every document that a command prints against its shipped schema.
@Suite("Documents and their schemas", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct DocumentSchemaTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { [site] request in site.respond(to: request) }
    site["/fresh"] = Site.Page("fresh", headers: [HeaderField("Cache-Control", "max-age=7200")])
    site["/ask"] = Site.Page("ask")
    configure()
  }

  private func configure(_ more: String = "") {
    let url = { (path: String) in "\"\(server.address(path))\"" }
    home.configure(
      """
      name: site
      cache: { min_free: 0 }
      network:
        retries: { items: 0, lookups: 0 }
        daily_limit: { ethernet: 1GB }
        windows: ["00:00-24:00"]
      tls: { pins: { cdn.example.com: { ca: ["\(String(repeating: "A", count: 43))="] } } }
      segments:
        - name: basics
          urls: [\(url("/fresh")), { url: \(url("/ask")), categories: [news] }, \(url("/gone"))]
        - name: new
          initial: false
          urls: [\(url("/fresh"))]
          publish: { dir: tree }
      \(more)
      """
    )
  }

  private func check(
    _ name: String,
    _ run: ProgramRun,
    _ statuses: Set<Int32> = [0],
    _ location: Testing.SourceLocation = #_sourceLocation
  ) throws -> Node {
    #expect(statuses.contains(run.status), "\(run)", sourceLocation: location)
    let document = try run.json(location)
    #expect(
      SchemaCheck.problems(of: document, schema: try RepositoryPage.schema(name)) == [],
      "\(run)",
      sourceLocation: location
    )
    return document
  }

  @Test("Documents about a cache that was never filled match their schemas")
  func empty() throws {
    for name in ["status", "list", "log", "stats", "network", "doctor"] {
      _ = try check(name, try home.run(name, "--json"))
    }
    _ = try check("verify", try home.run("verify", "--json"))
    _ = try check("gc", try home.run("gc", "-n", "--json"))
    _ = try check("explain", try home.run("explain", server.address("/ask"), "--json"))
  }

  @Test("Documents about runs match their schemas")
  func runs() throws {
    for _ in 0..<3 { _ = try check("report", try home.run("--json", "--items", "all"), [3]) }
    _ = try check("report", try home.run("--json", "--offline"), [69])
    _ = try check("report", try home.run("plan", "--json"), [3])
    let status = try check("status", try home.run("status", "--json"))
    #expect(status.list("segments").first?.list("recent").count == 4)
    #expect(status.list("quotas").count == 1 && status.list("categories").count == 1)
    let log = try check("log", try home.run("log", "--json"))
    #expect(log.list("entries").count >= 3)
    let stats = try check("stats", try home.run("stats", "--json"))
    #expect(stats.list("hosts").count == 1)
    let network = try check("network", try home.run("network", "--json"))
    #expect(network.list("segments").first?.list("rules").isEmpty == false)
    _ = try check("doctor", try home.run("doctor", "--json"))
    let remembered = ["--no-run", "--json", "--set", "subscriptions=remembered"]
    let joined = try check("subscribe", try home.run(["subscribe", "new"] + remembered))
    #expect(joined.list("subscribed").map(\.text) == ["basics", "new"])
    let left = try check("subscribe", try home.run(["unsubscribe", "--all"] + remembered))
    #expect(left.list("subscribed").isEmpty)
  }

  @Test("Documents about items match their schemas")
  func items() throws {
    let (present, absent) = (server.address("/ask"), server.address("/gone"))
    #expect(try home.run("-q").status == 3)
    let list = try check("list", try home.run("list", "--json"))
    #expect(list.list("items").count >= 2)
    for state in ["failed", "deleted", "pending"] {
      _ = try check("list", try home.run("list", "--state", state, "--json"))
    }
    _ = try check("identities", try home.run("list", "--identities", "--json"))
    for options in [[], ["--or-url"], ["--under", "http://127.0.0.1:7733/"]] {
      _ = try check("path", try home.run(["path", present, "--json"] + options))
    }
    _ = try check("path", try home.run("path", absent, "--or-url", "--json"))
    for url in [present, absent, server.address("/unknown"), "https://cdn.example.com/pinned"] {
      _ = try check("explain", try home.run("explain", url, "--json"))
    }
    let got = try check("get", try home.run("get", present, absent, "-o", "got/", "--json"), [3])
    #expect(got.list("items").count == 1 && got.list("failures").count == 1)
    for action in ["pause", "resume", "lock", "rm", "unlock"] {
      _ = try check("control", try home.run(action, present, "--json"), [0, 3])
    }
    home.write("by hand", to: "file")
    let url = "https://cdn.example.com/file"
    let imported = try check("import", try home.run("import", "file", "--url", url, "--json"))
    _ = try check("verify", try home.run("verify", "--json"))
    let path = imported.text("path") ?? ""
    _ = try check("export", try home.run("export", "layer", "--json"))
    _ = try check("import", try home.run("import", "--cache", "layer", "--json"))
    #expect(try home.shell("chmod u+w \(path) && echo other > \(path)").status == 0)
    let damage = try check("verify", try home.run("verify", "--repair", "--json"), [0, 74])
    #expect(damage.list("bad").count == 1)
    _ = try check("gc", try home.run("gc", "--json"))
  }

  @Test("Documents about the program and its configuration match their schemas")
  func configuration() throws {
    _ = try check("version", try home.run("--version", "--json"))
    _ = try check("init", try home.run("init", "-o", "new.yaml", "--json"))
    _ = try check("config", try home.run("config", "--json"))
    _ = try check("config", try home.run("config", "--json", "--origins"))
    _ = try check("check", try home.run("check", "--json"))
    #expect(try home.run("-q").status == 3)
    _ = try check("publish", try home.run("publish", "--json"), [0, 3, 4])
    configure("sgements: []")
    let check = try check("check", try home.run("check", "--json"), [78])
    #expect(check.text("valid") == "false")
    for arguments in [["run", "--json"], ["status", "--json"], ["list", "--bad", "--json"]] {
      _ = try self.check("error", try home.run(arguments), [64, 78])
    }
  }

  @Test("Documents about events, and the batches of a collector, match their schemas")
  func events() throws {
    let collector = try Collector()
    configure("analytics: { enabled: true, endpoint: \"\(collector.endpoint)\" }")
    #expect(try home.run("-q").status == 3)
    _ = try check("event", try home.run("event", "log", "seen", "--json"))
    _ = try check("event", try home.run("event", "start", "import", "--json"))
    let list = try check("event-list", try home.run("event", "list", "--json"))
    #expect(list.list("open").count == 1)
    _ = try check("event", try home.run("event", "stop", "import", "--json"))
    #expect(try home.run("event", "run", "build", "--", "true").status == 0)
    let present = server.address("/ask")
    _ = try check("event", try home.run("event", "consume", present, "--to", "1", "--json"))
    #expect(try home.run("get", present, "-o", "-").status == 0)
    let waiting = try check("event-list", try home.run("event", "list", "--json"))
    #expect(waiting.list("events").count == 5)
    let flushed = try check("event-flush", try home.run("event", "flush", "--json"))
    #expect(flushed.number("sent") == 5)
    for batch in try collector.batches() {
      let schema = try RepositoryPage.schema("analytics")
      #expect(SchemaCheck.problems(of: batch, schema: schema) == [])
    }
  }

  @Test("Documents about a server, a license and pins match their schemas")
  func others() throws {
    let served = try home.run("serve", "--json", "--listen", "127.0.0.1:0", "--for", "1ms")
    #expect(try check("serve", served).text("address")?.hasPrefix("http://127.0.0.1:") == true)
    let license = try LicenseServer()
    home.configure(
      """
      license: some-key-of-the-test
      registration: { url: "\(license.endpoint)" }
      segments: [{ name: known, manifest: "\(license.server.address("/manifest.json"))" }]
      """
    )
    _ = try check("register", try home.run("register", "--json"))
    _ = try check("status", try home.run("status", "--json"))
    let ground = try TrustGround.shared.get()
    let leaf = try ground.leaf(by: ground.intermediate, key: ground.rsa) { $0.name = "a server" }
    let secure = try TLSServer(TLSServer.Options(leaf, ground.intermediate))
    var trusting = try Home()
    trusting.variables["SSL_CERT_FILE"] = ground.authorities
    let pins = try check("pins", try trusting.run("pins", "127.0.0.1:\(secure.port)", "--json"))
    #expect(pins.list("certificates").count == 3)
  }
}
