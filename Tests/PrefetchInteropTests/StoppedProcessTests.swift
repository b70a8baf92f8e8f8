@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// A process stopped while it changes the cache.
///
/// The test takes the locks itself, since no signal reaches a program exactly within its
/// transaction.
@Suite(
  "A stopped process",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .timeLimit(.minutes(10))
)
struct StoppedProcessTests {
  /// Lock that the process holds when it is stopped.
  enum Hold: String, CaseIterable, CustomTestStringConvertible {
    case writerLock = "locks/claims"
    case objects

    var testDescription: String { rawValue }
  }

  private let home: Home
  private let gate = Gate()
  private let server: LoopbackServer

  init() throws {
    let site = Site(["/one": Site.Page("one"), "/held": Site.Page("held")])
    let gate = gate
    server = try LoopbackServer { request in
      let response = site.respond(to: request)
      return request.path == "/held" ? Script([.pause(gate)] + response.steps) : response
    }
    home = try Home()
    declare("prefetch.yaml", "/one", wait: "3s")
    // The resumed process must not give up, however busy the machine is.
    declare("held.yaml", "/held", wait: "1m")
  }

  private func declare(_ file: String, _ path: String, wait: String) {
    home.configure(
      """
      name: \(file)
      segments: [{ name: s, urls: ["\(server.address(path))"] }]
      cache: { min_free: 0 }
      network: { retries: { wait: \(wait) } }
      """,
      to: file
    )
  }

  /// Does some work while a run is stopped in possession of the lock.
  private func withStopped(_ hold: Hold, _ work: (pid_t) throws -> Void) throws {
    #expect(try home.run("-q").status == 0)
    let stopped = try home.start(["--config", "held.yaml", "-q"])
    try #require(server.waitForRequest("/held"))
    stopped.signal(SIGSTOP)
    defer {
      gate.open()
      stopped.signal(SIGCONT)
      #expect(stopped.finish().status == 0)
      #expect(FileTree.names("\(home.cache)/locks/claims.d").isEmpty)
    }
    let file = unsafe open(
      "\(home.cache)/\(hold.rawValue)",
      (hold == .writerLock ? O_RDWR : O_RDONLY) | O_CLOEXEC
    )
    try #require(file >= 0)
    defer { close(file) }
    switch hold {
    case .writerLock:
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      lock.l_len = 1
      let openFileLock: Int32 = 37
      try #require(unsafe fcntl(file, openFileLock, &lock) == 0)
    case .objects:
      try #require(flock(file, LOCK_EX) == 0)
    }
    try work(stopped.processID)
  }

  @Test(
    "A stopped process is named to waiting commands, and they wait only for a limited time",
    arguments: Hold.allCases
  )
  func held(_ hold: Hold) throws {
    try withStopped(hold) { process in
      let named = "process \(process) (`prefetch run`, since "
      let run = try home.run("--json")
      #expect(run.status == 75, "\(run)")
      let report = try run.json()
      #expect(report.text("segments.0.deferred.rule") == "lock")
      #expect(report.text("segments.0.state") == "deferred")
      #expect(run.errors.contains("waiting for \(named)"), "\(run)")
      #expect(run.errors.contains(", stopped)"), "\(run)")
      #expect(run.errors.contains("for too long"), "\(run)")
      let hurried = try home.run("--deadline", "1s")
      #expect(hurried.status == 75, "\(hurried)")
      let got = try home.run("get", "--offline", server.address("/one"))
      #expect(got.status == 0 && got.output == "one" && got.errors.isEmpty, "\(got)")
      for command in ["list", "status", "plan"] {
        let read = try home.run(command)
        #expect(read.status == 0 && !read.errors.contains("waiting"), "\(read)")
      }
    }
    let next = try home.run("--json")
    #expect(next.status == 0, "\(next)")
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "A stopped process does not keep a waiting command from ending on a signal",
    arguments: ["run", "gc", "lock"],
    [SIGINT, SIGTERM]
  )
  func signalled(_ command: String, _ number: CInt) throws {
    try withStopped(.writerLock) { _ in
      let words = command == "lock" ? [server.address("/one")] : []
      let waiting = try home.start([command] + words)
      try #require(waiting.waitForErrors("waiting for"))
      waiting.signal(number)
      let ended = waiting.finish(within: 30)
      #expect(ended.status == 128 + number && !ended.isOverdue, "\(ended)")
    }
  }

  @Test("A log that a stopped process left, and only a writer can repair, blocks no reader")
  func brokenLog() throws {
    #expect(try home.run("-q").status == 0)
    FileTree.write([UInt8](repeating: 0xa5, count: 4096), to: "\(home.cache)/index.sqlite-wal")
    FileTree.write([UInt8](repeating: 0, count: 32_768), to: "\(home.cache)/index.sqlite-shm")
    let got = try home.shell(
      "timeout 20 $prefetch get --offline '\(server.address("/one"))'"
    )
    #expect(got.status == 0 && got.output == "one", "\(got)")
    #expect(try home.run("--json").totals()["revalidated"] == 1)
    #expect(try home.run("verify").status == 0)
  }
}
