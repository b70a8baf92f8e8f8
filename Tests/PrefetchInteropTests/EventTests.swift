@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Events and hooks", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct EventTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    for name in ["/a", "/b"] { site[name] = Site.Page("body of \(name)") }
    configure()
  }

  private func configure(_ hooks: String = "", paths: [String] = ["/a", "/b"], ttl: String = "1h") {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0 } }
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

  private func names(_ file: String) -> [String] {
    (home.read(file) ?? "").split(separator: "\n").compactMap { line in
      (try? Node(json: String(line)))?.text("event")
    }
  }

  @Test("Events are told in their order, what came for a segment before that it is done")
  func order() throws {
    #expect(try home.run("-q", "--events", "events").status == 0)
    let told = names("events")
    #expect(told.first == "run.started" && told.last == "run.finished")
    let place = { (name: String) in told.firstIndex(of: name) ?? -1 }
    #expect(place("items.discovered") < place("items.started"))
    #expect(place("cache.added") < place("items.downloaded"))
    #expect(place("items.downloaded") + 1 == place("segment.done"))
    #expect(told.count { $0 == "cache.added" } == 2)
  }

  @Test(
    "A hook is told of its events and of no others, and of none in a plan or where that is said"
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
    "A hook that fails is said, and fatal only where it is required",
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

  @Test("A hook that prints a megabyte, and what it leaves running, hold nothing up")
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

  @Test("Events that nobody reads change nothing but a warning that counts them")
  func unread() throws {
    let paths = (0..<600).map { "/x\($0)" }
    for path in paths { site[path] = Site.Page(path) }
    configure(paths: paths)
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
    let got = (home.read("got") ?? "").split(separator: "\n").count
    // Two of each item, and five of all; the pipe may end within a line.
    #expect(count > 0 && (1_204...1_220).contains(got + count), "\(got), \(run.errors)")
    #expect(server.requests.count == 600)
    let closed = try home.shell("\"$prefetch\" run -q --events 9 9> >(exec 0<&-; exit 0)")
    #expect(closed.status == 0 && closed.errors.isEmpty, "\(closed)")
  }

  @Test(
    "The thread that decides never writes events itself",
    .enabled(if: Tool.isInstalled("strace"), "needs strace")
  )
  func threads() throws {
    let run = try home.shell(
      """
      strace -f -y -qq -e trace=write -o trace \
        sh -c 'echo $$ > main; exec "$prefetch" run -q --events "$PWD/events"'
      """
    )
    #expect(run.status == 0, "\(run)")
    let lines = (home.read("trace") ?? "").split(separator: "\n")
    let main = try #require(home.read("main")?.split(separator: "\n").first)
    let writers = lines.filter { $0.contains("/events>") }
      .compactMap { $0.split(separator: " ").first }
    #expect(!writers.isEmpty && !writers.contains { $0 == main }, "\(lines.prefix(5))")
  }
}
