/// What answers the requests of one server; the server's own threads call it.
package protocol Responder: Sendable {
  /// Whether an answer may depend on what a client says of itself.
  var heedsFields: Bool { get }
  func respond(to request: ServedRequest) -> Reply
}

/// An answer, or the promise of one.
package enum Reply {
  case now(ServedAnswer)
  /// The connection rests until the work that is begun here gives its answer, once, from any thread.
  case later(_ begin: (_ finish: @escaping @Sendable (ServedAnswer) -> Void) -> Void)
}

/// A GET or HEAD that was admitted.
package struct ServedRequest: Sendable {
  package var isHead = false
  /// As it stood in the request, with its escapes and its query.
  package var target: String
  package var conditions = RequestConditions()
  package var cacheControl: String?
  package var pragma: String?
  /// Headers of the client that may select an answer; empty where none can.
  package var fields = ClientFields()
}

package struct ServedAnswer: Sendable {
  package enum Body: Sendable {
    case none
    /// Its length is told and nothing comes, be it for HEAD or because nothing can.
    case unsent(length: Int64)
    case text(String)
    /// The server closes the descriptor.
    case file(ServedDescriptor, offset: Int64, length: Int64)
    /// Bytes that are looked at while they are sent.
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

  /// A line of text that says what is wrong.
  static func refusal(
    _ status: Int,
    _ words: String? = nil,
    _ headers: [(name: String, value: String)] = []
  ) -> ServedAnswer {
    let more = words.map { "\($0)\n" } ?? ""
    return ServedAnswer(
      status,
      headers + [("Content-Type", "text/plain; charset=utf-8")],
      body: .text("\(status) \(StatusText.of(status))\n\(more)")
    )
  }
}

/// Reads a body from its beginning to its end; one thread at a time uses it.
package protocol ServedReader: AnyObject, Sendable {
  /// How many bytes came; nil breaks the answer off.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int?
}

/// The names of the statuses that are answered with.
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
