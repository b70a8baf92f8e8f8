@unsafe @preconcurrency import Glibc

/// How a program ended and what it printed.
struct ProgramRun: CustomStringConvertible {
  /// The exit status, or 128 + the signal that killed it, as a shell has it.
  var status: Int32
  /// True when it had to be killed because its time was up.
  var isOverdue = false
  var output: String
  var errors: String

  /// The lines of standard output, without what follows the last line's end.
  var lines: [Substring] {
    output.split(separator: "\n")
  }

  var description: String {
    "status \(status)\(isOverdue ? " (overdue)" : "")\n--- stdout\n\(output)\n--- stderr\n\(errors)"
  }
}

/// A program that was started, with pipes on its streams.
final class RunningProgram {
  enum Fault: Error {
    case cannotStart(String, errno: CInt)
  }

  /// Where standard output goes.
  enum Output {
    case pipe
    /// A pipe that nobody reads any more.
    case closed
    case file(String)
  }

  let processID: pid_t
  private var output: CInt
  private var errors: CInt
  private var outputBytes: [UInt8] = []
  private var errorBytes: [UInt8] = []
  private var isReaped = false

  init(
    _ path: String,
    _ arguments: [String],
    environment: [String: String],
    folder: String,
    input: [UInt8] = [],
    output destination: Output = .pipe
  ) throws {
    let inputPipe = Self.pipe()
    let outputPipe = Self.pipe()
    let errorPipe = Self.pipe()
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, inputPipe.reading, 0)
    if case .file(let path) = destination {
      unsafe posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY, 0)
    } else {
      unsafe posix_spawn_file_actions_adddup2(&actions, outputPipe.writing, 1)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, errorPipe.writing, 2)
    posix_spawn_file_actions_addchdir_np(&actions, folder)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    // What the test process ignores or blocks must not be inherited.
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
    )
    var words: [UnsafeMutablePointer<CChar>?] =
      unsafe ([path] + arguments).map { unsafe strdup($0) } + unsafe [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + unsafe [nil]
    defer {
      for word in unsafe words + variables { unsafe free(word) }
    }
    var child = pid_t()
    let fault = unsafe posix_spawn(&child, path, &actions, &attributes, &words, &variables)
    for descriptor in [inputPipe.reading, outputPipe.writing, errorPipe.writing] {
      close(descriptor)
    }
    processID = child
    output = outputPipe.reading
    errors = errorPipe.reading
    if fault == 0, !input.isEmpty { Self.write(input, to: inputPipe.writing) }
    close(inputPipe.writing)
    guard fault == 0 else {
      isReaped = true
      throw Fault.cannotStart(path, errno: fault)
    }
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

  func signal(_ number: CInt) {
    guard !isReaped else { return }
    kill(processID, number)
  }

  /// Waits for the first line of standard output; nil when there is none.
  func firstLine(within seconds: Int = 30) -> String? {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end, output >= 0, !outputBytes.contains(UInt8(ascii: "\n")) {
      read(until: end)
    }
    guard let count = outputBytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    return String(decoding: outputBytes[..<count], as: UTF8.self)
  }

  /// Reads until the program has ended; kills it when the time is up.
  func finish(within seconds: Int = 120) -> ProgramRun {
    let end = ContinuousClock.now + .seconds(seconds)
    while output >= 0 || errors >= 0, ContinuousClock.now < end { read(until: end) }
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
      errors: String(decoding: errorBytes, as: UTF8.self)
    )
  }

  /// Takes what has come, and forgets a stream that has ended.
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

  /// Both ends close by themselves in programs that other tests start meanwhile.
  private static func pipe() -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [-1, -1]
    precondition(pipe2(&ends, O_CLOEXEC) == 0, "no descriptors left for a pipe")
    return (ends[0], ends[1])
  }
}
