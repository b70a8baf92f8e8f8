@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// A terminal of a given size with a shell, provided by tmux.
final class TerminalWindow {
  static let isPossible = Tool.isInstalled("tmux")
  static let absence: Comment = "needs tmux"

  private let home: Home
  private let socket: String

  /// Opens a window; `variables` are added to the user's.
  init(_ home: Home, columns: Int, rows: Int, variables: [String: String] = [:]) throws {
    self.home = home
    socket = "\(home.folder.path)/tmux-\(UInt32.random(in: 0...UInt32.max))"
    // A short name keeps typed commands on one line.
    var variables = variables
    let binary: String = try #require(Binary.path)
    variables["prefetch"] = binary
    let settings = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    let shell = ["env"] + settings + ["PS1=ready:", "bash", "--norc", "--noprofile"]
    try tmux(
      ["-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)"] + shell
    )
    try tmux(["set-option", "-g", "window-size", "manual"])
    try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    try #require(lines { $0.first == "ready:" } != nil, "the shell does not come up")
  }

  deinit {
    _ = try? home.tool("tmux", "-S", socket, "kill-server")
  }

  /// Returns the shown lines without trailing blank ones.
  func lines() throws -> [String] {
    let shown = try tmux(["capture-pane", "-p"]).output
    var lines = shown.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  /// For a test that waited in vain.
  var shown: String {
    ((try? lines()) ?? []).joined(separator: "\n")
  }

  /// Waits up to a minute for a screen that meets the condition; returns nil otherwise.
  func lines(_ condition: ([String]) -> Bool) throws -> [String]? {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      let shown = try lines()
      if condition(shown) { return shown }
      poll(nil, 0, 20)
    }
    return nil
  }

  /// Types a line.
  func enter(_ line: String) throws {
    try tmux(["send-keys", "-l", line])
    try tmux(["send-keys", "Enter"])
  }

  /// Presses keys, by tmux's names, in quick succession.
  func press(_ keys: [String]) throws {
    try tmux(["send-keys"] + keys)
  }

  func resize(columns: Int, rows: Int) throws {
    try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  func isCursorShown() throws -> Bool {
    try tmux(["display-message", "-p", "#{cursor_flag}"]).output == "1\n"
  }

  @discardableResult
  private func tmux(_ arguments: [String]) throws -> ProgramRun {
    let run = try home.tool("tmux", ["-u", "-S", socket] + arguments)
    try #require(run.status == 0, "tmux \(arguments): \(run)")
    return run
  }
}
