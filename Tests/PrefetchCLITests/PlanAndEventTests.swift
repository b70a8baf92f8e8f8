import PrefetchCore
import PrefetchDocuments
import Testing

@testable import PrefetchCLI

@Suite("Lines of a plan")
struct PlanLinesTests {
  private static func envelope(_ items: [ItemResult], all: Bool = true) -> ReportEnvelope {
    var envelope = ReportFixture().envelope
    envelope.listsAllItems = all
    envelope.report.mode = .plan
    envelope.report.items = items
    envelope.report.totals = Totals()
    for item in items { envelope.report.totals.count(item) }
    for (index, segment) in [("later", nil), ("first", 1), ("second", 2)].enumerated() {
      envelope.report.segments[index].name = segment.0
      envelope.report.segments[index].priority = segment.1
    }
    return envelope
  }

  private static func item(
    _ name: String,
    _ action: ItemAction,
    in segments: [String],
    at position: Int?
  ) -> ItemResult {
    var item = ItemResult(
      url: "https://x.org/\(name)?token=abc",
      id: name,
      segments: segments,
      state: .pending,
      action: action,
      reason: "not stored"
    )
    item.position = position
    return item
  }

  @Test("Removals come last, before them segments by priority, in them the order of the manifest")
  func order() {
    let items = [
      Self.item("gone", .remove, in: ["first"], at: nil),
      Self.item("later", .fetch, in: ["later"], at: 0),
      Self.item("shared", .fetch, in: ["later", "second"], at: 1),
      Self.item("first-2", .revalidate, in: ["first"], at: 5),
      Self.item("nowhere", .fetch, in: [], at: 2),
      Self.item("first-1", .update, in: ["first"], at: 4),
    ]
    let names = PlanLines(envelope: Self.envelope(items)).lines.map { line in
      String(line.split(separator: "/").last?.prefix { $0 != "?" } ?? "")
    }
    #expect(names == ["first-1", "first-2", "shared", "later", "nowhere", "gone"])
  }

  @Test("A line has the action, the segments, the size, the real URL and the reason")
  func fields() {
    var known = Self.item("a", .fetch, in: ["first", "second"], at: 0)
    known.size = 12
    var failed = Self.item("b", .fail, in: ["first"], at: 1)
    failed.failure = Failure(.tooLarge, "the limit\tis 5")
    #expect(
      PlanLines(envelope: Self.envelope([known, failed])).lines == [
        "fetch\tfirst,second\t12\thttps://x.org/a?token=abc\tnot stored",
        "fail\tfirst\t-\thttps://x.org/b?token=abc\tthe limit\\u{9}is 5",
      ]
    )
  }

  @Test("What is kept is listed and counted only when asked for")
  func kept() {
    let items = [Self.item("a", .keep, in: ["first"], at: 0)]
    #expect(PlanLines(envelope: Self.envelope(items, all: false)).lines == [])
    #expect(PlanLines(envelope: Self.envelope(items)).lines.count == 1)
  }

  @Test("The summary counts what would be done and how much it is")
  func summary() {
    var known = Self.item("a", .fetch, in: ["first"], at: 0)
    known.size = 1234
    let unknown = Self.item("b", .update, in: ["first"], at: 1)
    let removed = Self.item("c", .remove, in: ["first"], at: nil)
    #expect(
      PlanLines(envelope: Self.envelope([known, unknown, removed])).summary
        == "plan: 1 to fetch, 1 to update, 1 to remove; 1.2 kB and 1 item of unknown size"
    )
    #expect(PlanLines(envelope: Self.envelope([])).summary == "plan: nothing to do; 0 B")
  }
}

@Suite("Events")
struct EventLineTests {
  private static let time = ReportFixture.start

  private static func text(_ fact: RunFact) -> String? {
    EventLine.value(fact, run: "r1", at: time).map { JSONWriter.string($0) }
  }

  private static func settled(
    _ outcome: ItemOutcome?,
    _ change: (inout ItemResult) -> Void = { _ in }
  )
    -> RunFact
  {
    var item = ItemResult(
      url: "https://x.org/a?token=abc",
      id: "a",
      segments: ["s"],
      state: .cached,
      action: .fetch,
      reason: "declared no more"
    )
    item.outcome = outcome
    change(&item)
    return .itemSettled(item)
  }

  private static let head = #"{"event":"#
  private static let about =
    #","time":"2026-11-20T05:00:00.000Z","run":"r1","url":"https://x.org/a?token=***","#
    + #""id":"a","segments":["s"],"#

  @Test("Each end of an item has its event")
  func items() {
    let cases: [(RunFact, String)] = [
      (Self.settled(.added) { $0.size = 5 }, #""cache.added"\#(Self.about)"bytes":5}"#),
      (
        Self.settled(.updated),
        #""cache.updated"\#(Self.about)"bytes":null,"changed":["headers","body"]}"#
      ),
      (
        Self.settled(.headers) { $0.size = 5 },
        #""cache.updated"\#(Self.about)"bytes":5,"changed":["headers"]}"#
      ),
      (Self.settled(.removed), #""cache.removed"\#(Self.about)"reason":"declared no more"}"#),
      (
        Self.settled(.failed) { $0.failure = Failure(.dns, "no such host") },
        #""items.failed"\#(Self.about)"code":"dns"}"#
      ),
      (Self.settled(.redirected), #""items.failed"\#(Self.about)"code":null}"#),
    ]
    for (fact, text) in cases { #expect(Self.text(fact) == Self.head + text) }
  }

  @Test("Segments and beginnings have theirs")
  func others() throws {
    let time = #""time":"2026-11-20T05:00:00.000Z","run":"r1""#
    #expect(
      Self.text(.itemsDiscovered(segment: "s", count: 3))
        == #"{"event":"items.discovered",\#(time),"segment":"s","count":3}"#
    )
    #expect(
      Self.text(.itemStarted(try WebURL("https://x.org/a?sig=abc"), segments: ["s", "t"]))
        == #"{"event":"items.started",\#(time),"url":"https://x.org/a?sig=***","segments":["s","t"]}"#
    )
    let segment = SegmentResult(name: "s", state: .current, priority: nil, isRequired: true)
    #expect(
      Self.text(.segmentSettled(segment))
        == #"{"event":"segment.done",\#(time),"segment":"s","state":"current"}"#
    )
  }

  @Test("Nothing is said of what changed nothing")
  func silence() {
    let silent: [RunFact] = [
      Self.settled(.unchanged), Self.settled(.stale), Self.settled(.deferred), Self.settled(nil),
      .bytesReceived(1), .interrupted(signal: 2), .storeFailed(Failure(.disk, "full")),
      .requestFinished(RequestResult(status: 200, wireBytes: 1, isRetry: false)),
      .manifestSettled(segment: "s", ManifestResult(url: nil, status: .fetched)),
    ]
    #expect(silent.compactMap(Self.text) == [])
  }

  @Test("The names of all events are in the manual page")
  func manual() throws {
    let page = try #require(RepositoryFile.top("man/prefetch-report.5").read())
    for name in [
      "run.started", "items.discovered", "items.started", "cache.added", "cache.updated",
      "cache.removed", "items.failed", "segment.done", "run.finished",
    ] {
      #expect(page.contains("\n\\fB\(name)\\fR\n"), "\(name)")
    }
  }
}
