import PrefetchCore
import Testing

@testable import PrefetchCLI

@Suite("Logs")
struct LogTests {
  private static let now = Instant(milliseconds: 1_795_150_800_000)

  @Test("A message is one object with its facts")
  func entry() {
    let entry = LogEntry(level: .info, "a \"note\"", about: .nothing, run: nil)
    #expect(
      entry.line(at: Self.now)
        == #"{"time":"2026-11-20T05:00:00.000Z","level":"info","run":null,"message":"a \"note\""}"#
    )
    let diagnostic = Diagnostic("http", "it failed", hint: "try again")
    let subject = LogSubject(url: "https://x.org/a", segment: "s")
    #expect(
      LogEntry(diagnostic, about: subject, run: "r1").line(at: Self.now)
        == #"{"time":"2026-11-20T05:00:00.000Z","level":"error","run":"r1","message":"it failed","#
        + #""code":"http","hint":"try again","url":"https://x.org/a","segment":"s"}"#
    )
  }

  @Test(
    "A day's log file has the name of its day and its configuration",
    arguments: [
      ("org.example.app", "2026-11-20_org.example.app.log"),
      ("a b/../c", "2026-11-20_a-b-..-c.log"),
      ("", "2026-11-20_prefetch.log"), ("日本", "2026-11-20_--.log"),
    ]
  )
  func name(name: String, file: String) {
    #expect(RunLog.fileName(name, at: Self.now) == file)
  }

  @Test(
    "Log files of prefetch are removed two weeks after their day",
    arguments: [
      ("2026-11-20_x.log", false), ("2026-11-06_x.log", false), ("2026-11-05_x.log", true),
      ("2025-01-01_x.log", true), ("2025-01-01_x.txt", false), ("2025-01-01.log", false),
      ("notes_2025-01-01.log", false), ("2027-01-01_x.log", false),
    ]
  )
  func expiry(file: String, isExpired: Bool) {
    #expect(RunLog.isExpired(file, at: Self.now) == isExpired)
  }

  @Test(
    "Log text has only characters that a terminal can show",
    arguments: [
      (Array("words\n\tand more\r\n".utf8), true), ([], true), (Array("ü 日本 👍".utf8), true),
      ([0], false), (Array("a\u{1B}[2J".utf8), false), ([0x7F], false),
      // Latin-1 letters are harmless, Latin-1 control characters are not.
      ([0x66, 0xFC, 0x72], true), ([0x66, 0x9B, 0x72], false), ([0xFF, 0xD8, 0xFF, 0xE0], true),
      (Array(repeating: 0x61, count: 8191) + Array("ä".utf8), true),
    ] as [([UInt8], Bool)]
  )
  func text(bytes: [UInt8], isText: Bool) {
    #expect(unsafe TextBody.isText(bytes.span.bytes) == isText)
  }
}
