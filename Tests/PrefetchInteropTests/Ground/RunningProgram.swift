import CZygote
@unsafe @preconcurrency import Glibc
import Testing

/// Exit status and output of a program.
struct ProgramRun: CustomStringConvertible {
  /// Exit status, or 128 + the number of the fatal signal, as in a shell.
  var status: Int32
  /// Whether the program was killed after its time limit.
  var isOverdue = false
  var output: String
  var errors: String
  /// Largest observed memory in bytes, if it was watched.
  var peakMemory = 0

  /// Complete lines of standard output.
  var lines: [Substring] {
    output.split(separator: "\n")
  }

  var description: String {
    "status \(status)\(isOverdue ? " (overdue)" : "")\n--- stdout\n\(output)\n--- stderr\n\(errors)"
  }
}

/// A started program with pipes on its streams.
final class RunningProgram {
  /// Destination of standard output.
  enum Output {
    case pipe
    /// A pipe without a reader.
    case closed
    case file(String)

    fileprivate var path: String? {
      guard case .file(let path) = self else { return nil }
      return path
    }
  }

  let processID: pid_t
  private var output: CInt
  private var errors: CInt
  private var outputBytes: [UInt8] = []
  private var errorBytes: [UInt8] = []
  private var isReaped = false
  private var peakMemory = 0

  init(
    _ path: String,
    _ arguments: [String],
    environment: [String: String],
    folder: String?,
    input: [UInt8] = [],
    output destination: Output = .pipe
  ) throws {
    let spawned = try Spawn.program(
      [path] + arguments,
      environment: environment,
      folder: folder,
      outputPath: destination.path
    )
    processID = spawned.processID
    output = spawned.output
    errors = spawned.errors
    Self.write(input, to: spawned.input)
    close(spawned.input)
    if case .closed = destination {
      close(output)
      output = -1
    }
  }

  deinit {
    if !isReaped {
      kill(processID, SIGKILL)
      var status: CInt = 0
      unsafe waitpid(processID, &status, 0)
    }
    for descriptor in [output, errors] where descriptor >= 0 { close(descriptor) }
  }

  /// Whether the program is still running.
  var isRunning: Bool {
    var info = unsafe siginfo_t()
    let options = WEXITED | WNOHANG | WNOWAIT
    guard !isReaped, unsafe waitid(P_PID, id_t(processID), &info, options) == 0 else {
      return false
    }
    return unsafe info.si_signo == 0
  }

  /// Limits the program's memory and the size of files that it writes.
  func limit(memory: Int, file: Int) throws {
    try #require(process_limit(processID, memory, file) == 0)
  }

  func signal(_ number: CInt) {
    guard !isReaped else { return }
    kill(processID, number)
  }

  /// Waits for the first line of standard output; returns nil when there is none.
  func firstLine(within seconds: Int = 120) -> String? {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end, output >= 0, !outputBytes.contains(UInt8(ascii: "\n")) {
      read(until: end)
    }
    guard let count = outputBytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    return String(decoding: outputBytes[..<count], as: UTF8.self)
  }

  /// Waits for a text on standard error; returns false at the program's end or after the time
  /// limit.
  func waitForErrors(_ text: String, within seconds: Int = 120) -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      if String(decoding: errorBytes, as: UTF8.self).contains(text) { return true }
      guard errors >= 0, ContinuousClock.now < end else { return false }
      read(until: end)
    }
  }

  /// Reads until the program ends; kills it after the time limit.
  func finish(within seconds: Int = 600, watchingMemory: Bool = false) -> ProgramRun {
    let end = ContinuousClock.now + .seconds(seconds)
    while output >= 0 || errors >= 0, ContinuousClock.now < end {
      guard watchingMemory else {
        read(until: end)
        continue
      }
      read(until: min(end, .now + .milliseconds(20)))
      peakMemory = max(peakMemory, ProcessMemory.peak(of: processID))
    }
    var status: CInt = 0
    var isOverdue = false
    while unsafe waitpid(processID, &status, WNOHANG) == 0 {
      if ContinuousClock.now >= end, !isOverdue {
        isOverdue = true
        kill(processID, SIGKILL)
      }
      poll(nil, 0, 1)
    }
    isReaped = true
    let signal = status & 0x7F
    return ProgramRun(
      status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal,
      isOverdue: isOverdue,
      output: String(decoding: outputBytes, as: UTF8.self),
      errors: String(decoding: errorBytes, as: UTF8.self),
      peakMemory: peakMemory
    )
  }

  /// Reads available output and closes streams that have ended.
  private func read(until end: ContinuousClock.Instant) {
    var entries = [
      pollfd(fd: output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
    ]
    let rest = (end - .now) / .milliseconds(1)
    guard unsafe poll(&entries, 2, CInt(max(1, min(rest, 60_000)))) > 0 else { return }
    if entries[0].revents != 0 { Self.drain(&output, into: &outputBytes) }
    if entries[1].revents != 0 { Self.drain(&errors, into: &errorBytes) }
  }

  private static func drain(_ descriptor: inout CInt, into bytes: inout [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
    if count > 0 {
      bytes += buffer[..<count]
    } else if count == 0 || errno != EINTR {
      close(descriptor)
      descriptor = -1
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: CInt) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
