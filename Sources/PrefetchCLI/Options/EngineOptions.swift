import PrefetchConfig
import PrefetchCore

struct ReportDestination: Hashable, Sendable {
  var format: ReportFormat
  /// Path of a file; `-` is standard output, `+PATH` appends.
  var path: String
}

enum EventDestination: Hashable, Sendable {
  case descriptor(Int32)
  case file(String)
}

enum GuardException: String, Hashable, Sendable, CaseIterable {
  case massRemoval = "mass-removal"
  case rollback
  case listChange = "list-change"
  case age
}

enum ShardWish: Hashable, Sendable {
  case given(Shard)
  case ofEnvironment
}

/// Options of every command that starts a run.
struct EngineOptions: Hashable, Sendable {
  var jobs: Int?
  var jobsPerHost: Int?
  var deadline: Duration?
  var isOffline = false
  var revalidatesAll = false
  var refetchesAll = false
  var items: ReportedItems?
  var reports: [ReportDestination] = []
  var events: EventDestination?
  var skipsHooks = false
  /// Statuses that count as success; empty for the configuration's.
  var accepted: [ExitStatus] = []
  /// Time to wait for the lock; nil does not wait, bare waits without limit.
  var wait: OptionalArgument<Duration>?
  var allowed: [GuardException] = []
  var shard: ShardWish?
  /// Whether only items of the lock file may be fetched.
  var isFrozen = false

  static let acceptable: [ExitStatus] = [.incomplete, .nothing, .unavailable, .deferred]
}

extension EngineOptions {
  static let specs: [OptionSpec<EngineOptions>] = [
    .value("jobs", short: "j", \.jobs, .number(1...1000))
      .help("Run at most N transfers at once"),
    .value("jobs-per-host", \.jobsPerHost, .number(1...1000))
      .help("Open at most N connections to one host"),
    .value("deadline", \.deadline, .duration)
      .help("Stop cleanly after this time; the next run continues"),
    .flag("offline", \.isOffline).help("Ask no server; use only the cache"),
    .flag("revalidate", \.revalidatesAll)
      .help("Revalidate every item, fresh ones included"),
    .flag("refetch", \.refetchesAll).help("Fetch every item again, unconditionally"),
    .value("items", \.items, .word.called("WHICH")).help("Report the `changed` items, or `all`"),
    .values("report", \.reports, .reportDestination)
      .help(
        "Also write the report to this path, as \(Wording.list(ReportFormat.allCases.map(\.rawValue), conjunction: "or")); `-` is standard output, `+PATH` appends"
      ),
    .value("events", \.events, .eventDestination)
      .help("Write events as they happen, one JSON object a line, to a file or an open descriptor"),
    .flag("frozen", \.isFrozen).help("Take only what the lock file names"),
    .flag("no-hooks", \.skipsHooks).help("Start none of the configuration's `hooks`"),
    .commaList("accept", \.accepted, .word(among: acceptable) { $0.name }.called("NAME,…"))
      .help(
        "Treat these outcomes as success: \(Wording.list(acceptable.map(\.name), conjunction: "or"))"
      ),
    .wait(\.wait),
    .commaList("allow", \.allowed, .word.called("GUARD"), isRepeatable: true)
      .help(
        "Accept once a manifest that removes many items (`mass-removal`), is older than the stored one (`rollback`), or is another list than the mirror's last (`list-change`); `age` takes bodies below `min_age`"
      ),
    .value("shard", \.shard, .shard)
      .help(
        "Do part I of N, I from 0, or the part that SLURM, GitLab or Kubernetes gives to this job (`env`)"
      ),
  ]

  func conflicts(withJSON isJSON: Bool) -> [Diagnostic] {
    var diagnostics: [Diagnostic] = []
    if isOffline, revalidatesAll { diagnostics.append(.exclusive("--offline", "--revalidate")) }
    if isOffline, refetchesAll { diagnostics.append(.exclusive("--offline", "--refetch")) }
    let printed = reports.filter { $0.path == "-" }
    if !printed.isEmpty, isJSON {
      diagnostics.append(
        "usage.conflict",
        "`--json` already prints the report, so give `--report` a file instead of `-`"
      )
    } else if printed.count > 1 {
      diagnostics.append(
        "usage.conflict",
        "standard output holds one report, so give the others a file instead of `-`"
      )
    }
    return diagnostics
  }
}

extension ValueKind where Value == ReportDestination {
  fileprivate static var reportDestination: Self {
    let formats = ReportFormat.allCases.map(\.rawValue)
    return Self(
      expectation: "FORMAT=PATH with \(Wording.list(formats, conjunction: "or")) as FORMAT",
      completion: .words(formats.map { "\($0)=" }),
      placeholder: "FORMAT=PATH",
      suggest: { text in
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2,
          let format = Suggestion.nearest(to: String(parts[0]), among: formats)
        else { return nil }
        return "\(format)=\(parts[1])"
      },
      parse: { text in
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let format = ReportFormat(rawValue: String(parts[0])),
          parts[1] != "+"
        else { return nil }
        return ReportDestination(format: format, path: String(parts[1]))
      }
    )
  }
}

extension ValueKind where Value == EventDestination {
  static var eventDestination: Self {
    Self(
      expectation: "a file, or the number of an open descriptor",
      completion: .files,
      placeholder: "FD|FILE"
    ) { text in
      guard !text.isEmpty else { return nil }
      guard text.utf8.allSatisfy(ASCII.isDigit) else { return .file(text) }
      return Int32(text).map { .descriptor($0) }
    }
  }
}
