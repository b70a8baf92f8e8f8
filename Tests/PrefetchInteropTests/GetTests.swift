import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("One item", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct GetTests {
  private let home: Home
  private let site: Site
  private let server: LoopbackServer

  init() throws {
    let fresh = [("Cache-Control", "max-age=3600")]
    let site = Site()
    for name in ["one", "two", "three"] {
      var page = Site.Page("body of \(name)")
      page.headers = fresh.map { .init($0.0, $0.1) }
      site["/\(name)"] = page
    }
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    home.configure("segments: [{ name: basics, urls: [\(server.address("/one"))] }]")
  }

  @Test("comes from the server once, and then from the cache")
  func getsOnce() throws {
    let url = server.address("/one")
    for _ in 0..<3 {
      let run = try home.run("get", url)
      #expect(run.status == 0, "\(run)")
      #expect(run.output == "body of one")
      #expect(run.errors == "")
    }
    #expect(server.requests.count == 1)
    let revalidated = try home.run("get", "--revalidate", url)
    #expect(revalidated.output == "body of one")
    #expect(server.requests.count == 2)
    #expect(server.requests.last?.headers["If-None-Match"] != nil)
  }

  @Test("goes to a file, to a folder, or stays where it is and is named")
  func destinations() throws {
    let (one, two) = (server.address("/one"), server.address("/two"))
    let toFile = try home.run("get", one, "-o", "copy.txt")
    #expect(toFile.status == 0, "\(toFile)")
    #expect(toFile.output == "")
    #expect(home.read("copy.txt") == "body of one")
    let toFolder = try home.run("get", one, two, "-o", "folder/")
    #expect(toFolder.status == 0, "\(toFolder)")
    #expect(home.read("folder/one") == "body of one")
    #expect(home.read("folder/two") == "body of two")
    let paths = try home.run("get", "--path", one, two)
    #expect(paths.status == 0, "\(paths)")
    let bodies = paths.lines.compactMap { FileTree.read(String($0)) }
    #expect(bodies.map { String(decoding: $0, as: UTF8.self) } == ["body of one", "body of two"])
    #expect(try home.run("get", one, two).status == 64)
    #expect(try home.run("get", one, "--json").status == 64)
  }

  @Test("needs no configuration, no network when offline, and reads manifests from standard input")
  func needsLittle() throws {
    #expect(try home.run("get", "--path", server.address("/one")).status == 0)
    FileTree.remove(home.path("prefetch.yaml"))
    let offline = try home.run("get", "--offline", server.address("/one"))
    #expect(offline.status == 0, "\(offline)")
    #expect(offline.output == "body of one")
    #expect(try home.run("get", "--offline", server.address("/two")).status == 4)
    let manifest = Manifest.text([server.address("/two"), server.address("/three")])
    let refused = try home.run("get", "-", "--path", input: manifest)
    #expect(refused.status == 5, "\(refused)")
    let allowed = try home.run(
      "get",
      "-",
      "--path",
      "--set",
      "transport_security.NSAllowsLocalNetworking=true",
      input: manifest
    )
    #expect(allowed.status == 0, "\(allowed)")
    #expect(allowed.lines.count == 2)
  }

  @Test("is found, listed, explained and watched")
  func isKnown() throws {
    let url = server.address("/one")
    #expect(try home.run("path", url).status == 4)
    #expect(try home.run("path", "--or-url", url).lines == [Substring(url)])
    #expect(try home.run().status == 0)
    let path = try home.run("path", url)
    #expect(path.status == 0)
    #expect(FileTree.read(String(path.lines.first ?? "")) == Array("body of one".utf8))

    let listed = try home.run("list", "--json").json()
    #expect(listed.list("items").count == 1)
    #expect(listed.text("items.0.url") == url)
    #expect(listed.text("items.0.digest") == "sha256:\(Digest.hexadecimal("body of one"))")
    let id = try #require(listed.text("items.0.id"))
    #expect(try home.run("path", id).output == path.output)
    #expect(try home.run("list", "--segment", "other").lines.isEmpty)
    #expect(try home.run("list", "--url", "*/one").lines.count == 1)

    let explained = try home.run("explain", url, "--json").json()
    #expect(explained.text("item.url") == url)
    #expect(explained.text("segments.0") != nil)
    #expect(explained.text("decision") == "keep")
    #expect(try home.run("explain", server.address("/two")).status == 0)

    #expect(try home.run("status", "--max-age", "26h").status == 0)
    #expect(try home.run("status", "--max-age", "0s").status == 3)
    let status = try home.run("status", "--json").json()
    #expect(status.text("segments.0.state") == "current")
    #expect(status.number("segments.0.items") == 1)
    #expect(status.text("segments.0.last_success") != nil)
  }

  @Test("that was never fetched makes a health probe fail")
  func neverSucceeded() throws {
    let status = try home.run("status", "--max-age", "26h")
    #expect(status.status == 3, "\(status)")
  }

  @Test("can be got by several at once, beside a run", .timeLimit(.minutes(3)))
  func concurrently() throws {
    for round in 0..<Binary.rounds {
      if round % 2 == 0 { try home.removeCache() }
      let programs = try [
        home.start(["get", server.address("/two")]), home.start(["-q"]),
        home.start(["get", server.address("/three")]), home.start(["get", server.address("/one")]),
      ]
      let runs = programs.map { $0.finish() }
      #expect(runs.map(\.status) == [0, 0, 0, 0], "round \(round): \(runs)")
      #expect(runs.map(\.output) == ["body of two", "", "body of three", "body of one"])
      let verify = try home.run("verify")
      #expect(verify.status == 0, "round \(round): \(verify)")
      #expect(try home.run("list").lines.count == 3, "round \(round)")
    }
  }

  @Test("is served by our own origin as by any other server", .timeLimit(.minutes(2)))
  func ownOrigin() throws {
    FileTree.makeFolder(home.path("origin"))
    home.write("served\n", to: "origin/file.txt")
    let origin = try home.start(["serve", "--origin", "origin", "--listen", "127.0.0.1:0"])
    let address = try #require(origin.firstLine())
    home.configure("segments: [{ name: basics, urls: [\(address)file.txt, \(address)none] }]")
    #expect(try home.run("--json").status == 3)
    let second = try home.run("--json")
    #expect(try second.totals()["not_modified"] == 1)
    origin.signal(15)
    let ended = origin.finish(within: 30)
    #expect(ended.status == 143, "\(ended)")
    #expect(!ended.isOverdue)
    #expect(try home.run("verify").status == 0)
  }
}
