import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A collector of events", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct CollectorTests {
  private let home: Home
  private let collector: Collector

  init() throws {
    home = try Home(isInMemory: true)
    collector = try Collector()
    configure()
  }

  private func configure(
    _ analytics: String = "",
    endpoint: String? = nil,
    network: String = "",
    more: String = ""
  ) {
    home.configure(
      """
      name: newsroom
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 }, timeouts: { read: 300ms }\(network) }
      segments: [{ name: basics, urls: ["\(collector.server.address("/a"))"] }]
      analytics: { enabled: true, endpoint: "\(endpoint ?? collector.endpoint)"\(analytics) }
      \(more)
      """
    )
  }

  private func log(_ names: String...) throws {
    for name in names { try #require(home.run("event", "log", name).status == 0) }
  }

  private func waiting() throws -> [String?] {
    try home.run("event", "list", "--json").json().list("events").map { $0.text("name") }
  }

  @Test("The collector is sent the queued events once at the end of a run")
  func sends() throws {
    #expect(try home.run("-q").status == 0)
    #expect(collector.posts.isEmpty)
    try log("one", "two")
    let run = try home.run("--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(try run.totals()["requests"] == 2)
    #expect(try collector.names() == ["one", "two"])
    #expect(try waiting().isEmpty)
    #expect(try home.run("-q").status == 0)
    #expect(collector.posts.count == 1)
    let batch = try collector.batches()[0]
    #expect(batch.text("schema") == "prefetch-analytics/1")
    #expect(batch.text("configuration") == "newsroom" && batch.text("dropped") == "0")
    #expect(collector.posts[0].headers["Content-Type"] == "application/json")
    #expect(collector.posts[0].headers["Authorization"] == nil)
  }

  @Test("The collector is sent a long queue in batches and in order")
  func batches() throws {
    for number in 1...450 { try log("\(number)") }
    let flush = try home.run("event", "flush")
    #expect(flush.status == 0 && flush.output == "450 events sent, 0 left\n", "\(flush)")
    #expect(try collector.batches().map { $0.list("events").count } == [200, 200, 50])
    #expect(try collector.names() == (1...450).map { "\($0)" })
    let empty = try home.run("event", "flush")
    #expect(empty.status == 0 && empty.output == "nothing waits\n" && collector.posts.count == 3)
  }

  @Test(
    "A collector that fails is reported once, backed off from, and sent the same batch later",
    arguments: [
      (Collector.ReplyMode.responding(500), "server_busy", 69), (.closing, "reset", 69),
      (.silent, "stalled", 69), (.responding(429, [("Retry-After", "7200")]), "server_busy", 69),
      (.responding(404), "http", 3), (.responding(302, [("Location", "/x")]), "http", 3),
      (.responding(307, [("Location", "http://127.0.0.9:1/x")]), "redirected", 3),
    ]
  )
  func fails(replyMode: Collector.ReplyMode, code: String, status: Int) throws {
    collector.behave(replyMode)
    try log("one")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let warnings = run.errors.split(separator: "\n").filter { $0.contains("[analytics.") }
    #expect(warnings.count == 1, "\(run.errors)")
    #expect(run.errors.contains("events were not sent to"), "\(run.errors)")
    let codes = try run.json().list("diagnostics").compactMap { $0.text("code") }
    #expect(codes.filter { $0.hasPrefix("analytics.") } == ["analytics.\(code)"])
    let count = collector.posts.count
    let next = try home.run()
    #expect(next.status == 0 && next.errors.isEmpty, "\(next)")
    #expect(collector.posts.count == count, "it is left alone")
    let flush = try home.run("event", "flush", "--json")
    #expect(flush.status == status, "\(flush)")
    #expect(try flush.json().text("error.code") == code)
    #expect(try flush.json().text("waiting") == "1")
    #expect(collector.posts.count > count)
    collector.behave(.accepting)
    let later = try home.shell("exec faketime -f +3h $prefetch run -q")
    #expect(later.status == 0, "\(later)")
    #expect(try waiting().isEmpty)
    #expect(Set(try collector.events().map { $0.text("id") }).count == 1)
  }

  @Test("A collector that is not reachable causes only a warning, which `-q` suppresses")
  func unreachable() throws {
    configure(endpoint: "http://127.0.0.1:\(LoopbackPort.free())/v1")
    try log("one")
    let quiet = try home.run("-q")
    #expect(quiet.status == 0 && quiet.errors.isEmpty && quiet.output.isEmpty, "\(quiet)")
    let flush = try home.run("event", "flush")
    #expect(flush.status == 69 && flush.errors.contains("[analytics.connect]"), "\(flush)")
    #expect(try waiting() == ["one"])
  }

  @Test("A collector over plain http is refused with 5 unless an exception names it")
  func plain() throws {
    home.write(
      """
      segments: []
      analytics: { enabled: true, endpoint: "\(collector.endpoint)" }
      """
    )
    let check = try home.run("check")
    #expect(check.status == 78 && check.errors.contains("[config.plain-http]"), "\(check)")
    #expect(try home.run("-q").status == 0, "nothing waits")
    try log("one")
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(run.errors.contains("error: events were not sent"), "\(run.errors)")
    #expect(try run.json().text("exit.name") == "trust")
    #expect(try home.run("event", "flush").status == 5)
    #expect(collector.posts.isEmpty)
  }

  @Test(
    "A collector whose certificate does not match its pin is sent nothing",
    .enabled(if: Nginx.isInstalled && Certificate.isPossible, "needs nginx and openssl")
  )
  func pinned() throws {
    let certificate = try Certificate(in: home)
    var options = Nginx.Options()
    options.certificate = certificate.path
    options.key = certificate.key
    let nginx = try Nginx(options)
    let other = "sha256/" + String(repeating: "A", count: 43) + "="
    configure(
      endpoint: nginx.url("v1"),
      more: "tls: { ca_file: ca.pem, pins: { 127.0.0.1: { leaf: [\"\(other)\"] } } }"
    )
    try log("one")
    let run = try home.run("event", "flush")
    #expect(run.status == 5 && run.errors.contains("[analytics.pin_mismatch]"), "\(run)")
    #expect(nginx.drainRequests().isEmpty)
    #expect(try waiting() == ["one"])
  }

  @Test(
    "The collector is sent nothing by a dry run, offline, when disabled, or for other names"
  )
  func silent() throws {
    try log("one")
    for arguments in [["plan"], ["run", "-n"], ["run", "--offline"], ["get", "--offline", "x"]] {
      _ = try home.run(arguments)
    }
    for more in ["enabled: false", "features: { precaching: false }"] {
      configure(more: more)
      #expect(try home.run("-q").status == 0)
    }
    configure(network: ", type: ethernet, allow: [wifi]")
    #expect(try home.run("-q").status == 75, "the network's rules hold everything back")
    home.configure(
      """
      name: newsroom
      segments: [{ name: basics, urls: ["\(collector.server.address("/a"))"] }]
      analytics: { enabled: false, endpoint: "\(collector.endpoint)" }
      """
    )
    #expect(try home.run("-q").status == 0)
    let flush = try home.run("event", "flush")
    #expect(flush.status == 78 && flush.errors.contains("[config.no-collector]"), "\(flush)")
    home.configure(
      """
      name: other
      segments: []
      analytics: { enabled: true, endpoint: "\(collector.endpoint)" }
      """,
      to: "other.yaml"
    )
    #expect(try home.run("-q", "-c", "other.yaml").status == 0)
    #expect(collector.posts.isEmpty)
    #expect(try waiting() == ["one"])
    configure()
    #expect(try home.run("-q").status == 0)
    #expect(try collector.names() == ["one"])
  }

  @Test("The collector is sent the counts of dropped and of expired events")
  func full() throws {
    configure(", queue: 3, keep: 1h")
    try #require(home.shell("faketime -f -2h $prefetch event log old").status == 0)
    try log("1", "2", "3", "4", "5")
    let list = try home.run("event", "list")
    #expect(list.lines.count == 3 && list.errors.contains("2 events were dropped"), "\(list)")
    #expect(try home.run("-q").status == 0)
    #expect(try collector.names() == ["3", "4", "5"])
    let batch = try #require(try collector.batches().first)
    #expect(batch.text("dropped") == "2" && batch.text("expired") == "1")
  }

  @Test("The collector is sent each event once by two processes at once")
  func together() throws {
    let script = "for n in $(seq 60); do echo $n; done | xargs -P 4 -n 1 $prefetch event log"
    try #require(home.shell(script).status == 0)
    let run = try home.shell(
      """
      for n in 1 2 3 4; do
        $prefetch event flush > /dev/null 2>&1 & processes="$processes $!"
        $prefetch event log more$n
      done
      for process in $processes; do wait $process; echo $?; done
      $prefetch event flush
      """
    )
    #expect(run.lines.dropLast().allSatisfy { $0 == "0" || $0 == "75" }, "\(run)")
    let names = try collector.names().compactMap(\.self)
    #expect(names.count == 64 && Set(names).count == 64, "\(names)")
  }

  @Test("`doctor` names the collector by its host only")
  func doctor() throws {
    configure(endpoint: collector.endpoint + "?token=canary")
    let run = try home.run("doctor")
    let line = "sends\tevents to 127.0.0.1:\(collector.server.port)"
    #expect(run.lines.contains { $0 == line }, "\(run)")
    #expect(!run.output.contains("canary"))
    try log("one")
    let flush = try home.run("event", "flush", "--json", "-v")
    #expect(flush.status == 0 && !flush.output.contains("canary"), "\(flush)")
    #expect(collector.posts[0].target.hasSuffix("?token=canary"))
  }

  @Test("The collector of the license's origin gets the token, and no other collector does")
  func license() throws {
    let license = try LicenseServer()
    license.setReply(LicenseServer.granting())
    let registration =
      "license: canary-key\nregistration: { url: \"\(license.endpoint)\" }"
    configure(more: registration)
    try log("one")
    #expect(try home.run("-q").status == 0)
    #expect(collector.posts.count == 1 && collector.posts[0].headers["Authorization"] == nil)
    configure(endpoint: license.server.address("/events"), more: registration)
    try log("two")
    #expect(try home.run("-q").status == 0)
    let sent = license.server.requests.filter { $0.path == "/events" }
    #expect(sent.map { $0.headers["Authorization"] } == ["Bearer \(LicenseServer.token)"])
  }

  @Test("The collector is sent what `get` and `serve` were asked for, by URL and by metric")
  func served() throws {
    let server = collector.server
    configure(", metrics: { Cart: [\"\(server.address("/cart/"))\"] }")
    #expect(try home.run("get", server.address("/cart/1"), "-o", "out").status == 0)
    #expect(try home.run("get", server.address("/cart/1"), "-o", "out").status == 0)
    #expect(try home.run("-q").status == 0)
    let requested = try collector.events()
    #expect(requested.allSatisfy { $0.text("count") == "1" }, "\(requested)")
    #expect(
      requested.map { $0.text("kind") } == ["cache_miss", "metric", "cache_miss", "metric"],
      "the server says that it has to be asked"
    )
    let serving = try Serving(home)
    for path in ["/a", "/a", "/b?token=canary"] {
      _ = try serving.client.get(server.servedPath(path))
    }
    #expect(serving.stop().status == 143)
    let events = try home.run("event", "list", "--json").json().list("events")
    let reported = events.map { ($0.text("kind"), $0.text("count"), $0.text("url")) }
    #expect(reported.count == 2, "\(reported)")
    #expect(reported[0] == ("cache_fetch", "2", server.address("/a")))
    #expect(reported[1].0 == "cache_miss" && reported[1].2?.contains("token=***") == true)
  }

  @Test("The collector is sent a miss for an item that `get` could not deliver")
  func misses() throws {
    configure()
    let empty = try LoopbackServer { _ in .respond(404) }
    #expect(try home.run("get", empty.address("/nothing"), "-o", "out").status == 4)
    let events = try home.run("event", "list", "--json").json().list("events")
    #expect(events.map { $0.text("kind") } == ["cache_miss"], "\(events)")
  }
}
