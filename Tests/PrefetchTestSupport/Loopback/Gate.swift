internal import Glibc

/// Something a server's script waits at until the test lets it pass; open ones stay open.
package final class Gate: Sendable {
  /// Readable, and never read, once the gate is open.
  let descriptor: CInt
  private let input: CInt

  package init() {
    var ends: [CInt] = [-1, -1]
    // Without descriptors left, nothing that waits here would ever be woken.
    precondition(unsafe pipe(&ends) == 0, "no descriptors left for a gate")
    for end in ends {
      Descriptors.closeOnExecution(end)
    }
    descriptor = ends[0]
    input = ends[1]
  }

  deinit {
    close(descriptor)
    close(input)
  }

  package func open() {
    var byte: UInt8 = 1
    unsafe write(input, &byte, 1)
  }

  /// False when the other gate opened first.
  func wait(unless other: Gate) -> Bool {
    Descriptors.waitForInput(descriptor, unless: other)
  }

  /// False as soon as it is open.
  package func staysShut(for duration: Duration) -> Bool {
    let end = ContinuousClock.now + duration
    while true {
      let rest = (end - .now) / .milliseconds(1)
      guard rest > 0 else { return true }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&entry, 1, CInt(rest.rounded(.up))) <= 0 else { return false }
    }
  }
}

/// Waiting for descriptors that ends when a server is stopped.
enum Descriptors {
  static func waitForInput(_ descriptor: CInt, unless stop: Gate) -> Bool {
    wait(for: Int16(POLLIN), on: descriptor, unless: stop)
  }

  static func waitForOutput(_ descriptor: CInt, unless stop: Gate) -> Bool {
    wait(for: Int16(POLLOUT), on: descriptor, unless: stop)
  }

  /// Whether the other side of a connection has ended it, read or unread bytes before that aside.
  static func hasEnded(_ descriptor: CInt) -> Bool {
    // While a thread sends, the system puts off what arrives; looking for bytes waits for that.
    var byte: UInt8 = 0
    unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT))
    let endOfInput: Int16 = 0x2000  // POLLRDHUP, which only GNU's own dialect of C names.
    var entry = pollfd(fd: descriptor, events: endOfInput, revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }

  static func closeOnExecution(_ descriptor: CInt) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  /// Lets each write leave at once, which the system otherwise holds until the one before it arrived.
  static func sendAtOnce(_ connection: CInt) {
    var isOn: CInt = 1
    let size = socklen_t(MemoryLayout<CInt>.size)
    unsafe setsockopt(connection, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
  }

  private static func wait(for events: Int16, on descriptor: CInt, unless stop: Gate) -> Bool {
    while true {
      var entries = [
        pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: descriptor, events: events, revents: 0),
      ]
      let count = unsafe poll(&entries, 2, -1)
      if count < 0, errno == EINTR { continue }
      return count > 0 && entries[0].revents == 0
    }
  }
}
