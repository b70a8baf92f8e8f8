import PrefetchCore
import PrefetchStore

/// A report with what every rendering says around it.
struct ReportEnvelope {
  var report: Report
  var exit: ExitStatus
  /// What the process ends with; differs from `exit` where a finding was accepted.
  var exitCode: Int32
  /// Whether the finding was one that the caller had accepted beforehand.
  var isAccepted: Bool { exitCode != exit.code }
  var runID: String
  var host: String
  var tool: ToolVersions
  /// Made when a rendering asks for it: writing a long configuration takes longer than reading it.
  var configurationDigest: @Sendable () -> String?
  var configurationFiles: [String]
  /// Folder of a mirror: the identity of a mirror is the same in every folder.
  var mirror: String?
  /// The part that the run did.
  var shard: String?
  var listsAllItems: Bool
  /// Whether the user had said that nobody can be asked.
  var isOffline = false
  var notices: [Diagnostic]
  /// Where a rendering shows them.
  var transfers = TransferLog()
  /// The oldest first, this one the last.
  var pastRuns: [RunRecord] = []
  /// Text that must not appear anywhere.
  var secrets: SecretNeedles
  var objectPath: @Sendable (ContentDigest) -> String
  var beginning = Beginning.made
  /// Options of this run that `prefetch explain` needs too, quoted for a shell.
  var explanationOptions: [String] = []
  /// Count of bodies of which a part is kept, so that the next run fetches only the rest.
  var keptPartCount = 0
  /// When a run of this configuration last ended with 0, as far as it is remembered.
  var lastSuccess: Instant?
  /// The segments that this run was not asked for, as earlier runs left them; nil for a run of all.
  var others: [SegmentRecord]?

  enum Beginning {
    case made
    /// Another run had the lock.
    case locked
    /// There was no configuration, or nothing to work on.
    case failed
  }

  /// The configuration's name in metrics and titles.
  var label: String { mirror ?? report.identity }

  /// What went wrong besides manifests and items.
  var errors: [Diagnostic] {
    diagnostics.filter { $0.severity == .error }
  }

  /// Whether there is anything of that kind to be told.
  var hasTrouble: Bool {
    beginning == .failed || !errors.isEmpty
  }

  /// All that is said besides manifests and items, the store's own failure among it.
  var diagnostics: [Diagnostic] {
    let failure = report.storeFailure.map { Diagnostic("store.\($0.code.rawValue)", $0.message) }
    return notices + [failure].compactMap(\.self) + report.diagnostics
  }

  var verdict: Report.Verdict {
    beginning == .failed ? .failed : report.verdict
  }

  /// Takes in that it could not be written somewhere; what was found weighs more.
  mutating func note(unwritten troubles: [Diagnostic]) {
    notices += troubles
    guard !troubles.isEmpty, exit != .trust, report.signal == nil, beginning != .failed else {
      return
    }
    exit = .io
    exitCode = ExitStatus.io.code
  }

  /// The items that a reader wants to see: unchanged ones only when asked for.
  var shownItems: [ItemResult] {
    guard !listsAllItems else { return report.items }
    return report.items.filter { item in
      switch item.outcome {
      case .unchanged: false
      case .added, .updated, .headers, .stale, .removed, .deferred, .failed, .redirected, .empty,
        nil:
        true
      }
    }
  }

  /// Whether another run, with nothing else changed, may end better.
  var isRetryable: Bool {
    let items = report.items.compactMap(\.failure)
    let failures = items + report.segments.compactMap(\.manifest.failure)
    // Beside a code that something accepted has left it speaks of that one.
    let status = ExitStatus(rawValue: exitCode) ?? exit
    switch status {
    case .incomplete, .nothing:
      return failures.contains { $0.isTransient || $0.code.category == .connectivity }
    case .ok, .failed, .changes, .trust, .notOurs, .usage, .unavailable, .io, .deferred, .denied,
      .config, .interrupted, .terminated:
      return status.isRetryable
    }
  }

  /// The earliest time at which something that waits may go on.
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

  /// Text for any output: secrets masked.
  func redacted(_ text: String) -> String {
    Redaction.masked(text, needles: secrets)
  }

  /// A URL for reports and logs.
  func redacted(url text: String) -> String {
    redacted(Redaction.url(text))
  }
}
