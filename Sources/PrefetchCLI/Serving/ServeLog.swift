import PrefetchCore
import PrefetchServe
import Synchronization

/// Answers of a server as lines for `-v`; its threads queue them, one prints.
final class ServeLog: Sendable {
  private struct Lines {
    var waiting: [String] = []
    var droppedCount = 0
  }

  private let lines = Mutex(Lines())
  private let logsFields: Bool

  init?(_ shared: SharedOptions) {
    guard shared.verbosity > 0 else { return nil }
    logsFields = shared.verbosity > 1
  }

  var listener: RequestLogEntry.Listener {
    { [self] request in
      lines.withLock { lines in
        if lines.waiting.count < Self.limit {
          lines.waiting.append(line(of: request))
        } else {
          lines.droppedCount += 1
        }
      }
    }
  }

  private func line(of request: RequestLogEntry) -> String {
    // The target is a host and its path; a query may hold a secret.
    let target = Redaction.url("http:/\(request.target)").dropFirst("http:/".count)
    var words = ["\(request.method) \(target): \(request.status)"]
    if let size = request.size { words.append(SizeText.format(size)) }
    if let reason = request.reason { words.append(reason) }
    guard logsFields else { return words.joined(separator: ", ") }
    words.append("\(request.duration.milliseconds) ms")
    let logged = request.fields.filter { field in
      Self.loggedFields.contains(field.name.lowercased())
    }
    words += logged.map { "\($0.name): \($0.value)" }
    return words.joined(separator: ", ")
  }

  func print(to console: Console) {
    let drained = lines.withLock { lines in
      defer { lines = Lines() }
      return lines
    }
    for line in drained.waiting { console.detail(line) }
    if drained.droppedCount > 0 { console.detail("and \(drained.droppedCount) more requests") }
  }

  /// Request headers that influence the answer.
  private static let loggedFields: Set<String> = [
    "cache-control", "pragma", "if-none-match", "if-modified-since", "if-match",
    "if-unmodified-since", "if-range", "range", "accept-language",
  ]
  private static let limit = 10_000
}
