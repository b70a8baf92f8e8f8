import PrefetchTestSupport
import Testing

@Suite("A published file that was replaced", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ReplacedFileTests {
  @Test("A foreign file with the bytes of a published one causes one warning and is current")
  func sameBytes() throws {
    let site = Site(["/a": Site.Page("body")])
    let server = try LoopbackServer { site.respond(to: $0) }
    let home = try Home(isInMemory: true)
    home.configure(
      """
      segments:
        - { name: s, urls: ["\(server.address("/a"))"], publish: { dir: tree, layout: basename } }
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run("run").status == 0)
    FileTree.remove(home.path("tree/a"))
    home.write("body", to: "tree/a")
    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("[publish.replaced]"), "\(run)")
    #expect(try home.run("status", "--json").json().text("segments.0.state") == "current")
    let again = try home.run("run")
    #expect(again.status == 0 && again.errors.isEmpty, "\(again)")
    #expect(home.read("tree/a") == "body")
  }
}
