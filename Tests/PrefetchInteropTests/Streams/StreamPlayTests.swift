@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "Streams that ffmpeg made, played by ffmpeg",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Tool.isInstalled("ffmpeg"), "needs ffmpeg")
)
struct StreamPlayTests {
  /// Script for twelve seconds in pieces of two: three variants with separate sound, fragmented
  /// MP4, encrypted pieces, and byte ranges.
  private static let recipe = """
    set -e
    source="-f lavfi -i testsrc=duration=12:size=320x180:rate=25 \
    -f lavfi -i sine=frequency=440:duration=12"
    common="-c:v libx264 -pix_fmt yuv420p -preset ultrafast -g 50 -c:a aac -f hls -hls_time 2 -hls_playlist_type vod"
    ffmpeg -v error $source -map 0:v -map 0:v -map 0:v -map 1:a $common -b:v:0 100k -b:v:1 300k \
    -b:v:2 800k -s:v:0 160x90 -s:v:1 240x136 -s:v:2 320x180 -master_pl_name variants.m3u8 \
    -var_stream_map "v:0,agroup:a v:1,agroup:a v:2,agroup:a a:0,agroup:a,language:en,default:yes" \
    -hls_segment_filename t%v_%03d.ts t_%v.m3u8
    ffmpeg -v error $source -map 0:v -map 1:a $common -hls_segment_type fmp4 \
    -hls_fmp4_init_filename init.mp4 -hls_segment_filename f%03d.m4s fragments.m3u8
    head -c 16 /dev/urandom > secret.bin
    printf 'secret.bin\\nsecret.bin\\n' > keyinfo
    ffmpeg -v error $source -map 0:v -map 1:a $common -hls_key_info_file keyinfo \
    -hls_segment_filename e%03d.ts encrypted.m3u8
    ffmpeg -v error $source -map 0:v -map 1:a $common -hls_flags single_file \
    -hls_segment_filename one.ts ranges.m3u8
    """

  private static let names = ["variants", "fragments", "encrypted", "ranges"]

  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    for (path, page) in try Self.made.get() { site[path] = page }
  }

  /// Made once, for all tests.
  private static let made = Result<[(path: String, page: Site.Page)], any Error> {
    let home = try Home()
    FileTree.makeFolder(home.path("made"))
    let made = try home.shell("cd made && \(recipe)", within: 300)
    try #require(made.status == 0, "\(made)")
    return FileTree.names(home.path("made")).map { name in
      let body = FileTree.read(home.path("made/\(name)")) ?? []
      return (path: "/\(name)", page: Site.Page(body, entityTag: "\"\(name)\""))
    }
  }

  @Test(
    "A stream is stored in the requested quality and length and plays without its server",
    arguments: [
      ("low", 0, "160", "12"), ("medium", 0, "240", "12"), ("high", 0, "320", "12"),
      ("low", 4, "160", "4"),
    ]
  )
  func plays(quality: String, seconds: Int, width: String, length: String) throws {
    let items = Self.names.map {
      "{ url: \"\(server.address("/\($0).m3u8"))\", type: hls, id: \($0) }"
    }
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: films
          variant: \(quality)
          seconds: \(seconds)
          publish: { dir: films, layout: hls }
          urls: [\(items.joined(separator: ", "))]
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().number("totals.fetched") == 4)
    let requestCount = server.requests.count
    let state = seconds == 0 ? "cached" : "partial"
    #expect(try home.run("list", "--state", state).output.split(separator: "\n").count == 4)

    let serving = try Serving(home)
    defer { _ = serving.stop() }
    for name in Self.names {
      let served = try home.run("path", name, "--under", serving.address).output.trimmed
      #expect(served.hasSuffix("/-/item/-/\(name)/\(name).m3u8"))
      let published = home.path("films/\(name)/\(name).m3u8")
      for path in [served, published] {
        let played = try home.shell(
          "ffmpeg -v error -allowed_extensions ALL -i '\(path)' -f null - 2>&1"
        )
        #expect(played.status == 0 && played.output.isEmpty, "\(path): \(played)")
        let facts = try home.shell(
          """
          ffprobe -v error -allowed_extensions ALL -select_streams v -of csv=p=0 \
          -show_entries stream=width:format=duration '\(path)'
          """
        ).output
        let lines = facts.split(separator: "\n").map { $0.prefix { $0 != "." && $0 != "," } }
        #expect(lines.contains { $0 == length }, "\(path): \(facts)")
        let wide = name == "variants" ? width : "320"
        #expect(lines.contains { $0 == wide }, "\(path): \(facts)")
      }
      // The stream's own URL leads to the copy, too.
      let own = serving.address + server.servedPath("/\(name).m3u8").dropFirst()
      let followed = try home.shell("ffmpeg -v error -i '\(own)' -f null - 2>&1")
      #expect(followed.status == 0 && followed.output.isEmpty, "\(own): \(followed)")
    }
    #expect(server.requests.count == requestCount, "playing sends no request to the origin")
    if seconds > 0 {
      let one = try #require(server.requests(of: "/one.ts").first)
      #expect(one.headers["Range"]?.hasPrefix("bytes=0-") == true)
    }

    let again = try home.run("--json")
    #expect(again.status == 0)
    #expect(try again.json().number("totals.revalidated") == 4)
    // The four declared playlists, and the chosen variant with its sound.
    #expect(server.requests.count == requestCount + 6)
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "A browser plays a stored stream from the server",
    .enabled(if: Tool.isInstalled("chromium"), "needs chromium")
  )
  func browser() throws {
    site["/player.html"] = Site.Page(
      """
      <!doctype html><title>film</title>
      <video id="film" muted autoplay playsinline src="/-/item/-/film/fragments.m3u8"></video>
      <script>
      const tell = (what) => new Image().src = "\(server.address("/told?"))" + what
      film.onerror = () => tell("error=" + film.error.message)
      film.ontimeupdate = () => { if (film.currentTime > 1) tell("played") }
      </script>
      """,
      headers: [HeaderField("Content-Type", "text/html")]
    )
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: films
          urls:
            - { url: "\(server.address("/fragments.m3u8"))", type: hls, id: film }
            - { url: "\(server.address("/player.html"))", type: page }
      """
    )
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home)
    defer { _ = serving.stop() }
    let requestCount = server.requests.count
    // Names of elsewhere are not even looked up.
    let browser = try RunningProgram(
      try #require(Tool("chromium")).path,
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--autoplay-policy=no-user-gesture-required", "--user-data-dir=\(home.path("profile"))",
        "--remote-debugging-port=0",
        serving.address + server.servedPath("/player.html").dropFirst(),
      ],
      environment: home.variables,
      folder: home.work
    )
    let end = ContinuousClock.now + .seconds(60)
    while server.requests(of: "/told").isEmpty, ContinuousClock.now < end { poll(nil, 0, 20) }
    browser.signal(SIGTERM)
    let ended = browser.finish()
    #expect(server.requests(of: "/told").first?.target == "/told?played", "\(ended)")
    #expect(server.requests.dropFirst(requestCount).allSatisfy { $0.path == "/told" })
  }
}

@Suite(
  "Examples that show films",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Tool.isInstalled("ffmpeg"), "needs ffmpeg")
)
struct FilmExampleTests {
  private func run(_ example: String) throws -> ProgramRun {
    let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
    let run = try Home().shell("\(root)/examples/\(example)/run \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    return run
  }

  @Test("A kiosk keeps a film and plays it from both places when its origin is down")
  func kiosk() throws {
    let run = try run("kiosk")
    #expect(run.lines.count { $0 == "played 320x180 of lobby.m3u8" } == 2, "\(run)")
    #expect(run.lines.contains { $0.hasPrefix("cached\t") }, "\(run)")
  }

  @Test("A sign keeps an ad, sends a request once an hour, and plays it when its server is down")
  func signage() throws {
    let run = try run("signage")
    #expect(run.lines.contains("played 320x160 of 4711.mp4"), "\(run)")
    #expect(run.errors.contains("5 requests") || run.output.contains("; 4 requests"), "\(run)")
    #expect(run.output.contains("; 0 requests"), "\(run)")
  }
}

extension String {
  fileprivate var trimmed: String { String(self.drop { $0.isWhitespace }.prefix { !$0.isNewline }) }
}
