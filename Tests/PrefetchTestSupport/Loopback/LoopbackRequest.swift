package import PrefetchCore

/// A request as a loopback server read it.
package struct LoopbackRequest: Hashable, Sendable {
  package var method: String
  /// Path and query, or whatever stood there.
  package var target: String
  package var headers: HeaderBlock
  /// Its lines as they came, for what is not text.
  package var head: [UInt8]
  package var body: [UInt8]
  /// The number of the connection it came on, counted from 1.
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

  /// The target without its query.
  package var path: String {
    String(target.prefix { $0 != "?" })
  }
}
