@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// A separate user for one test: home, cache, state and working folder, with a minimal environment.
struct Home {
  let folder: TemporaryDirectory
  let cache: String
  let state: String
  /// The folder that programs are started in.
  let work: String
  var variables: [String: String]
  /// User id of the program; nil for the test's own.
  private(set) var user: Int?
  private var binary: String?

  /// `isInMemory` avoids the disk where tests create hundreds of homes.
  init(isInMemory: Bool = false, binary: String? = Binary.path) throws {
    self.binary = binary
    let memory = "/dev/shm"
    let isWritable = unsafe access(memory, W_OK) == 0
    folder = try TemporaryDirectory(in: isInMemory && isWritable ? memory : nil)
    let root = folder.path
    cache = "\(root)/cache/prefetch"
    state = "\(root)/state/prefetch"
    work = "\(root)/work"
    for name in ["home", "config", "work"] { unsafe mkdir("\(root)/\(name)", 0o755) }
    variables = [
      "HOME": "\(root)/home",
      "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      "XDG_CACHE_HOME": "\(root)/cache",
      "XDG_CONFIG_HOME": "\(root)/config",
      "XDG_STATE_HOME": "\(root)/state",
    ]
    variables["ASAN_OPTIONS"] = Binary.sanitizerOptions
  }

  /// Returns the same home with another program.
  func using(_ binary: String) -> Home {
    var home = self
    home.binary = binary
    return home
  }

  /// Gives all files to another user, who runs the program from now on.
  mutating func give(to user: Int) throws {
    self.user = user
    try #require(tool("chown", "-R", "\(user):\(user)", folder.path).status == 0)
  }

  /// A configuration that may speak plain http to this machine.
  @discardableResult
  func configure(_ lines: String, to name: String = "prefetch.yaml") -> String {
    write("transport_security: { NSAllowsLocalNetworking: true }\n\(lines)\n", to: name)
  }

  /// Writes a file of the working folder; returns its absolute path.
  @discardableResult
  func write(_ text: String, to name: String = "prefetch.yaml") -> String {
    write(Array(text.utf8), to: name)
  }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) -> String {
    let path = path(name)
    FileTree.write(bytes, to: path)
    return path
  }

  func path(_ name: String) -> String {
    "\(work)/\(name)"
  }

  func read(_ name: String) -> String? {
    FileTree.read(path(name)).map { String(decoding: $0, as: UTF8.self) }
  }

  func removeCache() throws {
    try #require(tool("rm", "-rf", cache).status == 0)
  }

  func start(
    _ arguments: [String],
    input: String = "",
    output: RunningProgram.Output = .pipe
  ) throws -> RunningProgram {
    var words = [try #require(binary)] + arguments
    if let user {
      let switcher = try #require(Tool("setpriv")).path
      words = [switcher, "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + words
    }
    return try RunningProgram(
      words[0],
      Array(words.dropFirst()),
      environment: variables,
      folder: work,
      input: Array(input.utf8),
      output: output
    )
  }

  func run(
    _ arguments: String...,
    input: String = "",
    output: RunningProgram.Output = .pipe
  ) throws -> ProgramRun {
    try start(arguments, input: input, output: output).finish()
  }

  func run(_ arguments: [String]) throws -> ProgramRun {
    try start(arguments).finish()
  }

  /// A line for bash, in which `$prefetch` is the program.
  func shell(_ script: String, within seconds: Int = 600) throws -> ProgramRun {
    let binary = try #require(binary)
    let bash = try #require(Tool("bash"))
    var environment = variables
    environment["prefetch"] = binary
    return try RunningProgram(
      bash.path,
      ["-c", script],
      environment: environment,
      folder: work
    ).finish(within: seconds)
  }

  /// Runs an installed tool in the same environment.
  func tool(_ name: String, _ arguments: String...) throws -> ProgramRun {
    try tool(name, arguments)
  }

  func tool(_ name: String, _ arguments: [String]) throws -> ProgramRun {
    let tool = try #require(Tool(name), "\(name) is not installed")
    return try RunningProgram(
      tool.path,
      arguments,
      environment: variables,
      folder: work
    ).finish()
  }
}
