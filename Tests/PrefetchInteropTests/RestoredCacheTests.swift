@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "Stored files with other bytes",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct RestoredCacheTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { request in
      .respond(200, [("Cache-Control", "max-age=3600")], text: "body of \(request.path)")
    }
    configure()
    try #require(home.run("run", "-q").status == 0)
  }

  private func configure(tree: String = "") {
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: site
          urls: ["\(server.address("/a"))", "\(server.address("/b"))", "\(server.address("/c"))"]
          \(tree)
      """
    )
  }

  /// Returns the paths that a run requests.
  private func requestPaths() throws -> [String] {
    let before = server.requests.count
    let run = try home.run("run", "-q")
    #expect(run.status == 0, "\(run)")
    return server.requests.dropFirst(before).map(\.path)
  }

  private func object(_ path: String) -> String {
    let digest = Digest.hexadecimal("body of \(path)")
    return "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
  }

  /// A backup that `cp -a` made and that `damage` was done to takes the place of the cache.
  private func restore(_ damage: String = "") throws {
    let script = """
      set -e
      cp -a '\(home.cache)' '\(home.cache).copy'
      \(damage)
      rm -rf '\(home.cache)'
      mv '\(home.cache).copy' '\(home.cache)'
      """
    try #require(home.shell(script).status == 0)
  }

  /// Replaces a body by other bytes of the same size with unchanged times.
  private func spoil(_ path: String, in cache: String) -> String {
    let file = object(path).replacing(home.cache, with: cache)
    return """
      touch -r '\(file)' '\(home.cache).time'
      chmod u+w '\(file)'
      printf 'BODY' | dd of='\(file)' conv=notrunc status=none
      chmod u-w '\(file)'
      touch -r '\(home.cache).time' '\(file)'
      """
  }

  @Test("A restored body with other bytes is fetched again, and the right ones are kept")
  func restoredCache() throws {
    try restore(spoil("/b", in: "\(home.cache).copy"))
    let path = try home.run("path", server.address("/b"))
    #expect(path.status == 4, "\(path)")
    #expect(path.errors.contains("is damaged"), "\(path)")
    #expect(try home.run("path", server.address("/a")).status == 0)
    let plan = try home.run("run", "--dry-run", "-q")
    #expect(plan.status == 0, "\(plan)")
    #expect(try requestPaths() == ["/b"])
    #expect(try home.run("verify", "-q").status == 0)
    #expect(try home.run("path", server.address("/b")).status == 0)
    #expect(try requestPaths() == [])
  }

  @Test(
    "A body that was changed in place is not published in a new tree",
    arguments: ["hardlink", "copy"]
  )
  func changedInPlace(_ link: String) throws {
    try #require(
      home.shell("chmod u+w '\(object("/b"))' && printf 'BODY of /b' > '\(object("/b"))'").status
        == 0
    )
    #expect(try home.run("path", server.address("/b")).status == 4)
    configure(tree: "publish: { dir: tree, layout: basename, link: \(link) }")
    let publish = try home.run("publish", "-q")
    #expect(publish.status == 74, "\(publish)")
    #expect(publish.errors.contains("was changed"), "\(publish)")
    #expect(home.read("tree/a") == "body of /a")
    #expect(home.read("tree/b") == nil)
    #expect(try requestPaths() == ["/b"])
    #expect(home.read("tree/b") == "body of /b")
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("A restored cache that is complete is hashed once and causes no request")
  func soundRestoredCache() throws {
    try restore()
    let reads = "strace -f -y -e trace=read,pread64 -o trace \"$prefetch\" run -q"
    let name = "/objects/sha256/"
    try #require(home.shell(reads).status == 0)
    #expect(home.read("trace")?.contains(name) == true)
    try #require(home.shell(reads).status == 0)
    #expect(home.read("trace")?.contains(name) == false)
    #expect(server.requests.count == 3)
  }
}
