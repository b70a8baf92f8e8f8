internal import Glibc

/// Table of a worker's open sockets in all pools, since libcurl counts only within each pool.
final class OpenSockets {
  final class Connection {
    let descriptor: CInt
    let origin: Int
    let pool: Int
    let opener: ObjectIdentifier
    fileprivate var port = 0
    fileprivate var isClosed = false
    /// Whether the connection carries one request at a time; nil before the first response.
    var isTextual: Bool?
    var proxySession: TLSSession?

    fileprivate init(descriptor: CInt, origin: Int, pool: Int, opener: ObjectIdentifier) {
      self.descriptor = descriptor
      self.origin = origin
      self.pool = pool
      self.opener = opener
    }

    func isOpen(from port: Int) -> Bool {
      !isClosed && self.port == port
    }

    var hasUnreadBytes: Bool {
      if let proxySession, proxySession.hasUnreadBytes { return true }
      var byte: UInt8 = 0
      let flags = CInt(MSG_PEEK | MSG_DONTWAIT)
      return unsafe recv(descriptor, &byte, 1, flags) >= 0 || errno != EAGAIN
    }
  }

  private var connections: [CInt: Connection] = [:]
  /// Connections that carried a request, by local port; of two with the same port the later counts.
  private var byPort: [Int: Connection] = [:]

  func open(_ address: SocketAddress, origin: Int, pool: Int, for opener: ObjectIdentifier) -> CInt
  {
    let descriptor = address.makeSocket()
    guard descriptor >= 0 else { return descriptor }
    connections[descriptor] = Connection(
      descriptor: descriptor,
      origin: origin,
      pool: pool,
      opener: opener
    )
    return descriptor
  }

  func close(_ descriptor: CInt) {
    if let connection = connections.removeValue(forKey: descriptor) {
      connection.isClosed = true
      if byPort[connection.port] === connection { byPort[connection.port] = nil }
    }
    Glibc.close(descriptor)
  }

  /// Returns the connection with a local port; `opener` is the lane that has just opened it.
  func connection(from port: Int, madeFor opener: ObjectIdentifier?) -> Connection? {
    guard let opener else { return byPort[port] }
    // Several addresses of a host may have been tried at once.
    let made = connections.values.first { connection in
      connection.opener == opener && connection.port == 0
        && SocketAddress.localPort(of: connection.descriptor) == port
    }
    guard let made else { return nil }
    made.port = port
    byPort[port] = made
    return made
  }

  /// Shuts idle connections to a host in other pools, which libcurl notices.
  ///
  /// Sockets without a request stay: libcurl 7 closes a never connected socket silently, so its
  /// number may belong to another one.
  func shutIdle(of origin: Int, except pool: Int, isBusy: (Connection) -> Bool) {
    for (descriptor, connection) in connections
    where connection.origin == origin && connection.pool != pool && connection.port != 0
      && !isBusy(connection)
    {
      shutdown(descriptor, CInt(SHUT_RDWR))
    }
  }
}
