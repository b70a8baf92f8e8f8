@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("A lock file pins what is stored", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct FreezeTests {
  private let ground: FreezeGround

  init() throws {
    ground = try FreezeGround()
  }

  private func freeze(_ files: [String: String] = ["a.bin": "one", "b.bin": "two"]) throws {
    ground.publish(files)
    ground.declare()
    #expect(try ground.run("run").status == 0)
    let frozen = try ground.run("freeze")
    #expect(frozen.status == 0 && frozen.output.contains("2 items"), "\(frozen)")
    #expect(ground.requests.isEmpty)
  }

  @Test("`freeze` writes a line for each item, and nothing when nothing changed")
  func written() throws {
    try freeze()
    let list = Digest.hexadecimal(ground.site["/pub/list.txt"]?.body ?? [])
    let items = [("a.bin", "one"), ("b.bin", "two")].map { name, text in
      """
      {"segment":"files","url":"\(ground.server.address("/pub/\(name)"))","size":3,\
      "sha256":"\(Digest.hexadecimal(Array(text.utf8)))"}

      """
    }
    #expect(
      ground.lock == """
        {"format":"prefetch-lockfile/1"}
        {"segment":"files","list":"\(list)","lines":2}

        """ + items.joined()
    )
    let before = FileTree.status(ground.home.path("prefetch.lock"))
    let again = try ground.run("freeze")
    #expect(again.status == 0 && again.output.contains("unchanged"), "\(again)")
    let after = FileTree.status(ground.home.path("prefetch.lock"))
    #expect(before?.st_ino == after?.st_ino)
    let check = try ground.run("freeze", "--check")
    #expect(check.status == 0 && check.errors.isEmpty, "\(check)")
    let json = try ground.run("freeze", "--json").json()
    #expect(json.text("schema") == "prefetch-freeze/1")
  }

  @Test("A frozen run with everything stored asks nothing, however old its list is")
  func frozen() throws {
    try freeze()
    let run = try ground.run("run", "--frozen")
    #expect(run.status == 0, "\(run)")
    #expect(ground.requests.isEmpty)
    let locked = try ground.run("run")
    #expect(locked.status == 0 && ground.requests == ["/pub/list.txt"], "\(locked)")
  }

  @Test("Another body is refused before it is published, and what is stored stays")
  func refused() throws {
    try freeze()
    ground.serve("new", at: "/pub/a.bin")
    let kept = try ground.run("run", "--refetch")
    #expect(kept.status == 5 && kept.errors.contains("[drifted]"), "\(kept)")
    #expect(ground.shown("a.bin") == "one")
    try ground.home.removeCache()
    try #require(ground.home.tool("rm", "-r", ground.home.path("dir")).status == 0)
    let run = try ground.run("run")
    #expect(run.status == 5 && run.errors.contains("[drifted]"), "\(run)")
    #expect(ground.shown("a.bin") == nil && ground.shown("b.bin") == "two")
    // A body of another length is another body, too.
    ground.serve("longer", at: "/pub/a.bin")
    #expect(try ground.run("run").status == 5)
    let unlocked = try ground.run("run", "--set", "lockfile=none")
    #expect(unlocked.status == 0 && ground.shown("a.bin") == "longer", "\(unlocked)")
    let check = try ground.run("freeze", "--check")
    #expect(check.status == 2 && check.output.contains("~ files"), "\(check)")
    #expect(check.output.contains("a.bin") && !check.output.contains("b.bin"), "\(check)")
    #expect(ground.requests.isEmpty)
  }

  @Test("`--update` takes new bodies for its patterns alone")
  func updated() throws {
    try freeze()
    ground.serve("new", at: "/pub/a.bin")
    ground.serve("new", at: "/pub/b.bin")
    let update = try ground.run("freeze", "--update", "a.*")
    #expect(update.status == 0, "\(update)")
    #expect(ground.shown("a.bin") == "new" && ground.shown("b.bin") == "two")
    #expect(ground.lock.contains(Digest.hexadecimal(Array("new".utf8))))
    #expect(ground.lock.contains(Digest.hexadecimal(Array("two".utf8))))
    #expect(try ground.run("freeze", "--update").status == 0)
    #expect(ground.shown("b.bin") == "new")
    #expect(!ground.lock.contains(Digest.hexadecimal(Array("two".utf8))))
    #expect(try ground.run("run", "--frozen").status == 0)
  }

  @Test("A new item of the list is fetched, and refused by a frozen run")
  func listGrows() throws {
    try freeze()
    ground.publish(["a.bin": "one", "b.bin": "two", "c.bin": "three"])
    #expect(try ground.run("run").status == 0)
    #expect(ground.shown("c.bin") == "three")
    try ground.home.removeCache()
    let frozen = try ground.run("run", "--frozen")
    #expect(frozen.status == 3 && frozen.errors.contains("[not_in_lockfile]"), "\(frozen)")
    #expect(!ground.requests.contains("/pub/c.bin"))
    #expect(ground.requests.contains("/pub/a.bin"))
    let check = try ground.run("freeze", "--check")
    #expect(check.status == 3, "\(check)")
  }

  @Test("A frozen run fetches what is locked, although the list has lost it")
  func listShrinks() throws {
    try freeze()
    ground.publish(["b.bin": "two"])
    try ground.home.removeCache()
    let frozen = try ground.run("run", "--frozen")
    #expect(frozen.status == 0, "\(frozen)")
    #expect(ground.shown("a.bin") == "one" && ground.shown("b.bin") == "two")
    #expect(try ground.run("run", "--allow", "mass-removal").status == 0)
    #expect(ground.shown("a.bin") == nil)
  }

  @Test("A list that states another digest or size than the lock is refused without a request")
  func contradicted() throws {
    let digest = Digest.hexadecimal(Array("one".utf8))
    ground.serve("one", at: "/pub/a.bin")
    ground.serve("\(digest)  a.bin\n", at: "/pub/SHA256SUMS")
    ground.home.configure(
      ground.configuration(
        "  - { name: sums, manifest: \"\(ground.server.address("/pub/SHA256SUMS"))\", publish: { dir: dir, layout: basename } }"
      )
    )
    #expect(try ground.run("run").status == 0)
    #expect(try ground.run("freeze").status == 0)
    #expect(ground.lock.contains("\"path\":\"a.bin\""))
    let other = Digest.hexadecimal(Array("new".utf8))
    ground.serve("\(other)  a.bin\n", at: "/pub/SHA256SUMS")
    ground.serve("new", at: "/pub/a.bin")
    let run = try ground.run("run")
    #expect(run.status == 5 && run.errors.contains("[drifted]"), "\(run)")
    #expect(ground.requests == ["/pub/SHA256SUMS"])
    #expect(ground.shown("a.bin") == "one")
    let plan = try ground.run("plan", "--json")
    let drift = try plan.json().list("drift")
    #expect(drift.first?.text("change") == "changed", "\(plan)")
  }

  @Test("A plan names added, changed and missing items, as HEAD requests show them")
  func drift() throws {
    try freeze(["a.bin": "one", "b.bin": "two"])
    let same = try ground.run("plan", "--json")
    #expect(try same.status == 0 && same.json().list("drift").isEmpty, "\(same)")
    ground.serve("new", at: "/pub/a.bin")
    ground.site["/pub/b.bin"] = nil
    let plan = try ground.run("plan", "--json")
    #expect(plan.status == 0, "\(plan)")
    #expect(ground.site.requests.allSatisfy { $0.path == "/pub/list.txt" || $0.method == "HEAD" })
    let changes = try plan.json().list("drift").map {
      "\($0.text("change") ?? "") \($0.text("url") ?? "")"
    }
    let address = ground.server.address("/pub/")
    #expect(changes.sorted() == ["changed \(address)a.bin", "gone \(address)b.bin"])
    ground.publish(["b.bin": "two", "c.bin": "three"])
    ground.site["/pub/a.bin"] = nil
    let moved = try ground.run("plan", "--json")
    let found = try moved.json().list("drift").map {
      "\($0.text("change") ?? "") \($0.text("url") ?? "")"
    }
    #expect(found.sorted() == ["added \(address)c.bin", "gone \(address)a.bin"], "\(moved)")
    let text = try ground.run("plan")
    #expect(text.errors.contains("2 items drifted from the lock"), "\(text)")
    let quick = try ground.run("plan", "--no-probe")
    #expect(!ground.site.requests.contains { $0.method == "HEAD" }, "\(quick)")
  }

  @Test("Nothing is written while an item is not stored")
  func notStored() throws {
    ground.publish(["a.bin": "one", "b.bin": "two"])
    ground.declare()
    let early = try ground.run("freeze")
    #expect(early.status == 3 && early.errors.contains("there is no cache"), "\(early)")
    ground.site["/pub/b.bin"] = nil
    #expect(try ground.run("run").status == 3)
    let frozen = try ground.run("freeze")
    #expect(frozen.status == 3 && frozen.errors.contains("[freeze.not-stored]"), "\(frozen)")
    #expect(frozen.errors.contains("b.bin") && ground.lock.isEmpty)
    let missing = try ground.run("run", "--frozen")
    #expect(missing.status == 78 && missing.errors.contains("[lockfile.missing]"), "\(missing)")
    ground.declare("", "lockfile: other.lock")
    let named = try ground.run("run")
    #expect(named.errors.contains("[lockfile.missing]") && named.status == 3, "\(named)")
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var line: Int
    /// Text that is replaced, and the text in its place; the last line is repeated if nil.
    var replacement: (String, String)?
    var dropped = 0

    static func text(_ name: String, _ line: Int, _ old: String, _ new: String) -> Damage {
      Damage(testDescription: name, line: line, replacement: (old, new))
    }

    func apply(to text: String) -> String {
      if dropped > 0 { return String(text.dropLast(dropped)) }
      guard let replacement else {
        return text + (text.split(separator: "\n").last ?? "") + "\n"
      }
      return text.replacing(replacement.0, with: replacement.1)
    }
  }

  static let damages: [Damage] = [
    Damage(testDescription: "empty", line: 1, dropped: 10_000),
    .text("no head", 1, "{\"format\":\"prefetch-lockfile/1\"}\n", ""),
    .text("newer", 1, "lockfile/1", "lockfile/2"),
    .text("no JSON", 3, "{\"segment\":\"files\",\"url\"", "<<<<\n{"),
    Damage(testDescription: "cut", line: 4, dropped: 40),
    .text("line lost", 2, "\"lines\":2", "\"lines\":3"),
    Damage(testDescription: "twice", line: 5),
    .text("short digest", 3, "\"sha256\":\"", "\"sha256\":\"0"),
    .text("negative size", 3, "\"size\":3", "\"size\":-3"),
    .text("size as text", 3, "\"size\":3", "\"size\":\"3\""),
    .text("no http", 3, "\"url\":\"http", "\"url\":\"ftp"),
    .text("unknown key", 3, "\"size\"", "\"length\""),
    .text("segment", 3, "{\"segment\":\"files\",\"url\"", "{\"segment\":\"x\",\"url\""),
    .text("control", 2, "files", "\u{0}"),
  ]

  @Test("A damaged lock file is refused with its line", arguments: damages)
  func damaged(damage: Damage) throws {
    try freeze()
    ground.home.write(damage.apply(to: ground.lock), to: "prefetch.lock")
    for command in [["run"], ["plan"], ["freeze", "--check"]] {
      let run = try ground.home.run(command)
      #expect(run.status == 78, "\(run)")
      #expect(run.errors.contains("prefetch.lock:\(damage.line):1: error:"), "\(run)")
    }
    #expect(try ground.run("freeze").status == 0)
    #expect(try ground.run("run", "--frozen").status == 0)
  }

  @Test("The lock file is a list: a machine without the configuration takes exactly its items")
  func list() throws {
    try freeze()
    ground.publish(["a.bin": "one", "b.bin": "other"], as: "/elsewhere.txt")
    let words = [
      "--set", "transport_security.NSAllowsLocalNetworking=true", "--set", "cache.min_free=0",
    ]
    let mirror = try ground.home.run(["mirror", "prefetch.lock", "copy"] + words)
    #expect(mirror.status == 5 && mirror.errors.contains("[drifted]"), "\(mirror)")
    #expect(
      ground.home.read("copy/pub/a.bin") == "one" && ground.home.read("copy/pub/b.bin") == nil
    )
    ground.serve("two", at: "/pub/b.bin")
    #expect(try ground.home.run(["mirror", "prefetch.lock", "copy"] + words).status == 0)
    #expect(ground.home.read("copy/pub/b.bin") == "two")
    let check = try ground.home.run(["manifest", "check", "prefetch.lock"])
    #expect(check.status == 0, "\(check)")
  }

  @Test("A secret in a URL is written as its placeholder, and refused in a list from a server")
  func secrets() throws {
    ground.home.write("s3cret-token", to: "token")
    ground.serve("one", at: "/s3cret-token/a.bin")
    let address = ground.server.address("/")
    ground.home.configure(
      ground.configuration("  - { name: own, urls: [\"\(address)${file:token}/a.bin\"] }")
    )
    #expect(try ground.run("run").status == 0)
    #expect(try ground.run("freeze").status == 0)
    #expect(!ground.lock.contains("s3cret"), "\(ground.lock)")
    #expect(ground.lock.contains("${file:token}/a.bin"), "\(ground.lock)")
    let frozen = try ground.run("run", "--frozen")
    #expect(frozen.status == 0 && ground.requests.isEmpty, "\(frozen)")
    ground.serve("new", at: "/s3cret-token/a.bin")
    try ground.home.removeCache()
    #expect(try ground.run("run").status == 5)
    ground.serve("new\n", at: "/s3cret-token/list.txt")
    ground.serve("\(address)s3cret-token/a.bin\n", at: "/s3cret-token/list.txt")
    ground.home.configure(
      ground.configuration(
        "  - { name: own, manifest: \"\(address)${file:token}/list.txt\" }",
        "lockfile: other.lock"
      )
    )
    #expect(try ground.run("run").status == 0)
    let refused = try ground.run("freeze")
    #expect(refused.status == 78 && refused.errors.contains("[freeze.secret]"), "\(refused)")
    #expect(!refused.errors.contains("s3cret") && ground.home.read("other.lock") == nil)
  }

  @Test("A lock of one segment leaves the lines of the others")
  func oneSegment() throws {
    ground.publish(["a.bin": "one"])
    ground.publish(["z.bin": "last"], as: "/pub/other.txt")
    ground.home.configure(
      ground.configuration(
        """
          - { name: one, manifest: "\(ground.server.address("/pub/list.txt"))" }
          - { name: two, manifest: "\(ground.server.address("/pub/other.txt"))" }
        """
      )
    )
    #expect(try ground.run("run").status == 0)
    #expect(try ground.run("freeze", "two").status == 0)
    #expect(!ground.lock.contains("a.bin") && ground.lock.contains("z.bin"))
    ground.serve("new", at: "/pub/a.bin")
    ground.serve("new", at: "/pub/z.bin")
    // The lock covers only the segments that it names.
    let run = try ground.run("run", "--revalidate")
    #expect(run.status == 5 && run.errors.contains("z.bin"), "\(run)")
    #expect(!run.errors.contains("a.bin: "), "\(run)")
    #expect(try ground.run("freeze", "one").status == 0)
    #expect(ground.lock.contains("a.bin") && ground.lock.contains("z.bin"))
    #expect(ground.lock.contains(Digest.hexadecimal(Array("last".utf8))))
    let wrong = try ground.run("freeze", "three")
    #expect(wrong.status == 64, "\(wrong)")
  }

  @Test("A mirror with `--frozen` locks what it holds, and then takes nothing else")
  func mirror() throws {
    ground.publish(["a.bin": "one", "b.bin": "two"])
    let list = ground.server.address("/pub/list.txt")
    let words = [
      "mirror", list, "dir", "--set", "transport_security.NSAllowsLocalNetworking=true",
      "--set", "cache.min_free=0",
    ]
    let first = try ground.home.run(words + ["--frozen"])
    #expect(first.status == 0 && first.errors.contains("locked 2 items"), "\(first)")
    #expect(ground.home.read("dir/.prefetch/prefetch.lock")?.contains("a.bin") == true)
    ground.serve("new", at: "/pub/a.bin")
    ground.site.clearRequests()
    #expect(try ground.home.run(words + ["--frozen"]).status == 0)
    #expect(ground.requests.isEmpty)
    // Without the option a mirror takes what its list has now.
    #expect(try ground.home.run(words).status == 0)
    #expect(ground.home.read("dir/pub/a.bin") == "new")
    let back = try ground.home.run(words + ["--frozen"])
    #expect(back.status == 5 && back.errors.contains("[drifted]"), "\(back)")
    try #require(
      ground.home.tool("rm", ground.home.path("dir/.prefetch/prefetch.lock")).status == 0
    )
    let again = try ground.home.run(words + ["--frozen"])
    #expect(again.status == 0 && again.errors.contains("locked 2 items"), "\(again)")
    let piped = try ground.home.run(["mirror", "-", "other", "--frozen"])
    #expect(piped.status == 64, "\(piped)")
  }

  @Test("A shard is not locked, and a frozen shard takes its part")
  func sharded() throws {
    try freeze()
    #expect(try ground.home.run("run", "--shard", "0/2", "--cache-dir", "part").status == 0)
    let frozen = try ground.home.run("freeze", "--cache-dir", "part")
    #expect(frozen.status == 64, "\(frozen)")
    let part = try ground.home.run("run", "--frozen", "--shard", "1/2", "--cache-dir", "other")
    #expect(part.status == 0, "\(part)")
    ground.site.clearRequests()
    let again = try ground.home.run("run", "--frozen", "--shard", "1/2", "--cache-dir", "other")
    #expect(again.status == 0 && ground.requests.isEmpty, "\(again)")
  }

  @Test("A lock of packages for one platform is refused on another")
  func platform() throws {
    let wheel = "left-1.0-py3-none-any.whl"
    ground.serve("wheel", at: "/\(wheel)")
    let digest = Digest.hexadecimal(Array("wheel".utf8))
    ground.home.write(
      "left @ \(ground.server.address("/\(wheel)")) --hash=sha256:\(digest)\n",
      to: "requirements.txt"
    )
    ground.home.configure(
      ground.configuration("  - { name: wheels, manifest: requirements.txt, format: pip }")
    )
    let run = try ground.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(try ground.run("freeze").status == 0)
    #expect(ground.lock.contains("\"platform\":\"linux/"), "\(ground.lock)")
    #expect(try ground.run("run", "--frozen").status == 0)
    ground.home.write(
      ground.lock.replacing("\"platform\":\"linux/", with: "\"platform\":\"other/"),
      to: "prefetch.lock"
    )
    let other = try ground.run("run")
    #expect(other.status == 78 && other.errors.contains("[lockfile.platform]"), "\(other)")
  }

  @Test("What stores nothing is left out, and runs under a frozen lock as before")
  func leftOut() throws {
    ground.publish(["a.bin": "one"])
    ground.publish(["w.bin": "warm"], as: "/pub/warm.txt")
    ground.home.configure(
      ground.configuration(
        """
          - { name: files, manifest: "\(ground.server.address("/pub/list.txt"))" }
          - { name: warm, manifest: "\(ground.server.address("/pub/warm.txt"))", store: false }
        """
      )
    )
    #expect(try ground.run("run").status == 0)
    let frozen = try ground.run("freeze")
    #expect(frozen.status == 0 && frozen.errors.contains("1 item left out"), "\(frozen)")
    #expect(!ground.lock.contains("w.bin"))
    let run = try ground.run("run", "--frozen")
    #expect(run.status == 0 && ground.requests == ["/pub/w.bin", "/pub/warm.txt"], "\(run)")
  }
}
