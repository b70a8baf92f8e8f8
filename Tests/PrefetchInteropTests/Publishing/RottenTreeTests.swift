@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("Bytes that changed in place", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RottenTreeTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { request in
      .respond(200, [("Cache-Control", "max-age=3600")], text: "body of \(request.path)")
    }
  }

  private func configure(_ link: String) throws {
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: site
          urls: ["\(server.address("/a"))", "\(server.address("/b"))"]
          publish: { dir: tree, layout: basename, link: \(link) }
      """
    )
    try #require(home.run("run", "-q").status == 0)
  }

  private func object(_ body: String) -> String {
    let digest = Digest.hexadecimal(body)
    return "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
  }

  @Test("`verify` hashes published copies, and a run after `--repair` restores them")
  func rottenCopyIsFoundAndReplaced() throws {
    try configure("copy")
    try TreeChange.rot(home.path("tree/a"))
    let verify = try home.run("verify")
    #expect(verify.status == 74, "\(verify)")
    #expect(
      verify.errors.contains("tree/a`, published by segment `site`, was changed"),
      "\(verify)"
    )
    #expect(try home.run("verify", "--repair", "-q").status == 74)
    #expect(try home.run("run", "-q").status == 0)
    #expect(home.read("tree/a") == "body of /a")
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test(
    "`verify` names a published file that cannot be read, and a run after `--repair` restores its mode",
    .enabled(if: geteuid() == 0, "needs root, to become another user")
  )
  func closedFileIsNamed() throws {
    try configure("copy")
    var home = home
    try home.give(to: 65_534)
    try #require(unsafe chmod(home.path("tree/a"), 0) == 0)
    let verify = try home.run("verify")
    #expect(verify.status == 74, "\(verify)")
    let words = "tree/a`, published by segment `site`, was not checked: cannot open"
    #expect(verify.errors.contains(words), "\(verify)")
    #expect(verify.output.contains("2 published files looked at, 1 not as published"), "\(verify)")
    let problems = try home.run("verify", "--json").json().list("published.bad")
    #expect(problems.map { $0.text("problem") } == ["unreadable"])
    #expect(try home.run("verify", "--repair", "-q").status == 74)
    #expect(FileTree.exists(home.path("tree/a")))
    #expect(try home.run("run", "-q").status == 0)
    #expect(try home.run("verify", "-q").status == 0)
    #expect(home.read("tree/a") == "body of /a")
  }

  @Test("A damaged stored body is repaired by a transfer of the same body")
  func refetchHealsDamagedBody() throws {
    try configure("copy")
    let path = object("body of /a")
    try TreeChange.rot(path)
    #expect(try home.run("run", "--refetch", "-q").status == 0)
    #expect(FileTree.read(path).map { String(decoding: $0, as: UTF8.self) } == "body of /a")
    #expect(try home.run("verify", "-q").status == 0)
  }
}
