import PrefetchConfig
import PrefetchCore
import Testing

@testable import PrefetchCLI
@testable import PrefetchDocuments

@Suite("Foreign text and secrets in every rendering")
struct InertTextTests {
  private static let hostile =
    "a\u{1B}[31m\u{0}\u{7}\r\nb\u{202E}\u{2028}\u{9B}c |d| <b>&amp; \"e\" '\u{301}f' `g` \\|h "
    + "\"\u{301}i|\u{301}j<\u{301}k`\u{301}l ![m](n) *o* \u{FFFE}\u{E0041}\u{200B}\ttail"

  private static func rendered(_ format: ReportFormat, foreign: String) -> String {
    let fixture = ReportFixture(foreign: foreign, own: foreign)
    return String(decoding: ReportRendering.bytes(fixture.envelope, as: format), as: UTF8.self)
  }

  private static func count(_ scalars: String, in text: String) -> Int {
    text.unicodeScalars.count { scalars.unicodeScalars.contains($0) }
  }

  @Test("No control character and no bidirectional mark is kept", arguments: ReportFormat.allCases)
  func noControls(format: ReportFormat) {
    let text = Self.rendered(format, foreign: Self.hostile)
    let active = text.unicodeScalars.filter { scalar in
      scalar != "\n"
        && (scalar.properties.generalCategory == .control || scalar == "\u{202E}"
          || scalar == "\u{2028}" || scalar == "\u{FFFE}")
    }
    #expect(Array(active) == [])
  }

  @Test("Foreign text starts no line", arguments: ReportFormat.allCases)
  func lines(format: ReportFormat) {
    let hostile = Self.rendered(format, foreign: Self.hostile)
    #expect(
      Self.count("\n", in: hostile) == Self.count("\n", in: Self.rendered(format, foreign: "x"))
    )
  }

  @Test("Foreign text adds no markup", arguments: [ReportFormat.html, .junit])
  func markup(format: ReportFormat) {
    let hostile = Self.rendered(format, foreign: Self.hostile)
    let harmless = Self.rendered(format, foreign: "x")
    for scalar in ["<", ">", "\"", "'"] {
      #expect(Self.count(scalar, in: hostile) == Self.count(scalar, in: harmless), "\(scalar)")
    }
  }

  @Test("JUnit stays well-formed XML", arguments: ["x", hostile])
  func wellFormed(foreign: String) throws {
    let parser = try #require(XMLParser(sink: SilentSink()))
    let text = Array(Self.rendered(.junit, foreign: foreign).utf8)
    try unsafe parser.parse(text.span.bytes)
  }

  @Test("Markdown keeps its cells, code spans and tags")
  func markdown() {
    let hostile = Self.withoutEscapes(Self.rendered(.md, foreign: Self.hostile))
    let harmless = Self.withoutEscapes(Self.rendered(.md, foreign: "x"))
    for scalar in ["|", "<", "*", "["] {
      // A code span is inert except for the backtick that would end it.
      #expect(Self.count(scalar, in: hostile) == Self.count(scalar, in: harmless), "\(scalar)")
    }
    let spans = { (text: String) in Self.count("`", in: text) }
    let rendered = Self.withoutEscapedCharacters(Self.rendered(.md, foreign: Self.hostile))
    #expect(
      spans(rendered) == spans(Self.withoutEscapedCharacters(Self.rendered(.md, foreign: "x")))
    )
  }

  /// Returns the text without escapes such as `\|` and without the content of code spans.
  private static func withoutEscapes(_ text: String) -> String {
    let parts = withoutEscapedCharacters(text).unicodeScalars.split(
      separator: "`",
      omittingEmptySubsequences: false
    )
    return parts.enumerated().filter { $0.offset.isMultiple(of: 2) }.map { String($0.element) }
      .joined()
  }

  private static func withoutEscapedCharacters(_ text: String) -> String {
    var result = ""
    var isEscaped = false
    var isCode = false
    for scalar in text.unicodeScalars {
      if isEscaped {
        isEscaped = false
        continue
      }
      if scalar == "`" { isCode.toggle() }
      if scalar == "\\", !isCode {
        isEscaped = true
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  @Test("Every line of the metrics is a comment or a sample", arguments: ["x", hostile])
  func prometheus(foreign: String) throws {
    let label = #"[a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*""#
    let sample = try Regex("^[a-z_]+(?:\\{\(label)(?:,\(label))*\\})? -?[0-9]+(?:[.][0-9]{3})?$")
      .matchingSemantics(.unicodeScalar)
    for line in Self.rendered(.prometheus, foreign: foreign).split(separator: "\n") {
      #expect(line.hasPrefix("# ") || line.wholeMatch(of: sample) != nil, "\(line)")
    }
  }

  @Test("JSON carries foreign text unchanged")
  func json() throws {
    let fixture = ReportFixture(foreign: Self.hostile)
    let document = try readJSON(ReportRendering.bytes(fixture.envelope, as: .json))
    let item = document["items"]?.sequence?.first
    #expect(
      item?["provider"]?.scalar.map { Array($0.text.unicodeScalars) }
        == Array(Self.hostile.unicodeScalars)
    )
  }

  @Test("A plan keeps five fields and one line for each item")
  func plan() {
    let lines = ReportFixture(foreign: Self.hostile, own: Self.hostile).envelope.planLines
    #expect(lines.count == ReportFixture().items.count)
    for line in lines {
      #expect(Self.count("\t", in: line) == 4)
      #expect(Self.count("\n\r\u{1B}\u{202E}", in: line) == 0)
    }
  }

  // MARK: Secrets

  private static let secrets = ["hunter2-s3cret", "hunter2-s3cret-longer", "pass wörd \"x\""]

  @Test("No secret appears in any rendering", arguments: ReportFormat.allCases, secrets)
  func secrecy(format: ReportFormat, secret: String) {
    let fixture = ReportFixture(foreign: secret, own: secret, secrets: Self.secrets)
    let text = String(decoding: ReportRendering.bytes(fixture.envelope, as: format), as: UTF8.self)
    for trace in ["s3cret", "-longer", "wörd", "w%C3%B6rd", "letmein"] {
      #expect(!text.contains(trace), "\(trace)")
    }
    #expect(text.contains("***"))
  }

  @Test("No secret appears in a plan", arguments: secrets)
  func planSecrecy(secret: String) {
    let fixture = ReportFixture(foreign: secret, own: secret, secrets: Self.secrets)
    let text = fixture.envelope.planLines.joined(separator: "\n")
    for trace in ["s3cret", "-longer", "wörd", "user:"] {
      #expect(!text.contains(trace), "\(trace)")
    }
  }

  @Test("No secret appears in an event", arguments: secrets)
  func eventSecrecy(secret: String) {
    let fixture = ReportFixture(foreign: secret, own: secret)
    let line = EventLine(
      run: "r",
      time: ReportFixture.start,
      secrets: SecretNeedles(Self.secrets)
    )
    let events = fixture.facts.flatMap(line.values)
    let text = events.map { JSONWriter.string($0) }.joined(separator: "\n")
    for trace in ["s3cret", "-longer", "wörd", "letmein"] {
      #expect(!text.contains(trace), "\(trace)")
    }
  }
}

/// Looks at nothing; whether the parser throws is all that counts.
private final class SilentSink: XMLSink {
  func declaration(encoding: String?, at bytes: Range<Int>) {}
  func entityDeclaration(at bytes: Range<Int>) {}
  func startElement(_ name: String, _ attributes: [XMLAttribute], at bytes: Range<Int>) {}
  func endElement(at bytes: Range<Int>) {}
  func characters(_ text: [UInt8], at bytes: Range<Int>) {}
  func unknownEntity(_ name: String, at bytes: Range<Int>) {}
}
