import PrefetchTestSupport
import Testing

@Suite("A pipeline that a dry run guards", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PipelineTests {
  private var home: Home
  private let server: LoopbackServer
  private let line: String

  init() throws {
    let site = Site(["/a": Site.Page("a"), "/b": Site.Page("b")])
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    let binary = try #require(Binary.path)
    let folder = binary.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    home.variables["PATH"] = "\(folder.joined(separator: "/")):\(home.variables["PATH"] ?? "")"
    // The very line that the manual prints, from the table that both are made of.
    let help = try home.run("help", "plan")
    let found = help.lines.first { $0.contains("pipefail; prefetch -n") }
    line = String(try #require(found, "\(help)"))
  }

  private func segment(_ name: String, _ paths: [String], _ rest: String = "") -> String {
    let urls = paths.map { $0.hasPrefix("http") ? $0 : server.address($0) }
    return "  - { name: \(name), urls: [\(urls.joined(separator: ", "))]\(rest) }"
  }

  private func pipe(_ segments: String...) throws -> ProgramRun {
    home.configure("segments:\n\(segments.joined(separator: "\n"))\ncache: { min_free: 0 }")
    return try home.shell(line)
  }

  private var closed: String {
    ", network: { windows: [\"03:00-04:00\"], timezone: \(NoonZone().name) }"
  }

  @Test("A guarded pipeline ends with 0 and prints the URLs when all is well")
  func well() throws {
    let run = try pipe(segment("one", ["/a", "/b"]))
    #expect(run.status == 0, "\(run)")
    #expect(run.lines == [server.address("/a")[...], server.address("/b")[...]])
  }

  @Test("A guarded pipeline ends with 5 for a broken rule of trust, whatever else is found")
  func violation() throws {
    let run = try pipe(
      segment("one", ["/a", "http://refused.example/x", "/none"]),
      segment("two", ["/b"], closed)
    )
    #expect(run.status == 5, "\(run)")
    #expect(run.lines == [server.address("/a")[...]])
  }

  @Test("A guarded pipeline ends with 0 for a deferral, which it accepts")
  func deferral() throws {
    let run = try pipe(segment("one", ["/a"]), segment("two", ["/b"], closed))
    #expect(run.status == 0, "\(run)")
    #expect(run.lines == [server.address("/a")[...]])
    #expect(try home.run("plan").status == 75)
  }

  @Test("A guarded pipeline ends with 3 for a failure, and a plan with 2 for changes on request")
  func others() throws {
    let run = try pipe(segment("one", ["/a", "/none"]), segment("two", ["/b"], closed))
    #expect(run.status == 3, "\(run)")
    // Accepted findings are skipped, and the next finding decides.
    for (accepted, status) in [
      ("incomplete", Int32(75)), ("deferred", 3), ("incomplete,deferred", 2), ("nothing", 3),
    ] {
      let plan = try home.run("plan", "--detailed-exitcode", "--accept", accepted, "--json")
      #expect(plan.status == status, "\(accepted): \(plan)")
      #expect(try plan.json().text("exit.name") == "incomplete")
      #expect(try plan.json().number("exit.code") == Int(status))
    }
  }
}
