import PrefetchCore
import PrefetchServe
import Synchronization

/// Messages of a server: its threads queue them, one prints.
final class ServeLog: Sendable {
  private struct Lines {
    var waiting: [String] = []
    var droppedCount = 0
    var warnings: [Diagnostic] = []
    /// Hosts whose failure has been reported, until they answer again.
    var failing: [String: ErrorCode] = [:]
  }

  private let lines = Mutex(Lines())
  private let verbosity: Int

  init(_ shared: SharedOptions) {
    verbosity = shared.verbosity
  }

  /// Whether each response is a line, for `-v`.
  var isVerbose: Bool { verbosity > 0 }

  var listener: RequestLogEntry.Listener? {
    guard isVerbose else { return nil }
    return { [self] request in
      lines.withLock { lines in
        if lines.waiting.count < Self.limit {
          lines.waiting.append(line(of: request))
        } else {
          lines.droppedCount += 1
        }
      }
    }
  }

  /// Queues one warning for a host that gives no answer; `failure` is nil after an answer.
  func record(_ failure: Failure?, of host: String) {
    lines.withLock { lines in
      guard let failure else {
        lines.failing[host] = nil
        return
      }
      guard lines.failing.count < Self.limit, lines.failing[host] != failure.code else { return }
      lines.failing[host] = failure.code
      lines.warnings.append(
        Diagnostic(
          Diagnostic.Code(stringLiteral: "serve.\(failure.code.rawValue)"),
          "clients get no new answer of `\(host)`: \(failure.message)",
          severity: .warning
        )
      )
    }
  }

  private func line(of request: RequestLogEntry) -> String {
    // The target is a host and its path; a query may hold a secret.
    let target = Redaction.url("http:/\(request.target)").dropFirst("http:/".count)
    var words = ["\(request.method) \(target): \(request.status)"]
    if let size = request.size { words.append(SizeText.format(size)) }
    if let reason = request.reason { words.append(reason) }
    guard verbosity > 1 else { return words.joined(separator: ", ") }
    words.append("\(request.duration.milliseconds) ms")
    let logged = request.fields.filter { field in
      Self.loggedFields.contains(field.name.lowercased())
    }
    words += logged.map { "\($0.name): \($0.value)" }
    return words.joined(separator: ", ")
  }

  func print(to console: Console) {
    let drained = lines.withLock { lines in
      defer { (lines.waiting, lines.droppedCount, lines.warnings) = ([], 0, []) }
      return lines
    }
    for line in drained.waiting { console.detail(line) }
    if drained.droppedCount > 0 { console.detail("and \(drained.droppedCount) more requests") }
    for warning in drained.warnings { console.report(warning) }
  }

  /// Request headers that influence the answer.
  private static let loggedFields: Set<String> = [
    "cache-control", "pragma", "if-none-match", "if-modified-since", "if-match",
    "if-unmodified-since", "if-range", "range", "accept-language",
  ]
  private static let limit = 10_000
}
