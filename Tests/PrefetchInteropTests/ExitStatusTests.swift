import PrefetchTestSupport
import Testing

@Suite("The exit status", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ExitStatusTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/two": Site.Page("two")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
  }

  private func declare(_ urls: [String], more: String = "") {
    home.configure("segments: [{ name: basics, urls: [\(urls.joined(separator: ", "))] }]\n\(more)")
  }

  private var hurried: String {
    "network: { retries: { items: 0, lookups: 0, delay: 10ms } }"
  }

  @Test("A server that is not reachable ends the run with 69 and leaves the cache unchanged")
  func unavailable() throws {
    let port = LoopbackPort.free()
    declare(["http://127.0.0.1:\(port)/one"], more: hurried)
    let fresh = try home.run("--json")
    #expect(fresh.status == 69, "\(fresh)")
    #expect(try fresh.json().text("items.0.error.code") == "connect")
    #expect(FileTree.objects(home.cache).isEmpty)

    declare([server.address("/one")], more: hurried)
    #expect(try home.run().status == 0)
    let objects = FileTree.objects(home.cache)
    home.configure(
      """
      segments: [{ name: basics, manifest: "http://127.0.0.1:\(port)/manifest.json" }]
      \(hurried)
      """
    )
    let later = try home.run("--json")
    #expect(later.status == 69, "\(later)")
    #expect(FileTree.objects(home.cache) == objects)
    #expect(try home.run("--accept", "unavailable").status == 0)
  }

  @Test("A single missing item ends the run with 3, and with 0 under `--accept incomplete`")
  func incomplete() throws {
    declare([server.address("/one"), server.address("/none")])
    let run = try home.run("--json")
    #expect(run.status == 3, "\(run)")
    #expect(try run.json().text("segments.0.state") == "incomplete")
    #expect(try run.totals()["fetched"] == 1)
    let accepted = try home.run("--json", "--accept", "incomplete")
    #expect(accepted.status == 0)
    #expect(try accepted.json().text("exit.name") == "incomplete")
    #expect(try home.run("-q").status == 3)
    #expect(try home.run("-q").errors.contains("/none"))
  }

  @Test("A run ends with 4 when no item is available")
  func nothing() throws {
    declare([server.address("/none"), server.address("/neither")])
    let run = try home.run("--json")
    #expect(run.status == 4, "\(run)")
    #expect(try run.json().text("segments.0.state") == "failed")
    #expect(try home.run("path", server.address("/none")).status == 4)
    #expect(try home.run("get", "--offline", server.address("/none")).status == 4)
    #expect(try home.run("get", server.address("/none")).status == 4)
  }

  @Test("Plain http without an exception ends the run with 5 before any request")
  func plainHTTP() throws {
    home.write("segments: [{ name: basics, urls: [\(server.address("/one"))] }]\n")
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(try run.json().text("items.0.error.code") == "transport_security")
    #expect(server.requests.isEmpty)
    #expect(try home.run("--accept", "incomplete,nothing").status == 5)
  }

  @Test("A wrong digest ends the run with 5, and its body is not stored")
  func wrongDigest() throws {
    let wrong = Digest.hexadecimal("something else")
    home.configure(
      """
      segments:
        - name: basics
          urls: [{ url: "\(server.address("/one"))", sha256: \(wrong) }]
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(try run.json().text("items.0.error.code") == "digest_mismatch")
    let objects = FileTree.objects(home.cache)
    #expect(objects[wrong] == nil && objects[Digest.hexadecimal("one")] == nil)
    #expect(try home.run("path", server.address("/one")).status == 4)
  }

  @Test("An unknown key ends the run with 78, its position and the nearest key")
  func unknownKey() throws {
    home.write("segmets: []\n")
    let run = try home.run()
    #expect(run.status == 78, "\(run)")
    #expect(run.errors.contains("prefetch.yaml:1:1: error:"))
    #expect(run.errors.contains("segments"))
    #expect(run.output == "")
    let json = try home.run("--json")
    #expect(json.status == 78)
    #expect(try json.json().text("schema") == "prefetch-error/1")
    #expect(try json.json().number("exit.code") == 78)
    #expect(try json.json().number("diagnostics.0.line") == 1)
  }

  @Test("A run without a configuration ends with 78")
  func noConfiguration() throws {
    let run = try home.run()
    #expect(run.status == 78, "\(run)")
    #expect(run.output == "")
  }

  @Test(
    "An invalid command line ends with 64",
    arguments: [
      ["--bogus"], ["run", "--jobs", "many"], ["basics"], ["https://example.com/"], ["subscribe"],
      ["run", "no-such-segment"], ["--report", "-"], ["completion"], ["get"], ["--insecure"],
      ["--set", "license=x"], ["path"],
    ]
  )
  func usage(_ arguments: [String]) throws {
    declare([server.address("/one")])
    let run = try home.start(arguments).finish()
    #expect(run.status == 64, "\(run)")
    #expect(run.output == "")
    #expect(run.errors.contains("error"))
    let json = try home.start(arguments + ["--json"]).finish()
    #expect(json.status == 64, "\(json)")
    #expect(try json.json().text("schema") == "prefetch-error/1")
    #expect(server.requests.isEmpty)
  }

  @Test("A cache path that cannot be a folder ends the run with 74")
  func noCache() throws {
    declare([server.address("/one")])
    let file = home.write("in the way\n", to: "file")
    let run = try home.run("--cache-dir", file)
    #expect(run.status == 74, "\(run)")
    let json = try home.run("--cache-dir", file, "--json")
    #expect(json.status == 74)
    #expect(try json.json().number("exit.code") == 74)
    #expect(try home.run("--cache-dir", "\(file)/below").status == 74)
  }

  @Test(
    "A full standard output ends a command with 74",
    arguments: [
      ["run"], ["run", "--json"], ["list"], ["config"], ["help"], ["--version"], ["plan"],
      ["status"],
      ["get", "one"],
    ]
  )
  func fullOutput(_ arguments: [String]) throws {
    declare([server.address("/one"), server.address("/two")])
    if arguments != ["plan"] { #expect(try home.run("-q").status == 0) }
    let words = arguments.map { $0 == "one" ? server.address("/one") : $0 }
    let run = try home.start(words, output: .file("/dev/full")).finish()
    #expect(run.status == 74, "\(run)")
    #expect(run.errors.contains("error"))
  }

  @Test("A run ends with 2 for changes where the caller asked for that")
  func changes() throws {
    declare([server.address("/one")])
    #expect(try home.run("--detailed-exitcode").status == 2)
    #expect(try home.run("--detailed-exitcode").status == 0)
  }
}
