import PrefetchTestSupport
import Testing

/// The quality of the next film, by the quality and the duration of the last download.
@Suite(
  "The quality of ads",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Tool.isInstalled("sqlite3"), "needs sqlite3")
)
struct AdQualityTests {
  /// A line of the guide's table: the last download and the quality chosen next.
  private struct Line {
    var quality: String
    var seconds: String
    var next: String

    init(_ quality: String, _ seconds: String, _ next: String) {
      self.quality = quality
      self.seconds = seconds
      self.next = next
    }
  }

  /// Equal times go to the lower quality.
  private static let lines = [
    Line("low", "0.1", "high"), Line("low", "1.9", "high"), Line("low", "2.0", "medium"),
    Line("low", "2.9", "medium"), Line("low", "3.0", "low"), Line("low", "60", "low"),
    Line("medium", "2.9", "high"), Line("medium", "3.0", "medium"), Line("medium", "4.9", "medium"),
    Line("medium", "5.0", "low"), Line("high", "4.9", "high"), Line("high", "5.0", "medium"),
    Line("high", "9.9", "medium"), Line("high", "10.0", "low"), Line("high", "600", "low"),
  ]

  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: lobby
          manifest: "\(server.address("/tag"))"
          format: vast
          ttl: 0
          vast: { zone: "4711" }
          publish: { dir: screen, layout: basename }
      """
    )
  }

  /// Replaces the ad by another with films in three qualities.
  private func publish(_ number: Int) {
    let ladder = ["low": 596, "medium": 1128, "high": 1628].map { name, rate in
      site["/\(number)-\(name).mp4"] = Site.Page("\(name) film \(number)")
      return """
        <MediaFile delivery="progressive" type="video/mp4" bitrate="\(rate)" width="\(rate)" height="9">
        <![CDATA[\(server.address("/\(number)-\(name).mp4"))]]></MediaFile>
        """
    }
    site["/tag"] = Site.Page(
      """
      <VAST version="3.0"><Ad id="\(number)"><InLine><AdSystem>a</AdSystem><AdTitle>t</AdTitle>
      <Impression/><Creatives><Creative><Linear><Duration>00:00:10</Duration><MediaFiles>
      \(ladder.joined())</MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
      """
    )
  }

  @Test("A film is chosen by the duration of the last one, and the first has low quality")
  func table() throws {
    publish(0)
    #expect(try home.run("-q").status == 0)
    #expect(home.read("screen/4711.mp4") == "low film 0", "nothing is known yet")
    for (number, line) in Self.lines.enumerated() {
      let change =
        "UPDATE quality_history SET quality='\(line.quality)', seconds=\(line.seconds)"
      let changed = try home.tool("sqlite3", "\(home.state)/state.sqlite", change)
      try #require(changed.status == 0, "\(changed)")
      publish(number + 1)
      let run = try home.run("-q")
      #expect(run.status == 0, "\(run)")
      #expect(
        home.read("screen/4711.mp4") == "\(line.next) film \(number + 1)",
        "\(line.quality) after \(line.seconds) s"
      )
    }
  }
}
