import PrefetchCore
import PrefetchDocuments
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite("A health probe", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct HealthProbeTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/list.txt": Site.Page("one\n")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
  }

  private func declare(_ more: String = "", address: String? = nil) throws {
    let list = try address ?? server.url("/list.txt").string
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
        - { name: files, manifest: "\(list)", format: list, max_stale: 30d }
      \(more)
      """
    )
  }

  /// An address that refuses connections.
  private static let nowhere = "http://127.0.0.1:1"

  private func probe(_ arguments: String...) throws -> ProgramRun {
    try home.run(["status"] + arguments)
  }

  @Test("A health probe ends with 3 where there is no cache, configured or not")
  func missingCache() throws {
    let bare = try home.run("status", "--max-age", "1h", "--cache-dir", "nowhere")
    #expect(bare.status == 3, "\(bare)")
    #expect(bare.errors.contains("there is no cache at `\(home.path("nowhere"))`"))
    try declare()
    #expect(try home.run("run").status == 0)
    #expect(try probe("--max-age", "1h").status == 0)
    // A disk that is not mounted is an empty folder.
    try home.removeCache()
    _ = try home.shell("mkdir -m 700 \(home.cache)")
    let missing = try probe("--max-age", "1h")
    #expect(missing.status == 3, "\(missing)")
    #expect(missing.errors.contains("there is no cache"))
    #expect(try probe().status == 0)
  }

  @Test("A health probe does not count a run that used an older copy or ran offline as a success")
  func unconfirmed() throws {
    try declare()
    #expect(try home.run("run").status == 0)
    let first = try probe("--json").json().text("segments.0.last_success")
    #expect(first != nil)
    #expect(try home.run("run", "--offline").status == 0)
    #expect(try probe("--json").json().text("segments.0.last_success") == first)
    // The list is still available, its item is not.
    site["/one"] = Site.Page([], status: 503)
    let stale = try home.run("run")
    #expect(stale.status == 0, "\(stale)")
    let now = try probe("--json").json()
    #expect(now.text("segments.0.last_success") == first)
    #expect(now.text("segments.0.state") == "current")
    site["/one"] = Site.Page("one")
    #expect(try home.run("run").status == 0)
    #expect(try probe("--json").json().text("segments.0.last_success") != first)
  }

  @Test("A health probe ignores a segment that is not required")
  func optional() throws {
    try declare("  - { name: extra, required: false, urls: [\"\(Self.nowhere)/x\"] }")
    #expect(try home.run("run").status == 0)
    let run = try probe("--max-age", "1h")
    #expect(run.status == 0, "\(run)")
    let line = try probe("--nagios", "--max-age", "1h")
    #expect(line.status == 0, "\(line)")
    #expect(line.output.hasPrefix("PREFETCH OK - 1 segment as declared | age="))
  }

  @Test(
    "A health probe with a mirror's `--cache-dir` ignores every configuration that it finds"
  )
  func mirror() throws {
    try declare(address: "\(Self.nowhere)/list.txt")
    site["/full.txt"] = Site.Page(try server.url("/one").string + "\n")
    let list = try server.url("/full.txt").string
    let made = try home.run(
      "mirror",
      list,
      "isos",
      "--set",
      "allow_http=127.0.0.1",
      "--set",
      "cache.min_free=0"
    )
    #expect(made.status == 0, "\(made)")
    for command in [
      ["status", "--max-age", "1h"], ["verify"], ["explain", try server.url("/one").string],
    ] {
      let run = try home.run(command + ["--cache-dir", "isos/.prefetch"])
      #expect(run.status == 0, "\(run)")
      #expect(!run.errors.contains("127.0.0.1:1"))
    }
    let status = try home.run("status", "--cache-dir", "isos/.prefetch", "--json").json()
    #expect(status.text("segments.0.name") == "mirror")
    #expect(status.list("segments").count == 1)
    #expect(status.list("segments.0.recent").count == 1, "the state beside the cache")
  }

  @Test(
    "A health probe with `--nagios` prints one line and uses the statuses of monitoring plugins"
  )
  func monitoring() throws {
    let none = try probe("--nagios")
    #expect(none.status == 3, "\(none)")
    #expect(none.output.hasPrefix("PREFETCH UNKNOWN - there is no cache at"))
    try declare()
    #expect(try home.run("run").status == 0)
    let fine = try probe("--nagios", "--max-age", "26h")
    #expect(fine.status == 0, "\(fine)")
    #expect(fine.output.contains("s;93600;187200\n"))
    #expect(fine.lines.count == 1)
    #expect(try probe("--nagios").output.hasSuffix("s;;\n"))

    let late = try probe("--nagios", "--max-age", "0s", "--critical-age", "30d")
    #expect(late.status == 1, "\(late)")
    #expect(late.output.hasPrefix("PREFETCH WARNING - segment `files` last succeeded"))
    let dead = try probe("--nagios", "--max-age", "0s")
    #expect(dead.status == 2, "\(dead)")

    site["/list.txt"] = Site.Page("one\ntwo\n")
    #expect(try home.run("run").status == 3)
    let incomplete = try probe("--nagios")
    #expect(incomplete.status == 1, "\(incomplete)")
    #expect(
      incomplete.output.hasPrefix(
        "PREFETCH WARNING - segment `files` is incomplete: 1 item failed in the last run, the first"
      ),
      "\(incomplete)"
    )

    for arguments in [
      ["--nagios", "--bogus"], ["--nagios", "--json"], ["--nagios", "--critical-age", "x"],
      ["--nagios", "-c", "nowhere.yaml"],
    ] {
      let run = try home.run(["status"] + arguments)
      #expect(run.status == 3, "\(run)")
      #expect(run.output.contains("PREFETCH UNKNOWN - ") || arguments.contains("--json"))
    }
    home.write("segments: [{ name: x, nonsense: y }]\n")
    let broken = try probe("--nagios")
    #expect(broken.status == 3, "\(broken)")
    #expect(broken.output.hasPrefix("PREFETCH UNKNOWN - "))
  }

  @Test("A health probe reads the configuration where its cache only has the name of a mirror's")
  func namedAlike() throws {
    try declare("  - { name: extra, required: false, urls: [\"\(Self.nowhere)/x\"] }")
    let folder = ["--cache-dir", home.path(".prefetch")]
    #expect(try home.run(["run"] + folder).status == 0)
    let status = try home.run(["status", "--max-age", "1h", "--json"] + folder)
    #expect(status.status == 0, "\(status)")
    #expect(try status.json().list("segments").count == 2)
  }

  @Test("A health probe is critical for one failed segment, although another has not run yet")
  func unknownAlongside() throws {
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: bad, urls: [\"\(try server.url("/gone"))\"] }]"
    )
    #expect(try home.run("run").status == 4)
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: bad, urls: ["\(try server.url("/gone"))"] }
        - { name: new, urls: ["\(try server.url("/one"))"] }
      """
    )
    let run = try probe("--nagios")
    #expect(run.status == 2, "\(run)")
    #expect(run.output.hasPrefix("PREFETCH CRITICAL - segment `bad` has failed"))
    let wrong = try home.shell("PREFETCH_NAGIOS=1 $prefetch status --max-age bad")
    #expect(wrong.status == 3 && wrong.output.hasPrefix("PREFETCH UNKNOWN - "), "\(wrong)")
  }

  @Test("A health probe reports a broken rule of trust as critical")
  func trust() throws {
    try declare("  - { name: extra, urls: [\"http://other.example/x\"] }")
    #expect(try home.run("run").status == 5)
    let run = try probe("--nagios")
    #expect(run.status == 2, "\(run)")
    #expect(run.output.hasPrefix("PREFETCH CRITICAL - "))
  }
}
