@unsafe @preconcurrency import Glibc
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "Publishing",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx")
)
struct PublishTests {
  private let home: Home
  private let nginx: Nginx

  init() throws {
    home = try Home(isInMemory: true)
    nginx = try Nginx()
  }

  private func configure(_ publish: String) {
    home.configure(
      """
      segments:
        - name: site
          manifest: \(nginx.url("manifest.json"))
          publish: { dir: tree, layout: basename, \(publish) }
      cache: { min_free: 0 }
      """
    )
  }

  private func serve(_ files: [String: String]) {
    for (name, text) in files { nginx.write(text, to: name) }
    nginx.write(Manifest.text(files.keys.sorted()), to: "manifest.json")
  }

  /// Names and texts below the tree.
  private func tree(_ name: String = "tree") -> [String: String] {
    var found: [String: String] = [:]
    for leaf in FileTree.names(home.path(name)) { found[leaf] = home.read("\(name)/\(leaf)") }
    return found
  }

  @Test("A tree follows its manifest and keeps foreign files, and `publish` restores lost ones")
  func follows() throws {
    configure("")
    serve(["a": "one", "b": "two"])
    #expect(try home.run("-q").status == 0)
    #expect(tree() == ["a": "one", "b": "two"])
    home.write("theirs", to: "tree/c")
    serve(["a": "changed", "c": "ours"])
    let run = try home.run("--json")
    #expect(run.status == 3, "\(run)")
    #expect(try run.json().text("segments.0.state") == "incomplete")
    #expect(try run.json().list("diagnostics").map { $0.text("code") } == ["publish.failed"])
    #expect(tree() == ["a": "changed", "c": "theirs"])
    FileTree.remove(home.path("tree/c"))
    #expect(try home.run("-q").status == 0)
    #expect(tree() == ["a": "changed", "c": "ours"])
    FileTree.remove(home.path("tree/a"))
    let publish = try home.run("publish", "--json")
    #expect(publish.status == 0, "\(publish)")
    #expect(try publish.json().number("segments.0.made") == 1)
    #expect(tree() == ["a": "changed", "c": "ours"])
  }

  @Test("A dry run publishes nothing")
  func dryRun() throws {
    configure("")
    serve(["a": "one"])
    #expect(try home.run("--dry-run").status == 0)
    #expect(!FileTree.exists(home.path("tree")))
  }

  @Test("A tree is in the report of a segment without changes, and is published again when lost")
  func quiet() throws {
    home.configure(
      """
      segments:
        - name: site
          manifest: \(nginx.url("manifest.json"))
          publish: { dir: tree, layout: basename }
          ttl: 1d
      cache: { min_free: 0 }
      """
    )
    nginx.write("one", to: "a")
    nginx.write(
      Manifest.text([Manifest.Entry("a", digest: Digest.hexadecimal("one"))]),
      to: "manifest.json"
    )
    #expect(try home.run("-q").status == 0)
    let quiet = try home.run("--json")
    #expect(quiet.status == 0)
    #expect(try quiet.json().number("segments.0.published.generation") == 1)
    try #require(home.tool("rm", "-r", home.path("tree")).status == 0)
    #expect(try home.run("-q").status == 0)
    #expect(tree() == ["a": "one"])
  }

  @Test("An atomic tree switches as a whole, and stays rolled back until it is released")
  func atomic() throws {
    configure("atomic: true, keep_generations: 2")
    serve(["a": "one", "b": "one"])
    #expect(try home.run("-q").status == 0)
    serve(["a": "two", "b": "two"])
    #expect(try home.run("-q").status == 0)
    #expect(tree() == ["a": "two", "b": "two"])
    let back = try home.run("publish", "--rollback", "site")
    #expect(back.status == 0, "\(back)")
    #expect(tree() == ["a": "one", "b": "one"])
    serve(["a": "three", "b": "three"])
    let held = try home.run("--json")
    #expect(held.status == 0)
    #expect(try held.json().number("segments.0.published.generation") == 1)
    #expect(tree() == ["a": "one", "b": "one"])
    // Every command reports the rollback until the tree is published again.
    for words in [[], ["status"], ["verify"]] {
      let run = try home.run(words)
      #expect(run.status == 0, "\(run)")
      #expect(run.errors.contains("was rolled back to generation 1"), "\(words) \(run)")
    }
    #expect(try home.run("publish", "-q").status == 0)
    for words in [[], ["status"], ["verify"]] {
      #expect(try !home.run(words).errors.contains("was rolled back"))
    }
    #expect(tree() == ["a": "three", "b": "three"])
    nginx.remove("b")
    nginx.write("four", to: "a")
    nginx.write(Manifest.text(["a", "b", "c"]), to: "manifest.json")
    #expect(try home.run("-q").status == 3)
    #expect(tree() == ["a": "three", "b": "three"])
    nginx.remove("manifest.json")
    let refused = try home.run("--json")
    #expect(refused.status == 3, "\(refused)")
    #expect(try refused.json().number("segments.0.published.generation") != nil)
  }

  @Test(
    "A tree has the body that was lost from the cache and fetched again",
    arguments: [true, false]
  )
  func lostObject(_ isAtomic: Bool) throws {
    configure("atomic: \(isAtomic)")
    serve(["a": "one", "b": "two"])
    #expect(try home.run("-q").status == 0)
    let object = Digest.hexadecimal("two")
    let path = "\(home.cache)/objects/sha256/\(object.prefix(2))/\(object)"
    FileTree.remove(path)
    serve(["a": "other", "b": "two"])
    let run = try home.run()
    #expect(run.status == 0, "\(run)")
    #expect(tree() == ["a": "other", "b": "two"])
  }

  @Test("Equal names in a tree are refused: in a configuration at the start, in a manifest by item")
  func collisions() throws {
    serve(["x": "one", "y": "two"])
    let urls = "[\"\(nginx.url("x"))\", {url: \"\(nginx.url("y"))\", path: x}]"
    home.configure(
      "segments: [{name: s, urls: \(urls), exclude: [x], publish: {dir: tree, layout: basename}}]"
    )
    #expect(try home.run("check").status == 0)
    home.configure("segments: [{name: s, urls: \(urls), publish: {dir: tree, layout: basename}}]")
    _ = nginx.drainRequests()
    #expect(try home.run().status == 78)
    #expect(try home.run("check").status == 78)
    #expect(nginx.drainRequests().isEmpty)
    configure("")
    nginx.write(
      #"{"format": "prefetch-manifest", "version": 1, "items": ["#
        + #"{"url": "x"}, {"url": "y", "path": "x"}, {"url": "x?2", "path": "../z"}, {"url": "x?3", "path": "w"}]}"#,
      to: "manifest.json"
    )
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(
      try run.json().list("items").compactMap { $0.text("error.code") }.sorted()
        == ["name_collision", "name_collision", "unsafe_name"]
    )
    #expect(tree() == ["w": "one"])
    #expect(!FileTree.exists(home.path("z")))
    // A slash that forms one character with the following combining mark.
    nginx.write(Manifest.text([nginx.url("..%2F%CC%81z")]), to: "manifest.json")
    #expect(try home.run("-q", "--allow", "mass-removal").status == 5)
    #expect(!FileTree.exists(home.path("\u{301}z")))
  }

  @Test("An item whose name is the folder of another is refused, as is that other item")
  func folderCollision() throws {
    serve(["x": "one", "y": "two", "z": "three"])
    configure("")
    nginx.write(
      #"{"format": "prefetch-manifest", "version": 1, "items": ["#
        + #"{"url": "x", "path": "a"}, {"url": "y", "path": "a/b"}, {"url": "z", "path": "c"}]}"#,
      to: "manifest.json"
    )
    let run = try home.run("--json")
    #expect(run.status == 3, "\(run)")
    #expect(
      try run.json().list("items").compactMap { $0.text("error.code") }
        == ["name_collision", "name_collision"]
    )
    #expect(tree() == ["c": "three"])
  }

  @Test("A tree is complete after a kill at any moment and one more run", arguments: [false, true])
  func killed(_ isAtomic: Bool) throws {
    let trap = KillTrap(Site(["/last": Site.Page("last")]))
    let server = try LoopbackServer { trap.respond(to: $0) }
    // The other segment's tree is published while the last segment waits, before the run's end.
    home.configure(
      """
      segments:
        - name: site
          manifest: \(nginx.url("manifest.json"))
          publish: { dir: tree, layout: basename, link: copy, atomic: \(isAtomic) }
        - { name: last, urls: ["\(server.address("/last"))"] }
      cache: { min_free: 0 }
      """
    )
    var random = SeededRandom(11)
    var files: [String: String] = [:]
    var served: [[String: String]] = [[:]]
    for round in 0..<Binary.rounds {
      for number in 0..<60 where Int.random(in: 0..<3, using: &random) == 0 || round == 0 {
        files["f\(number)"] = String(repeating: "round \(round) ", count: number * 40)
      }
      if round > 0 { files["f\(round % 60)"] = nil }
      serve(files)
      served.append(files)
      trap.set(.start)
      let run = try home.start(["-q"])
      // In a third of the rounds the tree is certainly complete.
      if round % 3 == 2 { try #require(waitForTree(files), "round \(round)") }
      poll(nil, 0, CInt.random(in: 0...(round % 3 == 2 ? 5 : 150), using: &random))
      run.signal(SIGKILL)
      let end = run.finish()
      #expect(end.status == 128 + SIGKILL, "round \(round): \(end)")
      trap.set(nil)
      for (name, text) in tree() where !name.hasPrefix(".prefetch-") {
        #expect(text.isEmpty || text.hasPrefix("round "), "round \(round): \(name)")
      }
      if isAtomic { #expect(served.contains(tree()), "round \(round)") }
      let next = try home.run("-q")
      #expect(next.status == 0, "round \(round): \(next)")
      #expect(tree() == files, "round \(round)")
    }
    guard isAtomic else { return }
    #expect(FileTree.names(home.path("tree.generations")).count <= 2)
  }

  /// False when half a minute does not bring the tree.
  private func waitForTree(_ files: [String: String]) -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      if tree() == files { return true }
      poll(nil, 0, 2)
    }
    return false
  }

  @Test("`env` prints no variables of a segment that is not current, and quotes hostile paths")
  func environment() throws {
    let folder = "it's $(touch x) `touch x`;touch x"
    home.configure(
      """
      segments:
        - name: wheels
          manifest: \(nginx.url("manifest.json"))
          publish: { dir: "\(folder)", layout: npm }
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run("env").output.isEmpty)
    let digest = Digest.hexadecimal("one")
    nginx.write("one", to: "a")
    nginx.write(Manifest.text([Manifest.Entry("a", digest: digest)]), to: "manifest.json")
    #expect(try home.run("-q").status == 0)
    let run = try home.shell(#"eval "$($prefetch env)"; printf %s "$npm_config_cache""#)
    #expect(run.output == home.path(folder), "\(run)")
    #expect(!FileTree.exists(home.path("x")))
    #expect(try home.run("env", "--json").status == 64)
    nginx.remove("a")
    nginx.write(Manifest.text(["b"]), to: "manifest.json")
    #expect(try home.run("-q").status != 0)
    #expect(try home.run("env").output.isEmpty)
  }

  @Test("`publish` restores the items of further pages and patterns, and no others")
  func pages() throws {
    home.configure(
      """
      segments:
        - name: site
          manifest: \(nginx.url("list.ndjson"))
          exclude: [secret]
          publish: { dir: tree, layout: basename }
        - name: all
          urls: [\(nginx.url("secret"))]
      cache: { min_free: 0 }
      """
    )
    for name in ["a", "b", "secret"] { nginx.write("body of \(name)", to: name) }
    nginx.write(
      #"{"format":"prefetch-manifest","version":1,"next":"more.ndjson"}"# + "\n"
        + #"{"url":"a"}"# + "\n" + #"{"url":"secret"}"# + "\n",
      to: "list.ndjson"
    )
    nginx.write(
      #"{"format":"prefetch-manifest","version":1}"# + "\n" + #"{"url":"b"}"# + "\n",
      to: "more.ndjson"
    )
    #expect(try home.run("-q").status == 0)
    #expect(tree() == ["a": "body of a", "b": "body of b"])
    let publish = try home.run("publish", "--json")
    #expect(publish.status == 0, "\(publish)")
    #expect(try publish.json().number("segments.0.removed") == 0)
    #expect(tree() == ["a": "body of a", "b": "body of b"])
  }

  @Test("`publish` obeys the same limits of removals as a run for a local manifest")
  func localManifest() throws {
    home.configure(
      """
      segments:
        - { name: site, manifest: site.json, publish: { dir: tree, layout: basename } }
      cache: { min_free: 0 }
      """
    )
    nginx.write("one", to: "a")
    home.write(Manifest.text([nginx.url("a")]), to: "site.json")
    #expect(try home.run("-q").status == 0)
    home.write(Manifest.text([String]()), to: "site.json")
    let emptied = try home.run("publish")
    #expect(emptied.status == 3, "\(emptied)")
    #expect(emptied.errors.contains("[publish.manifest_guard]"))
    home.write(Manifest.text([nginx.url("a")]), to: "site.json")
    home.configure(
      """
      segments:
        - { name: site, manifest: site.json, publish: { dir: tree, layout: basename } }
      manifest_keys: [RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3]
      cache: { min_free: 0 }
      """
    )
    let unsigned = try home.run("publish")
    #expect(unsigned.status == 5, "\(unsigned)")
    #expect(tree() == ["a": "one"])
  }

  @Test("`publish` reports an item that is not stored and publishes the others")
  func absent() throws {
    configure("")
    serve(["a": "one", "b": "two"])
    #expect(try home.run("-q").status == 0)
    let object = "\(Digest.hexadecimal("two"))"
    let path = "\(home.cache)/objects/sha256/\(object.prefix(2))/\(object)"
    try #require(home.tool("rm", "-f", path, home.path("tree/a")).status == 0)
    let publish = try home.run("publish")
    #expect(publish.status == 3, "\(publish)")
    #expect(publish.errors.contains("1 item not stored; `prefetch run site` fetches"))
    #expect(tree() == ["a": "one", "b": "two"])
  }

  @Test("`publish` covers subscribed segments only")
  func subscriptions() throws {
    for name in ["a", "b"] { nginx.write("one", to: name) }
    home.configure(
      """
      subscriptions: remembered
      segments:
        - { name: in, initial: true, urls: [\(nginx.url("a"))], publish: { dir: tree, layout: basename } }
        - { name: out, urls: [\(nginx.url("b"))], publish: { dir: other, layout: basename } }
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run("-q").status == 0)
    let publish = try home.run("publish")
    #expect(publish.status == 0, "\(publish)")
    #expect(!FileTree.exists(home.path("other")))
    let named = try home.run("publish", "out")
    #expect(named.status == 64, "\(named)")
    #expect(named.errors.contains("`prefetch subscribe out` joins it"))
  }

  @Test("A tree is refused when its folder contains the cache or is inside of it")
  func storeFolders() throws {
    let root = home.folder.path
    for folder in [home.cache, "\(home.cache)/objects", "\(home.state)/tree", root, "/"] {
      home.configure(
        "segments: [{name: s, urls: [\(nginx.url("a"))], publish: {dir: \"\(folder)\"}}]"
      )
      let run = try home.run()
      #expect(run.status == 78, "\(run)")
      #expect(try home.run("check").status == 78)
      #expect(!FileTree.exists(home.cache))
    }
  }

  @Test("`publish` reports when there is nothing to publish or to roll back to")
  func nothing() throws {
    #expect(try home.run("publish").errors.contains("no segment has `publish`"))
    configure("atomic: true")
    FileTree.makeFolder(home.path("tree"))
    home.write("theirs", to: "tree/x")
    serve(["a": "one"])
    #expect(try home.run("-q").status == 3)
    let back = try home.run("publish", "--rollback", "site")
    #expect(back.status == 4, "\(back)")
    #expect(back.output == "site: left as it is\n")
    let document = try home.run("publish", "--rollback", "site", "--json").json()
    #expect(document.text("segments.0.errors.0.code") == "not_found")
    #expect(document.text("segments.0.state") == "failed")
    #expect(tree() == ["x": "theirs"])
  }
}
