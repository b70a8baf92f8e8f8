internal import Glibc
internal import Synchronization

/// Status lines of a terminal; the cursor rests at their start, so one sequence erases them.
package enum TerminalScreen {
  package struct Size: Hashable, Sendable {
    package var columns: Int
    package var rows: Int
  }

  package static func size(of descriptor: Int32) -> Size? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return nil }
    return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  package static func isForeground(_ descriptor: Int32) -> Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }

  package static let erasure = "\r\u{1B}[J"

  package static func drawing(_ lines: [String]) -> String {
    // Each line clears its own rest, which avoids flicker.
    let text = lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n")
    let up = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
    // Wrapping is off while drawing, since a narrowed window would add lines.
    return "\u{1B}[?7l\r\(text)\u{1B}[J\(up)\r\u{1B}[?7h"
  }

  package static func setDrawn(_ isDrawn: Bool) {
    areLinesDrawn.store(isDrawn, ordering: .relaxed)
  }

  /// Erases the lines; safe in a signal handler.
  static func eraseAtOnce() {
    guard areLinesDrawn.load(ordering: .relaxed) else { return }
    let bytes: StaticString = "\r\u{1B}[J"
    _ = unsafe Glibc.write(2, bytes.utf8Start, bytes.utf8CodeUnitCount)
  }
}

private let areLinesDrawn = Atomic<Bool>(false)
