@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// Links that other users plant in a shared folder, and files that they may write.
@Suite(
  "Attacks by other users of the machine",
  .enabled(if: Binary.isGiven && geteuid() == 0, "\(Binary.absence), and root")
)
struct PlantedLinkTests {
  private static let other: uid_t = 65_534

  private let home: Home
  private let origin: LoopbackServer
  private let shared: String

  init() throws {
    home = try Home(isInMemory: true)
    origin = try LoopbackServer { _ in .respond(200, text: "body") }
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: s, urls: ["\(origin.address("/a"))"] }]
      """
    )
    shared = home.path("shared")
    FileTree.makeFolder(shared)
    try #require(unsafe chmod(shared, 0o1777) == 0)
    home.write("precious", to: "precious")
  }

  private func plant(_ name: String, owner: uid_t = other) throws {
    try #require(unsafe symlink(home.path("precious"), "\(shared)/\(name)") == 0)
    try #require(unsafe lchown("\(shared)/\(name)", owner, owner) == 0)
  }

  @Test(
    "A symbolic link of another user in a sticky folder is not followed for writing"
  )
  func plantedLinks() throws {
    for name in ["get", "report", "+report", "log", "events"] { try plant(name) }
    let get = try home.run("get", origin.address("/a"), "-o", "\(shared)/get")
    #expect(get.status == 74, "\(get)")
    #expect(get.errors.contains("it is a symbolic link of another user"), "\(get)")
    for path in ["\(shared)/report", "+\(shared)/report"] {
      let run = try home.run("run", "--report", "json=\(path)")
      #expect(run.status == 74, "\(run)")
      #expect(run.errors.contains("it is a symbolic link of another user"), "\(run)")
    }
    for option in ["--log-file", "--events"] {
      let run = try home.run("run", option, "\(shared)/\(option == "--events" ? "events" : "log")")
      #expect(run.status == 74, "\(run)")
    }
    #expect(home.read("precious") == "precious")
  }

  @Test("A link of the user, or any link in a folder that only the user can write, is followed")
  func ownLinks() throws {
    try plant("own", owner: 0)
    #expect(try home.run("get", origin.address("/a"), "-o", "\(shared)/own").status == 0)
    #expect(home.read("precious") == "body")
    home.write("precious", to: "precious")
    try #require(unsafe chmod(shared, 0o755) == 0)
    try plant("other")
    #expect(try home.run("get", origin.address("/a"), "-o", "\(shared)/other").status == 0)
    #expect(home.read("precious") == "body")
  }

  @Test("Root starts no hooks of a configuration that others may write")
  func hooksOfOthers() throws {
    let text = """
      cache: { min_free: 0 }
      segments: [{ name: s, urls: ["\(origin.address("/a"))"] }]
      hooks: { run.finished: [touch, ran] }
      """
    home.configure(text)
    let file = home.path("prefetch.yaml")
    for (mode, owner) in [(mode_t(0o646), uid_t(0)), (0o644, Self.other)] {
      try #require(unsafe chmod(file, mode) == 0 && chown(file, owner, 0) == 0)
      for command in ["run", "check", "serve"] {
        let run = try home.run(command)
        #expect(run.status == 78, "\(run)")
        #expect(run.errors.contains("[config.hooks-of-others]"), "\(run)")
      }
      #expect(try home.run("run", "--no-hooks").status == 0)
      #expect(try home.run("plan").status == 0)
    }
    #expect(!FileTree.exists(home.path("ran")))
    try #require(unsafe chmod(file, 0o664) == 0 && chown(file, 0, 0) == 0)
    #expect(try home.run("run").status == 0)
    #expect(FileTree.exists(home.path("ran")))
  }

  @Test("A request from another site's page is refused by `serve`")
  func crossSite() throws {
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home)
    let target = origin.servedPath("/a")
    #expect(try serving.client.get(target, ["Sec-Fetch-Site: cross-site"]).status == 403)
    for site in ["none", "same-origin", "same-site"] {
      #expect(try serving.client.get(target, ["Sec-Fetch-Site: \(site)"]).status == 200)
    }
  }
}
