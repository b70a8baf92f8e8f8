@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A symlink of another user in a sticky folder",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: geteuid() == 0, "needs root, to make another user's link")
)
struct ForeignLinkTests {
  private static let stranger: uid_t = 65_534

  private let home: Home
  private let server: LoopbackServer

  init() throws {
    let site = Site(["/a": Site.Page("a body")])
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(server.address("/a"))"] }]
      cache: { min_free: 0 }
      """
    )
    // All users may create names here, and remove only their own.
    unsafe mkdir(home.path("sticky"), 0o777)
    unsafe chmod(home.path("sticky"), 0o1777)
    home.write("good", to: "target")
  }

  @Test(
    "An output is not written through a symlink of another user",
    arguments: ["get", "report", "events", "log", "freeze", "report.files"]
  )
  func refused(_ output: String) throws {
    let link = home.path("sticky/x")
    unsafe symlink(home.path("target"), link)
    unsafe lchown(link, Self.stranger, Self.stranger)
    let run =
      switch output {
      case "get": try home.run("get", "-o", link, server.address("/a"))
      case "report": try home.run("run", "--report", "json=\(link)")
      case "events": try home.run("run", "--events", link)
      case "log": try home.run("run", "-v", "--log-file", link)
      case "freeze": try frozen(link)
      default: try home.run("run", "--set", "report.files.json=\(link)")
      }
    #expect(home.read("target") == "good", "\(output): \(run)")
    if output == "get" { #expect(run.status == 74 || FileTree.read(link) != nil, "\(run)") }
  }

  private func frozen(_ link: String) throws -> ProgramRun {
    _ = try home.run("run", "-q")
    return try home.run("freeze", "-o", link)
  }
}
