import PrefetchCore
import Testing

@testable import PrefetchCLI

/// Reports of very many items, for readers with size limits.
@Suite("Reports within the limits of their readers")
struct ReportSizeTests {
  private static let count = 100_000

  private static func item(_ number: Int, _ outcome: ItemOutcome, url: String = "") -> ItemResult {
    var item = ItemResult(
      url: url.isEmpty ? "https://h\(number % 7).example.com/a/path/of/some/length/\(number)" : url,
      id: "\(number)",
      segments: ["basics"],
      state: outcome == .failed ? .failed : .cached,
      action: outcome == .failed ? .fail : .fetch,
      reason: "not stored"
    )
    item.outcome = outcome
    item.attempts = 1
    if outcome == .failed {
      item.failure = Failure(.gone, "the server answered 404 <&> \"\(number)\"")
    }
    return item
  }

  private static func envelope(_ items: [ItemResult], segments: Int = 1) -> ReportEnvelope {
    var envelope = ReportFixture().envelope
    let names = (0..<segments).map { $0 == 0 ? "basics" : "a rather long name of segment \($0)" }
    var builder = ReportBuilder(
      mode: .run,
      identity: "me",
      segments: names.map { SegmentDeclaration(name: $0, source: .inline([])) },
      at: Moment(wall: ReportFixture.start, uptime: .zero)
    )
    for item in items { builder.fold(.itemSettled(item)) }
    envelope.report = builder.finished(
      at: Moment(wall: ReportFixture.start, uptime: .seconds(1))
    )
    return envelope
  }

  private static func count(_ word: String, in text: String) -> Int {
    text.utf8.split(separator: UInt8(ascii: "\n")).count { line in
      String(decoding: line, as: UTF8.self).contains(word)
    }
  }

  @Test("Markdown of 100,000 failures fits a comment and says what it leaves out")
  func markdownOfFailures() throws {
    let items = (0..<Self.count).map { Self.item($0, .failed) }
    let text = ReportMarkdown(envelope: Self.envelope(items)).text
    #expect(text.utf8.count <= 65_536 && text.utf8.count > 60_000)
    let shownCount = Self.count("- `https://", in: text)
    #expect(shownCount > 300 && text.contains("- and \(Self.count - shownCount) more;"))
    #expect(text.contains("| **total** |") && text.contains("| 100000 |"))
  }

  @Test("Markdown of 10,000 segments includes failures")
  func markdownOfSegments() {
    let items = (0..<10).map { Self.item($0, .failed) }
    let text = ReportMarkdown(envelope: Self.envelope(items, segments: 10_000)).text
    #expect(text.utf8.count <= 65_536)
    #expect(Self.count("- `https://", in: text) == 10)
    #expect(text.contains("more segments; `--report json=FILE` has all."))
  }

  @Test("Markdown of one failure as long as a page leaves it out to keep the limit")
  func markdownOfLongURLs() {
    let url = "https://h.example.com/" + String(repeating: "a", count: 70_000)
    let text = ReportMarkdown(envelope: Self.envelope([Self.item(0, .failed, url: url)])).text
    #expect(text.utf8.count <= 65_536 && text.contains("- and 1 more;"))
  }

  @Test(
    "JUnit of 100,000 items has the failed ones and counts the others"
  )
  func junit() {
    let items = (0..<Self.count).map { Self.item($0, $0 % 10 == 9 ? .failed : .added) }
    let text = ReportJUnit(envelope: Self.envelope(items)).text
    #expect(Self.count("<testcase ", in: text) == ReportJUnit.mostCases)
    #expect(Self.count("<failure ", in: text) == 10_000)
    #expect(text.contains("tests=\"20000\" failures=\"10000\" errors=\"0\""))
    #expect(text.contains("<system-out>80001 more items are left out"))
    #expect(text.utf8.count < 30_000_000)
  }

  @Test("JUnit of long names stays below the size that readers take")
  func junitBytes() {
    let path = String(repeating: "a", count: 8000)
    let items = (0..<50).map { Self.item($0, .failed, url: "https://h.example.com/\(path)\($0)") }
    var report = ReportJUnit(envelope: Self.envelope(items))
    #expect(!report.text.contains("left out"))
    report.mostBytes = 240_000
    let text = report.text
    #expect(text.utf8.count < 242_000 && text.contains("<system-out>21 more items are left out"))
  }
}
