@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// Monitoring sees every trouble until a run or a person has removed it.
@Suite("Trouble in `status`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct StandingTroubleTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/two": Site.Page("two")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
  }

  private func declare(digest: String, history: Int = 50, more: String = "") {
    home.configure(
      """
      cache: { min_free: 0 }
      report: { history: \(history) }
      segments:
        - name: checked
          required: false
          urls: [{ url: "\(server.address("/one"))", sha256: \(digest) }]
        - { name: plain, urls: ["\(server.address("/two"))"] }
      \(more)
      """
    )
  }

  private func probe(_ words: String...) throws -> ProgramRun {
    try home.run(["status", "--nagios"] + words)
  }

  @Test(
    "A security failure of a segment is critical until that segment has run well",
    arguments: [50, 0]
  )
  func trustStands(history: Int) throws {
    declare(digest: Digest.hexadecimal(Array("other".utf8)), history: history)
    #expect(try home.run("run", "-q").status == 5)
    #expect(try home.run("run", "-q", "plain").status == 0)
    let run = try probe()
    #expect(run.status == 2, "\(run)")
    let text = "PREFETCH CRITICAL - segment `checked` failed a security check | age="
    #expect(run.output.hasPrefix(text), "\(run)")
    declare(digest: Digest.hexadecimal(Array("one".utf8)), history: history)
    #expect(try home.run("run", "-q", "checked").status == 0)
    #expect(try probe().output.hasPrefix("PREFETCH OK - 1 segment as declared"))
  }

  @Test("A deferred run of a segment does not lift its security failure")
  func trustStandsOverDeferral() throws {
    declare(digest: Digest.hexadecimal(Array("other".utf8)))
    #expect(try home.run("run", "-q").status == 5)
    let wait = ["--network", "cellular", "--set", "network.allow=wifi"]
    // The segment is not required, so that its wait does not count.
    #expect(try home.run(["run", "-q", "checked"] + wait).status == 0)
    #expect(try home.run("status", "--json").json().text("segments.0.deferred.rule") != nil)
    #expect(try probe().status == 2)
  }

  @Test("A segment or a mirror whose first run failed is critical, and not unknown")
  func firstRunFailed() throws {
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: files, manifest: "\(server.address("/gone"))", format: list }]
      """
    )
    #expect(try home.run("run", "-q").status == 4)
    let run = try probe()
    #expect(run.status == 2, "\(run)")
    #expect(run.output.hasPrefix("PREFETCH CRITICAL - segment `files` has failed"), "\(run)")

    let ground = try MirrorGround()
    let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
    ground.publish(files: ["a": "one"])
    for (folder, path, words, text) in [
      ("missing", "/nowhere", [], "segment `mirror` has failed"),
      (
        "unsigned", "/pub/SHA256SUMS", ["--set", "segments.mirror.manifest_keys=\(key)"],
        "segment `mirror` failed a security check"
      ),
    ] as [(String, String, [String], String)] {
      let made = try ground.mirror([ground.server.address(path), folder, "-q"] + words)
      #expect(made.status == (words.isEmpty ? 4 : 5), "\(made)")
      let seen = try ground.home.run("status", "--nagios", "--cache-dir", "\(folder)/.prefetch")
      #expect(seen.status == 2, "\(seen)")
      #expect(seen.output.hasPrefix("PREFETCH CRITICAL - \(text)"), "\(seen)")
    }
  }

  // MARK: Trees

  private func publish(_ folder: String) throws {
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: files
          urls: ["\(server.address("/one"))", "\(server.address("/two"))"]
          publish: { dir: "\(home.path(folder))", layout: basename, link: copy }
      """
    )
    try #require(home.run("run", "-q").status == 0)
    try #require(probe().status == 0)
  }

  private func expectUnseen(_ words: String, hint: String) throws {
    let line = try probe()
    #expect(line.status == 1, "\(line)")
    #expect(
      line.output.hasPrefix("PREFETCH WARNING - segment `files` is incomplete: published files: "),
      "\(line)"
    )
    let age = try home.run("status", "--max-age", "1h")
    #expect(age.status == 3, "\(age)")
    #expect(age.output.contains(words), "\(age)")
    #expect(age.errors.contains(hint), "\(age)")
    #expect(try home.run("status", "--json").json().text("segments.0.state") == "incomplete")
  }

  @Test("A published tree behind a dangling link is a warning of `status`")
  func danglingLink() throws {
    try publish("tree")
    _ = try home.tool("mv", home.path("tree"), home.path("kept"))
    try #require(unsafe symlink("nowhere", home.path("tree")) == 0)
    try expectUnseen("files: cannot be looked at", hint: "put the folder back")
    let verified = try home.run("verify")
    #expect(verified.status == 74, "\(verified)")
    #expect(verified.errors.contains("[publish.unread]"), "\(verified)")
    try #require(unsafe unlink(home.path("tree")) == 0)
    _ = try home.tool("mv", home.path("kept"), home.path("tree"))
    #expect(try probe().status == 0)
  }

  @Test("A published tree whose parent is missing is a warning of `status`")
  func missingParent() throws {
    try publish("disk/tree")
    _ = try home.tool("mv", home.path("disk"), home.path("kept"))
    try #require(unsafe symlink("nowhere", home.path("disk")) == 0)
    try expectUnseen("files: 1 missing", hint: "1 missing, the first `\(home.path("disk/tree"))`")
  }

  @Test(
    "A published tree that this user may not read is a warning of `status`",
    .enabled(if: geteuid() == 0, "needs root, to become another user")
  )
  func forbiddenFolder() throws {
    try publish("tree")
    var home = home
    try home.give(to: 65_534)
    try #require(home.tool("chmod", "0", home.path("tree")).status == 0)
    let line = try home.run("status", "--nagios")
    #expect(line.status == 1 && line.output.contains("cannot be looked at"), "\(line)")
    let run = try home.run("status")
    #expect(run.errors.contains("tree`: Permission denied"), "\(run)")
    #expect(run.errors.contains("let this user read the folder"), "\(run)")
  }

  @Test("`status` counts a published file that was edited in its place")
  func editedInPlace() throws {
    try publish("tree")
    try #require(home.shell("printf ONES >>'\(home.path("tree/one"))'").status == 0)
    let line = try probe()
    #expect(line.status == 1 && line.output.contains("published files: 1 changed"), "\(line)")
    #expect(try home.run("status").output.contains("files: 1 changed"))
  }

  @Test(
    "A published tree that belongs to root is one error, which names the folder and its owner",
    .enabled(if: geteuid() == 0, "needs root, to become another user")
  )
  func unmountedFolder() throws {
    try publish("disk/tree")
    var home = home
    try home.give(to: 65_534)
    // The folder below a mount point belongs to root.
    try #require(home.tool("rm", "-r", home.path("disk/tree")).status == 0)
    FileTree.makeFolder(home.path("disk/tree"))
    let verified = try home.run("verify")
    let advice = "is missing; let the user of the runs write into `\(home.path("disk/tree"))`"
    #expect(verified.errors.contains(advice), "\(verified)")
    let run = try home.run("run", "-q")
    #expect(run.status == 74, "\(run)")
    let errors = run.errors.split(separator: "\n").filter { $0.hasPrefix("error:") }
    #expect(errors.count == 1, "\(run)")
    #expect(run.errors.contains("disk/tree`, which belongs to user 0"), "\(run)")
    #expect(run.errors.contains("mount the disk if one belongs there"), "\(run)")
  }
}
