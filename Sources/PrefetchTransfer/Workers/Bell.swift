internal import Glibc
package import PrefetchCore

/// Wakes a sleeping thread from another; repeated rings count once.
package final class Bell: Sendable {
  let descriptor: CInt
  private let input: CInt

  package init() throws(Failure) {
    var ends: [CInt] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw Failure(.internal, "no descriptor left to wake a transfer thread with")
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    input = ends[1]
  }

  deinit {
    close(descriptor)
    close(input)
  }

  package func ring() {
    var byte: UInt8 = 1
    // A full pipe has rung often enough; an interrupted call has not.
    while unsafe write(input, &byte, 1) < 0, errno == EINTR {}
  }

  func silence() {
    var bytes: UInt64 = 0
    unsafe read(descriptor, &bytes, 8)
  }

  package func sleep(atMost limit: Duration) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, CInt(clamping: max(1, limit.milliseconds))) > 0 else { return }
    silence()
  }
}
