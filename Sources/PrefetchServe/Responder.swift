/// Responds to a server's requests; called on the server's threads.
package protocol Responder: Sendable {
  var heedsFields: Bool { get }
  func respond(to request: ServedRequest) -> Reply
}

package enum Reply {
  case now(ServedResponse)
  /// Suspends the connection until `finish` is called, once, from any thread.
  case later(_ begin: (_ finish: @escaping @Sendable (ServedResponse) -> Void) -> Void)
}

package struct ServedRequest: Sendable {
  package var isHead = false
  package var target: String
  package var conditions = RequestConditions()
  package var cacheControl: String?
  package var pragma: String?
  /// Client headers that may select a response; empty if none can.
  package var fields = ClientFields()
}

package struct ServedResponse: Sendable {
  package enum Body: Sendable {
    case none
    case unsent(length: Int64)
    case text(String)
    /// Part of a file; the server closes the descriptor.
    case file(ServedDescriptor, offset: Int64, length: Int64)
    case read(any ServedReader, length: Int64)
  }

  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: Body

  package init(_ status: Int, _ headers: [(name: String, value: String)] = [], body: Body = .none) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  static func refusal(
    _ status: Int,
    _ words: String? = nil,
    _ headers: [(name: String, value: String)] = []
  ) -> ServedResponse {
    let more = words.map { "\($0)\n" } ?? ""
    return ServedResponse(
      status,
      headers + [("Content-Type", "text/plain; charset=utf-8")],
      body: .text("\(status) \(StatusText.of(status))\n\(more)")
    )
  }
}

/// Reads a body once, in order; used by one thread at a time.
package protocol ServedReader: AnyObject, Sendable {
  /// Returns the number of bytes read; nil aborts the response.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int?
}

enum StatusText {
  static func of(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 206: "Partial Content"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 410: "Gone"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 416: "Range Not Satisfiable"
    case 500: "Internal Server Error"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    default: "Error"
    }
  }
}
