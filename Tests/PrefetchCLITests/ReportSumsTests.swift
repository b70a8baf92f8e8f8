import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@testable import PrefetchCLI

/// Every rendering must show the same totals for any outcomes of items.
@Suite("Sums in all renderings")
struct ReportSumsTests {
  private static let names = ["a", "b"]
  private static let kinds: [(name: String, action: ItemAction)] = [
    ("kept", .keep), ("revalidated", .revalidate), ("fetched", .fetch), ("updated", .update),
    ("deferred", .defer), ("failed", .fail), ("removed", .remove),
  ]

  private static func envelope(_ seed: UInt64) -> ReportEnvelope {
    var dice = SeededRandom(seed &+ 1)
    var builder = ReportBuilder(
      mode: .run,
      identity: "me",
      segments: names.map { SegmentDeclaration(name: $0, source: .inline([])) },
      listsKept: true,
      at: Moment(wall: ReportFixture.start, uptime: .zero)
    )
    for number in 0..<Int.random(in: 0...40, using: &dice) {
      let action = ItemAction.allCases.randomElement(using: &dice) ?? .keep
      var item = ItemResult(
        url: "https://a.example/\(number)",
        id: "\(number)",
        segments: [names.randomElement(using: &dice) ?? ""],
        state: .cached,
        action: action,
        reason: "so"
      )
      item.size = Int64.random(in: 0...5000, using: &dice)
      item.isPinned = Bool.random(using: &dice)
      item.outcome =
        switch action {
        case .fetch: .added
        case .update: .updated
        case .revalidate, .keep: Int.random(in: 0..<5, using: &dice) == 0 ? .stale : .unchanged
        case .remove: .removed
        case .defer: .deferred
        case .fail: Bool.random(using: &dice) ? .failed : .redirected
        }
      if action == .fail { item.failure = Failure(.http, "the server answered 500") }
      if action == .defer { item.deferral = Deferral(rule: .window) }
      builder.fold(.itemSettled(item))
    }
    var envelope = ReportFixture().envelope
    envelope.report = builder.finished(at: Moment(wall: ReportFixture.start, uptime: .seconds(1)))
    envelope.notices = []
    return envelope
  }

  private static func number(_ node: Node?, _ key: String) -> Int {
    (node?[key]?.scalar?.text).flatMap { Int($0) } ?? -1
  }

  @Test("Totals are the counts of items in every rendering", arguments: 0..<100)
  func sums(seed: UInt64) throws {
    let envelope = Self.envelope(seed)
    let document = try readJSON(ReportRendering.bytes(envelope, as: .json))
    let items = document["items"]?.sequence ?? []
    let count = { (action: ItemAction, segment: String?) in
      items.count { item in
        let segments = item["segments"]?.sequence?.compactMap(\.scalar?.text) ?? []
        return item["action"]?.scalar?.text == action.rawValue
          && segment.map(segments.contains) ?? true
      }
    }
    let metrics = ReportPrometheus(envelope: envelope).text
    let segments = document["segments"]?.sequence ?? []
    for (name, action) in Self.kinds {
      #expect(Self.number(document["totals"], name) == count(action, nil))
      for (segment, node) in zip(Self.names, segments) {
        #expect(Self.number(node["totals"], name) == count(action, segment))
        let series = "segment=\"\(segment)\",action=\"\(name)\"} \(count(action, segment))\n"
        #expect(metrics.contains(series))
      }
    }
    let whole = items.count - count(.remove, nil)
    #expect(Self.number(document["totals"], "items") == whole)
    let lines = ReportRendering.bytes(envelope, as: .ndjson).count { $0 == UInt8(ascii: "\n") }
    #expect(lines == items.count + 1)
    let markdown = ReportMarkdown(envelope: envelope).text
    #expect(markdown.contains("| **total** | \(envelope.exit.name) | \(whole) |"))
    let junit = ReportJUnit(envelope: envelope).text
    // A case for each item and for the manifest of each segment.
    #expect(junit.contains("tests=\"\(items.count + 2)\" failures=\"\(count(.fail, nil))\""))
    let text = ReportText(envelope: envelope).lines.joined(separator: "\n")
    #expect(text.contains(Amounts.count(Int64(whole), "item")))
  }
}
