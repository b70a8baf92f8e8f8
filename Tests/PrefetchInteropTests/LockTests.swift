@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A run in progress",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .timeLimit(.minutes(10))
)
struct LockTests {
  private let home: Home
  private let gate = Gate()
  private let server: LoopbackServer

  init() throws {
    let site = Site(["/one": Site.Page("one"), "/held": Site.Page("held")])
    let gate = gate
    server = try LoopbackServer { request in
      let response = site.respond(to: request)
      return request.path == "/held" ? Script([.pause(gate)] + response.steps) : response
    }
    home = try Home()
    home.configure(
      """
      segments: [{ name: basics, urls: [\(server.address("/one")), \(server.address("/held"))] }]
      # One after the other, so that the first is there once the second is asked for.
      network: { per_host: 1 }
      """
    )
  }

  private func startHeld(_ arguments: String...) throws -> RunningProgram {
    let run = try home.start(arguments)
    // Both requests are in flight, so that later ones belong to another run.
    #expect(server.waitForRequest("/one"))
    #expect(server.waitForRequest("/held"))
    return run
  }

  @Test("A run in progress defers a second run at once and without a request")
  func defersSecond() throws {
    let first = try startHeld()
    let count = server.requests.count
    let second = try home.run("--json")
    #expect(second.status == 75, "\(second)")
    let report = try second.json()
    #expect(report.text("exit.name") == "deferred")
    #expect(report.text("segments.0.state") == "deferred")
    #expect(report.text("segments.0.deferred.rule") == "lock")
    let quiet = try home.run("-q")
    #expect(quiet.status == 75)
    #expect(quiet.output == "")
    #expect(try home.run("--accept", "deferred").status == 0)
    let impatient = try home.run("--wait=100ms")
    #expect(impatient.status == 75, "\(impatient)")
    #expect(server.requests.count == count)
    gate.open()
    #expect(first.finish().status == 0)
  }

  @Test("A run with `--wait` starts when the run in progress ends")
  func letsWaiterFollow() throws {
    let first = try startHeld()
    let second = try home.start(["--wait", "--json"])
    // A third run that does not wait proves that the lock is still held.
    #expect(try home.run().status == 75)
    gate.open()
    #expect(first.finish().status == 0)
    let ended = second.finish()
    #expect(ended.status == 0, "\(ended)")
    #expect(try ended.totals()["revalidated"] == 2)
  }

  @Test(
    "A run ends on a signal with its report written, and the next run completes it",
    arguments: [
      (SIGINT, CInt(130), "interrupted"), (SIGTERM, 143, "terminated"),
    ]
  )
  func endsOnSignal(_ number: CInt, _ status: CInt, _ name: String) throws {
    let run = try startHeld("--json", "--report", "junit=report.xml")
    run.signal(number)
    let ended = run.finish(within: 30)
    #expect(ended.status == status, "\(ended)")
    #expect(!ended.isOverdue)
    let report = try ended.json()
    #expect(report.number("exit.code") == Int(status))
    #expect(report.text("exit.name") == name)
    #expect(home.read("report.xml")?.contains("</testsuite") == true)
    #expect(try home.run("verify").status == 0)
    #expect(try home.run("path", server.address("/one")).status == 0)
    gate.open()
    let next = try home.run("--json")
    #expect(next.status == 0, "\(next)")
    #expect(try next.totals()["fetched"] == 1)
  }

  @Test("A run ends on a second signal too, with nothing corrupt")
  func endsOnSecondSignal() throws {
    let run = try startHeld()
    run.signal(SIGTERM)
    run.signal(SIGTERM)
    let ended = run.finish(within: 30)
    #expect(ended.status == 143, "\(ended)")
    gate.open()
    #expect(try home.run("verify").status == 0)
    #expect(try home.run().status == 0)
  }
}
