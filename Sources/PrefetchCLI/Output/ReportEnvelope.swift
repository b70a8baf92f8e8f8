import PrefetchCore
import PrefetchStore

/// A report with the facts that renderings add.
struct ReportEnvelope {
  var report: Report
  var exit: ExitStatus
  /// Exit code of the process; differs from `exit` if a status was accepted.
  var exitCode: Int32
  var isAccepted: Bool { exitCode != exit.code }
  var runID: String
  var host: String
  var tool: ToolVersions
  /// Computed on demand: writing a long configuration takes longer than reading it.
  var configurationDigest: @Sendable () -> String?
  var configurationFiles: [String]
  /// Folder of a mirror, since all mirrors have the same identity.
  var mirror: String?
  var shard: String?
  var listsAllItems: Bool
  var isOffline = false
  var notices: [Diagnostic]
  var transfers = TransferLog()
  /// Earlier runs, the oldest first, then this one.
  var pastRuns: [RunRecord] = []
  var secrets: SecretNeedles
  var objectPath: @Sendable (ContentDigest) -> String
  var beginning = Beginning.made
  /// Options of this run that `prefetch explain` needs too, quoted for a shell.
  var explanationOptions: [String] = []
  /// Count of bodies of which a part is kept, so that the next run fetches only the rest.
  var keptPartCount = 0
  var lastSuccess: Instant?
  /// Segments outside this run, as earlier runs left them; nil for a run of all.
  var others: [SegmentRecord]?

  enum Beginning {
    case made
    case locked
    /// No configuration or nothing to work on.
    case failed
  }

  var label: String { mirror ?? report.identity }

  var errors: [Diagnostic] {
    diagnostics.filter { $0.severity == .error }
  }

  var hasTrouble: Bool {
    beginning == .failed || !errors.isEmpty
  }

  /// Diagnostics other than those of manifests and items, the store's failure included.
  var diagnostics: [Diagnostic] {
    let failure = report.storeFailure.map { Diagnostic("store.\($0.code.rawValue)", $0.message) }
    return notices + [failure].compactMap(\.self) + report.diagnostics
  }

  var verdict: Report.Verdict {
    beginning == .failed ? .failed : report.verdict
  }

  mutating func recordWriteFailures(_ troubles: [Diagnostic]) {
    notices += troubles
    guard !troubles.isEmpty, exit != .trust, report.signal == nil, beginning != .failed else {
      return
    }
    exit = .io
    exitCode = ExitStatus.io.code
  }

  var shownItems: some Collection<ItemResult> {
    report.items.lazy.filter { item in
      switch item.outcome {
      case .unchanged: listsAllItems
      case .added, .updated, .headers, .stale, .removed, .deferred, .failed, .redirected, .empty,
        nil:
        true
      }
    }
  }

  var isRetryable: Bool {
    let items = report.items.compactMap(\.failure)
    let failures = items + report.segments.compactMap(\.manifest.failure)
    // An accepted status no longer counts here.
    let status = ExitStatus(rawValue: exitCode) ?? exit
    switch status {
    case .incomplete, .nothing:
      return failures.contains { $0.isTransient || $0.code.category == .connectivity }
    case .ok, .failed, .changes, .trust, .notOurs, .usage, .unavailable, .io, .deferred, .denied,
      .config, .interrupted, .terminated:
      return status.isRetryable
    }
  }

  var nextAllowedAt: Instant? {
    let items = report.items.compactMap { $0.deferral?.until }
    let segments = report.segments.compactMap { $0.deferral?.until }
    return (items + segments + [report.deferral?.until].compactMap(\.self)).min()
  }

  /// Returns the command that explains a file of this run; `URL` stands for an address with secrets.
  func explanation(of url: String) -> String {
    let isWhole = redacted(url: url) == url
    let name = isWhole ? SafeText.line(ServiceUnit.shellQuoted(url)) : "URL"
    return (["prefetch explain", name] + explanationOptions).joined(separator: " ")
  }

  func redacted(_ text: String) -> String {
    Redaction.masked(text, needles: secrets)
  }

  func redacted(url text: String) -> String {
    redacted(Redaction.url(text))
  }
}
