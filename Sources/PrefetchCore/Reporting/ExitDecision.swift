extension ExitStatus {
  /// The one mapping from what happened to how the program ends; order and timing play no part.
  package init(_ report: Report, detailed: Bool = false) {
    if let signal = report.signal {
      self = signal == 15 ? .terminated : .interrupted
      return
    }
    let failures = Self.failures(of: report)
    // Trust counts also where the item is not required.
    if failures.contains(where: \.isTrust) {
      self = .trust
    } else if Self.hasDiskTrouble(report) {
      self = .io
    } else if failures.contains(where: { $0.counts && $0.code.category == .denied }) {
      self = .denied
    } else {
      self = Self.ofContent(report, failures: failures.filter(\.counts), detailed: detailed)
    }
  }

  private static func hasDiskTrouble(_ report: Report) -> Bool {
    report.storeFailure != nil
      || failures(of: report).contains { $0.counts && $0.code.category == .io }
  }

  private struct Finding {
    var code: ErrorCode
    /// A guard that a signed manifest does not pass was met by somebody with the key, or tampered with.
    var isSigned = false
    /// Failures of what is not required do not change the exit status.
    var counts: Bool

    var isTrust: Bool {
      code.category == .trust || isSigned && code == .manifestGuard
    }
  }

  private static func failures(of report: Report) -> [Finding] {
    let items = report.items.compactMap { item in
      item.failure.map { Finding(code: $0.code, counts: item.isRequired) }
    }
    let manifests = report.segments.compactMap { segment in
      segment.manifest.failure.map {
        Finding(
          code: $0.code,
          isSigned: segment.manifest.needsSignature,
          counts: segment.isRequired
        )
      }
    }
    let registration = report.registration.map { Finding(code: $0.code, counts: true) }
    let trees = report.segments.flatMap { segment in
      (segment.tree?.troubles ?? []).map {
        Finding(code: $0.failure.code, counts: segment.isRequired)
      }
    }
    return items + manifests + trees + [registration].compactMap(\.self)
  }

  private static func ofContent(_ report: Report, failures: [Finding], detailed: Bool) -> ExitStatus
  {
    let required = report.segments.filter(\.isRequired)
    if !failures.isEmpty {
      let isConnectivity = failures.allSatisfy { $0.code.category == .connectivity }
      if isConnectivity, !report.hasAnswer { return .unavailable }
      let isNothing =
        report.mode == .get
        ? report.items.allSatisfy { $0.failure != nil }
        : !report.segments.isEmpty && report.segments.allSatisfy { $0.state == .failed }
      return isNothing ? .nothing : .incomplete
    }
    let hasDeferral =
      report.deferral != nil || required.contains { $0.deferral != nil || $0.state == .deferred }
    if hasDeferral { return .deferred }
    let hasChanges = report.totals.fetched + report.totals.updated + report.totals.removed > 0
    return detailed && hasChanges ? .changes : .ok
  }

  /// Whether running again later, with nothing else changed, may end better.
  package var isRetryable: Bool {
    switch self {
    case .incomplete, .unavailable, .deferred, .interrupted, .terminated: true
    case .ok, .failed, .changes, .nothing, .trust, .notOurs, .usage, .io, .denied, .config: false
    }
  }
}
