import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("What is known of past runs", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PastRunTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    configure(["/a", "/b"])
  }

  private func configure(_ paths: [String], of name: String = "basics") {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0 } }
      segments: [{ name: \(name), urls: [\(urls)] }]
      """
    )
  }

  @Test("`log` tells what changed, in its order, of all or of one")
  func log() throws {
    site["/a"] = Site.Page("one")
    _ = try home.run("-q")
    site["/a"] = Site.Page("two")
    site["/b"] = Site.Page("b")
    _ = try home.run("-q")
    _ = try home.run("-q")
    configure(["/a"])
    _ = try home.run("-q")
    let lines = try home.run("log").lines.map { $0.split(separator: "\t").dropFirst().prefix(2) }
    let (a, b) = (server.address("/a"), server.address("/b"))
    #expect(
      lines.map { $0.joined(separator: " ") }.sorted()
        == ["added \(a)", "added \(b)", "failed \(b)", "removed \(b)", "updated \(a)"]
    )
    #expect(lines.last?.joined(separator: " ") == "removed \(b)")
    #expect(try home.run("log", b).lines.count == 3)
    #expect(try home.run("log", "basics").lines.count == 2)
    #expect(try home.run("log", "--since", "1h").lines.count == 5)
    #expect(try home.shell("faketime -f +2h $prefetch log --since 1h").output.isEmpty)
    let unknown = try home.run("log", "nothing")
    #expect(unknown.status == 4 && unknown.errors.contains("nothing"))
    let document = try home.run("log", "--json", b).json()
    #expect(document.list("entries").map { $0.text("outcome") } == ["failed", "added", "removed"])
  }

  @Test("`stats` adds the runs up")
  func stats() throws {
    #expect(try home.run("stats").output == "no run is remembered\n")
    site["/a"] = Site.Page("one")
    for _ in 0..<3 { _ = try home.run("-q") }
    let document = try home.run("stats", "--json").json()
    #expect(document.number("runs") == 3 && document.number("ok") == 0)
    #expect(document.number("totals.fetched") == 1 && document.number("totals.failed") == 3)
    #expect(document.number("totals.requests") == server.requests.count)
    #expect(document.number("totals.bytes_saved") == 6)
    let lines = try home.run("stats").lines
    #expect(lines.first == "runs\t3, 0 of them ended well")
    #expect(lines.contains("hits\t33.3 % of all items looked at needed no transfer"), "\(lines)")
  }

  @Test("A run names what changed, and says each reason of a host once")
  func summary() throws {
    let paths = (0..<30).map { "/x\($0)" }
    for path in paths.prefix(24) { site[path] = Site.Page(path) }
    configure(paths + ["/refused"], of: "many")
    let run = try home.run()
    #expect(run.status == 3)
    #expect(run.lines.count { $0.hasPrefix("  added ") } == 20)
    #expect(run.lines.contains("  and 4 more; the JSON report names them"), "\(run.output)")
    let errors = run.errors.split(separator: "\n").filter { $0.hasPrefix("error:") }
    #expect(errors.count == 1, "\(run.errors)")
    let host = server.address("").dropFirst("http://".count)
    #expect(errors.first?.contains("\(host): 7 items: the server answered 404") == true)
    #expect(run.errors.contains("\nnext: "))
    #expect(try home.run("-v").errors.components("error:") == 7, "each by itself where asked for")
    let quiet = try home.run("-q")
    #expect(!quiet.errors.contains("next:"))
  }
}

extension String {
  fileprivate func components(_ word: String) -> Int {
    split(separator: "\n").count { $0.hasPrefix(word) }
  }
}
