package import PrefetchCore

/// A client's request and the server's response, for logging.
package struct RequestLogEntry: Sendable {
  package typealias Listener = @Sendable (RequestLogEntry) -> Void

  package let method: String
  package let target: String
  package let fields: [HeaderField]
  package let status: Int
  package let size: Int64?
  package let reason: String?
  package let duration: Duration

  init(
    method: String,
    target: String,
    fields: [HeaderField],
    response: ServedResponse,
    duration: Duration
  ) {
    self.method = method
    self.target = target
    self.fields = fields
    self.duration = duration
    status = response.status
    size =
      switch response.body {
      case .none, .unsent: nil
      case .text(let text): Int64(text.utf8.count)
      case .file(_, _, let length), .read(_, let length): length
      }
    let prefix = "prefetch; "
    reason = response.headers.first { $0.name == "Cache-Status" }
      .map { $0.value.hasPrefix(prefix) ? String($0.value.dropFirst(prefix.count)) : $0.value }
  }
}
