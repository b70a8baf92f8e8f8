import PrefetchConfig
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@testable import PrefetchCLI
@testable import PrefetchCore

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

  @Test("A plan lists segments by priority, items in the manifest's order, and removals last")
  func order() {
    let items = [
      Self.item("gone", .remove, in: ["first"], at: nil),
      Self.item("later", .fetch, in: ["later"], at: 0),
      Self.item("shared", .fetch, in: ["later", "second"], at: 1),
      Self.item("first-2", .revalidate, in: ["first"], at: 5),
      Self.item("nowhere", .fetch, in: [], at: 2),
      Self.item("first-1", .update, in: ["first"], at: 4),
    ]
    let names = Self.envelope(items).planLines.map { line in
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
      Self.envelope([known, failed]).planLines == [
        "fetch\tfirst,second\t12\thttps://x.org/a?token=abc\tnot stored",
        "fail\tfirst\t-\thttps://x.org/b?token=abc\tthe limit\\u{9}is 5",
      ]
    )
  }

  @Test("Kept items are listed and counted only on request")
  func kept() {
    let items = [Self.item("a", .keep, in: ["first"], at: 0)]
    #expect(Self.envelope(items, all: false).planLines == [])
    #expect(Self.envelope(items).planLines.count == 1)
  }

  @Test("The summary counts planned actions and their bytes")
  func summary() {
    var known = Self.item("a", .fetch, in: ["first"], at: 0)
    known.size = 1234
    let unknown = Self.item("b", .update, in: ["first"], at: 1)
    let removed = Self.item("c", .remove, in: ["first"], at: nil)
    let items = [known, unknown, removed]
    #expect(
      Self.summary(items) { $0.segments = [] }
        == "plan: 1 to fetch, 1 to update, 1 to remove; 1.2 kB and 1 item without a size"
    )
    #expect(Self.summary([]) { $0.segments = [] } == "plan: nothing to do; 0 B")
    // The fixture has a deferred manifest and a failed one.
    #expect(
      Self.summary(items) { _ in }.hasPrefix(
        "plan: 1 manifest deferred, 1 manifest would fail, 1 to"
      )
    )
  }

  private static func summary(_ items: [ItemResult], _ change: (inout Report) -> Void) -> String {
    var report = envelope(items).report
    change(&report)
    return PlanSummary(report: report).line
  }

  @Test("A segment's lines are printed as soon as all lines before them are known")
  func held() {
    var printed = ""
    let printer = PlanPrinter(segments: ["first"], listsKept: false, secrets: []) {
      printed += String(decoding: $0, as: UTF8.self)
    }
    let long = String(repeating: "x", count: 70_000)
    for (name, action, position) in [
      ("c", ItemAction.fetch, 2), ("gone", .remove, nil), ("b", .keep, 1), (long, .fetch, 3),
    ] {
      printer.observe(
        .itemSettled(Self.item(name, action, in: ["first"], at: position)),
        at: Moment(wall: ReportFixture.start, uptime: .zero)
      )
      #expect(printed.isEmpty)
    }
    printer.observe(
      .itemSettled(Self.item("a", .update, in: ["first"], at: 0)),
      at: Moment(wall: ReportFixture.start, uptime: .zero)
    )
    #expect(
      printed.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == [
        "update", "fetch", "fetch",
      ]
    )
    printer.finish()
    let lines = printed.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines[0].contains("/a?") && lines[1].contains("/c?") && lines[3].hasPrefix("remove"))
  }

  @Test("An item that a second segment declares is printed with the first of them")
  func shared() {
    var printed = ""
    let printer = PlanPrinter(segments: ["later", "first"], listsKept: false, secrets: []) {
      printed += String(decoding: $0, as: UTF8.self)
    }
    let now = Moment(wall: ReportFixture.start, uptime: .zero)
    let both = Self.item("both", .fetch, in: ["later"], at: 1)
    printer.observe(.itemSettled(Self.item("one", .fetch, in: ["later"], at: 0)), at: now)
    printer.observe(.itemSettled(both), at: now)
    printer.observe(.itemShared(both, segment: "first"), at: now)
    let first = SegmentResult(name: "first", state: .current, priority: 1, isRequired: true)
    printer.observe(.segmentSettled(first), at: now)
    printer.finish()
    let fields = printed.split(separator: "\n").map { $0.split(separator: "\t")[1] }
    #expect(fields == ["first,later", "later"])
  }
}

extension ReportEnvelope {
  /// Lines that a dry run prints while its items settle.
  var planLines: [String] {
    var text: [UInt8] = []
    let printer = PlanPrinter(
      segments: report.segments.map(\.name),
      listsKept: listsAllItems,
      secrets: secrets
    ) { text += $0 }
    let now = Moment(wall: report.started, uptime: .zero)
    for item in report.items { printer.observe(.itemSettled(item), at: now) }
    for segment in report.segments {
      let result = SegmentResult(
        name: segment.name,
        state: segment.state,
        priority: segment.priority,
        isRequired: segment.isRequired
      )
      printer.observe(.segmentSettled(result), at: now)
    }
    printer.finish()
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

@Suite("Events")
struct EventLineTests {
  private static let time = ReportFixture.start

  private static func texts(_ fact: RunFact) throws -> [String] {
    let texts = EventLine(run: "r1", time: time).values(fact).map { JSONWriter.string($0) }
    for text in texts {
      let problems = SchemaCheck.problems(of: try readJSON(Array(text.utf8)), schema: try schema())
      #expect(problems == [], "\(text)")
    }
    return texts
  }

  private static func schema() throws -> Node {
    try readJSON(Array((RepositoryFile.top("man/prefetch-events.schema.json").read() ?? "").utf8))
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
      reason: "no longer declared"
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
  func items() throws {
    let cases: [(RunFact, [String])] = [
      (Self.settled(.added) { $0.size = 5 }, [#""cache.added"\#(Self.about)"bytes":5}"#]),
      (
        Self.settled(.updated),
        [#""cache.updated"\#(Self.about)"bytes":null,"changed":["headers","body"]}"#]
      ),
      (
        Self.settled(.headers) { $0.size = 5 },
        [#""cache.updated"\#(Self.about)"bytes":5,"changed":["headers"]}"#]
      ),
      (
        Self.settled(.removed) {
          $0.departure = .unsubscribed
          $0.size = 5
        },
        Self.removedLines("unsubscribed")
      ),
      (
        Self.settled(.failed) { $0.failure = Failure(.dns, "no such host") },
        [#""items.failed"\#(Self.about)"code":"dns"}"#]
      ),
      (Self.settled(.redirected), [#""items.failed"\#(Self.about)"code":null}"#]),
      (
        Self.settled(.failed) {
          $0.failure = Failure(.cacheFull, "full")
          $0.departure = .space
          $0.size = 5
        },
        [#""items.failed"\#(Self.about)"code":"cache_full"}"#] + Self.removedLines("space")
      ),
    ]
    for (fact, texts) in cases { #expect(try Self.texts(fact) == texts.map { Self.head + $0 }) }
  }

  private static func removedLines(_ reason: String) -> [String] {
    [
      #""cache.removed"\#(about)"reason":"\#(reason)"}"#,
      #""items.evicted"\#(about)"bytes":5,"reason":"\#(reason)"}"#,
    ]
  }

  @Test("Events of segments and starts have their lines")
  func others() throws {
    let time = #""time":"2026-11-20T05:00:00.000Z","run":"r1""#
    #expect(
      try Self.texts(.itemsDiscovered(segment: "s", count: 3))
        == [#"{"event":"items.discovered",\#(time),"segment":"s","count":3}"#]
    )
    #expect(
      try Self.texts(.itemsStarted(segment: "s", [try WebURL("https://x.org/a?sig=abc")]))
        == [
          #"{"event":"items.started",\#(time),"segment":"s","count":1,"urls":["https://x.org/a?sig=***"]}"#
        ]
    )
    let segment = SegmentResult(name: "s", state: .current, priority: nil, isRequired: true)
    #expect(
      try Self.texts(.segmentSettled(segment))
        == [#"{"event":"segment.done",\#(time),"segment":"s","state":"current","changed":false}"#]
    )
  }

  @Test("Facts without a change have no event")
  func silence() throws {
    let silent: [RunFact] = [
      Self.settled(.unchanged), Self.settled(.stale), Self.settled(.deferred), Self.settled(nil),
      .bytesReceived(1), .interrupted(signal: 2), .storeFailed(Failure(.disk, "full")),
      .requestFinished(RequestResult(status: 200, isRetry: false)),
      .manifestSettled(segment: "s", ManifestResult(url: nil, status: .fetched)),
    ]
    #expect(try silent.flatMap(Self.texts) == [])
  }

  @Test("Events of the license and of the network match their schema")
  func news() throws {
    let facts: [(RunFact, String)] = [
      (.registration(.ok(isFirst: true)), "registration.ok"),
      (.registration(.failed(.dns, retryAt: Self.time)), "registration.failed"),
      (.registration(.failed(.dns, retryAt: nil)), "registration.failed"),
      (.registration(.lost(nil)), "registration.lost"),
      (.registration(.lost(.licenseRefused)), "registration.lost"),
      (.qualityChanged(.poor), "network.quality"),
    ]
    for (fact, name) in facts {
      let texts = try Self.texts(fact)
      #expect(texts.count == 1 && texts.first?.contains("\"\(name)\"") == true, "\(texts)")
    }
  }

  @Test("The event names and closed words of the schema equal those of the program")
  func words() throws {
    let schema = try Self.schema()
    let definitions = schema["$defs"]
    let names = schema["anyOf"]?.sequence?.compactMap { $0["$ref"]?.scalar?.text.dropFirst(8) }
    #expect(names?.map(String.init) == Hook.events)
    for name in Hook.events {
      let event = definitions?[name]?["properties"]?["event"]
      #expect(event?["const"]?.scalar?.text == name)
    }
    func words(_ node: Node?) -> [String]? { node?["enum"]?.sequence?.compactMap(\.scalar?.text) }
    func words(_ event: String, _ key: String) -> [String]? {
      words(definitions?[event]?["properties"]?[key])
    }
    #expect(words(definitions?["code"]) == ErrorCode.allCases.map(\.rawValue))
    #expect(words("segment.done", "state") == SegmentState.allCases.map(\.rawValue))
    #expect(words("network.quality", "quality") == NetworkQuality.allCases.map(\.rawValue))
    #expect(words("cache.removed", "reason") == Departure.allCases.map(\.rawValue))
    #expect(words("items.evicted", "reason") == Departure.allCases.map(\.rawValue))
    #expect(words("run.finished", "exit") == PrefetchCore.ExitStatus.allCases.map(\.name))
  }

  @Test("The names of all events are in the manual page")
  func manual() throws {
    let page = try #require(RepositoryFile.top("man/prefetch-report.5").read())
    for name in Hook.events {
      #expect(page.contains("\n\\fB\(name)\\fR\n"), "\(name)")
    }
  }
}
