@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A published tree that was changed",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx"),
  .enabled(if: getuid() == 0, "needs root, to act as another user as well")
)
struct ChangedTreeTests {
  enum Deed: String, CaseIterable {
    case run, publish, verify, repair, gc

    var words: [String] {
      switch self {
      case .repair: ["verify", "--repair"]
      default: [rawValue]
      }
    }
  }

  struct Ground: CustomTestStringConvertible {
    var link: String
    var user: Int

    var testDescription: String { "\(link), \(user == 0 ? "root" : "not root")" }
  }

  /// Expected exit status of a command after a change, and words of the line that names the file.
  struct Cell {
    var exit: Int32
    var words: String?
    /// Whether only unreadable files are reported.
    var unreadable = false
  }

  private static func cell(_ change: TreeChange, _ deed: Deed, _ ground: Ground) -> Cell {
    let isLink = ground.link == "hardlink"
    switch (change, deed) {
    case (_, .gc): return Cell(exit: 0)
    case (.written, .run), (.time, .run), (.mode, .run): return Cell(exit: 0)
    case (.written, .publish):
      return Cell(
        exit: 74,
        words: isLink ? "both are dropped, and the next run fetches it again" : "and is replaced"
      )
    case (.written, .verify), (.written, .repair), (.time, .verify), (.time, .repair):
      return Cell(exit: 74, words: "was changed in its place after it was published")
    case (.time, .publish): return Cell(exit: 74, words: "though its bytes are right")
    case (.replaced, .run), (.replaced, .publish):
      return Cell(exit: 3, words: "it is not prefetch's, or was changed since; move it away")
    case (.replaced, .verify), (.replaced, .repair):
      return Cell(exit: 74, words: "is not the file that was published; move it away")
    case (.deleted, .run), (.deleted, .publish): return Cell(exit: 0)
    case (.deleted, .verify), (.deleted, .repair):
      return Cell(exit: 74, words: "is missing; the next run makes it again")
    case (.mode, .publish): return Cell(exit: 0)
    case (.mode, .verify), (.mode, .repair):
      return ground.user != 0 ? Cell(exit: 74, words: "cannot open") : Cell(exit: 0)
    }
  }

  private static let users = [0, 65_534]
  private static let grounds = ["hardlink", "copy"].flatMap { link in
    users.map { Ground(link: link, user: $0) }
  }

  @Test(
    "A changed tree is detected by each command, and the advised command repairs it",
    arguments: grounds
  )
  func table(_ ground: Ground) throws {
    try look(ground, below: nil)
  }

  @Test(
    "A changed tree is detected and repaired where files share their blocks",
    .enabled(if: CloningDisk.isAvailable, "needs btrfs, and the right to mount it"),
    arguments: users
  )
  func clones(_ user: Int) throws {
    let disk = try #require(CloningDisk())
    try look(Ground(link: "reflink", user: user), below: disk.path)
  }

  private func look(_ ground: Ground, below disk: String?) throws {
    let nginx = try Nginx()
    for name in ["a", "b"] { nginx.write("the body of \(name)", to: name) }
    for change in TreeChange.allCases {
      for deed in Deed.allCases {
        try look(ground, change, deed, nginx, below: disk)
      }
    }
  }

  private func look(
    _ ground: Ground,
    _ change: TreeChange,
    _ deed: Deed,
    _ nginx: Nginx,
    below disk: String?
  ) throws {
    var home = try Home(isInMemory: disk == nil)
    let folder = (disk ?? home.folder.path) + "/\(change)-\(deed)"
    home.variables["XDG_CACHE_HOME"] = "\(folder)/cache"
    FileTree.makeFolder(folder)
    home.configure(
      """
      segments:
        - name: site
          urls: [\(nginx.url("a")), \(nginx.url("b"))]
          publish: { dir: \(folder)/tree, layout: basename, link: \(ground.link) }
      cache: { min_free: 0 }
      """
    )
    if ground.user != 0 {
      try #require(home.tool("chown", "-R", "\(ground.user)", folder).status == 0)
      try home.give(to: ground.user)
    }
    try #require(home.run("-q").status == 0)
    let file = "\(folder)/tree/a"
    try change.make(of: file)
    let cell = Self.cell(change, deed, ground)
    let run = try home.run(deed.words)
    let context: Comment = "\(ground.testDescription), \(change), \(deed): \(run)"
    #expect(run.status == cell.exit, context)
    if let words = cell.words {
      #expect(run.errors.contains(words), context)
      #expect(run.errors.contains(words.contains("cannot open") ? "/a`" : file), context)
    } else {
      #expect(run.errors.isEmpty, context)
    }
    try finish(ground, change, deed, home, file)
  }

  /// Follows the command's advice, after which `verify` must find nothing.
  private func finish(
    _ ground: Ground,
    _ change: TreeChange,
    _ deed: Deed,
    _ home: Home,
    _ file: String
  ) throws {
    let context: Comment = "\(ground.testDescription), \(change), \(deed)"
    if change == .replaced {
      #expect(text(file) == "theirs", context)
      try #require(unsafe unlink(file) == 0)
    }
    // Only a check of every file finds a change that touches no folder.
    _ = try home.run("publish")
    let run = try home.run("run")
    #expect(run.status == 0, "\(context) \(run)")
    let quiet = try home.run("verify", "-q")
    #expect(quiet.status == 0, "\(context) \(quiet)")
    #expect(quiet.errors.isEmpty, "\(context) \(quiet)")
    #expect(text(file) == "the body of a", context)
    let mode = try #require(FileTree.status(file)).st_mode & 0o7777
    #expect(mode & 0o444 == 0o444, "\(context) \(String(mode, radix: 8))")
  }

  private func text(_ path: String) -> String? {
    FileTree.read(path).map { String(decoding: $0, as: UTF8.self) }
  }

  private static let orders: [[Deed]] = [
    [.publish, .run, .repair], [.publish, .repair, .run], [.run, .publish, .repair],
    [.run, .repair, .publish], [.repair, .publish, .run], [.repair, .run, .publish],
  ]

  @Test(
    "A tree is repaired after a write through a hard link, in any order of commands",
    arguments: orders,
    [false, true]
  )
  func order(_ deeds: [Deed], _ isAtomic: Bool) throws {
    let nginx = try Nginx()
    let home = try Home(isInMemory: true)
    for name in ["a", "b"] { nginx.write("the body of \(name)", to: name) }
    home.configure(
      """
      segments:
        - name: site
          urls: [\(nginx.url("a")), \(nginx.url("b"))]
          publish: { dir: tree, layout: basename, link: hardlink, atomic: \(isAtomic) }
      cache: { min_free: 0 }
      """
    )
    try #require(home.run("-q").status == 0)
    try TreeChange.written.make(of: home.path("tree/a"))
    var exits: [Int32] = []
    for deed in deeds { exits.append(try home.run(deed.words).status) }
    #expect(exits.contains(74), "\(exits)")
    let last = try home.run("run")
    #expect(last.status == 0, "\(exits) \(last)")
    #expect(home.read("tree/a") == "the body of a", "\(exits)")
    #expect(try home.run("publish", "-q").status == 0)
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test(
    "The step that `verify` names for a changed file cures it",
    arguments: ["hardlink", "copy"]
  )
  func advice(_ link: String) throws {
    let nginx = try Nginx()
    let home = try Home(isInMemory: true)
    for name in ["a", "b"] { nginx.write("the body of \(name)", to: name) }
    home.configure(
      """
      segments:
        - name: site
          urls: [\(nginx.url("a")), \(nginx.url("b"))]
          publish: { dir: tree, layout: basename, link: \(link) }
      cache: { min_free: 0 }
      """
    )
    try #require(home.run("-q").status == 0)
    try TreeChange.written.make(of: home.path("tree/a"))
    let found = try home.run("verify")
    if link == "copy" {
      #expect(found.errors.contains("hint: `prefetch publish site` replaces it"), "\(found)")
      let run = try home.run("publish", "site")
      #expect(run.status == 74, "\(run)")
      #expect(!run.errors.contains("error: "), "\(run)")
      #expect(!run.errors.contains("--repair") && !run.output.contains("failed"), "\(run)")
      #expect(run.output.contains("1 put right: `a`"), "\(run)")
    } else {
      #expect(found.errors.contains("hint: `prefetch verify --repair` drops it with"), "\(found)")
      #expect(try home.run("verify", "--repair").status == 74)
      #expect(try home.run("-q").status == 0)
    }
    #expect(home.read("tree/a") == "the body of a")
    #expect(try home.run("verify").status == 0)
  }

  @Test("A missing tree is reported for its configuration only")
  func gone() throws {
    let nginx = try Nginx()
    let home = try Home(isInMemory: true)
    nginx.write("one", to: "a")
    home.configure(
      """
      segments: [{ name: site, urls: [\(nginx.url("a"))], publish: { dir: tree } }]
      cache: { min_free: 0 }
      """
    )
    try #require(home.run("-q").status == 0)
    try #require(home.tool("rm", "-r", home.path("tree")).status == 0)
    let verify = try home.run("verify")
    #expect(verify.status == 74, "\(verify)")
    let words = "segment `site` has lost all published files (1): `\(home.path("tree"))` is missing"
    #expect(verify.errors.contains(words), "\(verify)")
    FileTree.remove(home.path("prefetch.yaml"))
    let alone = try home.run("verify")
    #expect(alone.status == 0, "\(alone)")
  }

  @Test("A deleted file of a tree returns although the segment sends no request for items")
  func quiet() throws {
    let nginx = try Nginx()
    let home = try Home(isInMemory: true)
    nginx.write("one", to: "a")
    nginx.write(
      Manifest.text([Manifest.Entry("a", digest: Digest.hexadecimal("one"))]),
      to: "manifest.json"
    )
    for isAtomic in [false, true] {
      home.configure(
        """
        segments:
          - name: site
            manifest: \(nginx.url("manifest.json"))
            publish: { dir: tree\(isAtomic), layout: url, atomic: \(isAtomic) }
            ttl: 1d
        cache: { min_free: 0 }
        """
      )
      let file = home.path(
        "tree\(isAtomic)/\(nginx.url("").dropFirst(7).split(separator: "/")[0])/a"
      )
      #expect(try home.run("-q").status == 0)
      FileTree.remove(file)
      #expect(try home.run("--offline", "-q").status == 0)
      #expect(text(file) == "one")
      try #require(
        home.tool(
          "rm",
          "-r",
          home.path("tree\(isAtomic)") + "/\(nginx.url("").dropFirst(7).split(separator: "/")[0])"
        ).status == 0
      )
      #expect(try home.run("--offline", "-q").status == 0)
      #expect(text(file) == "one")
    }
  }
}
