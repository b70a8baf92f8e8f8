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
    let text = "PREFETCH CRITICAL - segment `checked` failed a security check: `"
    #expect(run.output.hasPrefix(text), "\(run)")
    declare(digest: Digest.hexadecimal(Array("one".utf8)), history: history)
    #expect(try home.run("run", "-q", "checked").status == 0)
    #expect(try probe().output.hasPrefix("PREFETCH OK - 1 segment as declared"))
  }

  @Test("Monitoring shows no secret of a failure, also where it cannot read the secret")
  func secretOfFailure() throws {
    home.write("very-secret-token", to: "token")
    try #require(unsafe chmod(home.path("token"), 0o600) == 0)
    let url = server.address("/${file:\(home.path("token"))}/gone")
    home.configure("cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(url)\"] }]")
    #expect(try home.run("run", "-q").status == 4)
    FileTree.remove(home.path("token"))
    let line = try probe()
    #expect(line.status == 2 && line.output.contains("answered 404"), "\(line)")
    #expect(!line.output.contains("very-secret-token"), "\(line)")
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

  @Test(
    "A published tree whose disk is not mounted is critical, and each command names the folder",
    arguments: ["disk", "disk/tree"],
    ["empty", "missing", "dangling"]
  )
  func unmountedDisk(folder: String, disk: String) throws {
    try publish(folder)
    _ = try home.tool("mv", home.path("disk"), home.path("kept"))
    switch disk {
    case "empty": FileTree.makeFolder(home.path("disk"))
    case "dangling": try #require(unsafe symlink("nowhere", home.path("disk")) == 0)
    default: break
    }
    // The link in place of a tree is no folder that could be mounted.
    if folder == "disk", disk == "dangling" { return }
    let words =
      "segment `files` has lost all published files (2): "
      + "`\(home.path("disk"))` is \(disk == "empty" ? "empty" : "missing")"
    let line = try probe("--max-age", "1h")
    #expect(line.status == 2, "\(line)")
    #expect(line.output.hasPrefix("PREFETCH CRITICAL - \(words)"), "\(line)")
    let age = try home.run("status", "--max-age", "1h")
    #expect(age.status == 3 && age.output.contains("files: all 2 missing"), "\(age)")
    let document = try home.run("status", "--json").json()
    #expect(document.number("segments.0.published_files.missing") == 2)
    let verified = try home.run("verify")
    #expect(verified.status == 74, "\(verified)")
    #expect(verified.output.contains("2 published files looked at, 2 not as"), "\(verified)")
    for run in [age, verified] {
      #expect(run.errors.contains(words), "\(run)")
      #expect(run.errors.contains("mount the disk if one belongs there"), "\(run)")
      #expect(run.errors.split(separator: "\n").count == 2, "\(run)")
    }
    let bad = try home.run("verify", "--json").json().list("published.bad")
    #expect(bad.count == 1 && bad.first?.number("files") == 2)
    _ = try home.tool("rm", "-r", home.path("disk"))
    _ = try home.tool("mv", home.path("kept"), home.path("disk"))
    #expect(try probe().status == 0)
  }

  @Test("A published tree of which one file is left is a warning of `status`")
  func partOfTree() throws {
    try publish("tree")
    FileTree.remove(home.path("tree/one"))
    let line = try probe()
    #expect(line.status == 1 && line.output.contains("published files: 1 missing"), "\(line)")
    let run = try home.run("status")
    #expect(run.errors.contains("hint: the next run publishes missing files again\n"), "\(run)")
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
    let run = try home.run("status")
    #expect(run.output.contains("files: 1 changed"), "\(run)")
    #expect(run.errors.contains("hint: `prefetch verify --repair` drops changed files"), "\(run)")
    #expect(!run.errors.contains("publishes missing"), "\(run)")
    #expect(try home.run("verify", "--repair").status == 74)
    #expect(try home.run("run", "-q").status == 0)
    #expect(try probe().status == 0)
  }

  @Test("Monitoring says why a segment is incomplete after the disk of its tree has come back")
  func diskIsBack() throws {
    try publish("disk/tree")
    _ = try home.tool("mv", home.path("disk"), home.path("kept"))
    // A file in the place of the disk fails for root as well.
    home.write("", to: "disk")
    site["/one"] = Site.Page("new")
    #expect(try home.run("run", "-q").status == 74)
    FileTree.remove(home.path("disk"))
    _ = try home.tool("mv", home.path("kept"), home.path("disk"))
    let line = try probe()
    #expect(line.status == 1, "\(line)")
    let text =
      "PREFETCH WARNING - segment `files` is incomplete: its last run failed: `\(home.path("disk"))`"
    #expect(line.output.hasPrefix(text), "\(line)")
    #expect(try home.run("run", "-q").status == 0)
    #expect(try probe().status == 0)
  }

  @Test("A segment whose first run has not ended is unknown, with and without a limit of age")
  func firstRun() throws {
    let gate = Gate()
    let site = site
    let server = try LoopbackServer { request in
      let response = site.respond(to: request)
      return request.path == "/two" ? Script([.pause(gate)] + response.steps) : response
    }
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: files, urls: ["\(server.address("/one"))", "\(server.address("/two"))"] }
      """
    )
    let running = try home.start(["run", "-q"])
    try #require(server.waitForRequest("/two"))
    for words in [[], ["--max-age", "1h"]] {
      let line = try home.run(["status", "--nagios"] + words)
      #expect(line.status == 3, "\(line)")
    }
    gate.open()
    #expect(running.finish().status == 0)
    #expect(try probe("--max-age", "1h").status == 0)
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: files, urls: ["\(server.address("/one"))", "\(server.address("/two"))"] }
        - { name: new, urls: ["\(server.address("/one"))"] }
      """
    )
    let line = try probe("--max-age", "1h")
    #expect(line.status == 3, "\(line)")
    let text = "PREFETCH UNKNOWN - segment `new` has not finished a run yet"
    #expect(line.output.hasPrefix(text), "\(line)")
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
    let folder = home.path("disk/tree")
    #expect(verified.errors.contains("(2): `\(folder)` is empty"), "\(verified)")
    let advice = "makes the files again, if its user may write into `\(folder)`"
    #expect(verified.errors.contains(advice), "\(verified)")
    let run = try home.run("run", "-q")
    #expect(run.status == 74, "\(run)")
    let errors = run.errors.split(separator: "\n").filter { $0.hasPrefix("error:") }
    #expect(errors.count == 1, "\(run)")
    #expect(run.errors.contains("disk/tree`, which belongs to user 0"), "\(run)")
    #expect(run.errors.contains("mount the disk if one belongs there"), "\(run)")
  }
}
