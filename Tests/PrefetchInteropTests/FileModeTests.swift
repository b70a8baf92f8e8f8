@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "Modes and secrets of what is kept",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct FileModeTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    let site = Site()
    for name in ["a", "b"] {
      site["/\(name)"] = Site.Page(Array("body \(name)".utf8), entityTag: "\"\(name)\"")
    }
    server = try LoopbackServer { request in
      // A forge redirects each file to an address with a new signature.
      guard request.path.hasPrefix("/signed/") else { return site.respond(to: request) }
      let name = request.path.dropFirst("/signed/".count)
      return .respond(302, [("Location", "/\(name)?sig=SIGNATURE")])
    }
  }

  private func configure(_ cache: String = "min_free: 0") {
    home.configure(
      """
      cache: { \(cache) }
      segments:
        - name: site
          urls: ["\(server.address("/signed/a"))", "\(server.address("/b"))"]
          publish: { dir: tree, layout: basename }
      """
    )
  }

  /// Returns the modes of all files and folders below a folder, by relative path.
  private func modes(_ root: String) -> [String: mode_t] {
    var modes: [String: mode_t] = [:]
    for (path, facts) in FileTree.listing(root) {
      modes[String(path.dropFirst(root.count + 1))] = facts.mode & 0o777
    }
    return modes
  }

  private func mode(of path: String) throws -> mode_t {
    try #require(FileTree.status(path), "\(path)").st_mode & 0o777
  }

  private func expectNoSignature(below root: String) {
    for (path, facts) in FileTree.listing(root) where facts.mode & S_IFMT == S_IFREG {
      let text = FileTree.read(path).map { String(decoding: $0, as: UTF8.self) } ?? ""
      #expect(!text.contains("SIGNATURE"), "\(path)")
    }
  }

  @Test("Index, backup and state are private to their owner and contain no query of a redirect")
  func ownFiles() throws {
    configure()
    try #require(home.run("-q").status == 0)
    // The second run backs the index up again and has a write-ahead log meanwhile.
    try #require(home.run("-q", "--refetch").status == 0)
    #expect(try mode(of: home.cache) == 0o700)
    #expect(try mode(of: home.state) == 0o700)
    for (name, mode) in modes(home.cache) where name.hasPrefix("index.") {
      #expect(mode == 0o600, "\(name)")
    }
    #expect(modes(home.cache)["index.backup.sqlite"] == 0o600)
    for (path, facts) in FileTree.listing(home.state) {
      let isFolder = facts.mode & S_IFMT == S_IFDIR
      #expect(facts.mode & 0o777 == (isFolder ? 0o700 : 0o600), "\(path)")
    }
    expectNoSignature(below: home.cache)
    expectNoSignature(below: home.state)
  }

  @Test(
    "Pieces and parts behind signed redirects are stored without the query of the redirect"
  )
  func piecesAndParts() throws {
    let site = Site()
    let size = 400_000
    site["/live.m3u8"] = Site.Page(
      """
      #EXTM3U
      #EXT-X-VERSION:3
      #EXT-X-TARGETDURATION:4
      #EXTINF:4,
      signed/piece.ts
      #EXT-X-ENDLIST

      """,
      headers: [HeaderField("Content-Type", "application/vnd.apple.mpegurl")]
    )
    site["/piece.ts"] = Site.Page(Array(repeating: 0x47, count: 188), entityTag: "\"piece\"")
    let whole = Array(repeating: UInt8(7), count: size)
    let server = try LoopbackServer { request in
      if request.path.hasPrefix("/signed/") {
        let name = request.path.dropFirst("/signed/".count)
        return .respond(302, [("Location", "/\(name)?sig=SIGNATURE")])
      }
      guard request.path == "/film" else { return site.respond(to: request) }
      let head = [("ETag", "\"film\""), ("Accept-Ranges", "bytes")]
      guard request.headers["Range"] == "bytes=200000-" else {
        let start = Script.head(200, head + [("Content-Length", "\(size)")])
        return Script([.send(start + whole.prefix(200_000)), .close])
      }
      let range = ("Content-Range", "bytes 200000-\(size - 1)/\(size)")
      return .respond(206, head + [range], body: Array(whole.dropFirst(200_000)))
    }
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0 } }
      segments:
        - name: site
          urls: ["\(server.address("/live.m3u8"))", "\(server.address("/signed/film"))"]
      """
    )
    #expect(try home.run("-q").status == 3)
    #expect(FileTree.listing(home.cache).keys.contains { $0.hasSuffix(".facts") })
    expectNoSignature(below: home.cache)
    expectNoSignature(below: home.state)
    let run = try home.run("--json", "--revalidate")
    #expect(run.status == 0, "\(run)")
    let films = server.requests.filter { $0.path.hasPrefix("/film") }
    #expect(films.map { $0.headers["Range"] } == [nil, "bytes=200000-"])
    let pieces = server.requests.filter { $0.path.hasPrefix("/piece.ts") }
    #expect(pieces.map { $0.headers["If-None-Match"] } == [nil, "\"piece\""])
    expectNoSignature(below: home.cache)
  }

  @Test("Stored validators are still sent to the target of a redirect")
  func sealedAddressIsKnownAgain() throws {
    configure()
    try #require(home.run("-q").status == 0)
    let run = try home.run("--revalidate", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["bytes_body"] == 0)
  }

  @Test("An export is readable by others and contains no query of a redirect")
  func exportedFiles() throws {
    configure()
    try #require(home.run("-q").status == 0)
    try #require(home.run("export", "out", "-q").status == 0)
    let found = modes(home.path("out"))
    #expect(found["index.sqlite"] == 0o644)
    for (name, mode) in found where mode & 0o444 != 0o444 {
      Issue.record("\(name) has mode \(String(mode, radix: 8))")
    }
    expectNoSignature(below: home.path("out"))
    // Imported files are private to their owner again.
    try home.removeCache()
    try #require(home.run("import", "--cache", "out").status == 0)
    #expect(modes(home.cache)["index.sqlite"] == 0o600)
    #expect(try mode(of: home.cache) == 0o700)
    expectNoSignature(below: home.cache)
  }

  @Test("A shared cache is readable by others, and its state is not")
  func sharedCache() throws {
    configure("min_free: 0, shared: true")
    try #require(home.run("-q").status == 0)
    #expect(try mode(of: home.cache) == 0o755)
    for name in ["index.sqlite", "index.backup.sqlite"] {
      #expect(modes(home.cache)[name] == 0o644, "\(name)")
    }
    for (name, mode) in modes(home.cache) where mode & 0o444 != 0o444 {
      Issue.record("\(name) has mode \(String(mode, radix: 8))")
    }
    #expect(try mode(of: home.state) == 0o700)
    expectNoSignature(below: home.cache)
  }
}
