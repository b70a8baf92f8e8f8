@unsafe @preconcurrency import Glibc
import Synchronization

/// Starts programs with a pipe on each stream.
enum Spawn {
  struct Fault: Error {
    var program: String
    var errno: CInt
  }

  /// A process and the parent's ends of its pipes.
  struct Streams {
    var processID: pid_t
    var input: CInt
    var output: CInt
    var errors: CInt
  }

  private struct Pipe {
    var reading: CInt
    var writing: CInt
  }

  /// Serializes starts: a concurrent start could inherit another program's pipes before they are
  /// marked.
  private static let lock = Mutex(())

  /// Ignores SIGPIPE: a program that ends before reading its input must not end the tests.
  private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  private typealias AddFolder =
    @convention(c) (
      UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>
    ) -> CInt

  /// GNU's own, which the Glibc module leaves out; by way of `env` each start would be two.
  private static let addFolder: AddFolder = {
    let address = unsafe dlsym(nil, "posix_spawn_file_actions_addchdir_np")
    guard let address = unsafe address else { preconditionFailure("needs glibc 2.29") }
    return unsafe unsafeBitCast(address, to: AddFolder.self)
  }()

  static func program(
    _ words: [String],
    environment: [String: String],
    folder: String?,
    outputPath: String?
  ) throws(Fault) -> Streams {
    ignoresBrokenPipes
    return try lock.withLock { _ throws(Fault) in
      try start(words, environment, folder, outputPath)
    }
  }

  private static func start(
    _ words: [String],
    _ environment: [String: String],
    _ folder: String?,
    _ outputPath: String?
  ) throws(Fault) -> Streams {
    let (input, output, errors) = (pipe(), pipe(), pipe())
    if words[0] == Binary.path, outputPath == nil,
      let child = Zygote.shared?.start(
        words,
        environment,
        folder,
        [input.reading, output.writing, errors.writing]
      )
    {
      for descriptor in [input.reading, output.writing, errors.writing] { close(descriptor) }
      return Streams(
        processID: child,
        input: input.writing,
        output: output.reading,
        errors: errors.reading
      )
    }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, input.reading, 0)
    if let outputPath {
      unsafe posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY, 0)
    } else {
      unsafe posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, errors.writing, 2)
    if let folder { _ = unsafe addFolder(&actions, folder) }
    var attributes = defaultAttributes()
    let arguments = WordList(words)
    let variables = WordList(environment.map { "\($0.key)=\($0.value)" })
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
      for descriptor in [input.reading, output.writing, errors.writing] { close(descriptor) }
    }
    var child = pid_t()
    let fault = unsafe posix_spawn(
      &child,
      words[0],
      &actions,
      &attributes,
      arguments.pointers,
      variables.pointers
    )
    guard fault == 0 else {
      for descriptor in [input.writing, output.reading, errors.reading] { close(descriptor) }
      throw Fault(program: words[0], errno: fault)
    }
    return Streams(
      processID: child,
      input: input.writing,
      output: output.reading,
      errors: errors.reading
    )
  }

  /// Starts a program that communicates over a socket, its descriptor 3.
  static func server(_ words: [String], socket: CInt) throws(Fault) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, socket, 3)
    var attributes = defaultAttributes()
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    let arguments = WordList(words)
    var variables: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
    var child = pid_t()
    let fault = unsafe posix_spawn(
      &child,
      words[0],
      &actions,
      &attributes,
      arguments.pointers,
      &variables
    )
    guard fault == 0 else { throw Fault(program: words[0], errno: fault) }
  }

  /// Signals that the test process ignores or blocks must not be inherited.
  private static func defaultAttributes() -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
    unsafe posix_spawnattr_setflags(&attributes, flags)
    return attributes
  }

  private static func pipe() -> Pipe {
    var ends: [CInt] = [-1, -1]
    precondition(unsafe Glibc.pipe(&ends) == 0, "no descriptors left for a pipe")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return Pipe(reading: ends[0], writing: ends[1])
  }
}

/// C strings that are freed with the list.
@safe private final class WordList {
  let pointers: [UnsafeMutablePointer<CChar>?]

  init(_ words: [String]) {
    unsafe pointers = words.map { unsafe strdup($0) } + [nil]
  }

  deinit {
    for index in unsafe pointers.indices { unsafe free(pointers[index]) }
  }
}
