import PrefetchCore

struct SegmentHealth {
  var name: String
  var state: SegmentState?
  var lastSuccess: Instant?
  var changedFiles: String?
  /// Text that says why no published file is left, such as on a disk that is not mounted.
  var loss: String?
  /// Why the last run left the segment failed or incomplete.
  var reason: String?
  /// Whether items wait for space on the disk, which time alone does not bring.
  var waitsForDisk = false
  var isRequired = true
  /// Whether the segment's last run failed a security check.
  var brokeTrust = false

  fileprivate var cause: String { reason.map { ": \($0)" } ?? "" }

  /// Returns how the last success exceeds a limit; nil if it does not.
  func complaint(olderThan limit: Duration, at now: Instant) -> String? {
    guard let lastSuccess else { return "has never succeeded\(cause)" }
    if Freshness.isFuture(lastSuccess, at: now) {
      return
        "last succeeded at \(Timestamp.format(lastSuccess)), which is later than now by this clock"
    }
    let age = now - lastSuccess
    return age > limit ? "last succeeded \(Amounts.duration(age)) ago" : nil
  }
}

struct AgeLimits: Hashable {
  var warning: Duration?
  var critical: Duration?
}

/// Line for a monitoring system, with its exit status.
struct MonitoringLine: Hashable {
  enum Verdict: Int32, Comparable {
    case ok = 0
    case warning = 1
    case critical = 2
    case unknown = 3

    /// Orders verdicts: a known problem outweighs an unknown state.
    static func < (a: Self, b: Self) -> Bool { a.weight < b.weight }

    private var weight: Int {
      switch self {
      case .ok: 0
      case .unknown: 1
      case .warning: 2
      case .critical: 3
      }
    }

    var word: String {
      switch self {
      case .ok: "OK"
      case .warning: "WARNING"
      case .critical: "CRITICAL"
      case .unknown: "UNKNOWN"
      }
    }
  }

  var verdict: Verdict
  private var text: String
  private var figures: String?

  init(unknown reason: String) {
    verdict = .unknown
    text = reason
  }

  /// Judges required segments, and trust in all.
  ///
  /// `brokeTrust` says that the last run ended with 5, `doubt` why troubles may be unknown.
  init(
    _ all: [SegmentHealth],
    brokeTrust: Bool,
    doubt: String?,
    limits: AgeLimits,
    at now: Instant
  ) {
    var findings = all.filter(\.brokeTrust).map { segment in
      (
        verdict: Verdict.critical,
        text: "segment `\(segment.name)` failed a security check\(segment.cause)"
      )
    }
    if findings.isEmpty, brokeTrust {
      findings = [(.critical, "the last run failed a security check")]
    }
    let segments = all.filter(\.isRequired)
    if segments.isEmpty { findings.append((.unknown, "no segment is known")) }
    findings += segments.filter { !$0.brokeTrust }
      .compactMap { Self.finding($0, limits, at: now) }
    var worst = findings.map(\.verdict).max()
    // A warning may be a part of what is critical.
    if let doubt, worst != .critical {
      worst = .unknown
      findings = [(.unknown, doubt)]
    }
    verdict = worst ?? .ok
    let reasons = findings.filter { $0.verdict == worst }.map(\.text)
    let more = reasons.count > 1 ? ", and \(reasons.count - 1) more" : ""
    let deferred = segments.count { $0.state == .deferred }
    let count = Amounts.count(Int64(segments.count - deferred), "segment")
    let waiting = deferred > 0 ? ", \(deferred) deferred" : ""
    text = reasons.first.map { $0 + more } ?? "\(count) as declared\(waiting)"
    let successes = segments.compactMap(\.lastSuccess)
    guard !segments.isEmpty else { return }
    let oldest = successes.count == segments.count ? successes.min() : nil
    let age = oldest.map { "\(max(0, (now - $0).components.seconds))s" } ?? "U"
    let bounds = [limits.warning, limits.critical].map { limit in
      limit.map { "\($0.components.seconds)" } ?? ""
    }
    figures = "age=\(age);\(bounds.joined(separator: ";"))"
  }

  private static func finding(
    _ segment: SegmentHealth,
    _ limits: AgeLimits,
    at now: Instant
  ) -> (verdict: Verdict, text: String)? {
    let name = "segment `\(segment.name)`"
    switch segment.state {
    case .failed: return (.critical, "\(name) has failed\(segment.cause)")
    case nil: return (.unknown, "\(name) has not finished a run yet")
    case .current, .incomplete, .deferred, .unsubscribed: break
    }
    if let loss = segment.loss { return (.critical, "\(name) \(loss)") }
    if let limit = limits.critical, let complaint = segment.complaint(olderThan: limit, at: now) {
      return (.critical, "\(name) \(complaint)")
    }
    if let limit = limits.warning, let complaint = segment.complaint(olderThan: limit, at: now) {
      return (.warning, "\(name) \(complaint)")
    }
    if segment.waitsForDisk {
      return (.warning, "\(name) waits for space on the disk; `cache.min_free` keeps some free")
    }
    if let files = segment.changedFiles {
      return (.warning, "\(name) is incomplete: published files: \(files)")
    }
    guard segment.state == .incomplete else { return nil }
    return (.warning, "\(name) is incomplete\(segment.cause)")
  }

  /// A bar would begin the figures, a second line the long text.
  var line: String {
    let safeText = SafeText.line(text).replacing("|", with: "/")
    return "PREFETCH \(verdict.word) - \(safeText)" + (figures.map { " | \($0)" } ?? "")
  }
}
