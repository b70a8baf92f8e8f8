import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchManifests

@Suite("Answers of ad servers")
struct AdReadingTests {
  private static let root = "https://ads.example/tags/lobby.xml?s=1"

  private static func read(
    _ texts: [String],
    _ change: (inout BundleRules) -> Void = { _ in }
  ) -> Result<BundleReading, Failure> {
    var rules = BundleRules()
    rules.form = .ad
    rules.stem = "lobby"
    change(&rules)
    do {
      let contents = try texts.enumerated().map { number, text in
        let url = try WebURL(number == 0 ? root : "https://ads.example/\(number)/x")
        return BundleContent(url: url, base: url, bytes: Array(text.utf8))
      }
      return .success(try BundleReader.read(contents, rules))
    } catch {
      return .failure(error as? Failure ?? Failure(.internal, "\(error)"))
    }
  }

  private static func film(_ files: String, _ ad: String = "") -> String {
    """
    <VAST version="4.1"><Ad\(ad)><InLine><Creatives><Creative><Linear><MediaFiles>\(files)
    </MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
    """
  }

  private static func file(_ name: String, _ attributes: String = "") -> String {
    "<MediaFile type=\"video/mp4\"\(attributes)>\(name)</MediaFile>"
  }

  private static func wrapper(_ tag: String) -> String {
    "<VAST version=\"3.0\"><Ad><Wrapper><VASTAdTagURI>\(tag)</VASTAdTagURI></Wrapper></Ad></VAST>"
  }

  private func paths(_ result: Result<BundleReading, Failure>) throws -> [String] {
    try result.get().pieces.map(\.url.path)
  }

  @Test(
    "Encodings are ordered by bit rate, else by size, else by area",
    arguments: [
      [#" bitrate="9""#, #" minBitrate="1" maxBitrate="3""#, #" bitrate="4""#],
      [#" fileSize="900" bitrate="x""#, #" fileSize="20""#, #" fileSize="30""#],
      [#" width="90" height="9""#, #" width="2" height="9""#, #" width="3" height="9""#],
      [
        #" width="90" height="9" fileSize="1""#, #" width="2" height="9""#,
        #" width="3" height="9""#,
      ],
    ]
  )
  func ladder(_ attributes: [String]) throws {
    let files = zip(["high.mp4", "low.mp4", "middle.mp4"], attributes).map(Self.file).joined()
    for (quality, name) in [
      (BundleRules.Quality.low, "low"), (.medium, "middle"), (.high, "high"),
    ] {
      let reading = Self.read([Self.film(files)]) { $0.quality = quality }
      #expect(try paths(reading) == ["/tags/\(name).mp4"])
      #expect(try reading.get().hasChoice && reading.get().mainPiece == 0)
    }
  }

  @Test("A stored encoding stays, whatever quality the network allows")
  func held() throws {
    let files = Self.film(
      Self.file("a.mp4", " bitrate=\"1\"") + Self.file("b.mp4", " bitrate=\"2\"")
    )
    let keep = { (name: String) in
      Self.read([files]) {
        $0.quality = .high
        $0.heldQuality = .low
        $0.held = ["https://ads.example/tags/\(name)"]
      }
    }
    #expect(try paths(keep("a.mp4")) == ["/tags/a.mp4"])
    #expect(try paths(keep("c.mp4")) == ["/tags/b.mp4"])
  }

  @Test("Prefixes, CDATA, comments and empty elements are accepted")
  func tolerance() throws {
    let text = """
      <v:VAST xmlns:v="http://iab.example/" xmlns:x="urn:x" version="3.0"> stray
      <v:Ad><v:InLine><v:Impression/> // remark
      <v:Creatives><!-- none --><v:Creative/><v:Creative><v:Linear><v:Duration> 00:00:01.250 </v:Duration>
      <x:MediaFiles><x:MediaFile type="video/mp4">foreign.mp4</x:MediaFile></x:MediaFiles>
      <v:MediaFiles><v:MediaFile type="video/mp4"/>
      <v:MediaFile type="video/mp4"> <![CDATA[ a.mp4?x=1&y=2 ]]> </v:MediaFile></v:MediaFiles>
      </v:Linear></v:Creative></v:Creatives></v:InLine></v:Ad></v:VAST>
      """
    let reading = try Self.read([text]).get()
    #expect(reading.pieces.map(\.url.string) == ["https://ads.example/tags/a.mp4?x=1&y=2"])
    #expect(reading.seconds == 1.25)
  }

  @Test(
    "Forbidden addresses are refused, each with its line",
    arguments: ["file:///etc/passwd", "data:video/mp4;base64,AAAA", "ftp://x/y", "http://"]
  )
  func addresses(_ address: String) {
    guard case .failure(let failure) = Self.read([Self.film(Self.file(address))]) else {
      Issue.record("\(address) was taken")
      return
    }
    #expect(failure.code == .badURL && failure.message.contains("line 1"), "\(failure)")
    guard case .failure(let wrapped) = Self.read([Self.wrapper(address)]) else {
      Issue.record("\(address) was taken")
      return
    }
    #expect(wrapped.code == .badURL, "\(wrapped)")
  }

  @Test("An address of 8 KB is read, and a longer one is refused")
  func longAddresses() throws {
    let long = String(repeating: "a", count: 8_000)
    #expect(try paths(Self.read([Self.film(Self.file("\(long).mp4"))])) == ["/tags/\(long).mp4"])
    let longer = String(repeating: long, count: 20)
    guard case .failure(let failure) = Self.read([Self.film(Self.file(longer))]) else {
      Issue.record("it was taken")
      return
    }
    #expect(failure.code == .badURL)
  }

  @Test("The number of encodings and of ads is bounded")
  func bounds() throws {
    let many = Self.film(
      (0..<9_000).map { Self.file("\($0).mp4", " bitrate=\"\($0 + 1)\"") }.joined()
    )
    #expect(try paths(Self.read([many]) { $0.quality = .high }) == ["/tags/8999.mp4"])
    let more = Self.film((0..<20_000).map { Self.file("\($0).mp4") }.joined())
    let ads = "<VAST version=\"3.0\">\(String(repeating: "<Ad id=\"1\"/>", count: 100_000))</VAST>"
    for (text, word) in [(more, "elements"), (ads, "no ad")] {
      guard case .failure(let failure) = Self.read([text]) else {
        Issue.record("it was taken")
        continue
      }
      #expect(failure.message.contains(word), "\(failure)")
    }
  }

  @Test("Known macros are replaced, with encoded brackets or not")
  func macros() throws {
    let url = try WebURL(Self.root)
    let moment = AdMoment(of: url, at: Instant(milliseconds: 1_795_490_309_703))
    let filled = moment.filling("x?a=[CACHEBUSTING]&b=%5BTIMESTAMP%5D&c=[ADCOUNT]")
    #expect(
      filled.wholeMatch(of: /x\?a=[0-9]{8}&b=2026-11-24T[0-9%A.]+Z&c=\[ADCOUNT\]/) != nil,
      "\(filled)"
    )
    #expect(moment == AdMoment(of: url, at: Instant(milliseconds: 1_795_490_309_703)))
    let reading = try Self.read([Self.wrapper("/next?[CACHEBUSTING]")]) { $0.moment = moment }.get()
    #expect(reading.documents.map(\.url.string).first?.contains("CACHE") == false)
    #expect(reading.texts.isEmpty && reading.pieces.isEmpty)
  }

  @Test("Mutated ad responses are read, or refused with a sentence")
  func mutations() throws {
    let samples = [
      Self.film(Self.file("a.mp4", " bitrate=\"7\"") + Self.file("b.mp4"), " sequence=\"2\""),
      Self.wrapper("<![CDATA[ https://ads.example/2?x=[CACHEBUSTING] ]]>"),
      """
      <?xml version="1.0"?><VAST version="3.0"><Ad id="65217051"><InLine>
      <Creatives><Creative sequence="1"><Linear skipoffset="00:00:05"><Duration>00:00:10</Duration>
      <MediaFiles><MediaFile type="application/x-mpegURL">s.m3u8</MediaFile></MediaFiles>
      <Icons><Icon><StaticResource>i.png</StaticResource></Icon></Icons></Linear></Creative>
      <Creative><CompanionAds><Companion><HTMLResource>https://a/b</HTMLResource></Companion>
      </CompanionAds></Creative></Creatives><Extensions><Extension><Image>http://a/c.png</Image>
      </Extension></Extensions></InLine></Ad></VAST>
      """,
    ]
    var mutator = Mutator(seed: 0x7A57, samples: samples.map { Array($0.utf8) })
    var (good, bad) = (0, 0)
    let url = try WebURL(Self.root)
    for round in 0..<Campaign.documents(usually: 3_000) {
      var rules = BundleRules()
      rules.form = .ad
      rules.stem = "s"
      rules.includesExtensions = round.isMultiple(of: 2)
      rules.quality = BundleRules.Quality.allCases[round % 3]
      var contents = [BundleContent(url: url, base: url, bytes: mutator.next())]
      do throws(Failure) {
        for _ in 0..<8 {
          let reading = try BundleReader.read(contents, rules)
          for wanted in reading.documents {
            contents.append(
              BundleContent(url: wanted.url, base: wanted.url, bytes: mutator.next())
            )
          }
          guard reading.documents.isEmpty else { continue }
          good += 1
          #expect(Set(reading.pieces.map(\.name)).count == reading.pieces.count)
          for name in reading.pieces.map(\.name) + reading.texts.map(\.name) {
            #expect(TreeName.objection(to: name, below: "/x") == nil, "\(name)")
          }
          break
        }
      } catch {
        bad += 1
        #expect(!error.message.isEmpty)
      }
    }
    #expect(good > 60 && bad > 60, "\(good) good, \(bad) bad")
  }
}
