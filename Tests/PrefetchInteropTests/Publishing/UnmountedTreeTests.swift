@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// A folder takes the place of the disk, since a tree knows a mount only by another folder.
@Suite(
  "A published tree whose disk is not mounted, or that came back from a backup",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct UnmountedTreeTests {
  struct Ground: CustomTestStringConvertible {
    var folder: String
    var link = "auto"
    var isAtomic = false

    var testDescription: String { "\(folder), \(link)\(isAtomic ? ", atomic" : "")" }
  }

  static let grounds = [
    Ground(folder: "disk"), Ground(folder: "disk", link: "copy"), Ground(folder: "disk/tree"),
    Ground(folder: "disk/tree", isAtomic: true),
  ]

  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    var home = try Home()
    // Root may write into any folder.
    if getuid() == 0 { try home.give(to: 65534) }
    self.home = home
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
  }

  private var owner: Int { home.user ?? Int(getuid()) }

  private func declare(_ files: [String: String], _ ground: Ground) {
    for (name, text) in files { site["/\(name)"] = Site.Page(text) }
    let urls = files.keys.sorted().map { "\"\(server.address("/\($0)"))\"" }
    home.configure(
      """
      segments:
        - name: s
          urls: [\(urls.joined(separator: ", "))]
          publish: { dir: \(ground.folder), layout: basename, link: \(ground.link), atomic: \(ground.isAtomic) }
      cache: { min_free: 0 }
      """
    )
  }

  private func files(_ ground: Ground) -> [String: String] {
    var found: [String: String] = [:]
    for name in FileTree.names(home.path(ground.folder)) {
      found[name] = home.read("\(ground.folder)/\(name)")
    }
    return found
  }

  private func shell(_ script: String) throws {
    let run = try home.shell("set -e; \(script)")
    try #require(run.status == 0, "\(run)")
  }

  /// Runs without a word, and has these files then.
  private func runs(_ wanted: [String: String], _ ground: Ground) throws {
    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(!run.errors.contains("[publish."), "\(run)")
    #expect(files(ground) == wanted)
    let verification = try home.run("verify")
    #expect(verification.status == 0, "\(verification)")
  }

  @Test("A night without the disk forgets no file, and the next one goes on", arguments: grounds)
  func unmounted(_ ground: Ground) throws {
    try shell("mkdir -p disk; chown \(owner) disk")
    declare(["kept": "k", "updated": "old", "dropped": "d"], ground)
    try runs(["kept": "k", "updated": "old", "dropped": "d"], ground)
    try shell("mv disk aside; mkdir -m 0555 disk")
    let later = ["kept": "k", "updated": "new", "added": "a"]
    declare(later, ground)
    for _ in 0..<2 {
      let night = try home.run("run")
      #expect(night.status == 74, "\(night)")
      let lines = night.errors.split(separator: "\n").filter { $0.contains("[publish.permission]") }
      #expect(lines.count == 1, "\(night)")
      #expect(files(ground).isEmpty)
    }
    try shell("rmdir disk; mv aside disk")
    try runs(later, ground)
    declare(["kept": "k"], ground)
    try runs(["kept": "k"], ground)
  }

  @Test("A night that filled the empty folder makes no file foreign", arguments: grounds)
  func filled(_ ground: Ground) throws {
    try shell("mkdir -p disk; chown \(owner) disk")
    let first = ["kept": "k", "other": "o"]
    declare(first, ground)
    try runs(first, ground)
    try shell("mv disk aside; mkdir disk; chown \(owner) disk")
    try runs(first, ground)
    try shell("rm -rf disk; mv aside disk")
    try runs(first, ground)
    declare(["kept": "new"], ground)
    try runs(["kept": "new"], ground)
  }

  @Test("A tree that came back from a backup is prefetch's own", arguments: grounds)
  func restored(_ ground: Ground) throws {
    try shell("mkdir -p disk; chown \(owner) disk")
    let first = ["kept": "k", "other": "o"]
    declare(first, ground)
    try runs(first, ground)
    try shell("cp -a disk backup; rm -rf disk; cp -a backup disk")
    #expect(try home.run("status", "--json").json().text("segments.0.state") == "current")
    #expect(try home.run("verify").status == 0)
    try runs(first, ground)
    declare(["kept": "new"], ground)
    try runs(["kept": "new"], ground)
  }

  @Test("A foreign file in a tree that came back stays foreign")
  func foreign() throws {
    let ground = Ground(folder: "disk", link: "copy")
    try shell("mkdir -p disk; chown \(owner) disk")
    declare(["kept": "k", "other": "o"], ground)
    try runs(["kept": "k", "other": "o"], ground)
    try shell("cp -a disk backup; rm -rf disk; cp -a backup disk")
    try shell("rm disk/other; printf x >disk/other")
    let run = try home.run("run")
    #expect(run.status == 3 && run.errors.contains("stays as it is"), "\(run)")
    declare(["kept": "k"], ground)
    let last = try home.run("run")
    #expect(last.status == 0, "\(last)")
    #expect(files(ground) == ["kept": "k", "other": "x"])
  }
}
