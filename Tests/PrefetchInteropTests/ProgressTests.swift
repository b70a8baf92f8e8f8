@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("Progress", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ProgressTests {
  private let home: Home
  private let gate = Gate()
  private let server: LoopbackServer
  private let busy: LoopbackServer
  private let size = 60_000_000

  /// Serves five segments: a large file that pauses, several items, a server with Retry-After, a
  /// queued item, and a segment that completes at once.
  init() throws {
    let (gate, size) = (gate, size)
    server = try LoopbackServer { request in
      switch request.path {
      case "/big.bin":
        let part = [UInt8](repeating: 7, count: size / 4)
        let head = Script.head(200, [("Content-Length", "\(size)")])
        return Script([
          .send(head), .send(part), .pause(gate),
          .send([UInt8](repeating: 7, count: size - size / 4)),
        ])
      case "/slow": return Script([.pause(gate)] + Script.respond(200, text: "slow").steps)
      default: return Script.respond(200, text: request.path)
      }
    }
    busy = try LoopbackServer(number: 2) { _ in
      Script.respond(503, [("Retry-After", "40")], text: "later")
    }
    home = try Home()
    home.configure(
      """
      segments:
        - { name: done, urls: ["\(server.address("/now"))"] }
        - { name: films, urls: ["\(server.address("/a/long/way/to/big.bin?x=1"))", "\(server.address("/big.bin"))"] }
        - { name: pages, urls: ["\(server.address("/1"))", "\(server.address("/slow"))"] }
        - { name: busy, urls: ["\(busy.address("/b"))"] }
        - { name: late, urls: ["\(server.address("/late"))"] }
      network: { per_host: 2 }
      cache: { min_free: 0 }
      """
    )
  }

  /// Returns whether the whole block is shown, with everything that happens before the gate opens.
  private func isWhole(_ lines: [String]) -> Bool {
    let shows = { (name: String, words: String) in
      lines.contains { $0.hasPrefix(name) && $0.contains(words) }
    }
    return shows("done ", " 100%  1 item") && shows("films ", " 25%  ") && shows("pages ", " 50%  ")
      && shows("busy ", "503, again in") && shows("late ", "queued")
      && shows("  big.bin", "15 MB of 60 MB") && shows("total ", "3 of 7 items")
  }

  private func start(_ window: TerminalWindow, _ arguments: String = "run") throws {
    try window.enter("$prefetch \(arguments); echo status $?")
  }

  private func count(_ name: String, in lines: [String]) -> Int {
    lines.count { $0.hasPrefix(name) }
  }

  @Test(
    "Progress is one block with a line for each segment and each large file",
    .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence)
  )
  func block() throws {
    let window = try TerminalWindow(home, columns: 80, rows: 24)
    try start(window)
    let lines = try #require(try window.lines(isWhole), "\(window.shown)")
    #expect(lines.allSatisfy { $0.utf8.count < 80 }, "\(lines)")
    let films = try #require(lines.first { $0.hasPrefix("films ") })
    #expect(films.contains("  [#####---------------]   25%"), "\(films)")
    let file = try #require(lines.first { $0.hasPrefix("  big.bin") })
    #expect(file.contains("[#####---------------]   25%  15 MB of 60 MB"), "\(file)")
    let done = try #require(lines.first { $0.hasPrefix("done ") })
    #expect(done.contains("[####################]  100%  1 item"), "\(done)")
    #expect(lines.contains { $0.hasPrefix("total ") && $0.contains("of 7 items") }, "\(lines)")
  }

  @Test(
    "Progress disappears at the end of the run, and the report takes its place",
    .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence)
  )
  func ended() throws {
    let window = try TerminalWindow(home, columns: 80, rows: 24)
    try start(window, "run films pages late")
    let shown = try window.lines { $0.contains { $0.contains("15 MB of 60 MB") } }
    _ = try #require(shown, "\(window.shown)")
    gate.open()
    let lines = try #require(
      try window.lines { $0.contains("status 0") && $0.last == "ready:" },
      "\(window.shown)"
    )
    #expect(!lines.contains { $0.contains("[#") || $0.contains(" of 60 MB") }, "\(lines)")
    #expect(lines[1].hasPrefix("films  current "), "\(lines)")
    #expect(count("films ", in: lines) == 1 && count("total ", in: lines) == 1, "\(lines)")
    #expect(lines.allSatisfy { $0.utf8.count <= 80 }, "\(lines)")
  }

  @Test(
    "Progress fits a window of 40 columns, also after the window changes its width",
    .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence)
  )
  func resize() throws {
    let window = try TerminalWindow(home, columns: 80, rows: 24)
    // Lines above the block are pushed out by a window that breaks longer lines.
    try window.enter("seq 50")
    _ = try #require(try window.lines { $0.contains("50") && $0.last == "ready:" })
    try start(window)
    _ = try #require(try window.lines(isWhole), "\(window.shown)")
    for columns in [40, 100, 40] {
      try window.resize(columns: columns, rows: 24)
      let hasBar = columns > 60
      let fits = { (lines: [String]) in
        self.isWhole(lines) && lines.contains { $0.contains("[####") } == hasBar
          && ["done ", "films ", "pages ", "busy ", "late ", "total "]
            .allSatisfy { self.count($0, in: lines) == 1 }
      }
      let lines = try #require(try window.lines(fits), "\(columns): \(window.shown)")
      let block = lines.drop { !$0.hasPrefix("done ") }
      #expect(block.count == 7, "\(lines)")
      #expect(block.allSatisfy { $0.utf8.count < columns }, "\(lines)")
    }
  }

  @Test(
    "Progress disappears after Ctrl-C, and the cursor is below the last message",
    .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence),
    arguments: [(40, ["C-c"]), (80, ["C-c"]), (80, ["C-c", "C-c"])]
  )
  func interrupted(columns: Int, keys: [String]) throws {
    let window = try TerminalWindow(home, columns: columns, rows: 24)
    try start(window)
    _ = try #require(try window.lines(isWhole), "\(window.shown)")
    try window.press(keys)
    let lines = try #require(
      try window.lines { $0.contains("status 130") && $0.last == "ready:" },
      "\(window.shown)"
    )
    #expect(try window.isCursorShown())
    #expect(!lines.contains { $0.contains("again in") || $0.contains(" of 60 MB") }, "\(lines)")
    #expect(!lines.contains { $0.contains("[#") }, "\(lines)")
    // The second signal ends the program at once, without further output.
    guard keys.count == 1 else { return }
    #expect(count("films ", in: lines) == 1 && count("total ", in: lines) == 1, "\(lines)")
    #expect(lines.contains { $0.contains("interrupted") }, "\(lines)")
  }

  @Test(
    "Progress counts the segments that do not fit the window",
    .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence)
  )
  func fewRows() throws {
    let window = try TerminalWindow(home, columns: 80, rows: 5)
    try start(window)
    let lines = try #require(
      try window.lines { $0.contains { $0.hasPrefix("and 3 more segments: ") } },
      "\(window.shown)"
    )
    #expect(lines.contains { $0.hasPrefix("films ") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("total ") }, "\(lines)")
  }

  @Test(
    "Progress is not drawn on a terminal that cannot draw",
    .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence),
    arguments: [("TERM", "dumb"), ("CI", "true")]
  )
  func noDrawing(_ name: String, _ value: String) throws {
    gate.open()
    let window = try TerminalWindow(home, columns: 80, rows: 24, variables: [name: value])
    try start(window, "run films --progress always")
    let lines = try #require(
      try window.lines { $0.contains { $0.hasPrefix("status ") } && $0.last == "ready:" }
    )
    #expect(lines.contains("progress: films: 2 items"), "\(lines)")
  }

  @Test(
    "Progress shows the transfer of `get`",
    .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence)
  )
  func get() throws {
    let window = try TerminalWindow(home, columns: 80, rows: 24)
    try start(window, "get \(server.address("/big.bin")) -o got")
    let shown = try window.lines { lines in
      lines.contains { $0.hasPrefix("  big.bin") && $0.contains("15 MB of 60 MB") }
    }
    _ = try #require(shown, "\(window.shown)")
    gate.open()
    let after = try #require(try window.lines { $0.contains("status 0") })
    #expect(!after.contains { $0.contains(" of 60 MB") }, "\(after)")
    #expect(FileTree.read(home.path("got"))?.count == size)
  }

  @Test("Progress is printed as plain lines on request where drawing is not possible")
  func lines() throws {
    gate.open()
    let run = try home.run("run", "done", "films", "pages", "--progress", "always")
    #expect(run.status == 0, "\(run)")
    let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("progress: ") }
    #expect(lines.contains("progress: films: 2 items"), "\(run)")
    #expect(lines.contains { $0.hasPrefix("progress: films: current, 2 of 2 items, ") }, "\(run)")
    #expect(lines.count <= 7, "\(run)")
    #expect(!(run.errors + run.output).utf8.contains(0x1B), "\(run)")
  }

  @Test("Progress writes no escape byte into files and pipes", arguments: ["auto", "never"])
  func plain(_ presence: String) throws {
    gate.open()
    let run = try home.run("run", "done", "films", "--progress", presence)
    #expect(run.status == 0, "\(run)")
    #expect(!(run.errors + run.output).utf8.contains(0x1B), "\(run)")
    #expect(!run.errors.contains("progress"), "\(run)")
  }

  @Test(
    "Progress is not written to a file as standard error, also when run from a terminal",
    .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence)
  )
  func redirected() throws {
    gate.open()
    let window = try TerminalWindow(home, columns: 80, rows: 24)
    try start(window, "run films >output 2>errors")
    _ = try #require(try window.lines { $0.contains("status 0") }, "\(window.shown)")
    let written = (home.read("output") ?? "") + (home.read("errors") ?? "")
    #expect(written.contains("films") && !written.utf8.contains(0x1B), "\(written)")
  }
}
