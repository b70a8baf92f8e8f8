import Glibc
import PrefetchTestSupport
import Testing

/// Compares forked runs of a debug build, as most tests use them, with normally started ones.
@Suite("A copied program", .enabled(if: Binary.zygotePath != nil, "needs a debug build"))
struct CopiedProgramTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    try #require(Zygote.shared != nil, "no program could be made ready for copies")
    home = try Home()
    server = try LoopbackServer { request in
      request.path == "/silent" ? Script([.silence]) : .respond(200, text: "one")
    }
  }

  /// Home whose programs are started instead of copied, because of a variable that only the loader
  /// reads.
  private var started: Home {
    var home = home
    home.variables["LD_BIND_NOW"] = "1"
    return home
  }

  @Test(
    "A copied program prints the same as a started one, and ends with the same status",
    arguments: [
      ["--version"], ["nonsense"], ["run", "--help"], ["plan", "--json"], ["list", "--nonsense"],
      ["check", "--config", "absent.yaml"], ["check"], ["schema"], ["status"],
      ["explain", "nothing"],
    ]
  )
  func saysTheSame(_ words: [String]) throws {
    home.configure(#"segments: [{ name: s, urls: ["\#(server.address("/a"))"] }]"#)
    let (copied, own) = (try home.run(words), try started.run(words))
    #expect(copied.status == own.status)
    #expect(copied.errors == own.errors)
    // Both print the same number of lines; a plan contains its time.
    #expect(copied.lines.count == own.lines.count && copied.output.isEmpty == own.output.isEmpty)
  }

  @Test("A copied program has its own input, variables and folder")
  func hasItsOwnGround() throws {
    var home = home
    home.configure(#"segments: [{ name: "${env:NAME_OF_ONE}", urls: [] }]"#)
    #expect(try home.run("check").status == 78)
    home.variables["NAME_OF_ONE"] = "one"
    #expect(try home.run("check").status == 0)
    let list = try home.run("check", "--config", "-", input: #"{"segments": 7}"#)
    #expect(list.status == 78 && list.errors.contains("segments"), "\(list)")
    // Input larger than a pipe, for a program that does not read it.
    let unread = String(repeating: "unread ", count: 1 << 18)
    #expect(try home.run("--version", input: unread).status == 0)
  }

  @Test(
    "A copied program is ended by a signal as a started one is",
    arguments: [SIGKILL, SIGTERM, SIGINT, SIGHUP]
  )
  func endsBySignal(_ number: CInt) throws {
    home.configure(#"segments: [{ name: s, urls: ["\#(server.address("/silent"))"] }]"#)
    let ends = try [home, started].map { home in
      let count = server.requests.count
      let program = try home.start(["run"])
      let end = ContinuousClock.now + .seconds(30)
      while server.requests.count == count, ContinuousClock.now < end { poll(nil, 0, 2) }
      program.signal(number)
      return program.finish().status
    }
    #expect(ends[0] == ends[1] && ends[0] > 128, "\(ends)")
  }
}
