@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Events and hooks", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct EventTests {
  private let home: Home
  private let site = Site()
  private let gate = Gate()
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { [site, gate] request in
      let response = site.respond(to: request)
      return request.path == "/held" ? Script([.pause(gate)] + response.steps) : response
    }
    for name in ["/a", "/b", "/held"] { site[name] = Site.Page("body of \(name)") }
    configure()
  }

  private func configure(_ hooks: String = "", paths: [String] = ["/a", "/b"], ttl: String = "1h") {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: basics, ttl: \(ttl), urls: [\(urls)] }]
      \(hooks)
      """
    )
  }

  private func program(_ name: String, _ body: String) -> String {
    home.write("#!/bin/sh\n\(body)\n", to: name)
    _ = try? home.shell("chmod +x \(name)")
    return home.path(name)
  }

  private static let schema = try? RepositoryPage.schema("events")

  /// Returns the complete lines of a file, each validated as an event.
  private func events(_ file: String) -> [Node] {
    let events = (home.read(file) ?? "").split(separator: "\n").compactMap {
      try? Node(json: String($0))
    }
    for event in events {
      let problems = Self.schema.map { SchemaCheck.problems(of: event, schema: $0) }
      #expect(problems == [], "\(event)")
    }
    return events
  }

  private func names(_ file: String) -> [String] {
    events(file).compactMap { $0.text("event") }
  }

  @Test("A departure of a body is reported with its reason, in events of the cache and of the item")
  func departures() throws {
    #expect(try home.run("-q").status == 0)
    var count = 0
    func checkRemoved(_ paths: [String], _ reason: String, room: String = "1GB") throws {
      count += 1
      let file = "events\(count)"
      let run = try home.run("-q", "--events", file, "--set", "cache.size=\(room)")
      #expect(run.status == (reason == "space" ? 3 : 0), "\(run)")
      for name in ["cache.removed", "items.evicted"] {
        let reported = events(file).filter { $0.text("event") == name }
        #expect(
          reported.compactMap { $0.text("url") } == paths.map { server.address($0) },
          "\(reason)"
        )
        #expect(reported.allSatisfy { $0.text("reason") == reason }, "\(reported)")
      }
    }
    configure(paths: ["/a"])
    try checkRemoved(["/b"], "unsubscribed")
    func item(_ more: String) {
      home.configure(
        """
        cache: { min_free: 0 }
        segments:
          - { name: basics, ttl: 0, on_gone: remove, urls: [{ url: "\(server.address("/a"))"\(more) }] }
        """
      )
    }
    item(", expires: 2020-01-01T00:00:00Z")
    try checkRemoved(["/a"], "expired")
    item("")
    try checkRemoved([], "none")
    site["/a"] = Site.Page([], status: 410)
    try checkRemoved(["/a"], "deleted")
    site["/a"] = Site.Page("body of /a")
    configure()
    try checkRemoved([], "none")
    try checkRemoved(["/b"], "space", room: "15")
  }

  @Test(
    "The event of a segment has whether it changed, and that of a tree that it was published",
    arguments: [false, true]
  )
  func changes(hasHook: Bool) throws {
    let hook = program("hook", "cat >> told")
    let hooks =
      hasHook ? "hooks: { segment.done: [\"\(hook)\"], published: [\"\(hook)\"] }" : ""
    func declare(_ paths: String...) {
      let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
      home.configure(
        """
        cache: { min_free: 0 }
        segments:
          - { name: one, ttl: 0, urls: [\(urls)], publish: { dir: tree } }
          - { name: two, ttl: 0, urls: ["\(server.address("/c"))"] }
        \(hooks)
        """
      )
    }
    func reportedLines() throws -> [String] {
      FileTree.remove(home.path("events"))
      FileTree.remove(home.path("told"))
      let run = try home.run(hasHook ? ["-q"] : ["-q", "--events", "events"])
      #expect(run.status == 0, "\(run)")
      return events(hasHook ? "told" : "events").compactMap { event in
        switch event.text("event") {
        case "segment.done": "\(event.text("segment") ?? "") \(event.text("changed") ?? "")"
        case "published":
          "\(event.text("dir") == home.path("tree")) \(event.text("generation") ?? "-")"
        default: nil
        }
      }
    }
    site["/c"] = Site.Page("body of /c")
    declare("/a", "/b")
    #expect(try reportedLines().sorted() == ["one true", "true 1", "two true"])
    #expect(try reportedLines().sorted() == ["one false", "two false"])
    declare("/a")
    #expect(try reportedLines().sorted() == ["one true", "true 2", "two false"])
    site["/a"] = Site.Page("another body")
    #expect(try reportedLines().sorted() == ["one true", "true 3", "two false"])
  }

  @Test("Progress events have the position of each body in flight")
  func transfers() throws {
    let (size, half) = (400_000, [UInt8](repeating: 120, count: 200_000))
    let gate = Gate()
    let slow = try LoopbackServer { request in
      request.path == "/slow"
        ? Script([
          .send(Script.head(200, [("Content-Length", "\(size)")]) + half), .pause(gate),
          .send(half),
        ]) : .respond(404)
    }
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: s, urls: ["\(slow.address("/slow"))"] }]
      """
    )
    let run = try home.start(["-q", "--events", "events"])
    let hasTransfers = { events("events").contains { !$0.list("transfers").isEmpty } }
    let end = ContinuousClock.now + .seconds(60)
    while !hasTransfers(), ContinuousClock.now < end { sched_yield() }
    gate.open()
    #expect(run.finish().status == 0)
    let reported = events("events").flatMap { $0.list("transfers") }
    let first = try #require(reported.first)
    #expect(first.text("url") == slow.address("/slow") && first.text("segment") == "s")
    #expect(first.text("bytes") == "\(half.count)" && first.text("total") == "\(size)")
    #expect(first.text("rate").flatMap { Int($0) } != nil)
  }

  @Test("A dry run emits no event of a change")
  func planned() throws {
    #expect(try home.run("-q").status == 0)
    configure(paths: ["/a", "/c"])
    let plan = try home.run("plan", "--events", "events")
    #expect(plan.output.contains("remove"), "\(plan)")
    #expect(
      names("events")
        == ["run.started", "items.discovered", "items.failed", "segment.done", "run.finished"]
    )
  }

  @Test("A run that could not begin emits its events")
  func locked() throws {
    let path = program("hook", "cat >> told")
    configure(
      "hooks: { run.started: [\"\(path)\"], run.finished: [\"\(path)\"] }",
      paths: ["/held"]
    )
    let first = try home.start(["-q", "--no-hooks"])
    #expect(server.waitForRequest("/held"))
    let second = try home.run("-q", "--events", "events")
    gate.open()
    #expect(second.status == 75, "\(second)")
    #expect(names("events") == ["run.started", "run.finished"])
    #expect(events("told").last?.text("exit") == "deferred", "\(home.read("told") ?? "")")
    #expect(first.finish().status == 0)
  }

  @Test("A server reports the beginning and the end of its service to hooks and scripts")
  func serving() throws {
    let path = program("hook", "cat >> told")
    configure("hooks: { serve.started: [\"\(path)\"], serve.stopped: [\"\(path)\"] }")
    let run = try home.run(
      "serve",
      "--listen",
      "127.0.0.1:0",
      "--for",
      "100ms",
      "--events",
      "events"
    )
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    for file in ["events", "told"] {
      #expect(names(file) == ["serve.started", "serve.stopped"])
      #expect(events(file).allSatisfy { $0.text("url") == run.lines.first.map(String.init) })
    }
    let silent = try home.run("serve", "--listen", "127.0.0.1:0", "--for", "1ms", "--no-hooks")
    #expect(silent.status == 0 && names("told").count == 2, "\(silent)")
  }

  @Test("A run that is terminated does not wait for its hooks")
  func terminated() throws {
    let path = program("hook", "echo x >> begun; sleep 600")
    configure("hooks: { run.started: { run: [\"\(path)\"], timeout: 1h } }", paths: ["/held"])
    let run = try home.start(["-q"])
    #expect(server.waitForRequest("/held"))
    run.signal(SIGTERM)
    let end = run.finish(within: 60)
    gate.open()
    #expect(end.status == 143, "\(end)")
  }

  @Test(
    "Listeners that hang, fail, talk or do not read do not change the run",
    arguments: [
      "sleep 600", "exit 3", "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1",
      "head -c 1000000 /dev/zero; cat > /dev/null", "unread",
    ]
  )
  func unmoved(body: String) throws {
    site["/c"] = Site.Page([], status: 500)
    let paths = ["/a", "/b", "/c"]
    configure(paths: paths)
    let silent = try home.run("--json", "--items", "all")
    try home.removeCache()
    let path = program("hook", body == "unread" ? "exit 0" : body)
    let hooks = ["run.started", "cache.added", "items.failed", "segment.done"].map {
      "\($0): { run: [\"\(path)\"], timeout: 200ms }"
    }
    configure("hooks: { \(hooks.joined(separator: ", ")) }", paths: paths)
    let run = try home.shell(
      "mkfifo events; exec 7<>events; exec \"$prefetch\" --json --items all"
        + (body == "unread" ? " --events events" : "")
    )
    #expect(run.status == silent.status && run.status == 3, "\(run)")
    #expect(run.errors.utf8.count < 10_000, "what a hook says floods nothing")
    #expect(try Self.facts(run.json()) == Self.facts(silent.json()))
  }

  /// Returns the parts of a report that do not depend on time.
  private static func facts(_ report: Node) -> [String] {
    let totals = report.at("totals")?.mapping?.map { "\($0.key)=\($0.value.text ?? "")" } ?? []
    let items = ["url", "state", "outcome", "status", "bytes", "digest", "attempts", "error.code"]
    let segments = ["name", "state", "manifest.status"]
    return [report.text("exit.name") ?? "", report.text("result") ?? ""] + totals
      + report.list("items").map { item in
        items.map { item.text($0) ?? "-" }.joined(separator: " ")
      }.sorted()
      + report.list("segments").map { segment in
        segments.map { segment.text($0) ?? "-" }.joined(separator: " ")
      }
  }

  @Test("Events come in order: the items of a segment before the end of that segment")
  func order() throws {
    #expect(try home.run("-q", "--events", "events").status == 0)
    let reported = names("events")
    #expect(reported.first == "run.started" && reported.last == "run.finished")
    let index = { (name: String) in reported.firstIndex(of: name) ?? -1 }
    #expect(index("items.discovered") < index("items.started"))
    #expect(index("items.started") < index("cache.added"))
    #expect(reported.count { $0 == "items.started" } == 1, "all of them together")
    let started = events("events").first { $0.text("event") == "items.started" }
    #expect(started?.text("segment") == "basics" && started?.text("count") == "2")
    #expect(
      started?.at("urls")?.sequence?.compactMap(\.text) == ["/a", "/b"].map { server.address($0) }
    )
    #expect(index("cache.added") < index("items.downloaded"))
    #expect(index("items.downloaded") + 1 == index("segment.done"))
    #expect(reported.count { $0 == "cache.added" } == 2)
  }

  @Test(
    "A hook gets its own events only, and none in a plan or with `--no-hooks`"
  )
  func hooks() throws {
    let path = program("hook", "cat >> told; echo \"$PREFETCH_EVENT\" >> named")
    configure("hooks: { cache.added: [\"\(path)\"], run.finished: { run: [\"\(path)\"] } }")
    #expect(try home.run("-q", "--dry-run").status == 0)
    #expect(try home.run("-q", "--no-hooks").status == 0)
    #expect(home.read("told") == nil)
    let run = try home.run("-q", "--refetch")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(names("told") == ["run.finished"], "nothing was added")
    try home.removeCache()
    #expect(try home.run("-q").status == 0)
    #expect(names("told").dropFirst().sorted() == ["cache.added", "cache.added", "run.finished"])
    #expect(names("told").last == "run.finished")
  }

  @Test(
    "A failing hook is reported, and fails the run only where it is required",
    arguments: [
      ("exit 3", "ended with 3"), ("kill -9 $$", "was ended by signal 9"),
      ("sleep 600", "took too long"), ("missing", "could not be started"),
    ]
  )
  func failing(body: String, reason: String) throws {
    let path = body == "missing" ? home.path("nowhere") : program("hook", body)
    let hook = { (more: String) in
      "hooks: { segment.done: { run: [\"\(path)\"], timeout: 300ms\(more) } }"
    }
    configure(hook(""))
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("warning: the hook of `segment.done`"), "\(run.errors)")
    #expect(run.errors.contains(reason))
    #expect(try run.json().list("diagnostics").contains { $0.text("code") == "hook.failed" })
    configure(hook(", required: true"))
    let required = try home.run("-q")
    #expect(required.status == 1 && required.errors.contains("error: the hook"), "\(required)")
    #expect(try home.run("list").lines.count == 2, "what came is kept")
  }

  @Test("One hook runs at a time, and once for each event")
  func alone() throws {
    let path = program(
      "hook",
      "mkdir busy || echo overlap >> bad; cat >> told; sleep 0.05; rmdir busy"
    )
    let names = ["run.started", "items.discovered", "cache.added", "segment.done", "run.finished"]
    configure("hooks: { \(names.map { "\($0): [\"\(path)\"]" }.joined(separator: ", ")) }")
    let run = try home.run("-q")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(home.read("bad") == nil)
    #expect(self.names("told").sorted() == (names + ["cache.added"]).sorted())
  }

  @Test("A hook that prints a megabyte or leaves a process running delays nothing")
  func talkative() throws {
    let path = program(
      "hook",
      "head -c 1000000 /dev/zero; (sleep 600 & echo $! > left) ; cat > /dev/null"
    )
    configure("hooks: { run.finished: [\"\(path)\"] }")
    let run = try home.run("-q")
    #expect(run.status == 0 && run.output.isEmpty, "\(run)")
    let left = try #require(home.read("left")?.split(separator: "\n").first.flatMap { Int32($0) })
    let end = ContinuousClock.now + .seconds(10)
    while kill(left, 0) == 0, ContinuousClock.now < end { poll(nil, 0, 10) }
    #expect(kill(left, 0) != 0, "it went with its group")
  }

  @Test("Events without a reader change nothing but a warning that counts them")
  func unread() throws {
    let paths = (0..<600).map { "/x\($0)" }
    for path in paths { site[path] = Site.Page(path) }
    configure(paths: paths)
    #expect(try home.run("-q", "--events", "all").status == 0)
    let all = names("all").count { $0 != "progress" }
    try home.removeCache()
    let run = try home.shell(
      """
      mkfifo events; exec 7<>events
      "$prefetch" run --events events > /dev/null; echo "ended with $?"
      timeout 1 cat <&7 > got
      """
    )
    #expect(run.lines.contains("ended with 0"), "\(run)")
    let warning = run.errors.split(separator: "\n").first { $0.contains("[events.dropped]") }
    let count = warning?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    // The pipe may end within a line, which then does not count.
    let got = (home.read("got") ?? "").split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
    let progress = got.count { $0.contains("\"progress\"") }
    // Dropped events may include progress, at most one per second.
    #expect(count > 0 && (0...60).contains(got.count - progress + count - all), "\(run.errors)")
    #expect(all == 607 && server.requests.count == 1200)
    let closed = try home.shell("\"$prefetch\" run -q --events 9 9> >(exec 0<&-; exit 0)")
    #expect(closed.status == 0 && closed.errors.isEmpty, "\(closed)")
  }

  @Test(
    "The deciding thread neither writes to listeners nor starts or awaits them",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)"),
    arguments: ["sleep 600", "exit 1", "cat > /dev/null; head -c 1000000 /dev/zero"]
  )
  func threads(body: String) throws {
    let path = program("hook", body)
    let paths = (0..<200).map { "/x\($0)" }
    for path in paths { site[path] = Site.Page(path) }
    configure(
      "hooks: { cache.added: { run: [\"\(path)\"], timeout: 1s }, run.started: [\"/bin/true\"] }",
      paths: paths
    )
    let run = try home.shell(
      """
      mkfifo events; exec 7<>events
      strace -f -y -qq -e trace=write,writev,pwrite64,sendto,sendmsg,memfd_create,wait4,waitid,\
      fork,vfork,clone,clone3,execve -o trace \
        sh -c 'echo $$ > main; exec "$prefetch" run -q --events "$PWD/events"' 7<&-
      """
    )
    #expect(run.status == 0, "\(run)")
    let lines = (home.read("trace") ?? "").split(separator: "\n")
    let main = try #require(home.read("main")?.split(separator: "\n").first)
    let begin = lines.firstIndex { $0.contains("execve(") && $0.contains("\"run\"") }
    let calls = lines[(try #require(begin) + 1)...]
    let own = calls.filter { $0.split(separator: " ").first == main }
    #expect(own.contains { $0.contains("clone") }, "it starts threads")
    for call in own {
      let words = call.split(separator: " ", maxSplits: 1)[1]
      let name = words.prefix { $0 != "(" }
      let isForbidden =
        ["memfd_create", "wait4", "waitid", "fork", "vfork", "execve"].contains { name == $0 }
        || call.contains("CLONE_VFORK")
      #expect(!isForbidden && !words.prefix { $0 != "," }.contains("/events>"), "\(call)")
    }
    #expect(calls.contains { $0.contains("/events>") && $0.split(separator: " ").first != main })
    #expect(calls.contains { $0.contains("wait4(") && $0.split(separator: " ").first != main })
  }
}
