import PrefetchCore
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite("Warnings under `--quiet`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct QuietWarningTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
  }

  private func declare(room: String) throws {
    home.configure(
      """
      cache: { min_free: \(room), max_stale: 30d }
      network: { retries: { items: 0 } }
      segments: [{ name: files, urls: ["\(try server.url("/one").string)"] }]
      """
    )
  }

  @Test("A quiet run reports items served stale in one warning")
  func stale() throws {
    try declare(room: "0")
    let first = try home.run("run", "-q")
    #expect(first.status == 0 && first.output.isEmpty && first.errors.isEmpty, "\(first)")
    site["/one"] = Site.Page([], status: 503)
    let run = try home.run("run", "-q")
    #expect(run.status == 0 && run.output.isEmpty, "\(run)")
    #expect(run.errors.contains("1 item served stale"))
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test("A quiet run and its log file end failures with the step to take")
  func nextStep() throws {
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: f, urls: [\"\(server.address("/gone"))\"] }]"
    )
    let run = try home.run("run", "-q")
    let step =
      "next: remove it from the list or `exclude` it, or set `on_gone: remove`; `prefetch explain "
    #expect(run.status == 4 && run.errors.contains(step), "\(run)")
    let logged = try home.run("run", "-q", "--log-file", home.path("log"))
    #expect(logged.status == 4 && logged.errors.isEmpty, "\(logged)")
    #expect(home.read("log")?.contains(step) == true)
    #expect(try home.run("run", "-q", "--accept", "nothing").errors.contains("next:") == false)
  }

  @Test("A quiet run reports a disk without room in one warning")
  func fullDisk() throws {
    try declare(room: "100000TB")
    let run = try home.run("run", "-q")
    #expect(run.status == 75 && run.output.isEmpty, "\(run)")
    #expect(run.errors.contains("segment `files` waits for room on the disk"))
    #expect(site.requests.isEmpty)
  }
}
