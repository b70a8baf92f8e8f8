import PrefetchCore

/// Failures as messages: individually if few, else grouped by host and reason.
struct FailureLines {
  let envelope: ReportEnvelope
  let showsAll: Bool

  /// Limit for individual lines; the report has all failures.
  private static let mostLines = 20
  private static let mostAlike = 3

  struct FailureLine {
    var diagnostic: Diagnostic
    var subject: LogSubject
  }

  var lines: [FailureLine] {
    let all = ReportFailures(envelope: envelope).all
    // A missing network is one fact, not one per item.
    let failures = all.filter { !$0.isNoRoute }
    var lines: [FailureLine] = []
    if failures.count < all.count {
      let loss = Failure.noRoute
      let count = Amounts.count(
        Int64(all.count - failures.count),
        "item or manifest",
        "items and manifests"
      )
      lines.append(line(loss.code.rawValue, "\(loss.message); \(count) not requested"))
    }
    let groups = showsAll ? failures.map { [$0] } : Self.groups(failures)
    let limit = showsAll ? Int.max : Self.mostLines
    lines += groups.prefix(limit).map { $0.count == 1 ? line(of: $0[0]) : line(of: $0) }
    let rest = groups.dropFirst(limit).reduce(0) { $0 + $1.count }
    if rest > 0 {
      lines.append(
        line("run.more-failures", "and \(rest) more; `-v` shows all")
      )
    }
    return lines
  }

  /// Failures of manifests, which have no line in a plan.
  var ofManifests: [FailureLine] {
    ReportFailures(envelope: envelope).all.filter(\.isOfManifest).map { line(of: $0) }
  }

  private static func groups(_ failures: [ReportFailures.Trouble]) -> [[ReportFailures.Trouble]] {
    var groups: [[ReportFailures.Trouble]] = []
    var indices: [Key: Int] = [:]
    for failure in failures {
      let key = failure.host.map { Key(host: $0, code: failure.code) }
      if let key, let index = indices[key] {
        groups[index].append(failure)
      } else {
        if let key { indices[key] = groups.count }
        groups.append([failure])
      }
    }
    return groups.flatMap { $0.count > mostAlike ? [$0] : $0.map { [$0] } }
  }

  private struct Key: Hashable {
    var host: String
    var code: String
  }

  private func line(of entry: ReportFailures.Trouble) -> FailureLine {
    let tries = entry.attempts > 1 ? ", after \(entry.attempts) attempts" : ""
    let kept =
      if entry.isOfManifest {
        "the items of the last list are kept"
      } else if entry.isBeginning {
        "the stored beginning is used"
      } else {
        "the older copy is kept"
      }
    let copy = entry.keepsOlderCopy ? "; \(kept)" : ""
    let declared = declaration(of: entry)
    var line = line(
      entry.code,
      "\(entry.subject): \(declared?.message ?? entry.message)\(tries)\(copy)",
      isRequired: entry.isRequired,
      about: LogSubject(url: entry.url, segment: entry.segments.first)
    )
    line.diagnostic.location = declared?.location
    return line
  }

  private func declaration(of entry: ReportFailures.Trouble) -> DeclaredDigestLocation? {
    guard entry.code == ErrorCode.digestMismatch.rawValue else { return nil }
    return envelope.report.segments.lazy.filter { entry.segments.contains($0.name) }
      .compactMap(\.manifest.url).filter { !$0.contains("://") }
      .compactMap { DeclaredDigestLocation(of: entry.message, in: $0) }.first
  }

  private func line(of group: [ReportFailures.Trouble]) -> FailureLine {
    let (first, host) = (group[0], group[0].host ?? "")
    // Some messages are prefixes of others.
    let shortest = group.map(\.message).min { $0.utf8.count < $1.utf8.count } ?? first.message
    let isOneReason = group.allSatisfy { $0.message.hasPrefix(shortest) }
    let reason = isOneReason ? shortest : "of the first, \(first.message)"
    let attempts = group.map(\.attempts).max() ?? 0
    let tries = attempts > 1 ? ", after up to \(attempts) attempts each" : ""
    let copies = group.count(where: \.keepsOlderCopy)
    let kept =
      copies > 0 ? "; \(Amounts.count(Int64(copies), "older copy", "older copies")) kept" : ""
    let segments = Set(group.map(\.segments))
    return line(
      first.code,
      "\(host): \(group.count) items: \(reason)\(tries); the first is \(first.subject)\(kept)",
      isRequired: group.contains(where: \.isRequired),
      about: LogSubject(segment: segments.count == 1 ? first.segments.first : nil)
    )
  }

  private func line(
    _ code: String,
    _ message: String,
    isRequired: Bool = true,
    about subject: LogSubject = .nothing
  ) -> FailureLine {
    let severity: Diagnostic.Severity = isRequired && !envelope.isAccepted ? .error : .warning
    return FailureLine(
      diagnostic: Diagnostic("\(code)", message, severity: severity),
      subject: subject
    )
  }

  /// Host in a local list to which plain HTTP is refused; remote lists do not count.
  private var refusedPlainHost: String? {
    let local = envelope.report.segments.filter { $0.manifest.url?.contains("://") == false }
    let names = Set(local.map(\.name))
    let items = envelope.report.items.lazy.filter { !names.isDisjoint(with: $0.segments) }
    let host = items.compactMap { item in
      item.failure.flatMap { Self.refusedPlainHost(of: item.url, $0, $0.message) }
    }.first
    return host
      ?? local.lazy.compactMap { segment -> String? in
        // The failure of an index page begins with its URL.
        guard let failure = segment.manifest.failure else { return nil }
        let parts = failure.message.split(separator: "`: ", maxSplits: 1)
        guard parts.count == 2, parts[0].hasPrefix("`") else { return nil }
        return Self.refusedPlainHost(of: String(parts[0].dropFirst()), failure, String(parts[1]))
      }.first
  }

  /// Returns the URL's own host; nil if a redirect led to the refused host.
  private static func refusedPlainHost(
    of url: String,
    _ failure: Failure,
    _ message: String
  ) -> String? {
    guard failure.code == .transportSecurity, !message.contains("allow_http"),
      let url = try? WebURL(url), url.scheme == .http,
      message.hasPrefix("plain http to `\(url.host)`")
    else { return nil }
    return url.host
  }

  /// Advice after the run; nil if there is none or a message has stated it.
  var nextStep: String? {
    switch ExitStatus(rawValue: envelope.exitCode) ?? envelope.exit {
    case .incomplete, .nothing, .unavailable:
      // A file in the way of a published tree has its own advice.
      guard !ReportFailures(envelope: envelope).all.isEmpty else { return nil }
      guard !envelope.isOffline else {
        return "next: run it without `--offline`, which fetches the missing items"
      }
      return nextTry.map { $0 + keptParts }
    case .trust:
      if let host = refusedPlainHost {
        return
          "next: to allow this one host: `--set allow_http=\(PlainHostName.exception(for: host))`"
      }
      return advice(failure(of: .trust).flatMap(NextStep.of), explanation(of: .trust))
    case .denied:
      return advice(
        isOfLicense
          ? envelope.report.registration?.code.nextStep : failure(of: .denied).flatMap(NextStep.of)
      )
    case .deferred:
      return envelope.nextAllowedAt.map { "next run possible from \(Timestamp.readable($0))" }
    case .ok, .failed, .changes, .notOurs, .usage, .io, .config, .interrupted, .terminated:
      return nil
    }
  }

  /// Whether the license was refused, rather than credentials of a server.
  private var isOfLicense: Bool {
    envelope.report.registration.map { [.licenseRefused, .bundleMismatch].contains($0.code) }
      ?? false
  }

  private var keptParts: String {
    guard envelope.keptPartCount > 0 else { return "" }
    let parts = CountedNoun("partial download is", "partial downloads are")
    return "; \(parts.text(envelope.keptPartCount)) kept for the next run"
  }

  private func failure(of category: ErrorCode.Category? = nil) -> Failure? {
    let items = envelope.report.items.lazy.compactMap(\.failure)
    let lists = envelope.report.segments.lazy.compactMap(\.manifest.failure)
    return items.first { category == nil || $0.code.category == category }
      ?? lists.first { category == nil || $0.code.category == category }
  }

  private func explanation(of category: ErrorCode.Category? = nil) -> String? {
    envelope.report.items.lazy.first { item in
      guard let failure = item.failure, !item.url.isEmpty else { return false }
      return category == nil || failure.code.category == category
    }.map { "`\(envelope.explanation(of: $0.url))` shows details" }
  }

  private var commonStep: String? {
    guard Set(ReportFailures(envelope: envelope).all.map(\.code)).count == 1,
      let failure = failure()
    else { return nil }
    // A local list is not in any cache.
    let isLocalList = failure.code == .notFound && explanation() == nil
    return isLocalList ? "make the file, or correct `manifest`" : NextStep.of(failure)
  }

  private func advice(_ steps: String?...) -> String? {
    let steps = steps.compactMap(\.self)
    return steps.isEmpty ? nil : "next: " + steps.joined(separator: "; ")
  }

  private var nextTry: String? {
    guard ExitStatus(rawValue: envelope.exitCode) ?? envelope.exit == .unavailable else {
      return advice(envelope.isRetryable ? "run it again for the rest" : commonStep, explanation())
    }
    let hasNoRoute = ReportFailures(envelope: envelope).all.allSatisfy(\.isNoRoute)
    return hasNoRoute ? nil : "next: run it again"
  }
}
