@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("The folders of cache and state", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct FolderAccessTests {
  private let server: LoopbackServer

  init() throws {
    server = try LoopbackServer { .respond(200, text: "body of \($0.path)") }
  }

  private func home(_ further: String = "") throws -> Home {
    let home = try Home(isInMemory: true)
    home.configure(
      """
      cache: { min_free: 0\(further) }
      segments: [{ name: site, urls: ["\(server.address("/a"))"] }]
      """
    )
    return home
  }

  private func mode(_ path: String) throws -> UInt32 {
    try #require(FileTree.status(path)).st_mode & 0o7777
  }

  @Test("The folders of cache and state are private, and a shared cache is readable by others")
  func modesOfNewFolders() throws {
    let own = try home()
    try #require(own.run("run", "-q").status == 0)
    #expect(try mode(own.cache) == 0o700)
    #expect(try mode(own.state) == 0o700)
    let shared = try home(", shared: true")
    try #require(shared.run("run", "-q").status == 0)
    #expect(try mode(shared.cache) == 0o755)
    #expect(try mode(shared.state) == 0o700)
    for name in ["index.sqlite", "index.backup.sqlite"] {
      #expect(try mode("\(own.cache)/\(name)") == 0o600)
      #expect(try mode("\(shared.cache)/\(name)") == 0o644)
    }
    #expect(try mode("\(own.state)/state.sqlite") == 0o600)
    try #require(shared.run("run", "-q", "--set", "cache.shared=false").status == 0)
    #expect(try mode("\(shared.cache)/index.sqlite") == 0o600)
  }

  @Test(
    "Another user may ask for the status of a shared cache, whose state stays private",
    .enabled(if: geteuid() == 0, "needs root, to become another user")
  )
  func statusOfSharedCache() throws {
    let owner = try home(", shared: true")
    try #require(owner.run("run", "-q").status == 0)
    try #require(unsafe chmod(owner.folder.path, 0o755) == 0)
    func ask(_ words: String...) throws -> ProgramRun {
      try owner.tool(
        "setpriv",
        ["--reuid=65534", "--regid=65534", "--clear-groups", #require(Binary.path), "status"]
          + words
      )
    }
    let before = FileTree.listing(owner.folder.path)
    let run = try ask()
    #expect(run.status == 0 && run.output.hasPrefix("site\tcurrent\t1 item"), "\(run)")
    #expect(run.errors.contains("is private to the user of the runs"), "\(run)")
    #expect(run.errors.split(separator: "\n").count == 2, "\(run)")
    #expect(try ask("--max-age", "1h").status == 0)
    let line = try ask("--nagios")
    #expect(line.status == 3, "\(line)")
    #expect(line.output.contains("only the user of the runs may read the state"), "\(line)")
    #expect(FileTree.listing(owner.folder.path) == before)
    let own = try home()
    try #require(own.run("run", "-q").status == 0)
    try #require(unsafe chmod(own.folder.path, 0o755) == 0)
    let refused = try own.tool(
      "setpriv",
      ["--reuid=65534", "--regid=65534", "--clear-groups", #require(Binary.path), "status"]
    )
    #expect(refused.status == 74, "\(refused)")
    #expect(
      refused.errors.contains("run it as the owner of the folder, or let this user in"),
      "\(refused)"
    )
  }

  @Test(
    "A folder that every user may write ends a command with 74 and names the fix",
    arguments: [true, false]
  )
  func worldWritableFolderIsRefused(_ isCache: Bool) throws {
    let home = try home()
    try #require(home.run("run", "-q").status == 0)
    let path = isCache ? home.cache : home.state
    for mode: mode_t in [0o775, 0o1777] {
      try #require(unsafe chmod(path, mode) == 0)
      let run = try home.run("run", "-q")
      #expect(run.status == 0, "\(String(mode, radix: 8)): \(run)")
    }
    try #require(unsafe chmod(path, 0o777) == 0)
    for command in ["run", "list", "verify"] {
      let run = try home.run(command)
      #expect(run.status == 74 && run.errors.contains("`chmod o-w \(path)`"), "\(run)")
    }
    let shared = try home.run("run", "--set", "cache.shared=true")
    #expect(shared.status == 0, "\(shared)")
    try #require(home.tool("chmod", "o-w", path).status == 0)
    #expect(try home.run("run", "-q").status == 0)
  }

  @Test(
    "A folder of another user is refused, unless the configuration shares it",
    .enabled(if: geteuid() == 0, "needs root, to become another user")
  )
  func folderOfOtherUserIsRefused() throws {
    var home = try home()
    try #require(home.run("run", "-q").status == 0)
    try home.give(to: 65_534)
    try #require(home.run("run", "-q").status == 0)
    try #require(home.tool("chown", "12345", home.cache).status == 0)
    try #require(unsafe chmod(home.cache, 0o775) == 0)
    let run = try home.run("run")
    #expect(run.status == 74 && run.errors.contains("`chown 65534 \(home.cache)`"), "\(run)")
    try #require(home.tool("chown", "0", home.cache).status == 0)
    let list = try home.run("list")
    #expect(list.status == 0, "root may own it: \(list)")
  }

  @Test(
    "The root of a mounted volume may have any mode",
    .enabled(if: SmallDisk.isAvailable, "needs the right to mount")
  )
  func mountedVolumeIsAccepted() throws {
    let home = try home()
    let disk = try #require(SmallDisk(bytes: 16 << 20, at: home.path("disk")))
    try #require(unsafe chmod(disk.path, 0o777) == 0)
    let run = try home.run("run", "--cache-dir", disk.path)
    #expect(run.status == 0, "\(run)")
  }
}
