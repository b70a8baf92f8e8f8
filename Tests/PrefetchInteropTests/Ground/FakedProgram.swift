@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// A clock that a test sets, for as many programs as are started under it.
struct FakedClock {
  private let path: String

  init(_ home: Home) {
    path = "\(home.folder.path)/clock"
    set(0)
  }

  /// So many seconds ahead of the right one, from now on, also for programs that run already.
  func set(_ seconds: Int64) {
    FileTree.write(Array("\(seconds < 0 ? "" : "+")\(seconds)\n".utf8), to: path)
  }

  /// So many seconds after 1970, from now on.
  func set(to moment: Int64) {
    set(moment - Int64(time(nil)))
  }

  /// Words that run a program under it, and leave files the times that they have.
  fileprivate var words: [String] {
    [
      "-f", "+0", "env", "-u", "FAKETIME", "FAKETIME_TIMESTAMP_FILE=\(path)", "FAKETIME_NO_CACHE=1",
      "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1",
    ]
  }
}

/// The program under test with a clock of its own, which may be killed at any moment.
///
/// What libfaketime shares between processes is named by the number of its wrapper and goes with that;
/// a wrapper that is killed leaves it in `/dev/shm`, where it stops a later process of that number. So
/// the program is killed, and its wrapper never.
final class FakedProgram {
  static let isPossible = Tool.isInstalled("faketime")

  private let wrapper: RunningProgram
  private var isOver = false

  init(_ home: Home, _ clock: FakedClock, _ arguments: [String]) throws {
    let tool = try #require(Tool("faketime"), "faketime is not installed")
    let binary = try #require(Binary.path)
    wrapper = try RunningProgram(
      tool.path,
      clock.words + [binary] + arguments,
      environment: home.variables,
      folder: home.work
    )
  }

  deinit {
    guard !isOver else { return }
    signal(SIGKILL)
    _ = finish(within: 30)
  }

  var isRunning: Bool { wrapper.isRunning }

  func firstLine() -> String? { wrapper.firstLine() }

  func signal(_ number: CInt) {
    while wrapper.isRunning {
      if let program {
        kill(program, number)
        return
      }
      poll(nil, 0, 1)
    }
  }

  /// The wrapper's one child; nil until it is there.
  private var program: pid_t? {
    let number = wrapper.processID
    let children = FileTree.read("/proc/\(number)/task/\(number)/children")
    return children.flatMap { bytes in
      String(decoding: bytes, as: UTF8.self).split(separator: " ").first.flatMap { pid_t($0) }
    }
  }

  /// Waits for its end; what was killed ends with 1.
  func finish(within seconds: Int = 120) -> ProgramRun {
    let run = wrapper.finish(within: seconds)
    isOver = true
    return run
  }

  /// Whether anything of it is left that stops others.
  var hasLeftovers: Bool {
    ["sem.faketime_sem_", "faketime_shm_"].contains {
      unsafe access("/dev/shm/\($0)\(wrapper.processID)", F_OK) == 0
    }
  }
}
