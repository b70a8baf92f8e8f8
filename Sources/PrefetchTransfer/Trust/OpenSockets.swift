internal import Glibc

/// The sockets of one worker's connections, with the host that each leads to and the pool that it
/// is in, since libcurl counts a host's connections in each pool by itself.
final class OpenSockets {
  final class Connection {
    let descriptor: CInt
    let origin: Int
    let pool: Int
    /// Lane whose request it was opened for.
    let opener: ObjectIdentifier
    /// Port of our end; 0 before the first request.
    fileprivate var port = 0
    fileprivate var isClosed = false
    /// Whether it carries one request at a time; nil before the first answer.
    var isTextual: Bool?
    /// TLS to the proxy that stands before the server.
    var proxySession: TLSSession?

    fileprivate init(descriptor: CInt, origin: Int, pool: Int, opener: ObjectIdentifier) {
      self.descriptor = descriptor
      self.origin = origin
      self.pool = pool
      self.opener = opener
    }

    /// Whether it is still there, with this port at our end.
    func isOpen(from port: Int) -> Bool {
      !isClosed && self.port == port
    }

    /// Whether there are bytes or an end to be read, or no socket any more.
    var hasUnreadBytes: Bool {
      if let proxySession, proxySession.hasUnreadBytes { return true }
      var byte: UInt8 = 0
      let flags = CInt(MSG_PEEK | MSG_DONTWAIT)
      return unsafe recv(descriptor, &byte, 1, flags) >= 0 || errno != EAGAIN
    }
  }

  private var connections: [CInt: Connection] = [:]
  /// Connections over which a request went out.
  ///
  /// Two that lead to different addresses may have the same port here; then the later one counts, and
  /// at worst a good connection is not used again.
  private var byPort: [Int: Connection] = [:]

  /// -1 where the system has no socket left.
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

  /// The connection with this port at our end; `opener` made it just now, nil = it was used before.
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

  /// Shuts the connections to a host that stand idle in other pools; libcurl notices that much.
  ///
  /// Those over which nothing went out stay: libcurl 7 closes a socket that was never connected without
  /// a word, so its number may be another's by now.
  func shutIdle(of origin: Int, besides pool: Int, isBusy: (Connection) -> Bool) {
    for (descriptor, connection) in connections
    where connection.origin == origin && connection.pool != pool && connection.port != 0
      && !isBusy(connection)
    {
      shutdown(descriptor, CInt(SHUT_RDWR))
    }
  }
}
