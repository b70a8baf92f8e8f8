@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// A clock that the test sets for all programs started with it.
struct FakedClock {
  private let path: String

  init(_ home: Home) {
    path = "\(home.folder.path)/clock"
    set(0)
  }

  /// Sets the offset from the real time in seconds, also for running programs.
  func set(_ seconds: Int64) {
    FileTree.write(Array("\(seconds < 0 ? "" : "+")\(seconds)\n".utf8), to: path)
  }

  /// Sets the clock to seconds after 1970.
  func set(to moment: Int64) {
    set(moment - Int64(time(nil)))
  }

  /// Command words that run a program with the clock and keep the real times of files.
  fileprivate var words: [String] {
    [
      "-f", "+0", "env", "-u", "FAKETIME", "FAKETIME_TIMESTAMP_FILE=\(path)", "FAKETIME_NO_CACHE=1",
      "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1",
    ]
  }
}

/// The program under test with a fake clock, which may be killed at any moment.
///
/// libfaketime names its shared memory after the wrapper's process id and removes it with the
/// wrapper. A killed wrapper would leave it in `/dev/shm`, where it would block a later process
/// with that id; therefore only the program is killed.
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

  /// Process id of the wrapper's child; nil until it exists.
  private var program: pid_t? {
    let number = wrapper.processID
    let children = FileTree.read("/proc/\(number)/task/\(number)/children")
    return children.flatMap { bytes in
      String(decoding: bytes, as: UTF8.self).split(separator: " ").first.flatMap { pid_t($0) }
    }
  }

  /// Waits for the wrapper's end; a killed program gives exit status 1.
  func finish(within seconds: Int = 120) -> ProgramRun {
    let run = wrapper.finish(within: seconds)
    isOver = true
    return run
  }

  /// Whether shared memory is left that would block other processes.
  var hasLeftovers: Bool {
    ["sem.faketime_sem_", "faketime_shm_"].contains {
      unsafe access("/dev/shm/\($0)\(wrapper.processID)", F_OK) == 0
    }
  }
}
