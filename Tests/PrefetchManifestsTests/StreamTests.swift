import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchManifests

@Suite("Playlists")
struct StreamTests {
  private static let root = "https://cdn.example/films/film.m3u8?s=1"

  /// Reads playlists by their paths, the item's own first.
  private static func read(
    _ texts: [(String, String)],
    _ change: (inout BundleRules) -> Void = { _ in }
  ) -> Result<BundleReading, Failure> {
    var rules = BundleRules()
    change(&rules)
    do {
      let contents = try texts.map { address, text in
        let url = try WebURL(address)
        return BundleContent(url: url, base: url, bytes: Array(text.utf8))
      }
      return .success(try BundleReader.read(contents, rules))
    } catch {
      return .failure(error as? Failure ?? Failure(.internal, "\(error)"))
    }
  }

  private static func media(_ lines: String...) -> String {
    (["#EXTM3U", "#EXT-X-TARGETDURATION:6"] + lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n")
  }

  private static let ladder = """
    #EXTM3U
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="one, two",LANGUAGE="en-GB",DEFAULT=YES,URI="en.m3u8"
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="de",LANGUAGE="de",URI="de.m3u8"
    #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="de",LANGUAGE="de",URI="sub.m3u8"
    #EXT-X-STREAM-INF:BANDWIDTH=9000,RESOLUTION=1920x1080,CODECS="avc1.64,mp4a.40",AUDIO="a"
    high.m3u8
    #EXT-X-STREAM-INF:BANDWIDTH=64,CODECS="mp4a.40.2"
    sound.m3u8
    #EXT-X-STREAM-INF:BANDWIDTH=2000,AVERAGE-BANDWIDTH=1000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
    low.m3u8
    #EXT-X-STREAM-INF:BANDWIDTH=5000,RESOLUTION=1280x720,AUDIO="a"
    middle.m3u8
    #EXT-X-STREAM-INF:BANDWIDTH=5000,RESOLUTION=1280x720,AUDIO="a"
    https://mirror.example/films/middle.m3u8
    #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"
    """

  @Test(
    "Quality, limits and languages select the variants",
    arguments: [
      ("low", nil, nil, [], ["low.m3u8", "en.m3u8"]),
      ("medium", nil, nil, ["de"], ["middle.m3u8", "de.m3u8"]),
      ("high", nil, nil, ["en", "de"], ["high.m3u8", "en.m3u8", "de.m3u8"]),
      ("high", 8_000, nil, [], ["middle.m3u8", "en.m3u8"]),
      ("high", nil, 400, ["de"], ["low.m3u8", "de.m3u8", "sub.m3u8"]),
      ("low", nil, nil, ["fr"], ["low.m3u8", "en.m3u8"]),
    ] as [(String, Int64?, Int?, [String], [String])]
  )
  func choice(
    quality: String,
    bitrate: Int64?,
    height: Int?,
    languages: [String],
    expected: [String]
  ) throws {
    let reading = try Self.read([(Self.root, Self.ladder)]) { rules in
      rules.quality = BundleRules.Quality(rawValue: quality)
      rules.maximumBitrate = bitrate
      rules.maximumHeight = height
      rules.languages = languages
    }.get()
    let names = reading.documents.map { String($0.url.path.split(separator: "/").last ?? "") }
    #expect(names == expected)
    if expected[0] == "middle.m3u8" {
      #expect(reading.documents[0].alternates.map(\.host) == ["mirror.example"])
    }
  }

  @Test(
    "The preferred language is the default of players",
    arguments: [
      (["de"], ["de": "YES"]),
      (["en", "de"], ["en-GB": "YES", "de": "-"]),
      (["de", "en"], ["en-GB": "NO", "de": "YES"]),
      (["fr"], ["en-GB": "YES"]), ([], ["en-GB": "YES"]),
    ] as [([String], [String: String])]
  )
  func defaultLanguage(languages: [String], defaults: [String: String]) throws {
    let change = { (rules: inout BundleRules) in
      rules.quality = .low
      rules.languages = languages
    }
    let named = try Self.read([(Self.root, Self.ladder)], change).get().documents
    let piece = Self.media("#EXTINF:1,", "x.ts")
    let reading = try Self.read(
      [(Self.root, Self.ladder)] + named.map { ($0.url.string, piece) },
      change
    ).get()
    let texts = reading.texts.map { String(decoding: $0.bytes, as: UTF8.self) }
    let master = try #require(texts.first { $0.contains("#EXT-X-STREAM-INF") })
    var found: [String: String] = [:]
    for line in master.split(separator: "\n") where line.contains("TYPE=AUDIO") {
      let list = try #require(AttributeList(line.drop { $0 != ":" }.dropFirst()))
      found[list["LANGUAGE"] ?? ""] = list["DEFAULT"] ?? "-"
      #expect(list["DEFAULT"] != "YES" || list["AUTOSELECT"] != "NO")
    }
    #expect(found == defaults)
    // Subtitles are not shown by default unless the author marks some as default.
    let subtitles = master.split(separator: "\n").filter { $0.contains("TYPE=SUBTITLES") }
    #expect(subtitles.allSatisfy { !$0.contains("DEFAULT=YES") })
  }

  @Test("A ladder without a fitting variant is refused with what would fit")
  func nothingFits() {
    let outcome = Self.read([(Self.root, Self.ladder)]) { $0.maximumBitrate = 10 }
    guard case .failure(let failure) = outcome else {
      Issue.record("it was read")
      return
    }
    #expect(failure.code == .unsupported)
    #expect(failure.message.contains("`max_bitrate` (10)"))
  }

  @Test("A stored playlist refers to stored files and states every attribute in full")
  func rewriting() throws {
    let text = Self.media(
      "#EXT-X-MEDIA-SEQUENCE:7",
      "#EXT-X-KEY:METHOD=AES-128,URI=\"k.bin\"",
      "#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"720@0\"",
      "#EXTINF:6.000,a title",
      "#EXT-X-BYTERANGE:1000@720",
      "all.mp4",
      "#EXT-X-DISCONTINUITY",
      "#EXTINF:5.500,",
      "#EXT-X-BYTERANGE:900",
      "all.mp4",
      "#EXT-X-KEY:METHOD=NONE",
      "#EXTINF:1,",
      "../other/End.TS?token=9"
    )
    let reading = try Self.read([(Self.root, text)]).get()
    #expect(
      reading.pieces.map(\.name) == [
        "keys/000001.key", "v1/init1.mp4", "v1/000001.ts",
      ]
    )
    #expect(reading.pieces[1].needed == 2_620)
    let copy = String(decoding: reading.texts[0].bytes, as: UTF8.self)
    #expect(
      copy == """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-TARGETDURATION:6
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXT-X-KEY:METHOD=AES-128,URI="keys/000001.key",IV=0x00000000000000000000000000000007
        #EXT-X-MAP:URI="v1/init1.mp4",BYTERANGE="720@0"
        #EXTINF:6.000,a title
        #EXT-X-BYTERANGE:1000@720
        v1/init1.mp4
        #EXT-X-KEY:METHOD=AES-128,URI="keys/000001.key",IV=0x00000000000000000000000000000008
        #EXT-X-DISCONTINUITY
        #EXTINF:5.500,
        #EXT-X-BYTERANGE:900@1720
        v1/init1.mp4
        #EXT-X-KEY:METHOD=NONE
        #EXTINF:1,
        v1/000001.ts
        #EXT-X-ENDLIST

        """
    )
    #expect(reading.texts[0].name == "film.m3u8")
  }

  @Test("The first seconds end with their last segment, as do ranges")
  func seconds() throws {
    let pieces = (0..<5).map { "#EXTINF:2,\n#EXT-X-BYTERANGE:10@\($0 * 10)\nall.ts" }
    let text = (["#EXTM3U"] + pieces + ["#EXT-X-ENDLIST"]).joined(separator: "\n")
    for (seconds, count) in [(0, 5), (1, 1), (2, 1), (3, 2), (4, 2), (9, 5), (100, 5)] {
      let reading = try Self.read([(Self.root, text)]) { $0.seconds = seconds }.get()
      #expect(reading.seconds == Double(2 * count), "\(seconds)")
      #expect(reading.isPartial == (count < 5), "\(seconds)")
      #expect(reading.pieces[0].prefix == (count < 5 ? Int64(10 * count) : nil))
    }
  }

  @Test(
    "Variables are replaced by their values, and undefined ones by nothing",
    arguments: [
      ("#EXT-X-DEFINE:NAME=\"x\",VALUE=\"v\"\n#EXTINF:1,\n{$x}/a.ts", "/films/v/a.ts"),
      ("#EXT-X-DEFINE:QUERYPARAM=\"s\"\n#EXTINF:1,\n{$s}.ts", "/films/1.ts"),
      ("#EXTINF:1,\n{$x}.ts", nil), ("#EXT-X-DEFINE:IMPORT=\"x\"\n#EXTINF:1,\na.ts", nil),
    ] as [(String, String?)]
  )
  func variables(lines: String, path: String?) {
    let reading = try? Self.read([(Self.root, Self.media(lines))]).get()
    #expect(reading?.pieces.first?.url.path == path)
  }

  @Test("The number of variants and pieces is bounded")
  func large() throws {
    let variants = (0..<10_000).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\nv\($0).m3u8" }
    let master = (["#EXTM3U"] + variants).joined(separator: "\n")
    #expect(try Self.read([(Self.root, master)]).get().documents.count == 1)
    let more = master + "\n#EXT-X-STREAM-INF:BANDWIDTH=1\nx.m3u8"
    #expect(throws: Failure.self) { try Self.read([(Self.root, more)]).get() }
    let pieces = (0...100_000).map { "#EXTINF:1,\n\($0).ts" }
    #expect(throws: Failure.self) {
      try Self.read([(Self.root, Self.media(pieces.joined(separator: "\n")))]).get()
    }
    let long = String(repeating: "a", count: 9_000)
    #expect(throws: Failure.self) {
      try Self.read([(Self.root, Self.media("#EXTINF:1,\n\(long)"))]).get()
    }
  }

  // MARK: Spoilt

  private static let samples = [
    ladder,
    media(
      "#EXT-X-MEDIA-SEQUENCE:7",
      "#EXT-X-KEY:METHOD=AES-128,URI=\"k.bin\",IV=0x1",
      "#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"720@0\"",
      "#EXTINF:6.0,",
      "#EXT-X-BYTERANGE:10@7",
      "all.mp4",
      "#EXT-X-GAP",
      "#EXTINF:1,",
      "gone.ts",
      "#EXTINF:2,",
      "b/c.ts?token=1"
    ),
  ]

  @Test("No playlist crashes the reader, and every part of a copy is inside of it")
  func mutations() throws {
    var mutator = Mutator(seed: 0x4173, samples: Self.samples.map { Array($0.utf8) })
    var (good, bad) = (0, 0)
    let variant = Self.media("#EXTINF:1,\na.ts")
    for round in 0..<Campaign.documents(usually: 3_000) {
      let bytes = mutator.next()
      let url = try WebURL(Self.root)
      var rules = BundleRules()
      rules.seconds = round % 3
      rules.acceptsLive = round.isMultiple(of: 2)
      var contents = [BundleContent(url: url, base: url, bytes: bytes)]
      do throws(Failure) {
        var reading = try BundleReader.read(contents, rules)
        for wanted in reading.documents {
          contents.append(
            BundleContent(url: wanted.url, base: wanted.url, bytes: Array(variant.utf8))
          )
        }
        reading = try BundleReader.read(contents, rules)
        good += 1
        #expect(reading.documents.isEmpty)
        #expect(Set(reading.pieces.map(\.name)).count == reading.pieces.count)
        for part in reading.pieces {
          #expect(TreeName.objection(to: part.name, below: "/x") == nil, "\(part.name)")
        }
      } catch {
        bad += 1
        #expect(!error.message.isEmpty)
      }
    }
    #expect(good > 60 && bad > 60, "\(good) good, \(bad) bad")
  }
}
