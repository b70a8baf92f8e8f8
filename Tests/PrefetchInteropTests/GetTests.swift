import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("`get` of single items", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
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

  @Test("`get` fetches an item from the server once, then serves it from the cache")
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

  @Test("`get` writes an item to a file or a folder, or prints its path")
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

  @Test("`get` needs no configuration, works offline and reads a manifest from standard input")
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

  @Test("`get` fetches an item as its segment declares it", arguments: [true, false])
  func isDeclared(inline: Bool) throws {
    let url = server.address("/one")
    let right = Digest.hexadecimal("body of one")
    if inline {
      home.configure(
        """
        segments:
          - name: basics
            headers: { X-Segment: yes-please }
            urls: [{ url: "\(url)", sha256: \(right), headers: { X-Item: mine } }]
        """
      )
    } else {
      site["/manifest.json"] = Site.Page(Manifest.text([.init(url, digest: right)]))
      home.configure(
        """
        segments:
          - name: basics
            headers: { X-Segment: yes-please }
            manifest: \(server.address("/manifest.json"))
        """
      )
      #expect(try home.run().status == 0)
      try #require(
        home.tool("rm", "-rf", "\(home.cache)/objects/sha256/\(right.prefix(2))").status == 0
      )
      #expect(try home.run("explain", url, "--json").json().text("reason") == "object lost")
    }
    site["/one"] = Site.Page("something else", headers: [.init("Cache-Control", "max-age=3600")])
    let wrong = try home.run("get", "--revalidate", url)
    #expect(wrong.status == 5, "\(wrong)")
    #expect(wrong.output == "")
    #expect(server.requests.last?.headers["X-Segment"] == "yes-please")
    if inline { #expect(server.requests.last?.headers["X-Item"] == "mine") }
    site["/one"] = Site.Page("body of one")
    let good = try home.run("get", "--revalidate", url)
    #expect(good.status == 0, "\(good)")
    #expect(good.output == "body of one")
    let requestCount = server.requests.count
    // The body is stale by its headers, but pinned by its digest.
    #expect(try home.run("get", url).output == "body of one")
    #expect(server.requests.count == requestCount)
    #expect(try home.run("get", server.address("/two")).status == 0)
    #expect(server.requests.last?.headers["X-Segment"] == nil)
  }

  @Test("An item of another origin than its manifest gets no headers of the segment")
  func otherOrigin() throws {
    let elsewhere = Site(["/one": Site.Page("from elsewhere")])
    let other = try LoopbackServer { elsewhere.respond(to: $0) }
    site["/manifest.json"] = Site.Page(
      Manifest.text([server.address("/one"), other.address("/one")])
    )
    home.configure(
      """
      segments:
        - name: basics
          headers: { X-Segment: yes-please }
          manifest: \(server.address("/manifest.json"))
      """
    )
    #expect(try home.run().status == 0)
    #expect(try home.run("get", "--revalidate", server.address("/one")).status == 0)
    #expect(server.requests.last?.headers["X-Segment"] == "yes-please")
    #expect(try home.run("get", "--revalidate", other.address("/one")).output == "from elsewhere")
    #expect(other.requests.count == 2)
    #expect(other.requests.last?.headers["X-Segment"] == nil)
  }

  @Test("An item is fetched again when its fresh copy contradicts the manifest")
  func contradicted() throws {
    let url = server.address("/two")
    #expect(try home.run("get", url).output == "body of two")
    let manifest = Manifest.text([.init(url, digest: Digest.hexadecimal("news of two"))])
    let wrong = try home.run("get", "-", input: manifest)
    #expect(wrong.status == 5, "\(wrong)")
    #expect(wrong.output == "")
    #expect(server.requests.count == 2)
    #expect(try home.run("get", "-", "--offline", input: manifest).status == 4)
    #expect(try home.run("get", "-", "--max-stale", input: manifest).status == 5)
    site["/two"] = Site.Page("news of two")
    let good = try home.run("get", "-", input: manifest)
    #expect(good.status == 0, "\(good)")
    #expect(good.output == "news of two")
  }

  @Test("An item that is no longer available is not replaced by an old copy without `--max-stale`")
  func failed() throws {
    let (one, two) = (server.address("/one"), server.address("/two"))
    #expect(try home.run("get", one).status == 0)
    for status in [404, 410, 403] {
      site["/one"] = Site.Page(Array("gone".utf8), status: status)
      let run = try home.run("get", "--revalidate", one)
      #expect(run.status == 4, "\(run)")
      #expect(run.output == "")
    }
    let both = try home.run("get", "--revalidate", one, two, "--path")
    #expect(both.status == 3, "\(both)")
    #expect(both.lines.count == 1)
    let allowed = try home.run("get", "--max-age", "0s", "--max-stale", one)
    #expect(allowed.status == 0, "\(allowed)")
    #expect(allowed.output == "body of one")
    let tooOld = try home.run("get", "--max-age", "0s", one)
    #expect(tooOld.status == 4, "\(tooOld)")
    #expect(try home.run("get", one).output == "body of one")
  }

  @Test("An item with `no-store` is delivered and not stored", arguments: [true, false])
  func noStore(isHeld: Bool) throws {
    let path = isHeld ? "/one" : "/two"
    let url = server.address(path)
    site[path] = Site.Page("a secret", headers: [.init("Cache-Control", "no-store")])
    if isHeld { #expect(try home.run().status == 0) }
    let run = try home.run("get", url)
    #expect(run.status == 0, "\(run)")
    #expect(run.output == "a secret")
    #expect(FileTree.objects(home.cache).count == (isHeld ? 1 : 0))
    #expect(try home.run("path", url).status == (isHeld ? 0 : 4))
    let named = try home.run("get", "--path", url)
    #expect(named.status == (isHeld ? 0 : 4), "\(named)")
    #expect(named.errors.contains("no-store") != isHeld)
    #expect(try home.run("get", url, "-o", "copy").status == 0)
    #expect(home.read("copy") == "a secret")
    #expect(FileTree.objects(home.cache).count == (isHeld ? 1 : 0))
    #expect(try home.run("verify").status == 0)
  }

  @Test("Two items with the same name in a folder are refused with 64")
  func sameName() throws {
    let (one, other) = (server.address("/one"), server.address("/other/one"))
    let run = try home.run("get", one, other, "-o", "folder/")
    #expect(run.status == 64, "\(run)")
    #expect(run.errors.contains(one))
    #expect(run.errors.contains(other))
    #expect(server.requests.isEmpty)
    #expect(try home.run("get", one, one, "-o", "folder/").status == 0)
  }

  @Test("An item that breaks a rule counts as missing, beside others or alone")
  func rejected() throws {
    let mixed = Manifest.text([server.address("/one"), "ftp://example.org/a"])
    let run = try home.run("get", "-", "-o", "folder/", input: mixed)
    #expect(run.status == 3, "\(run)")
    #expect(home.read("folder/one") == "body of one")
    let alone = try home.run("get", "-", "--path", input: Manifest.text(["ftp://example.org/a"]))
    #expect(alone.status == 4, "\(alone)")
    #expect(alone.lines.isEmpty)
  }

  @Test("`get -o -` writes to standard output, and `-o +x` to a file with that name")
  func oddNames() throws {
    let one = server.address("/one")
    #expect(try home.run("get", one, "-o", "-").output == "body of one")
    #expect(try home.run("get", one, "-o", "-", "--json").status == 64)
    for _ in 0..<2 { #expect(try home.run("get", one, "-o", "+x").status == 0) }
    #expect(home.read("+x") == "body of one")
    #expect(home.read("x") == nil)
  }

  @Test("A stored item is shown by `path`, `list`, `explain` and `status`")
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

  @Test("A health probe fails when no run has succeeded")
  func neverSucceeded() throws {
    let status = try home.run("status", "--max-age", "26h")
    #expect(status.status == 3, "\(status)")
  }

  @Test("Several `get` and a run at the same time deliver all items", .timeLimit(.minutes(10)))
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

  @Test("Our own origin server serves a run as any other server does", .timeLimit(.minutes(10)))
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
