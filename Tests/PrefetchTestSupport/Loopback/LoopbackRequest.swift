package import PrefetchCore

/// A request as a loopback server received it.
package struct LoopbackRequest: Hashable, Sendable {
  package var method: String
  /// Path and query, or any other target.
  package var target: String
  package var headers: HeaderBlock
  /// Raw bytes of the head, for heads that are not text.
  package var head: [UInt8]
  package var body: [UInt8]
  /// Number of the connection, counted from 1.
  package var connection: Int

  package init(
    method: String,
    target: String,
    headers: HeaderBlock = HeaderBlock(),
    head: [UInt8] = [],
    body: [UInt8] = [],
    connection: Int = 1
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.head = head
    self.body = body
    self.connection = connection
  }

  package var path: String {
    String(target.prefix { $0 != "?" })
  }
}
