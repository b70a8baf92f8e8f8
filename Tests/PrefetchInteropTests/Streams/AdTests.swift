import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Ad servers and their media; tracking addresses are below `/never`.
@Suite("Ads", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct AdTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    configure()
    for name in ["lo", "me", "hi"] { put("/\(name).mp4", String(repeating: name, count: 3_000)) }
  }

  private func configure(_ lines: String = "", zone: String = "4711") {
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
        - name: lobby
          manifest: "\(server.address("/tag"))"
          format: vast
          vast: { zone: "\(zone)", extensions: true }
          publish: { dir: "\(home.path("screen"))", layout: basename }
      \(lines)
      """
    )
  }

  private func put(_ path: String, _ text: String) {
    site[path] = Site.Page(text)
  }

  // MARK: Answers

  private func inline(
    _ media: String,
    id: String = "7",
    sequence: String = "",
    extra: String = "",
    creatives: String = ""
  ) -> String {
    let never = { (name: String) in "<![CDATA[ \(server.address("/never/\(name)")) ]]>" }
    return """
      <Ad id="\(id)"\(sequence)><InLine><AdSystem version="1">ours</AdSystem><AdTitle>t</AdTitle>
        <Error>\(never("error?[ERRORCODE]"))</Error><Impression/>
        <Impression id="a">\(never("impression"))</Impression><Survey>\(never("survey"))</Survey>
        <ViewableImpression><Viewable>\(never("viewable"))</Viewable></ViewableImpression>
        <AdVerifications><Verification vendor="x">
          <JavaScriptResource apiFramework="omid">\(never("omid.js"))</JavaScriptResource>
          <TrackingEvents><Tracking event="verificationNotExecuted">\(never("v"))</Tracking></TrackingEvents>
        </Verification></AdVerifications>\(extra)
        <Creatives>\(creatives)<Creative sequence="1"><UniversalAdId idRegistry="r">CN-1</UniversalAdId>
          <Linear skipoffset="00:00:05"> // "Skip allowed" <Duration>00:00:10.500</Duration>
            <TrackingEvents><Tracking event="start">\(never("start?[ASSETURI]"))</Tracking>
              <Tracking event="complete">\(never("complete"))</Tracking></TrackingEvents>
            <VideoClicks><ClickThrough>\(never("click"))</ClickThrough>
              <ClickTracking>\(never("clicked"))</ClickTracking>
              <CustomClick>\(never("custom"))</CustomClick></VideoClicks>
            <Icons><Icon program="choices" width="20" height="20" xPosition="right">
              <StaticResource creativeType="image/png">\(server.address("/icon.png"))</StaticResource>
              <IconClicks><IconClickThrough>\(never("iconclick"))</IconClickThrough></IconClicks>
              <IconViewTracking>\(never("iconview"))</IconViewTracking></Icon></Icons>
            <MediaFiles>\(media)
              <Mezzanine delivery="progressive" type="video/mp4">\(never("huge.mp4"))</Mezzanine>
              <InteractiveCreativeFile type="text/html">\(never("simid.html"))</InteractiveCreativeFile>
              <ClosedCaptionFiles><ClosedCaptionFile type="text/vtt" language="de">
                \(server.address("/de.vtt"))</ClosedCaptionFile></ClosedCaptionFiles>
            </MediaFiles></Linear></Creative>
          <Creative><CompanionAds><Companion width="300" height="250">
            <StaticResource creativeType="image/jpeg">\(server.address("/side.jpg"))</StaticResource>
            <TrackingEvents><Tracking event="creativeView">\(never("view"))</Tracking></TrackingEvents>
            <CompanionClickThrough>\(never("sideclick"))</CompanionClickThrough>
            <CompanionClickTracking>\(never("sideclicked"))</CompanionClickTracking></Companion>
            <Companion width="1" height="1"><HTMLResource>&lt;b&gt;inline&lt;/b&gt;</HTMLResource></Companion>
            <Companion width="1" height="1"><IFrameResource>\(never("frame"))</IFrameResource></Companion>
          </CompanionAds></Creative>
          <Creative><NonLinearAds><NonLinear><StaticResource creativeType="image/gif">\(never("over.gif"))
            </StaticResource><NonLinearClickTracking>\(never("n"))</NonLinearClickTracking></NonLinear>
          </NonLinearAds></Creative></Creatives>
        <Extensions><Extension name="RewardedVideo"><VirtualCurrencyImage>
          <![CDATA[\(server.address("/lives.jpg"))]]></VirtualCurrencyImage>
          <Reward><VirtualCurrency>coins</VirtualCurrency><RewardPerView>5</RewardPerView></Reward>
          <Tracking>\(never("extension"))</Tracking></Extension></Extensions>
      </InLine></Ad>
      """
  }

  private var ladder: String {
    zip(["hi", "lo", "me"], [1600, 600, 1100]).map { name, rate in
      """
      <MediaFile delivery="progressive" type="video/mp4" bitrate="\(rate)" width="\(rate)" height="240">
        <![CDATA[ \(server.address("/\(name).mp4")) ]]></MediaFile>
      """
    }.joined()
  }

  private func vast(_ ads: String..., version: String = "3.0") -> String {
    "<?xml version=\"1.0\"?>\n<VAST version=\"\(version)\">\(ads.joined())</VAST>"
  }

  private func wrapper(
    _ path: String,
    _ attributes: String = "",
    sequence: String = ""
  ) -> String {
    """
    <Ad id="w"\(sequence)><Wrapper\(attributes)><AdSystem>w</AdSystem>
    <VASTAdTagURI><![CDATA[ \(path.hasPrefix("/") ? server.address(path) : path) ]]></VASTAdTagURI>
    <Impression><![CDATA[\(server.address("/never/wrapped"))]]></Impression>
    <Error>\(server.address("/never/error"))</Error></Wrapper></Ad>
    """
  }

  private func putExtras() {
    for path in ["/icon.png", "/side.jpg", "/lives.jpg", "/de.vtt"] { put(path, "of \(path)") }
  }

  private func paths() -> [String] {
    server.requests.map(\.path)
  }

  private func nobodyCounted() -> Bool {
    !paths().contains { $0.contains("never") }
  }

  /// Runs the program with a clock that is some minutes ahead.
  private func later(_ minutes: Int, _ arguments: String) throws -> ProgramRun {
    try home.shell("exec faketime -f +\(minutes)m $prefetch \(arguments)")
  }

  private func described() throws -> Node {
    try Node(json: home.read("screen/4711.json") ?? "")
  }

  // MARK: One ad

  @Test("An ad is stored with all its files under one name and sends no tracking request")
  func inlineAd() throws {
    putExtras()
    put("/tag", vast(inline(ladder)))
    let plan = try home.run("--dry-run")
    #expect(plan.output.hasPrefix("fetch\tlobby\t-\t\(server.address("/tag"))\tnot stored"))
    #expect(try home.run("explain", server.address("/tag")).status == 0)
    #expect(server.requests.isEmpty, "asking for an ad is counted")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("1 HTML end card of ads not kept, the first at"), "\(run)")
    #expect(
      paths().sorted()
        == ["/de.vtt", "/icon.png", "/lives.jpg", "/lo.mp4", "/side.jpg", "/tag"]
    )
    #expect(!run.output.contains("never"), "no click stands in a report")
    #expect(try run.json().number("totals.fetched") == 1)
    #expect(
      try home.shell("cd \(home.path("screen")) && ls").lines
        == [
          "4711.caption1.vtt", "4711.companion1.jpg", "4711.companion2.html", "4711.icon1.png",
          "4711.image1.jpg", "4711.json", "4711.mp4",
        ]
    )
    #expect(home.read("screen/4711.companion2.html") == "<b>inline</b>")
    #expect(home.read("screen/4711.mp4") == String(repeating: "lo", count: 3_000))
    let ad = try described()
    #expect(ad.text("ads.0.media.file") == "4711.mp4" && ad.text("ads.0.id") == "7")
    #expect(ad.text("ads.0.universal_ad_id") == "CN-1")
    #expect(ad.text("ads.0.click_through") == server.address("/never/click"))
    #expect(ad.text("ads.0.variants.high.url") == server.address("/hi.mp4"))
    #expect(ad.text("ads.0.companions.0.file") == "4711.companion1.jpg")
    #expect(ad.text("ads.0.companions.1.file") == "4711.companion2.html")
    #expect(ad.text("ads.0.companions.1.width") == "1")
    #expect(ad.text("ads.0.system") == "ours" && ad.text("ads.0.system_version") == "1")
    #expect(ad.text("ads.0.extensions.VirtualCurrency") == "coins")
    #expect(ad.text("ads.0.extensions.RewardPerView") == "5")
    #expect(ad.at("ads.0.extensions")?.mapping?.count == 2, "addresses are left out")
    let path = try home.run("path", "4711")
    #expect(FileTree.read(String(path.lines[0])) == FileTree.read(home.path("screen/4711.mp4")))
    let serving = try Serving(home)
    let played = try serving.client.get("/-/item/-/4711/4711.mp4")
    #expect(played.status == 200 && played.body == home.read("screen/4711.mp4"))
    #expect(played.headers["content-type"] == "video/mp4")
    let card = try serving.client.get("/-/item/-/4711/4711.companion2.html")
    #expect(card.status == 200 && card.body == "<b>inline</b>")
    #expect(card.headers["content-type"]?.hasPrefix("text/html") == true, "\(card)")
    _ = serving.stop()
    let requestCount = server.requests.count
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("get", "4711").output == home.read("screen/4711.mp4"))
    #expect(try later(59, "-q").status == 0)
    #expect(server.requests.count == requestCount, "an hour has not passed")
    let next = try later(61, "--json")
    #expect(paths().dropFirst(requestCount) == ["/tag"])
    #expect(try next.json().number("totals.revalidated") == 1)
    #expect(try later(62, "--dry-run").output.isEmpty)
    #expect(try later(200, "--dry-run").output.hasPrefix("revalidate\t"))
    #expect(server.requests.count == requestCount + 1)
    #expect(try home.run("verify").status == 0)
    #expect(nobodyCounted())
  }

  @Test("The quality and the limits of the screen select among the media files")
  func qualities() throws {
    put("/tag", vast(inline(ladder)))
    for (lines, name) in [
      ("variant: medium", "me"), ("variant: high", "hi"), ("variant: low", "lo"),
      ("variant: high\n    max_bitrate: 1200000", "me"),
    ] {
      configure("    " + lines)
      #expect(try home.run("--refetch", "-q").status == 0)
      #expect(home.read("screen/4711.mp4") == String(repeating: name, count: 3_000), "\(lines)")
    }
    #expect(nobodyCounted())
  }

  @Test("A fast download leads to a better next ad, and a stored ad stays as it is")
  func automatic() throws {
    put("/tag", vast(inline(ladder)))
    #expect(try home.run("-q").status == 0)
    #expect(try later(61, "-q").status == 0)
    #expect(!paths().contains("/hi.mp4"))
    put("/other.mp4", "other")
    let other = ladder.split(separator: "/hi.mp4").joined(separator: "/other.mp4")
      .split(separator: "/lo.mp4").joined(separator: "/less.mp4")
    put("/tag", vast(inline(other, id: "8")))
    #expect(try later(130, "-q").status == 0)
    #expect(home.read("screen/4711.mp4") == "other")
    #expect(try described().text("ads.0.id") == "8")
    #expect(nobodyCounted())
  }

  @Test("A companion of an ad may be missing, and a film may not")
  func missing() throws {
    putExtras()
    site["/side.jpg"] = nil
    put("/tag", vast(inline(ladder)))
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().text("items.0.reason")?.contains("side.jpg") == true)
    #expect(home.read("screen/4711.icon1.png") != nil)
    #expect(try described().text("ads.0.companions.0.file") == "4711.companion1.html")
    #expect(try described().at("ads.0.companions.1") == nil)
    site["/lo.mp4"] = nil
    configure("    variant: low")
    let failed = try home.run("--json", "--refetch")
    #expect(failed.status == 3, "\(failed)")
    #expect(try failed.json().number("items.0.error.vast") == 401)
    #expect(home.read("screen/4711.mp4") != nil, "the old ad stays")
    #expect(try home.run("verify").status == 0)
    #expect(nobodyCounted())
  }

  @Test("Quarters of an ad count by the length that its server states")
  func quarters() throws {
    put("/tag", vast(inline(ladder)))
    #expect(try home.run("-q").status == 0)
    let seen = try home.run("event", "consume", "4711", "--to", "5.5", "--json")
    #expect(seen.status == 0, "\(seen)")
    #expect(try seen.json().list("event.quartiles").map(\.text) == ["25", "50"])
    let rest = try home.run("event", "consume", "4711", "--from", "5", "--json").json()
    #expect(rest.list("event.quartiles").map(\.text) == ["75", "100"])
    #expect(rest.number("event.length_ms") == 10_500, "\(rest)")
    #expect(nobodyCounted())
  }

  /// Companions that are pages.
  private func cards(_ cards: [String]) -> String {
    let companions = cards.map { card in
      "<Companion width=\"1\" height=\"2\"><HTMLResource>\(card)</HTMLResource></Companion>"
    }
    return "<Creative><CompanionAds>\(companions.joined())</CompanionAds></Creative>"
  }

  @Test("End cards are stored as pages, and their links are not requested")
  func pages() throws {
    putExtras()
    let page = "<html><img src=\"\(server.address("/never/pixel"))\"></html>"
    put("/card", "<html>from its server</html>")
    site["/card"]?.headers = [HeaderField("Content-Type", "text/html")]
    let creatives = cards(["<![CDATA[\(page)]]>", server.address("/card")])
    let first = inline(ladder, id: "a", sequence: " sequence=\"1\"", creatives: creatives)
    let second = inline(ladder, id: "b", sequence: " sequence=\"2\"", creatives: creatives)
    put("/tag", vast(first, second))
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let ad = try described()
    let file = try #require(ad.text("ads.0.companions.0.file"))
    #expect(file == "4711.companion1.html" && home.read("screen/\(file)") == page)
    let fetched = try #require(ad.text("ads.0.companions.1.file"))
    #expect(fetched == "4711.companion2.html")
    #expect(home.read("screen/\(fetched)") == "<html>from its server</html>")
    #expect(ad.text("ads.1.companions.0.file") == file, "the same page is one file")
    #expect(ad.text("ads.1.companions.1.file") == fetched)
    let requestCount = server.requests.count
    #expect(try later(61, "--json").json().number("totals.revalidated") == 1)
    #expect(paths().dropFirst(requestCount) == ["/tag"])
    #expect(try home.run("verify").status == 0)
    #expect(try later(62, "gc").status == 0)
    #expect(home.read("screen/\(file)") == page)
    #expect(nobodyCounted())
  }

  @Test("A page of more than 1 MiB is left out and reported, and its ad is stored")
  func longPage() throws {
    let long = "<![CDATA[<html>\(String(repeating: "x", count: 20 << 20))</html>]]>"
    let full = String(repeating: "y", count: 1 << 20)
    put("/tag", vast(inline(ladder, creatives: cards([long, full]))))
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("2 HTML end cards of ads not kept, the first at"), "\(run.errors)")
    let ad = try described()
    #expect(ad.text("ads.0.companions.0.file") == "4711.companion1.html")
    #expect(home.read("screen/4711.companion1.html") == full, "exactly 1 MiB fits")
    #expect(home.read("screen/4711.mp4") != nil)
    #expect(try home.shell("du -sk \(home.cache) | cut -f1").output.trimmedNumber < 4_000)
    #expect(nobodyCounted())
  }

  // MARK: Ad spaces

  private func space(_ name: String, _ path: String, zone: String?, _ lines: String = "") -> String
  {
    let zone = zone.map { "vast: { zone: \"\($0)\" }" } ?? ""
    return """
        - name: \(name)
          manifest: "\(server.address(path))"
          format: vast
          publish: { dir: "\(home.path(name))", layout: basename }
          \(zone)
      \(lines)

      """
  }

  private func declare(_ spaces: String...) {
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
      \(spaces.joined())
      """
    )
  }

  @Test("Three tags of one ad space cause one request and one ad, in one run and in later ones")
  func zones() throws {
    putExtras()
    for path in ["/one", "/two", "/three"] { put(path, vast(inline(ladder, id: path))) }
    declare(space("a", "/one", zone: "hall"))
    #expect(try home.run("-q").status == 0)
    #expect(tags() == ["/one"])
    declare(
      space("a", "/one", zone: "hall"),
      space("b", "/two", zone: "hall", "    headers: { X-Secret: b }"),
      space("c", "/three", zone: "hall")
    )
    let joined = try home.run("--json")
    #expect(joined.status == 0, "\(joined)")
    #expect(tags() == ["/one"], "the ad holds for an hour")
    for folder in ["a", "b", "c"] {
      #expect(home.read("\(folder)/hall.mp4") == String(repeating: "lo", count: 3_000), "\(folder)")
      #expect(home.read("\(folder)/hall.json")?.contains("\"/one\"") == true)
    }
    let requestCount = server.requests.count
    let renewed = try later(61, "--json")
    #expect(renewed.status == 0, "\(renewed)")
    #expect(paths().dropFirst(requestCount).count == 1, "\(paths())")
    #expect(tags().count == 2)
    #expect(server.requests(of: "/one").allSatisfy { $0.headers["X-Secret"] == nil })
    let items = try home.run("list", "--json").json().list("items")
    #expect(items.count == 1 && items[0].text("id") == "hall", "\(items)")
    #expect(items[0].list("segments").compactMap(\.text) == ["a", "b", "c"])
    for name in ["hall", server.address("/one"), server.address("/two")] {
      let explained = try home.run("explain", name, "--json")
      #expect(explained.status == 0, "\(name): \(explained)")
      #expect(try explained.json().text("item.id") == "hall", "\(name): \(explained)")
    }
    let held = try home.run("list", "--identities", "--json").json()
    #expect(held.list("identities").count == 1, "\(held)")
    #expect(try later(62, "get hall").output == String(repeating: "lo", count: 3_000))
    #expect(try later(62, "get \(server.address("/three"))").status == 0)
    #expect(server.requests.count == requestCount + 1, "\(paths())")
    let serving = try Serving(home)
    #expect(try serving.client.get("/-/item/-/hall/hall.mp4").status == 200)
    _ = serving.stop()
    declare(space("b", "/two", zone: "hall", "    headers: { X-Secret: b }"))
    #expect(try later(63, "-q").status == 0)
    #expect(server.requests.count == requestCount + 1, "the ad stays for the segment that is left")
    #expect(home.read("b/hall.mp4") != nil && home.read("a/hall.mp4") != nil)
    #expect(try home.run("rm", "hall").status == 0)
    #expect(try home.run("list").output.isEmpty)
    #expect(FileTree.objects(home.cache).isEmpty)
    #expect(try home.run("-q").status == 0)
    #expect(server.requests(of: "/two").last?.headers["X-Secret"] == "b")
    #expect(server.requests(of: "/one").allSatisfy { $0.headers["X-Secret"] == nil })
    #expect(nobodyCounted())
  }

  private func tags() -> [String] {
    paths().filter { ["/one", "/two", "/three"].contains($0) }
  }

  @Test("Tags of one ad space cause one request in the run that sees them first")
  func zonesAtOnce() throws {
    for path in ["/one", "/two", "/three"] { put(path, vast(inline(ladder, id: path))) }
    declare(
      space("a", "/one", zone: "hall"),
      space("b", "/two", zone: "hall"),
      space("c", "/three", zone: "hall")
    )
    let plan = try home.run("--dry-run")
    #expect(plan.status == 0 && server.requests.isEmpty, "\(plan)")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(tags() == ["/one"])
    #expect(try run.json().number("totals.items") == 1)
    for folder in ["a", "b", "c"] { #expect(home.read("\(folder)/hall.mp4") != nil) }
    #expect(try home.run("status", "--json").json().list("segments").count == 3)
  }

  @Test("Two ad spaces of one tag are two ads, as are names that differ in a dash")
  func zonesOfOneTag() throws {
    put("/tag", vast(inline(ladder)))
    declare(
      space("a", "/tag", zone: "a-b"),
      space("b", "/tag", zone: "ab"),
      space("c", "/tag", zone: nil)
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(server.requests(of: "/tag").count == 3)
    #expect(home.read("a/a-b.mp4") != nil && home.read("b/ab.mp4") != nil)
    #expect(home.read("c/tag.mp4") != nil)
    let ids = try home.run("list", "--json").json().list("items").compactMap { $0.text("id") }
    #expect(ids.count == 3 && ids.contains("a-b") && ids.contains("ab"), "\(ids)")
    #expect(try home.run("rm", "ab").status == 0)
    #expect(try home.run("path", "a-b").status == 0 && home.run("path", "ab").status == 4)
    #expect(try home.run("path", server.address("/tag")).status == 0)
    let requestCount = server.requests.count
    #expect(try home.run("-q").status == 0)
    #expect(paths().dropFirst(requestCount).filter { $0 == "/tag" }.count == 1)
  }

  @Test("Two configurations on one cache share the ad of an ad space, shards included")
  func zonesOfTwoConfigurations() throws {
    putExtras()
    for path in ["/one", "/two"] { put(path, vast(inline(ladder, id: path))) }
    declare(space("a", "/one", zone: "hall"))
    let other = home.configure(
      """
      cache: { min_free: 0 }
      segments:
      \(space("b", "/two", zone: "hall"))
      """,
      to: "other.yaml"
    )
    declare(space("a", "/one", zone: "hall"))
    #expect(try home.run("-q").status == 0)
    let requestCount = server.requests.count
    let second = try home.run("-c", other, "--json")
    #expect(second.status == 0, "\(second)")
    #expect(server.requests.count == requestCount && home.read("b/hall.mp4") != nil)
    let held = try home.run("list", "--identities", "--json").json().list("identities")
    #expect(held.count == 2 && held.allSatisfy { $0.number("items") == 1 }, "\(held)")
    // The ad stays while the other configuration declares the ad space.
    declare(space("a", "/one", zone: "yard"))
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("path", "hall").status == 0)
    #expect(tags() == ["/one", "/one"])
    let tree = { (name: String) in "    publish: { dir: \"\(home.path(name))\", layout: basename }"
    }
    let spaces = [("a", "/one"), ("c", "/two")].map { name, path in
      space(name, path, zone: "hall").split(separator: tree(name)).joined()
    }
    declare(spaces.joined())
    for shard in ["0/2", "1/2"] {
      #expect(try home.run("--shard", shard, "-q").status == 0)
    }
    #expect(tags() == ["/one", "/one"], "the ad of the space is there for both shards")
    let offline = try home.run("--offline", "--json")
    #expect(offline.status == 0, "\(offline)")
    #expect(nobodyCounted())
  }

  @Test("A server over the cache answers for the tag of an ad space and pulls its ad once")
  func zonePulled() throws {
    put("/one", vast(inline(ladder)))
    declare(space("a", "/one", zone: "hall"))
    let serving = try Serving(home, "--pull")
    let path = "/\(server.address("/one").dropFirst("http://".utf8.count))"
    let film = String(repeating: "lo", count: 3_000)
    for _ in 0..<2 {
      let response = try serving.client.get(path)
      #expect(response.status == 302, "\(response)")
      #expect(response.headers["location"] == "/-/item/-/hall/hall.mp4", "\(response)")
    }
    #expect(try serving.client.get("/-/item/-/hall/hall.mp4").body == film)
    _ = serving.stop()
    #expect(tags() == ["/one"])
    #expect(nobodyCounted())
  }

  @Test("A failed tag of an ad space is followed by the next one, with its own headers")
  func nextTag() throws {
    for path in ["/two", "/three"] { put(path, vast(inline(ladder, id: path))) }
    declare(
      space("a", "/one", zone: "hall", "    headers: { X-Secret: a }"),
      space("b", "/two", zone: "hall", "    headers: { X-Secret: b }"),
      space("c", "/three", zone: "hall")
    )
    let run = try home.run("--json")
    #expect(run.status == 3, "\(run)")
    #expect(tags() == ["/one", "/two"], "\(paths())")
    #expect(server.requests(of: "/two").first?.headers["X-Secret"] == "b")
    #expect(home.read("b/hall.mp4") != nil && home.read("c/hall.mp4") != nil)
    let requestCount = server.requests.count
    #expect(try home.run("-q").status == 0, "the ad is there for all")
    #expect(server.requests.count == requestCount && home.read("a/hall.mp4") != nil)
  }

  // MARK: Chains

  @Test("A chain of three wrappers leads to the ad and is requested again after an hour")
  func chain() throws {
    putExtras()
    put("/tag", vast(wrapper("/one?cb=[CACHEBUSTING]&t=[TIMESTAMP]")))
    put("/one", vast(wrapper("two"), version: "4.2"))
    put("/two", vast(wrapper("/three"), version: "2.0"))
    put("/three", vast(inline(ladder)))
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let targets = server.requests.map(\.target)
    #expect(targets.contains { $0.wholeMatch(of: /\/one\?cb=[0-9]{8}&t=2[-0-9T.%A:]+Z/) != nil })
    #expect(home.read("screen/4711.mp4") != nil)
    let requestCount = server.requests.count
    #expect(try home.run("-q").status == 0)
    #expect(server.requests.count == requestCount)
    #expect(try later(61, "-q").status == 0)
    #expect(paths().dropFirst(requestCount) == ["/tag", "/one", "/two", "/three"])
    put("/two", vast(wrapper("/tag")))
    let loop = try later(122, "--json")
    #expect(loop.status == 3, "\(loop)")
    #expect(try loop.json().number("items.0.error.vast") == 302)
    site["/two"] = nil
    let broken = try later(183, "--json")
    #expect(try broken.json().number("items.0.error.vast") == 301)
    #expect(home.read("screen/4711.mp4") != nil)
    #expect(nobodyCounted())
  }

  @Test("Six wrappers are too many, and a chain that may not be followed has no ad")
  func depth() throws {
    for hop in 0..<7 { put(hop == 0 ? "/tag" : "/\(hop)", vast(wrapper("/\(hop + 1)"))) }
    let deep = try home.run("--json")
    #expect(deep.status == 4, "\(deep)")
    #expect(try deep.json().number("items.0.error.vast") == 302)
    #expect(paths() == ["/tag", "/1", "/2", "/3", "/4", "/5"])
    put("/tag", vast(wrapper("/6", " followAdditionalWrappers=\"false\"")))
    let none = try home.run("--json")
    #expect(none.status == 0, "\(none)")
    #expect(try none.json().text("items.0.outcome") == "empty")
    #expect(try none.json().number("items.0.error.vast") == 303)
    #expect(nobodyCounted())
  }

  @Test(
    "A response without an ad is no failure, and the last ad stays unless `on_gone` removes it",
    arguments: ["<VAST version=\"3.0\"/>", "", "204", "wrapped"]
  )
  func noFill(_ reply: String) throws {
    put("/tag", vast(inline(ladder)))
    #expect(try home.run("-q").status == 0)
    put("/tag", reply)
    if reply == "204" { site["/tag"]?.status = 204 }
    if reply == "wrapped" {
      put("/tag", vast(wrapper("/none")))
      put("/none", vast())
    }
    let empty = try later(61, "--json")
    #expect(empty.status == 0, "\(empty)")
    #expect(empty.errors.contains("warning: there is no ad at"), "\(empty.errors)")
    #expect(try empty.json().text("items.0.outcome") == "empty")
    #expect(try empty.json().text("items.0.error.code") == "empty")
    #expect(try empty.json().text("segments.0.state") == "current")
    #expect(home.read("screen/4711.mp4") != nil)
    configure("    fail_on_empty: true")
    let failed = try later(62, "--json")
    #expect(failed.status == 3, "\(failed)")
    #expect(try failed.json().text("items.0.error.code") == "empty")
    configure("    on_gone: remove")
    let removed = try later(63, "--json")
    #expect(removed.status == 0, "\(removed)")
    #expect(try home.run("path", "4711").status == 4)
    #expect(home.read("screen/4711.mp4") == nil)
    #expect(FileTree.objects(home.cache).isEmpty)
    configure("    fail_on_empty: true")
    #expect(try later(64, "-q").status == 4)
    #expect(nobodyCounted())
  }

  // MARK: Answers of other kinds

  @Test("The ads of a pod are stored in order, each under its own name")
  func pod() throws {
    put("/three.mp4", "third")
    let third = ladder.split(separator: "/lo.mp4").joined(separator: "/three.mp4")
    let webm = "<MediaFile type=\"video/webm\">\(server.address("/me.mp4"))</MediaFile>"
    put(
      "/tag",
      vast(
        inline(ladder, id: "spare"),
        inline(webm, id: "b", sequence: " sequence=\"2\""),
        inline(ladder, id: "a", sequence: " sequence=\"1\""),
        inline(third, id: "c", sequence: " sequence=\"3\"")
      )
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let ad = try described()
    #expect((0..<4).map { ad.text("ads.\($0).id") } == ["a", "b", "c", nil])
    #expect(
      (0..<3).map { ad.text("ads.\($0).media.file") } == ["4711.mp4", "4711.2.webm", "4711.3.mp4"]
    )
    #expect(home.read("screen/4711.3.mp4") == "third")
    #expect(try run.json().number("items.0.bytes") ?? 0 > 12_000)
    put("/tag", vast(inline(ladder, id: "only")))
    #expect(try later(61, "-q").status == 0)
    #expect(home.read("screen/4711.2.webm") == nil, "what is not shown any more leaves")
    #expect(FileTree.objects(home.cache).count == 3)
    #expect(try home.run("verify").status == 0)
    #expect(nobodyCounted())
  }

  @Test(
    "A media file that cannot be stored is reported and not fetched",
    arguments: [
      (
        #"<MediaFile apiFramework="VPAID" type="application/javascript">%/vpaid.js</MediaFile>"#,
        403
      ),
      (#"<MediaFile delivery="streaming" type="video/mp4">%/s.mp4</MediaFile>"#, 403),
      (#"<MediaFile type="video/x-flv">%/a.flv</MediaFile>"#, 403),
      (#"<MediaFile type="video/mp4">%/[WIDTH].mp4</MediaFile>"#, 403),
      ("", 403),
      ("<MediaFile type=\"video/mp4\">%/a.mp4</MediaFiles>", 100),
      ("<MediaFile type=\"video/mp4\">%/a.mp4", 100),
      ("</MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST><html/>", 100),
    ]
  )
  func unfit(_ media: String, _ number: Int) throws {
    let media = media.split(separator: "%", omittingEmptySubsequences: false)
      .joined(separator: server.address(""))
    put("/tag", vast(inline(media)))
    let run = try home.run("--json")
    #expect(run.status == 4, "\(run)")
    #expect(try run.json().number("items.0.error.vast") == number, "\(run.output)")
    let message = try run.json().text("items.0.error.message") ?? ""
    #expect(message.contains(number == 100 ? "line" : "no media file"), "\(message)")
    #expect(paths() == ["/tag"])
    #expect(FileTree.objects(home.cache).isEmpty)
  }

  @Test("Another document, another version and a page are distinguished")
  func strange() throws {
    for (text, number) in [
      ("<rss version=\"2.0\"/>", 101), ("<VAST version=\"9.0\"/>", 102),
      ("<html><body>log in</body></html>", nil), ("{}", 100),
      ("<!DOCTYPE a [<!ENTITY b \"c\">]><VAST version=\"3.0\">&b;</VAST>", 100),
    ] as [(String, Int?)] {
      put("/tag", text)
      let run = try home.run("--json")
      #expect(run.status == 4, "\(run)")
      #expect(try run.json().number("items.0.error.vast") == number, "\(run.output)")
    }
    #expect(nobodyCounted())
  }

  @Test("An ad whose film is a stream is stored as a stream")
  func stream() throws {
    let media = """
      <MediaFile delivery="streaming" type="application/x-mpegURL">\(server.address("/s/film.m3u8"))</MediaFile>
      """
    put("/tag", vast(inline(media)))
    put(
      "/s/film.m3u8",
      "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\nb.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=5\na.m3u8\n"
    )
    put(
      "/s/a.m3u8",
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n1.ts\n#EXTINF:2,\n2.ts\n#EXT-X-ENDLIST\n"
    )
    putExtras()
    put("/s/1.ts", "one")
    put("/s/2.ts", "two")
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let main = try #require(home.read("screen/4711.m3u8"))
    let stream = try #require(main.split(separator: "\n").first { $0.hasPrefix("4711.v1-") })
    let second = Digest.marking("4711.v1/000002.ts", "two")
    #expect(home.read("screen/\(stream)")?.contains("\n\(second)\n") == true)
    #expect(home.read("screen/\(second)") == "two")
    #expect(try described().text("ads.0.media.file") == "4711.m3u8")
    let requestCount = server.requests.count
    #expect(try later(61, "-q").status == 0)
    #expect(
      paths().dropFirst(requestCount).sorted() == ["/s/a.m3u8", "/s/film.m3u8", "/tag"],
      "the pieces are here"
    )
    let serving = try Serving(home)
    let first = Digest.marking("4711.v1/000001.ts", "one")
    #expect(try serving.client.get("/-/item/-/4711/\(first)").body == "one")
    _ = serving.stop()
    #expect(nobodyCounted())
  }

  @Test("A damaged film is fetched again by its ad, and an offline run serves what is stored")
  func damaged() throws {
    putExtras()
    configure("    variant: low")
    put("/tag", vast(inline(ladder)))
    #expect(try home.run("-q").status == 0)
    let path = try #require(try home.run("path", "4711").lines.first.map(String.init))
    #expect(try home.run("--offline", "-q").status == 0)
    #expect(try later(90, "--offline -q").status == 0)
    #expect(try home.shell("chmod u+w \(path) && echo x > \(path)").status == 0)
    #expect(try home.run("verify", "--repair").status != 64)
    let screen = try home.shell("ls screen").lines
    #expect(try home.run("publish").status == 3)
    #expect(try home.shell("ls screen").lines == screen && screen.count == 6, "the rest stays")
    let requestCount = server.requests.count
    let run = try home.run("-q")
    #expect(run.status == 0, "\(run)")
    #expect(paths().dropFirst(requestCount).sorted() == ["/lo.mp4", "/tag"])
    #expect(try home.run("verify").status == 0)
    #expect(try home.shell("ls screen").lines.count == 7)
    #expect(nobodyCounted())
  }

  // MARK: With its neighbours

  @Test("Headers of the configuration go to the tag's server and not to later targets")
  func secrets() throws {
    let elsewhere = try LoopbackServer { [site] in site.respond(to: $0) }
    let far = { (path: String) in
      elsewhere.address(path).split(separator: "127.0.0.1").joined(separator: "localhost")
    }
    configure("    headers: { Cookie: secret }")
    put("/tag", vast(wrapper(far("/inner"))))
    put("/inner", vast(inline("<MediaFile type=\"video/mp4\">\(far("/lo.mp4"))</MediaFile>")))
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(elsewhere.requests.map(\.path).contains("/lo.mp4"))
    #expect(elsewhere.requests.allSatisfy { $0.headers["Cookie"] == nil })
    #expect(server.requests(of: "/tag").first?.headers["Cookie"] == "secret")
  }

  @Test(
    "A page or an empty body in place of a film is refused",
    arguments: ["<html><body>log in</body></html>", ""]
  )
  func impostors(body: String) throws {
    put(
      "/tag",
      vast(inline("<MediaFile type=\"video/mp4\">\(server.address("/film?id=1"))</MediaFile>"))
    )
    site["/film"] = Site.Page(body, headers: [HeaderField("Content-Type", "text/html")])
    let run = try home.run("--json")
    #expect(run.status == 4, "\(run)")
    #expect(home.read("screen/4711.mp4") == nil)
    site["/film"] = Site.Page("{}", headers: [HeaderField("Content-Type", "application/json")])
    configure("    expect: { mime: [\"video/mp4\"] }")
    #expect(try home.run("-q").status == 4)
    #expect(FileTree.objects(home.cache).isEmpty)
  }

  @Test("Files of two ads, or of an ad and a file, with one name are refused")
  func clashes() throws {
    put("/tag", vast(inline(ladder)))
    put("/x/4711.json", "{}")
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: lobby
          publish: { dir: "\(home.path("screen"))", layout: basename }
          urls:
            - { url: "\(server.address("/tag"))", type: vast, id: "4711" }
            - "\(server.address("/x/4711.json"))"
      """
    )
    let run = try home.run()
    #expect(run.status == 3 && run.errors.contains("4711.json"), "\(run)")
    #expect(home.read("screen/4711.json") == "{}")
    #expect(home.read("screen/4711.mp4") != nil)
  }

  @Test("Extensions of an ad add pictures only")
  func extensions() throws {
    let never = server.address("/never/click")
    let text = """
      <Extensions><Extension><ClickThrough>\(never)</ClickThrough><VASTAdTagURI>\(never)</VASTAdTagURI>
      <CompanionClickThrough>\(never)</CompanionClickThrough><Image>\(server.address("/lives.jpg"))</Image>
      </Extension></Extensions>
      """
    putExtras()
    put("/tag", vast(inline(ladder, extra: text)))
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 0 && !run.output.contains("never"), "\(run)")
    #expect(nobodyCounted())
  }

  @Test("A missing companion leaves the description of the other one correct")
  func missingCompanion() throws {
    putExtras()
    let first = """
      <Creative><CompanionAds><Companion width="1" height="1"><StaticResource creativeType="image/png">
      \(server.address("/gone.png"))</StaticResource></Companion></CompanionAds></Creative>
      """
    put("/tag", vast(inline(ladder, creatives: first)))
    #expect(try home.run("-q").status == 0)
    let name = try #require(try described().text("ads.0.companions.0.file"))
    #expect(home.read("screen/\(name)") == "of /side.jpg")
  }

  @Test("A server of a pod or waterfall without an ad does not hide the others' ads")
  func passedOver() throws {
    put("/204", "")
    put("/broken", "<VAST")
    for bad in ["/204", "/broken", "/404", "file:///etc/passwd"] {
      let other = wrapper(bad, sequence: " sequence=\"2\"")
      put("/tag", vast(inline(ladder, sequence: " sequence=\"1\""), other))
      let pod = try home.run("--refetch", "--json")
      #expect(pod.status == 0, "\(bad): \(pod)")
      put("/tag", vast(wrapper(bad), inline(ladder, id: "second")))
      #expect(try home.run("--refetch", "-q").status == 0, "\(bad)")
      #expect(try described().text("ads.0.id") == "second")
    }
    put("/tag", vast(wrapper("/404")))
    let alone = try home.run("--refetch", "--json")
    #expect(alone.status == 3)
    #expect(try alone.json().number("items.0.error.vast") == 301)
  }

  @Test("`get` sends one request for an ad without content and reports that")
  func getNothing() throws {
    put("/tag", vast())
    let run = try home.run("get", "4711")
    #expect(run.status == 4 && run.errors.contains("no ad"), "\(run)")
    #expect(paths() == ["/tag"])
  }

  @Test("`get -o DIR/` writes the film under its name and reports that a playlist is no stream")
  func delivers() throws {
    let webm = "<MediaFile type=\"video/webm\">\(server.address("/me.mp4"))</MediaFile>"
    put("/tag", vast(inline(webm)))
    let run = try home.run("get", "4711", "-o", "out/")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let film = String(repeating: "me", count: 3_000)
    #expect(home.read("out/4711.webm") == film, "\(FileTree.names(home.path("out")))")
    put("/film.m3u8", "#EXTM3U\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n")
    put("/a.ts", "piece")
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: film, manifest: "\(server.address("/film.m3u8"))", format: hls }]
      """
    )
    let stream = try home.run("get", server.address("/film.m3u8"), "-o", "film")
    #expect(
      stream.status == 0 && stream.errors.contains("only the playlist of the stream"),
      "\(stream)"
    )
  }

  @Test("A response that wraps hundreds of others causes twenty requests")
  func manyWrappers() throws {
    put("/none", vast())
    put("/tag", "<VAST version=\"3.0\">\((0..<300).map { wrapper("/none?\($0)") }.joined())</VAST>")
    let run = try home.run("--json")
    #expect(run.status == 4, "\(run)")
    #expect(try run.json().number("items.0.error.vast") == 302)
    #expect(paths().count == 20)
  }

  @Test("A changed lifetime, type or name of an ad applies at once")
  func changes() throws {
    put("/tag", vast(inline(ladder)))
    configure("    ttl: 30m\n    variant: low")
    #expect(try home.run("-q").status == 0)
    let requestCount = server.requests.count
    configure("    variant: low")
    #expect(try later(59, "-q").status == 0)
    #expect(server.requests.count == requestCount, "the hour holds again")
    configure("    ttl: 1d\n    variant: low")
    #expect(try later(600, "-q").status == 0)
    #expect(server.requests.count == requestCount, "and a day")
    configure("    ttl: 1d\n    variant: low", zone: "other")
    let renamed = try home.run("-q")
    #expect(renamed.status == 0, "\(renamed)")
    #expect(home.read("screen/other.mp4") != nil && home.read("screen/4711.mp4") == nil)
    let film = "urls: [{ url: \"\(server.address("/tag"))\", type: file }]"
    home.configure("cache: { min_free: 0 }\nsegments: [{ name: lobby, ttl: 1d, \(film) }]")
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("get", server.address("/tag")).output.hasPrefix("<?xml"))
    configure("    ttl: 1d")
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("get", "4711").output.utf8.count == 6_000, "the film, in any quality")
    #expect(nobodyCounted())
  }
}

extension String {
  fileprivate var trimmedNumber: Int { Int(filter(\.isNumber)) ?? .max }
}
