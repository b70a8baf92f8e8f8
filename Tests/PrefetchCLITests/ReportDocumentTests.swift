import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@testable import PrefetchCLI

@Suite("The report and its description")
struct ReportDocumentTests {
  private static let envelope = ReportFixture().envelope

  private static func document(_ format: ReportFormat = .json) -> [UInt8] {
    ReportRendering.bytes(envelope, as: format)
  }

  private static func schema() throws -> Node {
    try readJSON(Array((RepositoryFile.top("man/prefetch-report.schema.json").read() ?? "").utf8))
  }

  @Test("A report in which everything happened matches its schema")
  func matchesSchema() throws {
    let document = try readJSON(Self.document())
    #expect(SchemaCheck.problems(of: document, schema: try Self.schema()) == [])
  }

  @Test("A rich report has an item with every outcome")
  func isComplete() {
    let outcomes = Set(Self.envelope.report.items.compactMap(\.outcome))
    #expect(
      outcomes.isSuperset(of: [
        .added, .updated, .unchanged, .deferred, .failed, .redirected, .stale, .removed,
      ])
    )
  }

  @Test("A report of a run in which nothing happened matches its schema")
  func emptyReport() throws {
    let start = Moment(wall: ReportFixture.start, uptime: .zero)
    let builder = ReportBuilder(mode: .plan, identity: "", segments: [], at: start)
    var envelope = Self.envelope
    envelope.report = builder.finished(at: start)
    envelope.configurationDigest = { nil }
    envelope.configurationFiles = []
    envelope.notices = []
    let document = try readJSON(ReportRendering.bytes(envelope, as: .json))
    #expect(SchemaCheck.problems(of: document, schema: try Self.schema()) == [])
  }

  @Test("The schema check detects missing, unknown and out-of-range values")
  func checkWorks() throws {
    let text = String(decoding: Self.document(), as: UTF8.self)
    for (old, new) in [
      (#""result": "failed""#, #""result": "fine""#), (#""attempts": 2"#, #""attempts": "2""#),
      (#""host": "#, #""hots": "#), (#""priority": 1,"#, #""priority": 101,"#),
    ] {
      #expect(text.contains(old))
      let broken = try readJSON(Array(text.replacing(old, with: new, maxReplacements: 1).utf8))
      #expect(SchemaCheck.problems(of: broken, schema: try Self.schema()) != [], "\(new)")
    }
  }

  @Test(
    "The schema's enums are those of the program",
    arguments: [
      ("segment", "state", SegmentState.allCases.map(\.rawValue)),
      ("item", "state", ItemState.allCases.map(\.rawValue)),
      ("item", "action", ItemAction.allCases.map(\.rawValue)),
      ("item", "outcome", ItemOutcome.allCases.map(\.rawValue) + ["null"]),
      ("item", "source", ItemResult.Source.allCases.map(\.rawValue) + ["null"]),
      ("error", "code", ErrorCode.allCases.map(\.rawValue)),
      ("deferral", "rule", Deferral.Rule.allCases.map(\.rawValue)),
    ]
  )
  func enums(object: String, key: String, values: [String]) throws {
    let property = try Self.schema()["$defs"]?[object]?["properties"]?[key]
    #expect(property?["enum"]?.sequence?.compactMap(\.scalar?.text) == values)
  }

  @Test(
    "The reasons of deferrals have the same words in every schema",
    arguments: ["report", "status", "network"]
  )
  func deferrals(name: String) throws {
    let file = RepositoryFile.top("man/prefetch-\(name).schema.json")
    let lists = try readJSON(Array((file.read() ?? "").utf8)).enums.filter {
      $0.contains("breaker")
    }
    #expect(!lists.isEmpty)
    for list in lists { #expect(list == Deferral.Rule.allCases.map(\.rawValue)) }
  }

  @Test("The documents of commands are in the manual page")
  func documents() throws {
    let page = try #require(RepositoryFile.top("man/prefetch-report.5").read())
    var count = 0
    for command in CommandTable.all {
      let name = "prefetch-\(command.name.replacing(" ", with: "-"))"
      guard let schema = RepositoryFile.top("man/\(name).schema.json").read() else { continue }
      let version = try readJSON(Array(schema.utf8))["properties"]?["schema"]?["const"]?.scalar?
        .text
      #expect(version == "\(name)/1")
      #expect(page.contains(name.replacing("-", with: "\\-") + "/1"), "\(name)")
      count += 1
    }
    #expect(count > 15)
  }

  @Test("The schema's words for the exit, the result and the manifest are those of the program")
  func otherEnums() throws {
    let schema = try Self.schema()
    let root = schema["properties"]
    let manifest = schema["$defs"]?["segment"]?["properties"]?["manifest"]?["properties"]
    let words = { (node: Node?) in node?["enum"]?.sequence?.compactMap(\.scalar?.text) }
    let names = words(root?["exit"]?["properties"]?["name"])
    #expect(names == PrefetchCore.ExitStatus.allCases.map(\.name))
    #expect(words(root?["result"]) == Report.Verdict.allCases.map(\.rawValue))
    #expect(words(manifest?["status"]) == ManifestResult.Status.allCases.map(\.rawValue))
  }

  @Test("Every key and every word of the report is in its manual page")
  func manual() throws {
    let page = try #require(RepositoryFile.top("man/prefetch-report.5").read())
    let words =
      try readJSON(Self.document()).allKeys
      .union(SegmentState.allCases.map(\.rawValue)).union(ItemState.allCases.map(\.rawValue))
      .union(ItemAction.allCases.map(\.rawValue)).union(ItemOutcome.allCases.map(\.rawValue))
      .union(ItemResult.Source.allCases.map(\.rawValue)).union(ErrorCode.allCases.map(\.rawValue))
      .union(Deferral.Rule.allCases.map(\.rawValue)).union(ReportFormat.allCases.map(\.rawValue))
      .union(Report.Verdict.allCases.map(\.rawValue))
      .union(ManifestResult.Status.allCases.map(\.rawValue))
    for word in words.sorted() {
      #expect(page.contains("\\fB\(word)\\fR"), "\(word)")
    }
  }

  @Test("Each rendering of a rich report is the recorded one", arguments: ReportFormat.allCases)
  func rendering(format: ReportFormat) {
    RepositoryFile.snapshot("report.\(format.rawValue)")
      .expect(String(decoding: Self.document(format), as: UTF8.self))
  }

  @Test("Items served stale are reported although items are not listed")
  func stale() {
    #expect(
      String(decoding: Self.document(.md), as: UTF8.self).contains("\n1 item served stale.\n")
    )
  }

  @Test("Unchanged items are listed only on request")
  func changedItems() throws {
    var envelope = Self.envelope
    envelope.listsAllItems = false
    let items = try readJSON(ReportRendering.bytes(envelope, as: .json))["items"]?.sequence ?? []
    #expect(
      items.compactMap { $0["outcome"]?.scalar?.text } == [
        "added", "updated", "stale", "failed", "failed", "redirected", "deferred", "removed",
      ]
    )
  }

  @Test("NDJSON is the report without its items, then each item in the report's form")
  func ndjson() throws {
    let document = try readJSON(Self.document())
    let lines = try String(decoding: Self.document(.ndjson), as: UTF8.self).split(separator: "\n")
      .map { try readJSON(Array($0.utf8)) }
    #expect(lines.first?["schema"]?.scalar?.text == "prefetch-report/1")
    #expect(lines.first?["items"] == nil)
    let urls = { (nodes: [Node]) in nodes.map { $0["url"]?.scalar?.text } }
    #expect(urls(Array(lines.dropFirst())) == urls(document["items"]?.sequence ?? []))
  }
}

extension Node {
  /// Lists of words that the schema allows, at any depth.
  fileprivate var enums: [[String]] {
    let entries = mapping ?? []
    let own = entries.filter { $0.key == "enum" }
      .map { ($0.value.sequence ?? []).compactMap(\.scalar?.text) }
    return own + (entries.map(\.value) + (sequence ?? [])).flatMap(\.enums)
  }
}
