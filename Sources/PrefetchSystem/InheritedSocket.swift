internal import Glibc
package import PrefetchCore

/// Socket from a service manager: `LISTEN_PID` and `LISTEN_FDS`, descriptors from 3 on.
package enum InheritedSocket {
  /// Returns the descriptor; nil when none is meant for this process.
  package static func adopt(_ variables: [String: String]) throws(Failure) -> Int32? {
    guard variables["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
      let count = variables["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
    else { return nil }
    guard count == 1 else {
      throw Failure(.failed, "\(count) sockets were handed over; there is use for one")
    }
    // Children must not use the socket.
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
    return first
  }

  private static let first: Int32 = 3
}
