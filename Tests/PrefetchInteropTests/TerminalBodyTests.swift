import PrefetchTestSupport
import Testing

@Suite(
  "Output on a terminal",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: TerminalWindow.isPossible, TerminalWindow.absence)
)
struct TerminalBodyTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    server = try LoopbackServer { request in
      switch request.path {
      case "/picture": Script.respond(200, text: "\u{1B}]0;owned\u{7}PICTURE")
      default: Script.respond(200, text: "words\nand more\n")
      }
    }
    home = try Home()
    let long = "/folder/" + String(repeating: "deep/", count: 30) + "end.txt"
    home.configure(
      """
      segments:
        - { name: news, urls: ["\(server.address("/words"))", "\(server.address(long))"] }
      cache: { min_free: 0 }
      """
    )
  }

  private func shown(_ arguments: String) throws -> [String] {
    let window = try TerminalWindow(home, columns: 80, rows: 24)
    try window.enter("clear; $prefetch \(arguments); echo status $?")
    let lines = try window.lines { $0.contains { $0.contains("status ") } && $0.last == "ready:" }
    return try #require(lines, "\(window.shown)")
  }

  @Test("`get` prints text to a terminal")
  func text() throws {
    let lines = try shown("get \(server.address("/words"))")
    #expect(lines.starts(with: ["words", "and more", "status 0"]), "\(lines)")
  }

  @Test("`get` prints no binary body to a terminal, and names the options for it")
  func binary() throws {
    let lines = try shown("get \(server.address("/picture"))")
    #expect(lines.contains("status 64"), "\(lines)")
    let text = lines.joined()
    #expect(text.contains("is not text"), "\(lines)")
    #expect(text.contains("`-o FILE`") && text.contains("`-o -`"), "\(lines)")
    #expect(!text.contains("PICTURE"), "\(lines)")
    let forced = try shown("get \(server.address("/picture")) -o -")
    #expect(forced.contains { $0.contains("PICTURE") }, "\(forced)")
    let piped = try shown("get \(server.address("/picture")) | wc -c")
    #expect(piped.contains("17"), "\(piped)")
  }

  @Test("The report on a terminal has lines of its width with the ends of long addresses")
  func report() throws {
    let lines = try shown("run")
    #expect(lines.allSatisfy { $0.utf8.count <= 80 }, "\(lines)")
    let long = lines.first { $0.contains("...") }
    #expect(long?.contains("http://127.0.0.1:") == true, "\(lines)")
    #expect(long?.hasSuffix("/deep/end.txt") == true, "\(lines)")
    #expect(long?.utf8.count == 80, "\(lines)")
  }

  @Test("The report in a pipe has whole lines")
  func piped() throws {
    let run = try home.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(!run.output.contains("..."), "\(run)")
    #expect(run.lines.count == 4, "\(run)")
  }
}
