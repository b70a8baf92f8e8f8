@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

/// Films that ffmpeg encoded again under the same names, compared frame by frame.
@Suite(
  "A film that was encoded again",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Tool.isInstalled("ffmpeg"), "needs ffmpeg")
)
struct ReencodedTests {
  /// Script that creates the same names in each folder: pieces, byte ranges, encrypted pieces and
  /// fragments.
  ///
  /// `same` has the picture of `new` in pieces with the lengths of `old`.
  private static let recipe = """
    make() {
      mkdir "$1"
      cd "$1"
      source="-f lavfi -i $2=duration=8:size=160x90:rate=25"
      common="-c:v libx264 -pix_fmt yuv420p -preset ultrafast -g $3 -f hls -hls_time $4 -hls_playlist_type vod"
      ffmpeg -v error $source $common -hls_segment_filename t%03d.ts pieces.m3u8
      ffmpeg -v error $source $common -hls_flags single_file -hls_segment_filename one.ts ranges.m3u8
      head -c 16 /dev/urandom > secret.bin
      printf 'secret.bin\\nsecret.bin\\n' > ../keyinfo
      cp secret.bin ..
      (cd .. && ffmpeg -v error $source $common -hls_key_info_file keyinfo \
      -hls_segment_filename "$1"/e%03d.ts "$1"/encrypted.m3u8)
      ffmpeg -v error $source $common -hls_segment_type fmp4 -hls_fmp4_init_filename init.mp4 \
      -hls_segment_filename f%03d.m4s fragments.m3u8
      cd ..
    }
    set -e
    make old testsrc 50 2
    make new smptebars 25 1
    make same smptebars 50 2
    """

  private static let names = ["pieces", "ranges", "encrypted", "fragments"]

  private struct Edition: Sendable {
    var pages: [String: Site.Page] = [:]
    /// By the names of the streams.
    var frames: [String: String] = [:]
  }

  /// Made once, for all tests.
  private static let made = Result<[String: Edition], any Error> {
    let home = try Home()
    FileTree.makeFolder(home.path("made"))
    let made = try home.shell("cd made && \(recipe)", within: 300)
    try #require(made.status == 0, "\(made)")
    var editions: [String: Edition] = [:]
    for edition in ["old", "new", "same"] {
      for name in FileTree.names(home.path("made/\(edition)")) {
        let body = FileTree.read(home.path("made/\(edition)/\(name)")) ?? []
        let tag = SHA256.digest(of: body).hexadecimal.prefix(16)
        let page = Site.Page(body, entityTag: "\"\(tag)\"")
        editions[edition, default: Edition()].pages["/\(name)"] = page
      }
      for name in names {
        let path = home.path("made/\(edition)/\(name).m3u8")
        editions[edition, default: Edition()].frames[name] = try frames(of: path, home)
      }
    }
    return editions
  }

  private let home: Home
  private let site = Site()
  private let server: LoopbackServer
  private let editions: [String: Edition]

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    editions = try Self.made.get()
    show("old")
    configure()
  }

  private func configure(_ names: [String] = Self.names, cache: String = "") {
    let items = names.map {
      "{ url: \"\(server.address("/\($0).m3u8"))\", type: hls, id: \($0) }"
    }
    home.configure(
      """
      cache: { min_free: 0\(cache) }
      segments:
        - name: films
          publish: { dir: films, layout: hls }
          urls: [\(items.joined(separator: ", "))]
      """
    )
  }

  private func show(_ edition: String) {
    for (path, page) in editions[edition]?.pages ?? [:] { site[path] = page }
  }

  /// A digest for each frame of a film.
  private static func frames(of path: String, _ home: Home) throws -> String {
    let played = try home.shell(
      "ffmpeg -v error -allowed_extensions ALL -i '\(path)' -map 0:v -f framemd5 -"
    )
    #expect(played.status == 0 && played.errors.isEmpty, "\(path): \(played)")
    return played.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { String($0.split(separator: ",").last ?? "") }.joined(separator: "\n")
  }

  private func check(_ edition: String, _ moment: String) throws {
    let serving = try Serving(home)
    defer { _ = serving.stop() }
    for name in Self.names {
      let wanted = try #require(editions[edition]?.frames[name])
      #expect(wanted.split(separator: "\n").count == 200)
      let served = "\(serving.address)-/item/-/\(name)/\(name).m3u8"
      for path in [served, home.path("films/\(name)/\(name).m3u8")] {
        #expect(try Self.frames(of: path, home) == wanted, "\(moment): \(path)")
      }
    }
    #expect(try home.run("verify", "-q").status == 0, "\(moment)")
  }

  @Test(
    "A re-encoded film plays as the new one only, from tree and server, in the run that sees it"
  )
  func seen() throws {
    #expect(try home.run("-q").status == 0)
    try check("old", "before")
    show("new")
    #expect(try home.run("-q").status == 0)
    try check("new", "after")
    // Back to the old encoding: every name has another content again.
    show("old")
    #expect(try home.run("-q").status == 0)
    try check("old", "back")
  }

  @Test("A re-encoded film is found by `--revalidate` where its playlists are unchanged")
  func unchanged() throws {
    #expect(try home.run("-q").status == 0)
    show("same")
    for name in ["pieces", "fragments"] {
      let path = "/\(name).m3u8"
      #expect(editions["old"]?.pages[path] == editions["same"]?.pages[path])
    }
    let run = try home.run("--revalidate", "--json")
    #expect(run.status == 0, "\(run)")
    try check("same", "after")
  }

  @Test(
    "A re-encoded film plays to its old end for current players and is then removed",
    arguments: [true, false]
  )
  func inPlay(isLocked: Bool) throws {
    configure(["pieces"])
    #expect(try home.run("-q").status == 0)
    if isLocked { #expect(try home.run("lock", "pieces").status == 0) }
    let serving = try Serving(home)
    defer { _ = serving.stop() }
    let player = try RunningProgram(
      try #require(Tool("ffmpeg")).path,
      [
        "-v", "error", "-re", "-i", "\(serving.address)-/item/-/pieces/pieces.m3u8", "-map", "0:v",
        "-flush_packets", "1", "-f", "framemd5", home.path("played"),
      ],
      environment: home.variables,
      folder: home.work
    )
    let end = ContinuousClock.now + .seconds(60)
    while home.read("played")?.contains("\n0,") != true, ContinuousClock.now < end {
      poll(nil, 0, 10)
    }
    show("new")
    #expect(try home.run("-q").status == 0)
    let played = player.finish(within: 120)
    #expect(played.status == 0 && played.errors.isEmpty, "\(played)")
    let frames = home.read("played")?.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { String($0.split(separator: ",").last ?? "") }.joined(separator: "\n")
    #expect(frames == editions["old"]?.frames["pieces"])
    let now = try Self.frames(of: "\(serving.address)-/item/-/pieces/pieces.m3u8", home)
    #expect(now == editions["new"]?.frames["pieces"])

    let old =
      editions["old"]?.pages["/t003.ts"].map { SHA256.digest(of: $0.body).hexadecimal } ?? ""
    let leases = "\(home.cache)/locks/leases.d"
    let has = { FileTree.listing(leases).keys.contains { $0.hasSuffix("/\(old)") } }
    #expect(has())
    let aged = try home.shell("touch -d '-11 minutes' '\(leases)'/*/files")
    #expect(aged.status == 0)
    #expect(try home.run("-q").status == 0)
    #expect(!has())
    #expect(FileTree.objects(home.cache)[old] == nil)
  }
}
