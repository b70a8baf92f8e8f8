internal import Glibc
package import PrefetchCore

/// The socket that a service manager hands over: `LISTEN_PID` and `LISTEN_FDS`, from descriptor 3 on.
package enum InheritedSocket {
  /// Nil where none was meant for this process.
  package static func take(_ variables: [String: String]) throws(Failure) -> Int32? {
    guard variables["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
      let count = variables["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
    else { return nil }
    guard count == 1 else {
      throw Failure(.failed, "\(count) sockets were handed over; there is use for one")
    }
    // Children must not take it for theirs.
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
    return first
  }

  private static let first: Int32 = 3
}
