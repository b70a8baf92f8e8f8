import PrefetchTestSupport
import Testing

@Suite("A dry run", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct DryRunTests {
  private let home: Home
  private let site: Site
  private let server: LoopbackServer

  init() throws {
    let site = Site()
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    home.write(
      """
      transport_security: { NSAllowsLocalNetworking: true }
      segments:
        - name: basics
          manifest: \(server.address("/manifest.json"))
      """
    )
  }

  /// Names long enough that the plan does not fit into a pipe.
  private func publish(_ count: Int) {
    let names = (0..<count).map { "\(String(repeating: "long-", count: 20))\($0).txt" }
    for name in names { site["/\(name)"] = Site.Page("body of \(name)") }
    site["/manifest.json"] = Site.Page(Manifest.text(names))
  }

  @Test("A dry run without a cache writes nothing and prints what a run would do")
  func leavesNoTrace() throws {
    publish(3)
    let before = FileTree.listing(home.folder.path)
    for arguments in [["--dry-run"], ["plan"], ["-n", "--json"], ["-n", "--no-probe"]] {
      let plan = try home.start(arguments).finish()
      #expect(plan.status == 0, "\(plan)")
      #expect(FileTree.listing(home.folder.path) == before)
    }
    let plan = try home.run("--dry-run")
    #expect(plan.lines.count == 3)
    for (index, line) in plan.lines.enumerated() {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      #expect(fields.count == 5)
      #expect(fields.prefix(2) == ["fetch", "basics"])
      #expect(fields[3].hasSuffix("-\(index).txt"))
    }
    #expect(try home.run("plan", "--json").json().text("run.mode") == "plan")
    #expect(try home.run("plan", "--detailed-exitcode").status == 2)
  }

  @Test("A dry run over a filled cache writes nothing and prints what would change")
  func leavesTheCacheAlone() throws {
    publish(4)
    #expect(try home.run().status == 0)
    publish(3)
    site["/\(String(repeating: "long-", count: 20))0.txt"] = Site.Page("other bytes")
    let before = FileTree.listing(home.folder.path)
    let plan = try home.run("--dry-run")
    #expect(plan.status == 0, "\(plan)")
    #expect(plan.lines.map { $0.prefix { $0 != "\t" } } == ["update", "remove"])
    let all = try home.run("--dry-run", "--items", "all")
    #expect(
      all.lines.map { $0.prefix { $0 != "\t" } }.sorted() == ["keep", "keep", "remove", "update"]
    )
    let offline = try home.run("plan", "--offline")
    #expect(offline.status == 0, "\(offline)")
    #expect(FileTree.listing(home.folder.path) == before)
  }

  @Test("A dry run ends quietly when its reader closes the pipe")
  func survivesHead() throws {
    publish(2000)
    let head = try home.shell(
      #""$prefetch" --dry-run --no-probe | head -1; exit ${PIPESTATUS[0]}"#
    )
    #expect(head.status == 0, "\(head)")
    #expect(head.lines.count == 1)
    #expect(!head.errors.contains("error") && !head.errors.lowercased().contains("pipe"), "\(head)")
    let quiet = try home.shell(
      #""$prefetch" -q --dry-run --no-probe | head -1; exit ${PIPESTATUS[0]}"#
    )
    #expect(quiet.status == 0)
    #expect(quiet.errors == "")
  }

  @Test(
    "A reading command whose output is closed ends with 0 and prints nothing",
    arguments: [
      ["list"], ["status"], ["config"], ["help"], ["verify"], ["plan"], ["list", "--json"],
      ["--version"],
    ]
  )
  func survivesClosedOutput(_ arguments: [String]) throws {
    publish(2000)
    if arguments.first != "plan" {
      let filling = try home.run("-q")
      #expect(filling.status == 0, "\(filling)")
    }
    let run = try home.start(
      arguments + ["-q"].filter { _ in arguments != ["--version"] },
      output: .closed
    )
    .finish()
    #expect(run.status == 0, "\(run)")
    #expect(run.errors == "")
  }

  @Test("A run finishes its work although its output is closed", .timeLimit(.minutes(10)))
  func runSurvivesClosedOutput() throws {
    publish(5)
    let run = try home.start([], output: .closed).finish()
    #expect(run.status == 0, "\(run)")
    #expect(try home.run("list").lines.count == 5)
  }
}
