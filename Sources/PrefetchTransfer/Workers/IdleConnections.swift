internal import Glibc

/// The connections to one host that no transfer uses now, as far as is known from outside.
///
/// libcurl 7 uses a connection again although something waits there to be read, which would then
/// pass for the next answer. So they are looked at first, and those that are spoiled are shut; that
/// much libcurl does notice.
struct IdleConnections {
  private struct Connection {
    let descriptor: CInt
    /// Of our end, which tells it from a later one with the same descriptor.
    let port: Int
  }

  private var connections: [Connection] = []
  private var lastRound = 0

  mutating func note(descriptor: CInt, port: Int) {
    connections.removeAll { $0.port == port }
    connections.append(Connection(descriptor: descriptor, port: port))
  }

  /// Shuts those that are spoiled, once a round; `busy` gives the ports that are in use again.
  mutating func shutSpoiled(round: Int, busy: () -> [Int]) {
    guard !connections.isEmpty, round != lastRound else { return }
    lastRound = round
    let ports = busy()
    connections.removeAll { connection in
      if ports.contains(connection.port) { return true }
      guard Self.isReadable(connection.descriptor) else { return false }
      if SocketAddress.localPort(of: connection.descriptor) == connection.port {
        shutdown(connection.descriptor, CInt(SHUT_RDWR))
      }
      return true
    }
  }

  /// Whether there are bytes or an end to be read, or no socket any more.
  private static func isReadable(_ descriptor: CInt) -> Bool {
    var byte: UInt8 = 0
    let flags = CInt(MSG_PEEK | MSG_DONTWAIT)
    return unsafe recv(descriptor, &byte, 1, flags) >= 0 || errno != EAGAIN
  }
}
