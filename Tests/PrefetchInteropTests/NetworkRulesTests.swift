import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("The rules of the network", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct NetworkRulesTests {
  private let home: Home
  private let server: LoopbackServer
  private let zone = NoonZone()

  init() throws {
    home = try Home()
    server = try LoopbackServer { request in
      request.path.hasSuffix(".json")
        ? .respond(
          200,
          [("Content-Type", "application/json")],
          text: #"{"format": "prefetch-manifest", "version": 1, "items": ["/x"]}"#
        ) : .respond(200, text: request.path)
    }
  }

  /// Configures an inline segment and one with a manifest.
  private func configure(_ network: String, segments: String = "") {
    home.configure(
      """
      segments:
        - { name: basics, urls: ["\(server.address("/a"))"]\(segments) }
        - { name: more, manifest: "\(server.address("/more.json"))" }
      cache: { min_free: 0 }
      network: { \(network) }
      """
    )
  }

  /// Runs; returns the rules that deferred the segments.
  private func deferrals(_ arguments: String...) throws -> (ProgramRun, Set<String>) {
    let run = try home.start(["--json"] + arguments).finish()
    let segments = try run.json().list("segments")
    return (run, Set(segments.map { $0.text("deferred.rule") ?? $0.text("state") ?? "" }))
  }

  @Test("A closed window stops all requests and reports when it opens")
  func closedWindow() throws {
    configure("windows: [\"03:00-04:00\"], timezone: \(zone.name)")
    let (run, rules) = try deferrals()
    #expect(run.status == 75, "\(run)")
    #expect(rules == ["window"])
    let report = try run.json()
    #expect(report.text("exit.next_allowed_at") == zone.next(3))
    #expect(report.text("segments.1.manifest.status") == "skipped")
    #expect(report.text("items.0.deferred.until") == zone.next(3))
    #expect(server.requests.isEmpty)

    let status = try home.run("status", "--json").json()
    #expect(status.text("segments.0.deferred.rule") == "window")
    #expect(status.text("segments.1.deferred.until") == zone.next(3))
    #expect(try home.run("--accept", "deferred").status == 0)
    let item = try home.run("get", server.address("/a"))
    #expect(item.status == 75 && item.output == "", "\(item)")
    let plan = try home.run("plan")
    #expect(plan.status == 75, "\(plan)")
    #expect(plan.lines.first?.hasPrefix("defer\tbasics\t-\t\(server.address("/a"))\t") == true)
    #expect(server.requests.isEmpty)
  }

  @Test("A window opens an hour earlier after the change to summer time")
  func springWindow() throws {
    configure("windows: [\"03:00-04:00\"]")
    var home = home
    home.variables["TZ"] = zone.springForward
    let run = try home.run("--json")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("exit.next_allowed_at") == zone.nextAfterSpring(3))
    #expect(zone.nextAfterSpring(3) != zone.next(3))
    #expect(server.requests.isEmpty)
  }

  @Test("An open window allows all requests, by the zone of the configuration or of TZ")
  func openWindow() throws {
    configure("windows: [\"11:00-14:00\"], timezone: \(zone.name)")
    #expect(try home.run().status == 0)
    #expect(server.requests.count == 3)
    configure("windows: [\"03:00-04:00\"]")
    var other = home
    other.variables["TZ"] = zone.name
    #expect(try other.run("--refetch").status == 75)
    #expect(server.requests.count == 3)
    configure("windows: [\"11:00-14:00\"]")
    #expect(try other.run("--refetch").status == 0)
    #expect(server.requests.count == 6)
    // Stored items are served while windows are closed, and a complete inline segment is current.
    configure("windows: [\"03:00-04:00\"]")
    #expect(try other.run("get", "--offline", server.address("/a")).output == "/a")
  }

  @Test("A segment may narrow the rules, and an optional one does not count")
  func narrowed() throws {
    let rules = "network: { windows: [\"03:00-04:00\"], timezone: \(zone.name) }"
    configure("allow: [any]", segments: ", \(rules)")
    let (run, states) = try deferrals()
    #expect(run.status == 75, "\(run)")
    #expect(states == ["window", "current"])
    #expect(server.requests.map(\.path).sorted() == ["/more.json", "/x"])
    configure("allow: [any]", segments: ", required: false, \(rules)")
    #expect(try home.run().status == 0)
    #expect(!server.requests.map(\.path).contains("/a"))
  }

  @Test(
    "A URL of two segments is fetched for the allowed one and keeps what moved to the other"
  )
  func shared() throws {
    let url = server.address("/a")
    let held = "network: { windows: [\"03:00-04:00\"], timezone: \(zone.name) }"
    home.configure(
      """
      segments:
        - { name: held, urls: ["\(url)"], \(held) }
        - { name: free, urls: ["\(url)"] }
      cache: { min_free: 0 }
      """
    )
    let plan = try home.run("plan")
    #expect(plan.status == 75, "\(plan)")
    #expect(plan.lines.map { $0.prefix { $0 != "\t" } } == ["defer", "fetch"])
    let run = try home.run("--json")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().list("segments").map { $0.text("state") } == ["deferred", "current"])
    #expect(try home.run("path", url).status == 0)
    home.configure(
      """
      segments:
        - { name: held, urls: ["\(url)"], \(held) }
        - { name: free, urls: ["\(server.address("/b"))"] }
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run().status == 75)
    #expect(try home.run("path", url).status == 0)
  }

  @Test("An unknown zone is an error of the configuration with its position")
  func unknownZone() throws {
    configure("windows: [\"03:00-04:00\"], timezone: Europe/Nowhere")
    for command in ["check", "run"] {
      let run = try home.run(command)
      #expect(run.status == 78, "\(run)")
      #expect(run.errors.contains("prefetch.yaml:6:"))
      #expect(run.errors.contains("Europe/Nowhere"))
    }
    #expect(server.requests.isEmpty)
  }

  @Test("The kind of network is set by the option, the configuration or the machine, in this order")
  func kinds() throws {
    configure("allow: [wifi, ethernet], type: cellular")
    #expect(try deferrals().1 == ["network_type"])
    #expect(try deferrals("--network", "cellular").1 == ["network_type"])
    #expect(server.requests.isEmpty)
    let (run, states) = try deferrals("--network", "wifi")
    #expect(run.status == 0 && states == ["current"], "\(run)")
    let network = try #require(try run.json().at("network"))
    #expect(network.text("type") == "wifi" && network.text("metered") == "false")
    #expect(network.text("reason") == "`--network` says so")
    configure("allow: [none]")
    #expect(try deferrals("--network", "wifi").1 == ["network_type"])
    #expect(try home.run("--network", "token-ring").status == 64)
    #expect(try home.run("--network", "wifi,free").status == 64)
  }

  @Test("A metered connection is not used where the configuration says so")
  func metered() throws {
    configure("metered: defer")
    #expect(try deferrals("--network", "wifi,metered").1 == ["metered"])
    var other = home
    other.variables["PREFETCH_NETWORK"] = "ethernet,metered"
    #expect(try other.run().status == 75)
    #expect(server.requests.isEmpty)
    #expect(try deferrals("--network", "wifi").1 == ["current"])
  }

  /// Values 1 and 3 mean metered; 0 means unknown.
  @Test(
    "The network manager is read only where a rule depends on it",
    arguments: [
      ("u 1", "metered"), ("u 2", "current"), ("u 3", "metered"), ("u 4", "current"),
      ("u 0", "metered"), ("nonsense", "metered"),
    ]
  )
  func manager(output: String, state: String) throws {
    var other = home
    other.variables["PATH"] = home.path("bin")
    other.variables["PREFETCH_LICENSE"] = "secret-key"
    try program(
      "bin/busctl",
      "echo \"$@\" >> \(home.path("asked")); /usr/bin/env > \(home.path("seen")); echo \(output)"
    )
    configure("allow: [any]")
    #expect(try other.run().status == 0)
    #expect(home.read("asked") == nil)
    configure("metered: defer, unknown_metered: defer")
    let run = try other.run("--refetch", "--json")
    let report = try run.json()
    #expect(report.text("segments.0.deferred.rule") ?? report.text("segments.0.state") == state)
    #expect(
      home.read("asked")
        == "--system get-property org.freedesktop.NetworkManager "
        + "/org/freedesktop/NetworkManager org.freedesktop.NetworkManager Metered\n"
    )
    #expect(home.read("seen")?.contains("secret-key") == false)
  }

  @Test("A fact that only a manifest's rule needs is read too")
  func manifestLimits() throws {
    let server = try LoopbackServer { request in
      request.path.hasSuffix(".json")
        ? .respond(
          200,
          [("Content-Type", "application/json")],
          text: #"{"format": "prefetch-manifest", "version": 1, "network": {"metered": "defer"}, "#
            + #""items": ["/x"]}"#
        ) : .respond(200, text: request.path)
    }
    home.configure(
      """
      segments: [{ name: more, manifest: "\(server.address("/more.json"))" }]
      cache: { min_free: 0 }
      network: { type: ethernet, allow: [ethernet] }
      """
    )
    var other = home
    other.variables["PATH"] = home.path("bin")
    try program("bin/busctl", "echo u 1")
    let run = try other.run("--json")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("items.0.deferred.rule") == "metered")
    #expect(server.requests.map(\.path) == ["/more.json"])
  }

  @Test("A user's program reports facts about the network and gets no secret")
  func probe() throws {
    let script = try program(
      "probe",
      """
      /usr/bin/env > \(home.path("seen")); /bin/ls /proc/self/fd > \(home.path("open"))
      echo "wifi,metered battery 40%"
      """
    )
    var other = home
    other.variables["PREFETCH_LICENSE"] = "secret-key"
    other.variables["TOKEN"] = "my-secret-key-too"
    let rules = [
      ("allow: [ethernet]", "network_type"), ("metered: defer", "metered"), ("power: ac", "power"),
      ("battery_floor: 50", "power"), ("battery_floor: 30", "current"),
    ]
    for (rule, state) in rules {
      configure("probe: [\(script)], \(rule)")
      let report = try other.run("--json", "--refetch").json()
      let found = report.text("segments.0.deferred.rule") ?? report.text("segments.0.state")
      #expect(found == state, "\(rule)")
    }
    let seen = try #require(home.read("seen"))
    #expect(seen.contains("PATH=") && !seen.contains("secret-key"))
    // `ls` itself has the folder open in addition to the three streams.
    #expect(home.read("open")?.split(separator: "\n").count == 4)
  }

  @Test("A failing program leaves the network unknown")
  func failingProbe() throws {
    for body in ["exit 3", "echo token-ring", "kill -9 $$", "true"] {
      let script = try program("probe", body)
      configure("probe: [\(script)], allow: [wifi, ethernet, cellular]")
      let (run, rules) = try deferrals()
      #expect(run.status == 75 && rules == ["network_type"], "\(body): \(run)")
      #expect(try run.json().text("network.type") == nil)
      #expect(try run.json().text("network.reason")?.hasPrefix("`network.probe` ") == true)
    }
    #expect(server.requests.isEmpty)
  }

  @Test("A poor measured quality stops a run, and an event reports it")
  func quality() throws {
    let body = [UInt8](repeating: 7, count: 100_000)
    let server = try LoopbackServer { _ in .respond(200, body: body) }
    let urls = (0..<6).map { "\"\(server.address("/\($0).bin"))\"" }.joined(separator: ", ")
    home.configure(
      """
      segments: [{ name: basics, urls: [\(urls)] }]
      cache: { min_free: 0 }
      network:
        { concurrency: 1, type: wifi, quality: { good: 900GB/s, on: { poor: stop } } }
      """
    )
    let run = try home.run("--json", "--events", home.path("events"))
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    #expect(report.text("network.quality") == "poor")
    #expect(report.number("totals.fetched") == 1)
    #expect(report.number("totals.deferred") == 5)
    let rules = Set(report.list("items").compactMap { $0.text("deferred.rule") })
    #expect(rules == ["quality"])
    #expect(report.text("exit.next_allowed_at") != nil)
    let events = try #require(home.read("events")).split(separator: "\n")
    let reported = try events.map { try Node(json: String($0)) }
      .filter { $0.text("event") == "network.quality" }.map { $0.text("quality") }
    #expect(reported == ["poor"])
    // The quality is remembered, so that the next run sends no request.
    #expect(try home.run().status == 75)
    #expect(server.requests.count == 1)
    let seen = try home.run("network", "--json").json()
    #expect(seen.text("quality") == "poor" && (seen.number("throughput") ?? 0) > 0)
    #expect(seen.text("segments.0.deferred.rule") == "quality")
  }

  @Test("`network` prints the state of the network and the verdict of every rule")
  func command() throws {
    configure(
      "metered: defer, windows: [\"03:00-04:00\"], timezone: \(zone.name), daily_limit: 1GB"
    )
    let run = try home.run("network", "--json", "--network", "cellular,metered")
    #expect(run.status == 0, "\(run)")
    let seen = try run.json()
    #expect(seen.text("schema") == "prefetch-network/1")
    #expect(seen.text("type") == "cellular" && seen.text("metered") == "true")
    #expect(seen.text("quality") == "unknown" && seen.text("reason") == "`--network` says so")
    let segments = seen.list("segments")
    #expect(segments.map { $0.text("name") } == ["basics", "more"])
    #expect(segments[0].text("deferred.rule") == "metered")
    #expect(segments[0].text("deferred.until") == zone.next(3))
    let rules = segments[0].list("rules").map {
      "\($0.text("rule") ?? "") \($0.text("verdict") ?? "")"
    }
    #expect(rules == ["metered defers", "window defers", "daily_limit passes"])
    #expect(seen.number("quotas.0.limit") == 1_000_000_000)
    #expect(seen.text("quotas.0.renews_at") == zone.next(24))
    let text = try home.run("network", "--network", "wifi")
    #expect(text.output.hasPrefix("type\twifi\t"))
    let end = zone.next(3).prefix(19).replacing("T", with: " ")
    #expect(text.output.contains("segment\tbasics: deferred by window until \(end) UTC\t"))
    #expect(server.requests.isEmpty)
  }

  @discardableResult
  private func program(_ name: String, _ body: String) throws -> String {
    if name.contains("/") { try #require(home.tool("mkdir", "-p", home.path("bin")).status == 0) }
    let path = home.write("#!/bin/sh\n\(body)\n", to: name)
    try #require(home.tool("chmod", "+x", path).status == 0)
    return path
  }
}
