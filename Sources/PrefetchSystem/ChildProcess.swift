internal import CLinux
@unsafe @preconcurrency internal import Glibc

package enum ChildProcess {
  package enum Fault: Error, Hashable, Sendable {
    case notStarted(reason: String)
    case tooSlow
    case interrupted
    case tooLong
    case ended(status: Int32)
    case killed(signal: Int32)

    package var reason: String {
      switch self {
      case .notStarted(let reason): "could not be started: \(reason)"
      case .tooSlow: "took too long"
      case .interrupted: "was interrupted"
      case .tooLong: "printed too much"
      case .ended(let status): "ended with \(status)"
      case .killed(let signal): "was ended by signal \(signal)"
      }
    }
  }

  private static let longestOutput = 64 << 10
  /// Milliseconds between checks for a stop signal.
  private static let slice: Int32 = 100

  /// Runs a program without a shell, input and inherited descriptors; returns its output.
  package static func output(
    _ words: [String],
    environment: [String: String],
    within limit: Duration
  ) throws(Fault) -> String {
    guard let program = words.first else { throw .notStarted(reason: "no program is named") }
    var ends: (reading: Int32, writing: Int32)
    do throws(SystemFault) {
      ends = try pipe()
    } catch {
      throw .notStarted(reason: error.reason)
    }
    let output = FileDescriptor(number: ends.reading)
    let child = start(program, words, environment, input: nil, output: ends.writing)
    close(ends.writing)
    switch child {
    case .failure(let fault): throw .notStarted(reason: fault.reason)
    case .success(let child):
      let reading = read(output, within: limit)
      if case .failure = reading { kill(-child, SIGKILL) }
      let status = reap(child)
      kill(-child, SIGKILL)
      let bytes = try reading.get()
      guard status & 0x7F == 0 else { throw .killed(signal: status & 0x7F) }
      guard status >> 8 & 0xFF == 0 else { throw .ended(status: status >> 8 & 0xFF) }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Writes a message to a program's standard input and waits for its end within the limit.
  ///
  /// `complaint` becomes the last line of the program's standard error.
  package static func send(
    _ words: [String],
    _ message: [UInt8],
    environment: [String: String],
    within limit: Duration,
    unless isAbandoned: () -> Bool,
    complaint: inout String
  ) throws(Fault) {
    guard let name = words.first else { throw .notStarted(reason: "no program is named") }
    let program = ProgramSearch.path(of: name, in: environment["PATH"]) ?? name
    // An anonymous file lets the parent write everything before the child reads.
    let input = unsafe prefetch_memfd_create("message", 1)
    guard input >= 0 else { throw .notStarted(reason: SystemFault.last.reason) }
    defer { close(input) }
    do throws(SystemFault) {
      try FileDescriptor.writeAll(unsafe message.span.bytes, to: input)
    } catch {
      throw .notStarted(reason: error.reason)
    }
    lseek(input, 0, SEEK_SET)
    var ends: (reading: Int32, writing: Int32)
    do throws(SystemFault) {
      ends = try pipe()
    } catch {
      throw .notStarted(reason: error.reason)
    }
    let said = ErrorTail(ends.reading)
    let started = start(program, words, environment, input: input, errors: ends.writing)
    close(ends.writing)
    switch started {
    case .failure(let fault): throw .notStarted(reason: fault.reason)
    case .success(let child):
      let end = ContinuousClock.now + limit
      var status: Int32 = 0
      while unsafe waitpid(child, &status, WNOHANG) == 0 {
        let isSlow = ContinuousClock.now >= end
        guard !isSlow, !isAbandoned() else {
          kill(-child, SIGKILL)
          _ = reap(child)
          complaint = said.lastLine
          throw isSlow ? .tooSlow : .interrupted
        }
        said.listen(for: 5)
      }
      // Remaining processes of the program's group are killed, too.
      kill(-child, SIGKILL)
      said.listen(for: 0)
      complaint = said.lastLine
      guard status & 0x7F == 0 else { throw .killed(signal: status & 0x7F) }
      guard status >> 8 & 0xFF == 0 else { throw .ended(status: status >> 8 & 0xFF) }
    }
  }

  /// Runs a program with this process's streams; forwards a signal to end once.
  package static func run(
    _ words: [String],
    environment: [String: String]
  ) -> Result<Int32, Fault> {
    guard let program = words.first else {
      return .failure(.notStarted(reason: "no program is named"))
    }
    var attributes = defaultAttributes(isGroup: false)
    let arguments = WordList(words)
    let variables = WordList(environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var child = pid_t()
    let fault = unsafe posix_spawnp(
      &child,
      program,
      nil,
      &attributes,
      arguments.pointers,
      variables.pointers
    )
    guard fault == 0 else {
      return .failure(.notStarted(reason: SystemFault(number: fault).reason))
    }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {
      if StopSignals.pending == SIGTERM { kill(child, SIGTERM) }
    }
    return .success(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
  }

  private static func pipe() throws(SystemFault) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw .last }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func start(
    _ program: String,
    _ words: [String],
    _ environment: [String: String],
    input: Int32?,
    output: Int32? = nil,
    errors: Int32? = nil
  ) -> Result<pid_t, SystemFault> {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    if let input {
      unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    if let output {
      unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
      unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    } else {
      unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    if let errors { unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2) }
    // The child must not inherit other descriptors.
    for name in FolderListing.names("/proc/self/fd") {
      guard let number = Int32(name), number > 2 else { continue }
      unsafe posix_spawn_file_actions_addclose(&actions, number)
    }
    var attributes = defaultAttributes()
    let arguments = WordList(words)
    let variables = WordList(environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    var child = pid_t()
    let fault = unsafe posix_spawn(
      &child,
      program,
      &actions,
      &attributes,
      arguments.pointers,
      variables.pointers
    )
    return fault == 0 ? .success(child) : .failure(SystemFault(number: fault))
  }

  private static func defaultAttributes(isGroup: Bool = true) -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags =
      POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (isGroup ? POSIX_SPAWN_SETPGROUP : 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    return attributes
  }

  private static func read(
    _ output: borrowing FileDescriptor,
    within limit: Duration
  ) -> Result<[UInt8], Fault> {
    let start = ContinuousClock.now
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      guard StopSignals.pending == nil else { return .failure(.interrupted) }
      let left = limit - start.duration(to: .now)
      guard left > .zero else { return .failure(.tooSlow) }
      var entry = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&entry, 1, min(slice, Int32(clamping: milliseconds(left)))) > 0 else {
        continue
      }
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe Glibc.read(output.number, $0.baseAddress, $0.count)
      }
      if count == 0 { return .success(bytes) }
      guard count > 0 else {
        guard errno == EINTR else { return .success(bytes) }
        continue
      }
      bytes += chunk[..<count]
      guard bytes.count <= longestOutput else { return .failure(.tooLong) }
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
  }

  private static func reap(_ child: pid_t) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
  }
}

/// Keeps the end of a program's standard error.
private final class ErrorTail {
  private static let longest = 1000

  private let descriptor: FileDescriptor
  private var tail: [UInt8] = []
  private var isCut = false
  private var isClosed = false

  init(_ number: Int32) {
    _ = fcntl(number, F_SETFL, O_NONBLOCK)
    descriptor = FileDescriptor(number: number)
  }

  /// Reads what is available, then waits for more up to the time limit.
  func listen(for milliseconds: Int32) {
    var entry = pollfd(fd: isClosed ? -1 : descriptor.number, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, milliseconds)
    var chunk = [UInt8](repeating: 0, count: 65_536)
    // The bound keeps a program that never stops writing from blocking the caller.
    for _ in 0..<16 where !isClosed {
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor.number, $0.baseAddress, $0.count)
      }
      guard count > 0 else {
        isClosed = count == 0
        return
      }
      tail += chunk[..<count]
      guard tail.count > Self.longest else { continue }
      tail.removeFirst(tail.count - Self.longest)
      isCut = true
    }
  }

  var lastLine: String {
    let begin = isCut ? tail.firstIndex(of: UInt8(ascii: "\n")) ?? tail.endIndex : tail.startIndex
    let line = tail[begin...].split(separator: UInt8(ascii: "\n")).last { line in
      line.contains { $0 > UInt8(ascii: " ") }
    }
    return String(decoding: line ?? [], as: UTF8.self)
  }
}

@safe private final class WordList {
  let pointers: [UnsafeMutablePointer<CChar>?]

  init(_ words: [String]) {
    unsafe pointers = words.map { unsafe strdup($0) } + [nil]
  }

  deinit {
    for index in unsafe pointers.indices { unsafe free(pointers[index]) }
  }
}
