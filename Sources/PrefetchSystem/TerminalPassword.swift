internal import Glibc

/// Reads a password from the terminal without echo.
package enum TerminalPassword {
  package enum Fault: Error, Hashable, Sendable {
    case noTerminal
    case interrupted
  }

  /// Asks on the controlling terminal, independently of the standard streams.
  package static func readPassword(_ prompt: String) throws(Fault) -> [UInt8] {
    try readPassword(prompt, on: try terminal())
  }

  private static func terminal() throws(Fault) -> FileDescriptor {
    do throws(SystemFault) {
      return try FileDescriptor(opening: "/dev/tty", O_RDWR | O_NOCTTY)
    } catch {
      throw .noTerminal
    }
  }

  private static func readPassword(
    _ prompt: String,
    on terminal: borrowing FileDescriptor
  ) throws(Fault) -> [UInt8] {
    var before = termios()
    guard unsafe tcgetattr(terminal.number, &before) == 0 else { throw .noTerminal }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO)
    guard unsafe tcsetattr(terminal.number, TCSAFLUSH, &silent) == 0 else { throw .noTerminal }
    say(prompt, on: terminal)
    let line = line(from: terminal)
    unsafe tcsetattr(terminal.number, TCSAFLUSH, &before)
    say("\n", on: terminal)
    // A stop signal also ends the prompt.
    guard let line else { throw .interrupted }
    return line
  }

  private static func say(_ text: String, on terminal: borrowing FileDescriptor) {
    let bytes = Array(text.utf8)
    unsafe try? FileDescriptor.writeAll(bytes.span.bytes, to: terminal.number)
  }

  private static func line(from terminal: borrowing FileDescriptor) -> [UInt8]? {
    var line: [UInt8] = []
    while line.count < 4096 {
      guard isReadable(terminal) else { return nil }
      var byte: UInt8 = 0
      let count = unsafe read(terminal.number, &byte, 1)
      guard count == 1 else { return nil }
      if byte == UInt8(ascii: "\n") { return line }
      line.append(byte)
    }
    return line
  }

  /// Polls, since a signal just before the wait would not interrupt it.
  private static func isReadable(_ terminal: borrowing FileDescriptor) -> Bool {
    var descriptor = pollfd(fd: terminal.number, events: Int16(POLLIN), revents: 0)
    while StopSignals.pending == nil {
      let readyCount = unsafe poll(&descriptor, 1, 200)
      if readyCount > 0 { return true }
      guard readyCount == 0 || errno == EINTR else { return false }
    }
    return false
  }
}
