import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

@testable import PrefetchCLI

@Suite("Text, numbers and patterns of the output")
struct OutputTextTests {
  @Test(
    "Active characters are shown by their number, and all others as they are",
    arguments: [
      ("plain ü 日本 👩‍🚀", "plain ü 日本 👩‍🚀"), ("a\tb", "a\\u{9}b"), ("a\r\nb", "a\\u{d}\\u{a}b"),
      ("\u{1B}[2J", "\\u{1b}[2J"), ("\u{9B}x", "\\u{9b}x"), ("\u{7F}", "\\u{7f}"),
      ("\u{202E}gpj", "\\u{202e}gpj"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
      ("a\u{2028}b", "a\\u{2028}b"), ("\u{FEFF}x", "\\u{feff}x"), ("\u{200B}", "\\u{200b}"),
      ("\u{E0041}", "\\u{e0041}"), ("\u{FFFF}", "\\u{ffff}"), ("\\", "\\"), ("", ""),
    ]
  )
  func safeText(text: String, shown: String) {
    #expect(SafeText.line(text) == shown)
  }

  @Test(
    "Bytes have three digits at most and the unit that fits",
    arguments: [
      (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 kB"), (1234, "1.2 kB"), (9949, "9.9 kB"),
      (9950, "10 kB"), (34_000_000, "34 MB"), (999_499, "999 kB"), (999_500, "1.0 MB"),
      (5_400_000_000, "5.4 GB"), (7_000_000_000_000, "7.0 TB"), (.max, "9223372 TB"),
    ] as [(Int64, String)]
  )
  func bytes(count: Int64, shown: String) {
    #expect(Amounts.bytes(count) == shown)
  }

  @Test(
    "Durations have their two largest units",
    arguments: [
      (.zero, "0.0 s"), (.milliseconds(340), "0.3 s"), (.milliseconds(9940), "9.9 s"),
      (.seconds(12), "12 s"), (.seconds(200), "3 m 20 s"), (.seconds(7500), "2 h 5 m"),
      (.seconds(349_200), "4 d 1 h"), (.seconds(-5), "0.0 s"), (.milliseconds(-340), "0.0 s"),
    ] as [(Duration, String)]
  )
  func durations(duration: Duration, shown: String) {
    #expect(Amounts.duration(duration) == shown)
  }

  @Test("Counts agree with their noun")
  func counts() {
    #expect(Amounts.count(1, "item") == "1 item")
    #expect(Amounts.count(0, "item") == "0 items")
    #expect(Amounts.count(2, "entry", "entries") == "2 entries")
  }

  @Test(
    "Patterns match as in a shell",
    arguments: [
      ("*", "", true), ("*", "anything", true), ("map-*", "map-a", true),
      ("map-*", "amap-a", false),
      ("?", "ü", true), ("?", "", false), ("?", "ab", false), ("a*b*c", "a-b-b-c", true),
      ("a*b*c", "a-c-b", false), ("[a-c]x", "bx", true), ("[a-c]x", "dx", false),
      ("[!a-c]x", "dx", true), ("[^a-c]x", "bx", false), ("[]a]", "]", true), ("[!]a]", "b", true),
      ("[!]a]", "]", false), ("[!]a]", "b]", false), ("[a-]", "-", true), ("[a", "[a", true),
      ("[", "[", true), ("[]", "[]", true), ("**", "x", true), ("A", "a", false),
      ("*.json", "https://x.org/a/b.json", true), ("", "", true), ("", "x", false),
    ]
  )
  func globs(pattern: String, text: String, isMatch: Bool) {
    #expect(Glob.matches(pattern, text) == isMatch)
  }

  @Test("Every pattern is matched in bounded time")
  func backtrackingBounded() {
    let text = String(repeating: "a", count: 2000)
    #expect(!Glob.matches(String(repeating: "*a", count: 100) + "*b", text))
  }

  @Test(
    "Secrets of at least six bytes are masked everywhere",
    arguments: [
      ("x hunter2 y", ["hunter2"], "x *** y"), ("hunter2hunter2", ["hunter2"], "******"),
      ("short", ["short"], "short"), ("nothing here", ["hunter2"], "nothing here"),
      ("hunter2-long", ["hunter2", "hunter2-long"], "***"), ("", ["hunter2"], ""),
      ("https://x.org/?a=tok%20en%22", ["tok en\""], "https://x.org/?a=***"),
      ("ünïcödé", ["ünïcö"], "***dé"), ("hunter", ["hunter2"], "hunter"), ("text", [""], "text"),
      ("?k=a%2Fb%2Bc%20d", ["a/b+c d"], "?k=***"),
      ("?k=a%2fb%2bc%20d", ["a/b+c d"], "?k=***"), ("?k=a%2Fb%2Bc+d", ["a/b+c d"], "?k=***"),
      ("aHVudGVyMi1sb25n", ["hunter2-long"], "***"),
      ("AGh1bnRlcjItbG9uZw==", ["hunter2-long"], "AG***w=="),
      ("AABodW50ZXIyLWxvbmc=", ["hunter2-long"], "AAB***c="),
      ("hunter2long", ["hunter2", "2longer"], "***long"),
    ]
  )
  func redaction(text: String, secrets: [String], shown: String) {
    #expect(Redaction.masked(text, secrets: secrets) == shown)
  }

  @Test(
    "URLs are shown without user information and signatures, also invalid ones",
    arguments: [
      ("https://x.org/a?page=2&token=abc", "https://x.org/a?page=2&token=***"),
      ("https://user:pw@x.org/a?token=abc&b=1", "https://***@x.org/a?token=***&b=1"),
      ("https://us@er:p/w@x.org/a", "https://***@er:p/w@x.org/a"),
      ("img/a.png?sig=abc&v=1", "img/a.png?sig=***&v=1"), ("//u:p@x.org", "//***@x.org"),
      ("bad\u{1}url?token=abc", "bad\u{1}url?token=***"), ("x?token=a\u{1}b", "x?***"),
      ("https://x.org/@me", "https://x.org/@me"), ("", ""),
    ]
  )
  func urls(url: String, shown: String) {
    #expect(Redaction.url(url) == shown)
  }

  @Test(
    "A diagnostic keeps its code and position, and its words lose secrets"
  )
  func diagnostics() {
    let location = SourceLocation(file: "a.yaml", line: 1, column: 2)
    let diagnostic = Diagnostic("x.y", "is `hunter2`", hint: "not hunter2", path: "a", at: location)
    let masked = diagnostic.masked(secrets: ["hunter2"])
    #expect(masked.message == "is `***`")
    #expect(masked.hint == "not ***")
    #expect(masked.code == "x.y")
    #expect(masked.location == location)
  }
}

@Suite("Values as YAML")
struct YAMLTextTests {
  private static let hard: [String] = [
    "", " ", "plain", "two words", "true", "No", "null", "~", "y", "1", "1.5", "0123", "1e3", "-",
    "- a", "a: b", "a:b", "# no", "a #b", "'", "\"", "\\", "\n", "a\nb\n", "\t", "\u{0}", "\u{85}",
    "\u{2028}", "\u{202E}", "\u{FEFF}", "\u{FFFE}", "ü", "日本", "😀", "[", "{a}", "*x", "&x", "!x",
    "%x", "@x", "`x`", "|", ">", "?", "22:00", "2026-11-20", ".inf", "=", "<<", "---", "...",
    "https://x.org/?a=b#c", "trailing ", "e", "off",
  ]

  @Test("Every text reads back the same, as value, as key and in a list", arguments: hard)
  func scalars(text: String) throws {
    let value: JSONValue = .object([
      ("value", .string(text)), ("list", [.string(text), [.string(text)], ["k": .string(text)]]),
      ("key \(text)", .object([(text.isEmpty ? "k" : text, .array([]))])),
    ])
    let node = try read(value)
    #expect(node["value"]?.scalar?.text == text)
    let list = node["list"]?.sequence
    #expect(list?.first?.scalar?.text == text)
    #expect(list?[1].sequence?.first?.scalar?.text == text)
    #expect(list?.last?["k"]?.scalar?.text == text)
    let inner = node["key \(text)"]?.mapping?.first
    #expect(inner?.key == (text.isEmpty ? "k" : text))
    #expect(inner?.value.sequence?.isEmpty == true)
  }

  @Test("The report itself reads back from YAML as it does from JSON")
  func document() throws {
    let report = try readJSON(ReportRendering.bytes(ReportFixture().envelope, as: .json))
    let again = Self.value(try read(JSONValue(report)))
    #expect(JSONWriter.string(again) == JSONWriter.string(Self.value(report)))
  }

  private func read(_ value: JSONValue) throws -> Node {
    let text = YAMLText.lines(value).joined(separator: "\n") + "\n"
    let outcome = DocumentReader.read(Array(text.utf8), source: "yaml", syntax: .yaml)
    #expect(outcome.diagnostics.isEmpty, "\(text)")
    return try #require(outcome.node)
  }

  private static func value(_ node: Node) -> JSONValue {
    switch node.content {
    case .scalar(let scalar): .string(scalar.text)
    case .sequence(let nodes): .array(nodes.map(value))
    case .mapping(let entries): .object(entries.map { ($0.key, value($0.value)) })
    }
  }
}
