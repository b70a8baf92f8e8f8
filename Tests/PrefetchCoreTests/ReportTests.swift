import Testing

@testable import PrefetchCore

@Suite struct ExitStatusTests {
  /// Disambiguates from Testing's type of the same name.
  typealias ExitStatus = PrefetchCore.ExitStatus

  /// The facts of a run that matter to its exit status.
  struct Facts: Sendable {
    var mode = RunRequest.Mode.run
    var items: [(code: ErrorCode?, isRequired: Bool)] = []
    var states: [(state: SegmentState, isRequired: Bool)] = [(.current, true)]
    var manifest: ErrorCode?
    var signal: Int32?
    var store: ErrorCode?
    var hasResponse = true
    var isDeferred = false
    var changes = false
    var isDetailed = false
    var isUsable = true
    var collector: ErrorCode?
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var status: ExitStatus
    var facts: Facts

    var testDescription: String { name }
  }

  static func row(_ name: String, _ status: ExitStatus, _ change: (inout Facts) -> Void) -> Row {
    var facts = Facts()
    change(&facts)
    return Row(name: name, status: status, facts: facts)
  }

  static let rows: [Row] = [
    row("all is well", .ok) { _ in },
    row("nothing selected", .ok) { $0.states = [] },
    row("changes are no news", .ok) { $0.changes = true },
    row("a collector that may not be trusted", .trust) { $0.collector = .pinMismatch },
    row("changes, asked for", .changes) {
      $0.changes = true
      $0.isDetailed = true
    },
    row("no changes, asked for", .ok) { $0.isDetailed = true },
    row("an item failed", .incomplete) {
      $0.items = [(.gone, true)]
      $0.states = [(.incomplete, true)]
    },
    row("a manifest failed", .incomplete) {
      $0.manifest = .manifestGuard
      $0.states = [(.incomplete, true)]
    },
    row("every segment failed", .nothing) {
      $0.items = [(.gone, true)]
      $0.states = [(.failed, true), (.failed, false)]
    },
    row("one of two segments failed", .incomplete) {
      $0.items = [(.gone, true)]
      $0.states = [(.failed, true), (.current, true)]
    },
    row("an optional segment is usable", .incomplete) {
      $0.items = [(.gone, true)]
      $0.states = [(.failed, true), (.current, false)]
    },
    row("an optional item failed", .ok) { $0.items = [(.gone, false)] },
    row("an optional segment failed", .ok) {
      $0.items = [(.gone, false)]
      $0.states = [(.current, true), (.failed, false)]
    },
    row("connectivity alone", .unavailable) {
      $0.items = [(.dns, true), (.timeout, true)]
      $0.states = [(.failed, true)]
      $0.hasResponse = false
    },
    row("connectivity, but a server responded", .incomplete) {
      $0.items = [(.dns, true)]
      $0.states = [(.incomplete, true)]
    },
    row("connectivity and content", .nothing) {
      $0.items = [(.dns, true), (.http, true)]
      $0.states = [(.failed, true)]
      $0.hasResponse = false
    },
    row("denied before connectivity", .denied) {
      $0.items = [(.dns, true), (.credentialsRefused, true)]
      $0.hasResponse = false
    },
    row("bundle mismatch", .denied) { $0.manifest = .bundleMismatch },
    row("optional and denied", .ok) { $0.items = [(.credentialsRefused, false)] },
    row("io before denied", .io) { $0.items = [(.licenseRefused, true), (.diskFull, true)] },
    row("optional and io", .ok) { $0.items = [(.permission, false)] },
    row("the store failed", .io) { $0.store = .diskFull },
    row("trust before io", .trust) {
      $0.items = [(.diskFull, true), (.digestMismatch, true)]
      $0.store = .disk
    },
    row("trust counts where nothing is required", .trust) { $0.items = [(.pinMismatch, false)] },
    row("a manifest's signature", .trust) { $0.manifest = .signature },
    row("SIGINT before trust", .interrupted) {
      $0.items = [(.digestMismatch, true)]
      $0.signal = 2
    },
    row("SIGTERM", .terminated) { $0.signal = 15 },
    row("deferred", .deferred) {
      $0.states = [(.deferred, true)]
      $0.changes = true
      $0.isDetailed = true
    },
    row("the whole run deferred", .deferred) { $0.isDeferred = true },
    row("an optional segment deferred", .ok) {
      $0.states = [(.current, true), (.deferred, false)]
    },
    row("failure before deferral", .incomplete) {
      $0.items = [(.gone, true)]
      $0.states = [(.incomplete, true), (.deferred, true)]
    },
    row("get of what is not there", .nothing) {
      $0.mode = .get
      $0.items = [(.gone, true)]
      $0.isUsable = false
    },
    row("get of a removed file, with or without a stored copy", .nothing) {
      $0.mode = .get
      $0.items = [(.gone, true), (.http, true)]
    },
    row("get of two, one is not there", .incomplete) {
      $0.mode = .get
      $0.items = [(.gone, true), (nil, true)]
    },
    row("a plan that meets a violation", .trust) {
      $0.mode = .plan
      $0.items = [(.transportSecurity, true), (.gone, true)]
      $0.states = [(.incomplete, true)]
    },
    row("a plan with a failure and changes", .incomplete) {
      $0.mode = .plan
      $0.items = [(.gone, true)]
      $0.states = [(.incomplete, true)]
      $0.changes = true
      $0.isDetailed = true
    },
    row("a plan with changes", .changes) {
      $0.mode = .plan
      $0.changes = true
      $0.isDetailed = true
    },
    row("a plan on a full disk", .io) {
      $0.mode = .plan
      $0.manifest = .diskFull
    },
    row("a plan interrupted", .interrupted) {
      $0.mode = .plan
      $0.signal = 2
    },
  ]

  @Test(
    "The first finding decides the exit status, whatever the order of the URLs",
    arguments: rows
  )
  func table(row: Row) {
    let facts = row.facts
    var report = Report(mode: facts.mode, identity: "me", started: Instant(seconds: 0))
    report.items = facts.items.map { code, isRequired in
      var item = ItemResult(
        url: "https://a.example/",
        id: "a",
        segments: ["s"],
        state: .cached,
        action: code == nil ? .keep : .fail,
        reason: ""
      )
      item.failure = code.map { Failure($0, "it failed") }
      item.isRequired = isRequired
      item.isUsable = code == nil || facts.isUsable
      return item
    }
    report.segments = facts.states.enumerated().map { number, given in
      var manifest = ManifestResult(url: nil, status: .inline)
      if number == 0 { manifest.failure = facts.manifest.map { Failure($0, "it failed") } }
      var segment = Report.Segment(name: "s\(number)", state: given.state, manifest: manifest)
      segment.isRequired = given.isRequired
      return segment
    }
    report.signal = facts.signal
    report.storeFailure = facts.store.map { Failure($0, "it failed") }
    report.hasResponse = facts.hasResponse
    report.distrustedCollector = facts.collector.map { Failure($0, "it failed") }
    report.deferral = facts.isDeferred ? Deferral(rule: .lock) : nil
    for item in report.items { report.totals.count(item) }
    report.totals.fetched = facts.changes ? 1 : 0
    #expect(ExitStatus(report, detailed: facts.isDetailed) == row.status)
    report.items.reverse()
    #expect(ExitStatus(report, detailed: facts.isDetailed) == row.status)
  }

  @Test("Names, codes and meanings are distinct")
  func names() {
    #expect(Set(ExitStatus.allCases.map(\.name)).count == ExitStatus.allCases.count)
    #expect(Set(ExitStatus.allCases.map(\.meaning)).count == ExitStatus.allCases.count)
    #expect(
      ExitStatus.allCases.map(\.code) == [0, 1, 2, 3, 4, 5, 6, 64, 69, 74, 75, 77, 78, 130, 143]
    )
  }
}

@Suite struct ReportBuilderTests {
  static let start = Moment(wall: Instant(seconds: 100), uptime: .seconds(5))

  static func item(_ name: String, _ action: ItemAction, segments: [String] = ["s"]) -> ItemResult {
    var item = ItemResult(
      url: "https://a.example/\(name)",
      id: name,
      segments: segments,
      state: .cached,
      action: action,
      reason: ""
    )
    item.size = 10
    return item
  }

  static func builder(_ segments: [String] = ["s", "t"]) -> ReportBuilder {
    ReportBuilder(
      mode: .run,
      identity: "me",
      segments: segments.map { SegmentDeclaration(name: $0, source: .inline([])) },
      at: start
    )
  }

  @Test("Items are the sum of their outcomes, with removals beside them")
  func totals() {
    var builder = Self.builder()
    for (number, action) in ItemAction.allCases.enumerated() {
      var item = Self.item("\(number)", action, segments: action == .keep ? ["s", "t"] : ["s"])
      item.source = action == .fetch || action == .update ? .network : nil
      builder.fold(.itemSettled(item))
    }
    let report = builder.finished(at: Self.start)
    let totals = report.totals
    #expect(totals.items == 6)
    #expect(totals.removed == 1)
    #expect(totals.bytesSaved == 20)
    #expect(totals.bytesStored == 20)
    #expect(totals.bytesBody == 20)
    #expect(report.segments[0].totals == totals)
    #expect(report.segments[1].totals.items == 1)
    #expect(report.verdict == .failed)
  }

  @Test("Requests, retries and 304s are counted as they were sent")
  func requests() {
    var builder = Self.builder()
    for (status, isRetry) in [(304, false), (nil, false), (503, true)] as [(Int?, Bool)] {
      var request = RequestResult(status: status, isRetry: isRetry)
      request.figures.wireBytes = 5
      builder.fold(.requestFinished(request))
    }
    let report = builder.finished(at: Self.start)
    #expect(report.totals.requests == 3)
    #expect(report.totals.notModified == 1)
    #expect(report.totals.retries == 1)
    #expect(report.totals.bytesWire == 15)
    #expect(report.hasResponse)
  }

  @Test("A lesson about a host's HTTP version is reported once, by host and port")
  func protocolLessons() throws {
    var builder = Self.builder()
    let requests: [(String, ProtocolLesson?)] = [
      ("https://a.example/1", .noHTTP3), ("https://a.example/2", .noHTTP3),
      ("https://a.example:8443/", .noHTTP3), ("https://b.example/", nil),
      ("https://a.example/3", .openEnds),
    ]
    for (url, lesson) in requests {
      var request = RequestResult(
        url: try WebURL(url),
        status: 200,
        isRetry: false
      )
      request.figures.lesson = lesson
      builder.fold(.requestFinished(request))
    }
    let report = builder.finished(at: Self.start)
    #expect(
      report.lessons == [.noHTTP3: ["a.example", "a.example:8443"], .openEnds: ["a.example"]]
    )
  }

  @Test("A request that the transport repeated counts as often as it was sent")
  func repeatedRequests() throws {
    var builder = Self.builder()
    for count in [0, 1, 2] {
      var request = RequestResult(
        url: try WebURL("https://a.example/"),
        status: 200,
        isRetry: false
      )
      request.figures.requestCount = count
      builder.fold(.requestFinished(request))
    }
    #expect(builder.finished(at: Self.start).totals.requests == 3)
  }

  @Test(
    "A temporary refusal does not count as a response",
    arguments: [(nil, false), (503, false), (429, false), (408, false), (404, true), (200, true)]
      as [(Int?, Bool)]
  )
  func responses(status: Int?, isResponse: Bool) {
    var builder = Self.builder()
    builder.fold(.requestFinished(RequestResult(status: status, isRetry: false)))
    #expect(builder.finished(at: Self.start).hasResponse == isResponse)
  }

  @Test("An item that a second segment declares later is one item and counts in both")
  func shared() {
    var builder = Self.builder()
    let item = Self.item("x", .keep)
    builder.fold(.itemSettled(item))
    builder.fold(.itemShared(item, segment: "t"))
    let report = builder.finished(at: Self.start)
    #expect(report.totals.items == 1)
    #expect(report.items.map(\.segments) == [["s", "t"]])
    #expect(report.segments.map(\.totals.kept) == [1, 1])
  }

  @Test("The first failure of the store is reported, and the run time is uptime")
  func ends() {
    var builder = Self.builder([])
    builder.fold(.storeFailed(Failure(.diskFull, "full")))
    builder.fold(.storeFailed(Failure(.disk, "worse")))
    builder.fold(.interrupted(signal: 2))
    let end = Moment(wall: Instant(seconds: 7), uptime: .seconds(8))
    let report = builder.finished(at: end)
    #expect(report.storeFailure?.code == .diskFull)
    #expect(report.signal == 2)
    #expect(report.elapsed == .seconds(3))
    #expect(report.finished == end.wall)
    #expect(report.verdict == .failed)
  }
}
