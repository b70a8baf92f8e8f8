internal import Glibc
internal import Synchronization

/// Lines at the bottom of a terminal that are drawn over and over.
///
/// The cursor rests at their beginning, so whatever a resize made of them, all from there on is ours
/// and goes with one sequence.
package enum TerminalScreen {
  package struct Size: Hashable, Sendable {
    package var columns: Int
    package var rows: Int
  }

  /// As it is now; nil for what is no terminal, or tells no size.
  package static func size(of descriptor: Int32) -> Size? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return nil }
    return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  /// Whether this process may draw: one in the background leaves the terminal to its holder.
  package static func isOurs(_ descriptor: Int32) -> Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }

  /// From the cursor down.
  package static let erasure = "\r\u{1B}[J"

  /// Lines over those that stand there, the cursor back at their beginning.
  package static func drawing(_ lines: [String]) -> String {
    // Each line ends by clearing what is left of an older one, so that nothing flickers.
    let text = lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n")
    let up = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
    // A window that became narrower this moment must not break lines: then there would be more.
    return "\u{1B}[?7l\r\(text)\u{1B}[J\(up)\r\u{1B}[?7h"
  }

  /// Whether a signal that ends the process at once has lines to erase.
  package static func noteDrawn(_ isDrawn: Bool) {
    areLinesDrawn.store(isDrawn, ordering: .relaxed)
  }

  /// For a signal handler, which may do little more than this.
  static func eraseAtOnce() {
    guard areLinesDrawn.load(ordering: .relaxed) else { return }
    let bytes: StaticString = "\r\u{1B}[J"
    _ = unsafe Glibc.write(2, bytes.utf8Start, bytes.utf8CodeUnitCount)
  }
}

private let areLinesDrawn = Atomic<Bool>(false)
