@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// Signals during the reading of input, before any result exists.
@Suite("One signal", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct InputSignalTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
    try #require(unsafe mkfifo(home.path("pipe"), 0o600) == 0)
  }

  /// Runs a command that reads an empty pipe, and signals it once it waits in `read`.
  ///
  /// The system call has number 0, or 63 on arm64.
  private func interrupt(_ command: String, by signal: String) throws -> ProgramRun {
    try home.shell(
      """
      exec 3<>pipe
      $prefetch \(command) <&3 & reader=$!
      until read -r number rest </proc/$reader/syscall && [[ $number = 0 || $number = 63 ]]; do
        kill -0 $reader || break
      done
      kill -\(signal) $reader
      wait $reader
      """,
      within: 30
    )
  }

  @Test(
    "A signal ends a command that waits for a pipe or for standard input",
    arguments: [
      "mirror pipe dir", "manifest check pipe", "check -c pipe", "run -c pipe",
      "run --set segments.s.manifest=./pipe --json", "get -", "mirror - dir", "manifest check -",
      "check -c -", "notify",
    ]
  )
  func slowInput(command: String) throws {
    let terminated = try interrupt(command, by: "TERM")
    #expect(terminated.status == 143, "\(command): \(terminated)")
    let interrupted = try interrupt(command, by: "INT")
    #expect(interrupted.status == 130, "\(command): \(interrupted)")
  }

  @Test(
    "A signal ends `verify` and `export` with 143 and 130",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)"),
    arguments: [("TERM", Int32(143)), ("INT", 130)]
  )
  func hashing(signal: String, status: Int32) throws {
    let server = try LoopbackServer { .respond(200, text: "body of \($0.path)") }
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: s, urls: ["\(server.address("/a"))", "\(server.address("/b"))"] }]
      """
    )
    try #require(home.run("-q").status == 0)
    let object = try home.shell("ls -d \(home.cache)/objects/sha256/*/* | head -1").lines[0]
    for command in ["verify", "verify --repair", "export out"] {
      let inject = "inject=newfstatat,fstat,statx:signal=SIG\(signal):when=1"
      let run = try home.shell(
        "strace -f -qq -o /dev/null -P \(object) -e \(inject) $prefetch \(command)"
      )
      #expect(run.status == status, "\(command): \(run)")
      FileTree.remove(home.path("out"))
    }
  }
}
