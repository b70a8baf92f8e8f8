extension ExitStatus {
  /// Derives the exit status from the facts, not their order; accepted findings are skipped.
  package init(_ report: Report, detailed: Bool = false, accepting: Set<ExitStatus> = []) {
    if let signal = report.signal {
      self = signal == 15 ? .terminated : .interrupted
      return
    }
    let failures = Self.failures(of: report)
    // Trust failures count for optional items too.
    if failures.contains(where: \.isTrust) {
      self = .trust
    } else if Self.hasDiskTrouble(report) {
      self = .io
    } else if failures.contains(where: { $0.counts && $0.code.category == .denied }) {
      self = .denied
    } else {
      let findings = Self.findings(in: report, failures: failures.filter(\.counts))
      let hasChanges = report.totals.fetched + report.totals.updated + report.totals.removed > 0
      self =
        findings.first { !accepting.contains($0) } ?? (detailed && hasChanges ? .changes : .ok)
    }
  }

  /// Returns the segments of lists, items and trees that failed a security check.
  package static func distrustedSegments(in report: Report) -> Set<String> {
    Set(failures(of: report).filter(\.isTrust).flatMap(\.segments))
  }

  private static func hasDiskTrouble(_ report: Report) -> Bool {
    report.storeFailure != nil
      || failures(of: report).contains { $0.counts && $0.code.category == .io }
  }

  private struct Finding {
    var code: ErrorCode
    /// A signed manifest fails a guard only if the key's holder made it so or it was altered.
    var isSigned = false
    /// Whether the failure affects the exit status; those of optional items do not.
    var counts: Bool
    var segments: [String] = []

    var isTrust: Bool {
      code.category == .trust || isSigned && code == .manifestGuard
    }
  }

  private static func failures(of report: Report) -> [Finding] {
    let items = report.items.compactMap { item in
      item.failure.map {
        Finding(code: $0.code, counts: item.isRequired, segments: item.segments)
      }
    }
    let manifests = report.segments.compactMap { segment in
      segment.manifest.failure.map {
        Finding(
          code: $0.code,
          isSigned: segment.manifest.needsSignature,
          counts: segment.isRequired,
          segments: [segment.name]
        )
      }
    }
    let registration = report.registration.map { Finding(code: $0.code, counts: true) }
    let tier = report.tier?.trouble.map { Finding(code: $0.code, counts: false) }
    let collector = report.distrustedCollector.map { Finding(code: $0.code, counts: false) }
    let trees = report.segments.flatMap { segment in
      (segment.tree?.troubles ?? []).map {
        Finding(
          code: $0.failure.code,
          counts: segment.isRequired,
          segments: [segment.name]
        )
      }
    }
    return items + manifests + trees + [registration, tier, collector].compactMap(\.self)
  }

  /// Returns failures and deferrals, the most severe first.
  private static func findings(in report: Report, failures: [Finding]) -> [ExitStatus] {
    let hasDeferral =
      report.deferral != nil
      || report.segments.contains { $0.isRequired && ($0.deferral != nil || $0.state == .deferred) }
    let deferral: [ExitStatus] = hasDeferral ? [.deferred] : []
    let content = failures.isEmpty ? [] : [ofContent(report, failures)]
    let tier: [ExitStatus] =
      report.tier.map { $0.isRequired && $0.trouble != nil } == true ? [.unavailable] : []
    return tier + content + (report.hasFailedHook ? [.failed] : []) + deferral
  }

  private static func ofContent(_ report: Report, _ failures: [Finding]) -> ExitStatus {
    let isConnectivity = failures.allSatisfy { $0.code.category == .connectivity }
    if isConnectivity, !report.hasResponse, !expectsResponse(report) { return .unavailable }
    if !report.mode.isOfSegments {
      return report.totals.failed == report.totals.items ? .nothing : .incomplete
    }
    let selected = report.segments.filter { $0.state != .unsubscribed }
    return !selected.isEmpty && selected.allSatisfy { $0.state == .failed } ? .nothing : .incomplete
  }

  private static func expectsResponse(_ report: Report) -> Bool {
    let totals = report.totals
    return report.mode.predicts && totals.fetched + totals.updated + totals.revalidated > 0
  }

  /// Whether a later run could end better with no other change.
  package var isRetryable: Bool {
    switch self {
    case .incomplete, .unavailable, .deferred, .interrupted, .terminated: true
    case .ok, .failed, .changes, .nothing, .trust, .notOurs, .usage, .io, .denied, .config: false
    }
  }
}
