internal import Glibc

/// The sockets of one worker's connections, with the host that each leads to and the pool that it
/// is in, since libcurl counts a host's connections in each pool by itself.
final class OpenSockets {
  struct Opening {
    let origin: Int
    let pool: Int
    /// Whose request it was opened for.
    let opener: ObjectIdentifier
  }

  private var entries: [CInt: Opening] = [:]

  /// -1 where the system has no socket left.
  func open(_ address: SocketAddress, for entry: Opening) -> CInt {
    let descriptor = address.makeSocket()
    if descriptor >= 0 { entries[descriptor] = entry }
    return descriptor
  }

  func close(_ descriptor: CInt) {
    entries[descriptor] = nil
    Glibc.close(descriptor)
  }

  /// Shuts the connections to a host that stand idle in other pools; libcurl notices that much.
  ///
  /// `isBusy` is told whom a connection was opened for, and the port of its end here.
  func shutIdle(
    of origin: Int,
    besides pool: Int,
    isBusy: (ObjectIdentifier, _ port: Int) -> Bool
  ) {
    for (descriptor, entry) in entries where entry.origin == origin && entry.pool != pool {
      guard let port = SocketAddress.localPort(of: descriptor), !isBusy(entry.opener, port)
      else { continue }
      shutdown(descriptor, CInt(SHUT_RDWR))
    }
  }
}
