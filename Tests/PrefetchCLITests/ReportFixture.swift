import PrefetchConfig
import PrefetchStore

@testable import PrefetchCLI
@testable import PrefetchCore

/// A report in which everything happened that can happen, with foreign text of the test's choice.
struct ReportFixture {
  /// Text in every place that servers and manifests can fill.
  var foreign = "plain"
  /// Text in every place that the configuration can fill.
  var own = "basics"
  var secrets: [String] = []
  var listsAllItems = true

  static let digest = ContentDigest(
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  )
  static let start = Instant(milliseconds: 1_795_150_800_000)

  var envelope: ReportEnvelope {
    let report = report
    var envelope = ReportEnvelope(
      report: report,
      exit: ExitStatus(report),
      exitCode: ExitStatus(report).code,
      runID: "20261120T050000000Z-0badcafe",
      host: "host-\(own)",
      tool: ToolVersions(libcurl: "8.11.0", sqlite: "3.40.1", openssl: "3.0.15"),
      configurationDigest: { Self.digest?.description },
      configurationFiles: ["/etc/\(own)/prefetch.yaml"],
      listsAllItems: listsAllItems,
      notices: [
        Diagnostic(
          "config.not-in-effect",
          "`\(own)` is not in effect",
          severity: .warning,
          hint: "remove `\(own)`",
          path: "segments[0].\(own)",
          at: SourceLocation(file: "/etc/\(own)/prefetch.yaml", line: 3, column: 5, length: 4)
        )
      ],
      secrets: SecretNeedles(secrets),
      objectPath: { "/cache/objects/\($0.hexadecimal)" }
    )
    for request in requests { envelope.transfers.add(request, in: Self.start) }
    envelope.pastRuns = pastRuns(report)
    return envelope
  }

  private func pastRuns(_ report: Report) -> [RunRecord] {
    [("ok", 0, -86_400), ("incomplete", 3, 0)].map { name, code, seconds in
      RunRecord(
        id: seconds == 0 ? "20261120T050000000Z-0badcafe" : "20261119T050000000Z-0badcafe",
        identity: report.identity,
        mode: "run",
        started: Self.start + .seconds(seconds),
        finished: Self.start + .seconds(seconds) + .milliseconds(2345),
        exitCode: code,
        exitName: seconds == 0 ? name : foreign,
        totals: seconds == 0 ? ReportJSON.totalsText(report.totals) : "{\"bytes_wire\":4000}"
      )
    }
  }

  var facts: [RunFact] {
    manifests + items.map { .itemSettled($0) } + [
      .itemsDiscovered(segment: own, count: 9),
      .segmentSettled(segment(own, .incomplete, priority: 1)),
      .segmentSettled(segment("extras", .failed)),
      .segmentSettled(segment("maps", .deferred)),
    ] + requests.map { .requestFinished($0) }
  }

  /// Each of another second, the first with all that can be measured.
  var requests: [RequestResult] {
    let responses: [(String, Int?, Int64)] = [
      ("fetched", 200, 1500), ("confirmed", 304, 300), ("busy", 503, 200), ("silent", nil, 0),
    ]
    return responses.enumerated().map { index, response in
      var figures = TransferFigures()
      figures.wireBytes = response.2
      figures.requestBytes = 180
      figures.started = Self.start + .milliseconds(500 * index)
      figures.total = .milliseconds(60 * (index + 1))
      if response.1 != nil { figures.firstByte = .milliseconds(45) }
      if index == 0 { figures = Self.figures }
      let url = "https://cdn.example.com/\(response.0)?sig=letmein"
      return RequestResult(
        // No URL holds everything.
        url: (try? WebURL("\(url)&of=\(foreign)")) ?? (try? WebURL(url)),
        segments: [own],
        status: response.1,
        failure: response.1 == nil ? Failure(.stalled, "it sent nothing: \(foreign)") : nil,
        isRetry: response.1 == nil,
        figures: figures
      )
    }
  }

  private static var figures: TransferFigures {
    var figures = TransferFigures()
    figures.httpVersion = "2"
    figures.started = start + .milliseconds(12)
    figures.remoteAddress = "192.0.2.7"
    figures.requestBytes = 212
    figures.wireBytes = 1500
    figures.dns = .microseconds(1500)
    figures.connect = .milliseconds(12)
    figures.tls = .milliseconds(30)
    figures.requested = .milliseconds(44)
    figures.firstByte = .microseconds(45_678)
    figures.total = .milliseconds(60)
    return figures
  }

  private var report: Report {
    let declarations = [own, "extras", "maps"].map {
      SegmentDeclaration(name: $0, source: .inline([]))
    }
    var builder = ReportBuilder(
      mode: .run,
      identity: "/etc/\(own)/prefetch.yaml",
      segments: declarations,
      listsKept: true,
      at: Moment(wall: Self.start, uptime: .seconds(10))
    )
    for fact in facts { builder.fold(fact) }
    return builder.finished(
      at: Moment(wall: Self.start + .milliseconds(2345), uptime: .milliseconds(12_345))
    )
  }

  private var manifests: [RunFact] {
    var good = ManifestResult(
      url: "https://cdn.example.com/\(foreign)?token=letmein",
      status: .fetched
    )
    good.httpStatus = 200
    good.bytes = 1200
    good.warnings = [
      Diagnostic("manifest.unknown-key", "unknown key `\(foreign)`", severity: .warning)
    ]
    var refused = ManifestResult(url: "https://cdn.example.com/extras.json", status: .refused)
    refused.httpStatus = 200
    refused.failure = Failure(.manifestGuard, "it has no items, says `\(foreign)`")
    return [
      .manifestSettled(segment: own, good),
      .manifestSettled(segment: "extras", refused),
      .manifestSettled(segment: "maps", ManifestResult(url: nil, status: .skipped)),
    ]
  }

  private func segment(
    _ name: String,
    _ state: SegmentState,
    priority: Int? = nil
  ) -> SegmentResult {
    var result = SegmentResult(name: name, state: state, priority: priority, isRequired: true)
    if state == .deferred {
      result.deferral = Deferral(rule: .retryAfter, until: Self.start + .seconds(600))
    }
    return result
  }
}

// MARK: - Items

extension ReportFixture {
  var items: [ItemResult] {
    [
      fetched, confirmed, kept, updated, stale, failed, rejected, redirected, deferred, removed,
    ]
  }

  private func item(
    _ name: String,
    _ state: ItemState,
    _ action: ItemAction,
    _ outcome: ItemOutcome
  ) -> ItemResult {
    var item = ItemResult(
      url: "https://cdn.example.com/\(name)?sig=letmein&page=1",
      id: "\(name)-\(foreign)",
      segments: [own],
      state: state,
      action: action,
      reason: "because of \(foreign)"
    )
    item.outcome = outcome
    return item
  }

  private var fetched: ItemResult {
    var item = item("fetched", .cached, .fetch, .added)
    item.provider = foreign
    item.type = foreign
    item.source = .network
    item.status = 200
    item.attempts = 2
    item.size = 5321
    item.digest = Self.digest
    item.isUsable = true
    item.figures = Self.figures
    if let url = try? WebURL("https://cdn.example.com/moved?signature=letmein") {
      item.redirects = [RedirectHop(status: 302, url: url)]
    }
    item.finalURL = "https://cdn.example.com/\(foreign)?X-Amz-Signature=letmein"
    return item
  }

  private var confirmed: ItemResult {
    var item = item("confirmed", .cached, .revalidate, .unchanged)
    item.source = .revalidated
    item.status = 304
    item.attempts = 1
    item.size = 1000
    item.digest = Self.digest
    item.isUsable = true
    return item
  }

  private var kept: ItemResult {
    var item = item("kept", .cached, .keep, .unchanged)
    item.source = .cache
    item.size = 2000
    item.digest = Self.digest
    item.isUsable = true
    return item
  }

  private var updated: ItemResult {
    var item = item("updated", .cached, .update, .updated)
    item.source = .network
    item.status = 200
    item.size = 3000
    item.isUsable = true
    return item
  }

  private var failed: ItemResult {
    var item = item("failed", .failed, .fail, .failed)
    item.status = 404
    item.attempts = 1
    item.failure = Failure(.gone, "the server answered 404: \(foreign)", isTransient: false)
    return item
  }

  /// Item whose server was unreachable and whose stale copy may be used.
  private var stale: ItemResult {
    var item = item("stale", .cached, .keep, .stale)
    item.source = .stale
    item.attempts = 4
    item.size = 900
    item.digest = Self.digest
    item.isUsable = true
    item.confirmedAt = Self.start + .seconds(-7200)
    return item
  }

  /// Item that is redirected although `follow: false` forbids following.
  private var redirected: ItemResult {
    var item = item("redirected", .failed, .fail, .redirected)
    item.status = 302
    item.attempts = 1
    item.failure = Failure(.redirected, "the server answered 302: \(foreign)")
    if let url = try? WebURL("https://cdn.example.com/elsewhere?signature=letmein") {
      item.redirects = [RedirectHop(status: 302, url: url)]
    }
    return item
  }

  /// Entry without a valid URL, with the publisher's text in its place.
  private var rejected: ItemResult {
    var item = item("rejected", .failed, .fail, .failed)
    item.url = "https://user:letmein@cdn.example.com/\(foreign)?token=letmein"
    item.failure = Failure(.badURL, "it holds user-info")
    return item
  }

  private var deferred: ItemResult {
    var item = item("deferred", .idle, .defer, .deferred)
    item.segments = ["maps"]
    item.deferral = Deferral(rule: .deadline)
    return item
  }

  private var removed: ItemResult {
    var item = item("removed", .deleted, .remove, .removed)
    item.size = 700
    return item
  }
}

extension ReportRendering {
  static func bytes(_ envelope: ReportEnvelope, as format: ReportFormat) -> [UInt8] {
    var whole: [UInt8] = []
    write(envelope, as: format) { piece in
      unsafe piece.withUnsafeBytes { unsafe whole.append(contentsOf: $0) }
    }
    return whole
  }
}
