import PrefetchDocuments
import PrefetchSystem
import PrefetchTestSupport
import Testing

/// Commands say that there is nothing to read, in place of a report about nothing.
@Suite("A cache or a state that is missing", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MissingPlaceTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/list": Site.Page("one\n")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
  }

  private func declare(_ more: String = "") {
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: files, manifest: "\(server.address("/list"))", format: list\(more) }
      """
    )
  }

  private static let readers = [["status"], ["list"], ["log"], ["stats"], ["gc"]]

  private func expectLoss(at cache: String, _ words: [String] = []) throws {
    for command in Self.readers {
      for quiet in [[], ["-q"]] {
        let run = try home.run(command + quiet + words)
        #expect(run.status == 0, "\(command): \(run)")
        #expect(run.errors.contains("warning: there is no cache at `\(cache)`"), "\(run)")
        #expect(run.errors.contains("mount the disk if one belongs there"), "\(run)")
      }
    }
    for command in [["verify"], ["verify", "-q"], ["verify", "--repair"]] {
      let run = try home.run(command + words)
      #expect(run.status == 74, "\(run)")
      #expect(run.errors.contains("error: there is no cache at `\(cache)`"), "\(run)")
      #expect(run.output.isEmpty, "\(run)")
    }
    let document = try home.run(["verify", "--json"] + words).json()
    #expect(document.text("schema") == "prefetch-error/1")
  }

  @Test("A named cache that is missing is a warning, and an error of `verify`")
  func namedCache() throws {
    try expectLoss(at: home.path("nowhere"), ["--cache-dir", "nowhere"])
    #expect(!FileTree.exists(home.path("nowhere")))
    FileTree.makeFolder(home.path("empty"))
    try #require(home.tool("chmod", "700", home.path("empty")).status == 0)
    try expectLoss(at: home.path("empty"), ["--cache-dir", "empty"])
  }

  @Test(
    "A cache that runs have filled and that is gone is a warning, and an error of `verify`",
    arguments: [50, 0]
  )
  func usedCache(history: Int) throws {
    declare()
    let words = ["--set", "report.history=\(history)"]
    try #require(home.run(["run", "-q"] + words).status == 0)
    try home.removeCache()
    try expectLoss(at: home.cache)
    #expect(try home.run("run", "-q").status == 0)
    #expect(try home.run("verify").status == 0)
  }

  @Test("Commands of a machine on which nothing has run yet say so")
  func neverRan() throws {
    declare()
    for command in Self.readers {
      let run = try home.run(command)
      #expect(run.status == 0, "\(run)")
      #expect(run.errors.hasPrefix("nothing has run yet: there is no cache at"), "\(run)")
      #expect(try home.run(command + ["-q"]).errors.isEmpty)
    }
    let run = try home.run("verify")
    #expect(run.status == 0 && run.errors.hasPrefix("nothing has run yet"), "\(run)")
    #expect(!FileTree.exists(home.cache) && !FileTree.exists(home.state))
  }

  // MARK: State

  private func removeState(_ path: String? = nil) throws {
    try #require(home.tool("rm", "-r", path ?? home.state).status == 0)
  }

  @Test("A missing state is a warning, and unknown to monitoring")
  func missingState() throws {
    declare()
    try #require(home.run("run", "-q").status == 0)
    try #require(home.run("status", "--nagios").status == 0)
    try removeState()
    for command in ["status", "log", "stats", "verify"] {
      let run = try home.run(command, "-q")
      #expect(run.status == 0, "\(run)")
      #expect(run.errors.contains("[state.missing]"), "\(run)")
      #expect(run.errors.contains("no state of the cache at `\(home.state)`"), "\(run)")
    }
    let line = try home.run("status", "--nagios")
    #expect(line.status == 3, "\(line)")
    let text = "PREFETCH UNKNOWN - there is no state of the cache at `\(home.state)`"
    #expect(line.output.hasPrefix(text), "\(line)")
    #expect(try home.run("run", "-q").status == 0)
    #expect(try home.run("status", "--nagios").status == 0)
  }

  @Test("The state of another cache is no state of this one")
  func otherState() throws {
    declare()
    try #require(home.run("run", "-q").status == 0)
    let mirror = [
      "mirror", server.address("/list"), "tree", "--cache-dir", "cache", "--set",
      "transport_security.NSAllowsLocalNetworking=true", "--set", "cache.min_free=0",
      "--set", "segments.mirror.format=list", "-q",
    ]
    try #require(home.run(mirror).status == 0)
    try #require(home.tool("rm", home.path("tree/one")).status == 0)
    try #require(home.tool("mv", home.path("prefetch.yaml"), home.path("other.yaml")).status == 0)
    let line = try home.run("status", "--nagios", "--cache-dir", "cache")
    #expect(line.status == 3, "\(line)")
    #expect(line.output.contains("or another cache's"), "\(line)")
    let verify = try home.run("verify", "--cache-dir", "cache")
    #expect(verify.status == 74, "\(verify)")
    #expect(verify.errors.contains("`--state-dir`"), "\(verify)")
    let own = ["--cache-dir", "cache", "--state-dir", "tree/.prefetch"]
    #expect(try home.run(["status", "--nagios"] + own).status == 2)
  }

  @Test("A security failure is no mere warning of monitoring where the state is missing or damaged")
  func lostSecurityFailure() throws {
    declare()
    try #require(home.run("run", "-q").status == 0)
    let digest = Digest.hexadecimal(Array("other".utf8))
    site["/list"] = Site.Page("\(server.address("/one"))#sha256=\(digest)\n")
    try #require(home.run("run", "-q").status == 5)
    try #require(home.run("status", "--nagios").status == 2)
    let file = "\(home.state)/state.sqlite"
    FileTree.write(Array("junk".utf8), to: file)
    let damaged = try home.run("status", "--nagios")
    #expect(damaged.status == 3, "\(damaged)")
    #expect(damaged.output.contains("the state at `\(home.state)` is damaged"), "\(damaged)")
    try removeState()
    let line = try home.run("status", "--nagios")
    #expect(line.status == 3, "\(line)")
  }

  @Test("`verify` fails where the state that records published files is missing")
  func unrecordedTree() throws {
    declare(", publish: { dir: tree, layout: basename }")
    try #require(home.run("run", "-q").status == 0)
    try #require(home.run("verify").status == 0)
    try removeState()
    let run = try home.run("verify")
    #expect(run.status == 74, "\(run)")
    let words = "published files of segment `files` cannot be looked at: there is no state"
    #expect(run.errors.contains(words), "\(run)")
    #expect(run.errors.contains("`--state-dir`"), "\(run)")
    #expect(try home.run("status").output.contains("files: cannot be looked at"))
    #expect(try home.run("run", "-q").status == 0)
    #expect(try home.run("verify").status == 0)
  }

  @Test("An exported cache, and one of imported items, needs no state")
  func exportedCache() throws {
    declare()
    try #require(home.run("run", "-q").status == 0)
    try #require(home.run("export", "copy").status == 0)
    try removeState()
    FileTree.remove(home.path("prefetch.yaml"))
    let copy = try home.run("verify", "--cache-dir", "copy")
    #expect(copy.status == 0 && copy.errors.isEmpty, "\(copy)")
    let places = ["--cache-dir", "new", "--state-dir", "state"]
    try #require(home.run(["import", "--cache", "copy"] + places).status == 0)
    let run = try home.run(["verify"] + places)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
  }

  // MARK: Mirrors

  @Test("The cache of a mirror that is not mounted is missing, whatever configuration there is")
  func unmountedMirror() throws {
    declare()
    try #require(home.run("run", "-q").status == 0)
    for folder in ["disk", "nowhere"] {
      if folder == "disk" { FileTree.makeFolder(home.path(folder)) }
      let words = ["--cache-dir", "\(folder)/.prefetch"]
      let run = try home.run(["status"] + words)
      #expect(!run.output.contains("files"), "\(run)")
      let missing = "there is no cache at `\(home.path("\(folder)/.prefetch"))`"
      #expect(run.errors.contains("warning: \(missing)"), "\(run)")
      let line = try home.run(["status", "--nagios"] + words)
      #expect(line.status == 3 && line.output.contains(missing), "\(line)")
      #expect(try home.run(["status", "--max-age", "1h"] + words).status == 3)
      #expect(try home.run(["log"] + words).output.isEmpty)
      #expect(try home.run(["verify"] + words).status == 74)
    }
  }

  @Test("A mirror without its state is unknown to monitoring, and an error of `verify`")
  func mirrorWithoutState() throws {
    declare()
    let ground = try MirrorGround()
    ground.publish(files: ["a": "one"])
    try #require(ground.mirror([ground.server.address("/pub/SHA256SUMS"), "isos"]).status == 0)
    let words = ["--cache-dir", "isos/.prefetch"]
    try #require(ground.home.run(["status", "--nagios"] + words).status == 0)
    try #require(
      ground.home.shell("rm isos/.prefetch/state.sqlite*").status == 0
    )
    let line = try ground.home.run(["status", "--nagios"] + words)
    #expect(line.status == 3 && line.output.contains("there is no state"), "\(line)")
    let run = try ground.home.run(["verify"] + words)
    #expect(run.status == 74, "\(run)")
    #expect(run.errors.contains("files of segment `mirror` cannot be looked at"), "\(run)")
  }

  // MARK: Index

  @Test("`status`, `verify` and `gc` count the same objects")
  func objectCount() throws {
    declare()
    try #require(home.run("run", "-q").status == 0)
    let status = try home.run("status", "--json").json()
    let verified = try home.run("verify", "--json").json()
    #expect(verified.number("checked") == 2)
    #expect(status.number("cache.objects") == 2)
    #expect(status.number("cache.bytes") == verified.number("bytes"))
    let collected = try home.run("gc", "--json").json()
    #expect(collected.number("cache.objects") == 2)
    #expect(collected.number("cache.bytes") == verified.number("bytes"))
  }

  @Test("A damaged index is one warning of each reading command, also under `--quiet`")
  func damagedIndex() throws {
    declare()
    try #require(home.run("run", "-q").status == 0)
    let index = "\(home.cache)/index.sqlite"
    let bytes = try #require(FileTree.read(index))
    for command in ["verify", "status", "list", "stats"] {
      FileTree.write(Array(repeating: 0, count: 100) + bytes[100...], to: index)
      let run = try home.run(command, "-q")
      let warnings = run.errors.split(separator: "\n").filter { $0.contains("warning: ") }
      #expect(run.status == 0 && warnings.count == 1, "\(command): \(run)")
      #expect(warnings.first?.contains("[store.damaged]") == true, "\(command): \(run)")
    }
  }
}
