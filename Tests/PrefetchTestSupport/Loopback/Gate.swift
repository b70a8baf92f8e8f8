internal import Glibc

/// A barrier at which a server's script waits until the test opens it; a gate never closes again.
package final class Gate: Sendable {
  /// Descriptor that becomes readable, and is never read, once the gate is open.
  let descriptor: CInt
  private let input: CInt

  package init() {
    var ends: [CInt] = [-1, -1]
    // Without descriptors left, nothing would ever wake the waiting threads.
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

  /// Waits for the gate; returns false when the other gate opened first.
  func wait(unless other: Gate) -> Bool {
    Descriptors.waitForInput(descriptor, unless: other)
  }

  /// Returns false as soon as the gate opens within the duration.
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

/// Waits for descriptors until a server stops.
enum Descriptors {
  static func waitForInput(_ descriptor: CInt, unless stop: Gate) -> Bool {
    wait(for: Int16(POLLIN), on: descriptor, unless: stop)
  }

  static func waitForOutput(_ descriptor: CInt, unless stop: Gate) -> Bool {
    wait(for: Int16(POLLOUT), on: descriptor, unless: stop)
  }

  /// Returns whether the peer has closed the connection, even if unread bytes precede the end.
  static func hasEnded(_ descriptor: CInt) -> Bool {
    // Peeking at input makes the kernel process what arrived while a thread was sending.
    var byte: UInt8 = 0
    unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT))
    let endOfInput: Int16 = 0x2000  // POLLRDHUP, which Glibc declares only with _GNU_SOURCE.
    var entry = pollfd(fd: descriptor, events: endOfInput, revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }

  static func closeOnExecution(_ descriptor: CInt) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  /// Turns Nagle's algorithm off, so that each write leaves at once.
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
