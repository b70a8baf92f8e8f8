import PrefetchTestSupport
import Testing

/// A cache above read-only lower layers.
@Suite("A cache over lower ones", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LayerTests {
  private let ground: LayerGround

  private var home: Home { ground.home }
  private var site: Site { ground.site }

  init() throws {
    ground = try LayerGround()
    for name in ["a", "b", "c"] { site["/\(name)"] = Site.Page("body of \(name)") }
  }

  private func declare(
    _ paths: [String] = ["/a", "/b", "/c"],
    lower: [String] = ["base"],
    cache: String = "",
    more: String = ""
  ) {
    let urls = paths.map { "\"\(ground.url($0))\"" }.joined(separator: ", ")
    ground.configure("  - { name: basics, urls: [\(urls)]\(more) }", lower: lower, cache: cache)
  }

  private func makeBase(_ more: String = "") throws {
    declare(lower: [], more: more)
    let run = try home.run("-q")
    try #require(run.status == 0, "\(run)")
    try ground.putAway(as: "base")
    _ = ground.drainRequests()
  }

  @Test("An item of a lower layer is revalidated, and only changed bodies are stored")
  func revalidation() throws {
    try makeBase()
    site["/b"] = Site.Page("another body")
    declare()
    let before = try ground.fingerprint("base")
    let plan = try home.run("plan", "--items", "all")
    #expect(plan.output.contains("update\tbasics"), "\(plan)")
    #expect(!FileTree.exists(home.cache), "a dry run makes nothing")
    _ = ground.drainRequests()
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let totals = try run.totals()
    #expect(totals["not_modified"] == 2 && totals["updated"] == 1 && totals["fetched"] == 0)
    #expect(ground.drainRequests() == ["/a", "/b", "/c"])
    #expect(FileTree.objects(home.cache).count == 1)
    #expect(try ground.listed().count == 3)
    #expect(try ground.fingerprint("base") == before)
    #expect(try home.run("--json").totals()["not_modified"] == 3)
  }

  @Test("Reading commands find bodies in either cache and write to neither")
  func readers() throws {
    try makeBase(", ttl: 1h")
    declare(more: ", ttl: 1h, publish: { dir: tree, link: hardlink }")
    let before = try ground.fingerprint("base")
    for isAfterRun in [false, true] {
      if isAfterRun { #expect(try home.run("-q").status == 0) }
      let path = try home.run("path", ground.url("/a"))
      #expect(path.status == 0 && path.output.hasPrefix(home.path("base/objects/")), "\(path)")
      #expect(FileTree.read(path.output.trimmingEnd) == Array("body of a".utf8))
      #expect(try home.run("get", "--offline", ground.url("/b")).output == "body of b")
      #expect(try home.run("get", "--offline", "-o", "got/", ground.url("/b")).status == 0)
      #expect(try home.run("verify").status == 0)
      #expect(try ground.listed().count == 3)
      #expect(try home.run("status", "--json").json().number("cache.bytes") == 0)
      #expect(try home.run("explain", ground.url("/c")).output.contains(home.path("base/objects")))
      #expect(try home.run("export", "all\(isAfterRun)").status == 0)
      #expect(FileTree.exists(home.cache) == isAfterRun)
      #expect(try ground.fingerprint("base") == before)
    }
    let serving = try Serving(home)
    let served = try serving.client.get("/127.0.0.1:\(ground.server.port)/c")
    #expect(served.status == 200 && served.body == "body of c")
    _ = serving.stop()
    #expect(home.read("tree/127.0.0.1:\(ground.server.port)/a") == "body of a")
    #expect(try home.run("publish").status == 0)
    #expect(try home.run("gc").status == 0)
    #expect(try home.run("verify", "--repair").status == 0)
    #expect(try ground.fingerprint("base") == before)
    #expect(ground.drainRequests() == [])
    // Without a configuration the cache itself records its lower layers.
    #expect(try home.tool("rm", "prefetch.yaml").status == 0)
    #expect(try home.run("verify").status == 0)
    #expect(try home.run("get", "--offline", ground.url("/a")).output == "body of a")
    // An exported cache is independent of the layers.
    #expect(try home.run("verify", "--cache-dir", "alltrue").output.contains("3"))
    #expect(try ground.fingerprint("base") == before)
  }

  @Test("The log of a lower cache is read and stays as it is")
  func log() throws {
    try makeBase(", ttl: 1h")
    let index = home.path("base/index.sqlite")
    let copy = ".shell cp '\(index)-wal' kept"
    let change = "UPDATE upkeep SET changes=changes+1"
    try #require(home.tool("sqlite3", index, change, copy).status == 0)
    try #require(home.shell("test -s kept && mv kept '\(index)-wal'").status == 0)
    let before = try ground.fingerprint("base")
    declare(more: ", ttl: 1h")
    #expect(try home.run("-q").status == 0)
    #expect(try ground.listed().count == 3)
    #expect(ground.drainRequests() == [])
    #expect(try ground.fingerprint("base") == before)
  }

  @Test("A mirror copies files from a lower cache and makes no links to them")
  func mirror() throws {
    let list = ["/a", "/b"].map(ground.url).joined(separator: "\n")
    home.write(list + "\n", to: "list")
    let options = ["--set", "transport_security.NSAllowsLocalNetworking=true"]
    #expect(try home.run(["mirror", "list", "first"] + options).status == 0)
    try #require(home.tool("mv", home.path("first/.prefetch"), home.path("base")).status == 0)
    let before = try ground.fingerprint("base")
    _ = ground.drainRequests()
    let lower = ["--set", "cache.lower=[\"\(home.path("base"))\"]"]
    let run = try home.run(["mirror", "list", "second", "--json"] + options + lower)
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["not_modified"] == 2)
    #expect(home.read("second/a") == "body of a" && home.read("second/b") == "body of b")
    #expect(FileTree.objects(home.path("second/.prefetch")).isEmpty)
    #expect(try ground.fingerprint("base") == before)
  }

  /// Whether this process may create a private mount.
  private static let mayMount: Bool = {
    guard let home = try? Home(), let unshare = Tool("unshare") else { return false }
    let run = try? RunningProgram(
      unshare.path,
      ["-m", "mount", "--bind", home.work, home.work],
      environment: home.variables,
      folder: nil
    ).finish()
    return run?.status == 0
  }()

  @Test(
    "A lower cache of another user on a read-only mount is usable",
    .enabled(if: mayMount, "may not mount")
  )
  func readOnly() throws {
    try makeBase(", ttl: 1h")
    declare(more: ", ttl: 1h, publish: { dir: tree }")
    let before = try ground.fingerprint("base")
    for words in ["run -q", "plan", "list", "verify", "gc", "publish", "export --new layer"] {
      let run = try home.shell(
        """
        exec unshare -m bash -ec '
          chown -R 65534:65534 "$1"
          mount --bind "$1" "$1"
          mount -o remount,ro,bind "$1"
          if touch "$1/x" 2>/dev/null; then exit 99; fi
          shift
          exec "$@"
        ' bash '\(home.path("base"))' "$prefetch" \(words)
        """
      )
      #expect(run.status == 0, "\(words): \(run)")
    }
    #expect(ground.drainRequests() == [])
    #expect(FileTree.objects(home.cache).isEmpty)
    let lines = { (text: String) in text.split(separator: "\n").map { $0.prefix { $0 != " " } } }
    #expect(try lines(ground.fingerprint("base")) == lines(before))
  }

  @Test("An offline run serves items and manifests of a lower cache")
  func offline() throws {
    let list = ["/a", "/b"].map { Manifest.Entry(ground.url($0)) }
    site["/list.json"] = Site.Page(Manifest.text(list))
    let segments = "  - { name: basics, ttl: 1h, manifest: \"\(ground.url("/list.json"))\" }"
    ground.configure(segments)
    #expect(try home.run("-q").status == 0)
    try ground.putAway(as: "base")
    ground.configure(segments, lower: ["base"])
    _ = ground.drainRequests()
    #expect(try home.run("--offline", "-q").status == 0)
    #expect(ground.drainRequests() == [])
    let run = try home.run("--json")
    #expect(run.status == 0)
    #expect(try run.json().text("segments.0.manifest.status") == "not_modified", "\(run)")
    #expect(ground.drainRequests() == ["/list.json"])
  }

  @Test("A lower cache that vanished counts as lost bodies, which are fetched again")
  func vanished() throws {
    try makeBase(", ttl: 1h")
    declare(more: ", ttl: 1h")
    #expect(try home.run("-q").status == 0)
    #expect(ground.drainRequests() == [])
    try #require(home.tool("mv", home.path("base"), home.path("gone")).status == 0)
    let run = try home.run()
    #expect(run.status == 0 && run.errors.contains("holds no cache"), "\(run)")
    #expect(ground.drainRequests() == ["/a", "/b", "/c"])
    #expect(FileTree.objects(home.cache).count == 3)
    #expect(try home.run("verify").status == 0)
    // A part of the layer is lost and restored.
    try #require(home.tool("mv", home.path("gone"), home.path("base")).status == 0)
    #expect(try home.run("-q").status == 0)
    #expect(ground.drainRequests() == [])
    try home.removeCache()
    #expect(try home.run("-q").status == 0)
    let path = try home.run("path", ground.url("/b")).output.trimmingEnd
    FileTree.remove(path)
    #expect(try home.run("-q").status == 0)
    #expect(ground.drainRequests() == ["/b"])
    #expect(FileTree.objects(home.cache).count == 1)
    #expect(try ground.listed().count == 3)
  }

  @Test("The upper of two lower caches has precedence")
  func order() throws {
    try makeBase(", ttl: 1h")
    site["/a"] = Site.Page("newer body of a")
    declare(["/a"], lower: [], more: ", ttl: 1h")
    #expect(try home.run("-q").status == 0)
    try ground.putAway(as: "top")
    _ = ground.drainRequests()
    for (lower, text) in [(["top", "base"], "newer body of a"), (["base", "top"], "body of a")] {
      try home.removeCache()
      declare(lower: lower, more: ", ttl: 1h")
      let run = try home.run("--json")
      #expect(run.status == 0, "\(run)")
      #expect(ground.drainRequests() == [])
      #expect(try home.run("get", ground.url("/a")).output == text)
      #expect(try ground.listed().count == 3)
      #expect(FileTree.objects(home.cache).isEmpty)
    }
  }

  @Test("An item that leaves the list or its server is removed from the upper cache only")
  func removal() throws {
    try makeBase()
    let before = try ground.fingerprint("base")
    site["/b"] = nil
    declare(["/a", "/b"], more: ", on_gone: remove")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["removed"] == 2)
    #expect(try ground.listed() == [ground.url("/a")])
    #expect(try home.run("path", ground.url("/b")).status == 4)
    ground.configure("  - { name: others, urls: [\"\(ground.url("/a"))\"] }", lower: ["base"])
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("rm", ground.url("/a")).status == 0)
    #expect(try home.run("gc").status == 0)
    #expect(try ground.listed() == [])
    #expect(try ground.fingerprint("base") == before)
  }

  @Test("Bodies of a lower cache use no room and are not evicted")
  func room() throws {
    let large = String(repeating: "x", count: 40_000)
    for name in ["a", "b", "c"] { site["/\(name)"] = Site.Page(name + large) }
    try makeBase(", ttl: 1h")
    site["/d"] = Site.Page("d" + large)
    site["/e"] = Site.Page("e" + large)
    declare(["/a", "/b", "/c", "/d"], cache: ", size: 50000", more: ", ttl: 1h")
    #expect(try home.run("-q").status == 0)
    #expect(try ground.listed().count == 4)
    #expect(try home.run("status", "--json").json().number("cache.bytes") == 40_001)
    declare(["/a", "/b", "/c", "/d", "/e"], cache: ", size: 50000", more: ", ttl: 1h")
    #expect(try home.run("-q").status == 3)
    #expect(try ground.listed().count == 4)
    #expect(try home.run("gc", "--set", "cache.size=1000").status == 0)
    #expect(try ground.listed().count == 3, "those below stay")
    // A body that is also stored in this layer takes room.
    site["/a"] = Site.Page("A" + large)
    declare(["/a", "/b"], cache: ", size: 50000")
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("status", "--json").json().number("cache.bytes") == 40_001)
    #expect(FileTree.objects(home.cache).count == 1)
  }

  @Test("An unusable lower cache causes a warning, and its bodies are still found by digest")
  func useless() throws {
    let bodies = ["a", "b", "c"].map { "body of \($0)" }
    let pinned = zip(["/a", "/b", "/c"], bodies).map {
      "\(ground.url($0))#sha256=\(Digest.hexadecimal($1))"
    }
    let urls = pinned.map { "\"\($0)\"" }.joined(separator: ", ")
    let segments = "  - { name: basics, urls: [\(urls)] }"
    ground.configure(segments)
    #expect(try home.run("-q").status == 0)
    try ground.putAway(as: "base")
    for damage in ["PRAGMA user_version=999", "PRAGMA user_version=3", nil] {
      let database = home.path("base/index.sqlite")
      if let damage {
        try #require(home.tool("sqlite3", database, damage).status == 0)
      } else {
        FileTree.write(Array("junk".utf8), to: database)
        FileTree.remove(home.path("base/index.backup.sqlite"))
      }
      let before = try ground.fingerprint("base")
      try home.removeCache()
      _ = ground.drainRequests()
      ground.configure(segments, lower: ["base"])
      for _ in 1...2 {
        let run = try home.run()
        #expect(run.status == 0 && run.errors.contains("cache.lower"), "\(run)")
      }
      #expect(ground.drainRequests() == [])
      #expect(FileTree.objects(home.cache).isEmpty)
      #expect(try ground.listed().count == 3)
      #expect(try ground.fingerprint("base") == before)
    }
  }

  @Test("A damaged body of a lower cache is found by `verify` and fetched again")
  func damaged() throws {
    try makeBase(", ttl: 1h")
    declare(more: ", ttl: 1h")
    #expect(try home.run("-q").status == 0)
    let path = try home.run("path", ground.url("/b")).output.trimmingEnd
    #expect(try home.shell("chmod u+w '\(path)' && printf 'bodY of b' > '\(path)'").status == 0)
    let before = try ground.fingerprint("base")
    #expect(try home.run("verify").status == 74)
    #expect(try home.run("get", "--offline", ground.url("/b")).status == 74)
    #expect(try home.run("verify", "--repair").status == 74)
    #expect(try home.run("-q").status == 0)
    #expect(ground.drainRequests() == ["/b"])
    #expect(try home.run("verify").status == 0)
    #expect(try ground.listed().count == 3)
    #expect(try ground.fingerprint("base") == before)
  }

  @Test("The cache itself is refused as its lower cache, and an export needs an empty folder")
  func refusals() throws {
    try makeBase()
    declare()
    let option = try home.run("--cache-dir", home.path("base"))
    #expect(option.status == 64 && option.errors.contains("cannot be below"), "\(option)")
    declare(cache: ", dir: base")
    #expect(try home.run().status == 78)
    #expect(try home.run("check").status == 78)
    declare()
    let full = try home.run("export", "--new", "base")
    #expect(full.status == 64 && full.errors.contains("not empty"), "\(full)")
    declare(lower: [])
    #expect(try home.run("export", "none").status == 4)
  }
}

extension String {
  /// Without the end of the line.
  fileprivate var trimmingEnd: String {
    String(prefix { $0 != "\n" })
  }
}
