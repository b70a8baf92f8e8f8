import PrefetchTestSupport

/// Whether a process may trace another one's system calls on this machine.
enum Tracing {
  static let isPossible: Bool = {
    guard Tool.isInstalled("strace"), let home = try? Home(binary: nil),
      let run = try? home.tool("strace", "-f", "-qq", "-e", "trace=none", "true")
    else { return false }
    return run.status == 0
  }()

  static let absence = "needs strace, and leave to trace other processes (ptrace)"
}
