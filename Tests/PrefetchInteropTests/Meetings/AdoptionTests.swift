@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Features that are in force while a segment adopts files in its tree.
@Suite("Adoption together with other features", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct AdoptionTests {
  private static let body = String(repeating: "a body\n", count: 100)

  private let ground: TierGround
  private let home: Home

  init() throws {
    ground = try TierGround()
    home = try Home(isInMemory: true)
    FileTree.makeFolder(home.path("tree"))
    ground.site["/a"] = Site.Page(
      Self.body,
      headers: [HeaderField("Cache-Control", "max-age=3600")]
    )
  }

  private func configure(_ home: Home, cache: String, segment: String = "") {
    let digest = Digest.hexadecimal(Self.body)
    home.configure(
      """
      name: night
      cache: { min_free: 0\(cache) }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
        - name: files
          urls: ["\(ground.origin.address("/a"))#sha256=\(digest)"]
          publish: { dir: tree, layout: basename, adopt: true }
          \(segment)
      """
    )
  }

  private func put(mode: mode_t) throws {
    home.write(Self.body, to: "tree/a")
    try #require(unsafe chmod(home.path("tree/a"), mode) == 0)
  }

  private func status() throws -> stat {
    try #require(FileTree.status(home.path("tree/a")))
  }

  @Test(
    "A file that a limit refuses to adopt keeps its mode, and a later run adopts it",
    arguments: [
      (", size: 100B", "", "cache_full"), (", max_file_size: 100B", "", "too_large"),
      ("", "max_file_size: 100B", "too_large"), ("", "expect: { max_size: 100B }", ""),
    ]
  )
  func refused(cache: String, segment: String, code: String) throws {
    configure(home, cache: cache, segment: segment)
    try put(mode: 0o600)
    for night in 0..<2 {
      let run = try home.run("run", "--json", "--items", "all")
      #expect(run.status == 4, "night \(night): \(run)")
      let codes = try run.json().list("items").map { $0.text("error.code") }
      if !code.isEmpty { #expect(codes == [code], "night \(night): \(run)") }
      #expect(try status().st_mode & 0o777 == 0o600, "night \(night)")
      #expect(home.read("tree/a") == Self.body)
    }
    _ = ground.drainRequests()
    configure(home, cache: ", size: 10kB")
    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(ground.drainRequests().isEmpty)
    #expect(try status().st_mode & 0o777 == 0o444)
    #expect(try status().st_nlink == 2)
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "A file that cannot be read ends the run with 74 and is named",
    .enabled(if: geteuid() == 0, "needs root, to become another user"),
    arguments: ["run", "plan"]
  )
  func unreadable(command: String) throws {
    configure(home, cache: "")
    try put(mode: 0o200)
    var home = home
    try home.give(to: 65_534)
    let run = try home.run(command)
    #expect(run.status == 74, "\(run)")
    let words = "cannot open `\(home.path("tree/a"))`: Permission denied"
    #expect((command == "plan" ? run.output : run.errors).contains(words), "\(run)")
    #expect(ground.drainRequests().isEmpty, "\(run)")
    try #require(unsafe chmod(home.path("tree/a"), 0o600) == 0)
    #expect(try home.run("run").status == 0)
    #expect(ground.drainRequests().isEmpty)
    #expect(try status().st_nlink == 2)
  }

  @Test("A file in the tree is adopted before the second tier or the origin gets a request")
  func tier() throws {
    let remote =
      ", remote: { url: \"\(ground.tier.address("/t"))\", mode: read_write, trust: true }"
    let first = try Home(isInMemory: true)
    configure(first, cache: remote)
    #expect(try first.run("run").status == 0)
    _ = ground.drainRequests()
    let bodies = ground.tier.requests.count
    configure(home, cache: remote)
    try put(mode: 0o600)
    let run = try home.run("run", "--json", "--items", "all")
    #expect(run.status == 0, "\(run)")
    #expect(ground.drainRequests().isEmpty)
    #expect(ground.tier.requests.dropFirst(bodies).map(\.method).isEmpty, "\(run)")
    #expect(try run.totals()["bytes_body"] == 0)
    #expect(try run.json().list("items").map { $0.text("source") } == ["cache"], "\(run)")
    #expect(try status().st_mode & 0o777 == 0o444)
    // Without a file the body comes from the tier.
    try #require(unsafe unlink(home.path("tree/a")) == 0)
    try home.removeCache()
    let second = try home.run("run", "--json", "--items", "all")
    #expect(second.status == 0, "\(second)")
    #expect(try second.json().list("items").map { $0.text("source") } == ["remote"], "\(second)")
    #expect(home.read("tree/a") == Self.body)
    #expect(try home.run("verify").status == 0)
  }
}
