import PrefetchCore
import Testing

/// The renderer that all messages go through.
struct DiagnosticRendererTests {
  private func diagnostic(column: Int, length: Int) -> Diagnostic {
    Diagnostic(
      "config.unknown-key",
      "unknown key `chekcsum` in `segments[0].items[2]`",
      hint: "did you mean `checksum`?",
      at: SourceLocation(file: "prefetch.yaml", line: 14, column: column, length: length)
    )
  }

  @Test("A diagnostic has its position, the line, a mark and a hint")
  func isWhole() {
    let text = DiagnosticRenderer().render(diagnostic(column: 11, length: 8)) { _, _ in
      "          chekcsum: sha256:…"
    }
    #expect(
      text == """
        prefetch.yaml:14:11: error: unknown key `chekcsum` in `segments[0].items[2]`  [config.unknown-key]
           14 |           chekcsum: sha256:…
              |           ^~~~~~~~
        hint: did you mean `checksum`?
        """
    )
  }

  @Test("A diagnostic without the source line has only its position")
  func worksWithoutLine() {
    let text = DiagnosticRenderer().render(diagnostic(column: 11, length: 8)) { _, _ in nil }
    #expect(text.split(separator: "\n").count == 2)
  }

  @Test("Control characters of a source line are escaped, and the mark stays below its word")
  func escapes() {
    let text = DiagnosticRenderer().render(diagnostic(column: 3, length: 3)) { _, _ in
      "\u{1B}\u{202E}abc\td"
    }
    #expect(text.contains("   14 | \\u{1B}\\u{202E}abc d\n      |               ^~~\n"))
    let message = Diagnostic("x.y", "bad \u{9B}2J", file: "a\u{7}b")
    #expect(
      DiagnosticRenderer().render(message) { _, _ in nil }
        == "a\\u{7}b: error: bad \\u{9B}2J  [x.y]"
    )
  }

  @Test(
    "A long line is shown around the mark, within the width",
    arguments: [1, 60, 500, 999, 1000, 1001]
  )
  func windows(_ column: Int) {
    let line = String(repeating: "0123456789", count: 100)
    let text = DiagnosticRenderer().render(diagnostic(column: column, length: 400)) { _, _ in line }
    for row in text.split(separator: "\n").dropFirst().dropLast() {
      #expect(row.count <= 120)
    }
    #expect(text.contains("^"))
  }

  @Test("Colour changes nothing but the colour")
  func colours() {
    let uncolored = DiagnosticRenderer().render(diagnostic(column: 11, length: 8)) { _, _ in
      "          chekcsum: 1"
    }
    let colored = DiagnosticRenderer(usesColor: true).render(diagnostic(column: 11, length: 8)) {
      _,
      _ in
      "          chekcsum: 1"
    }
    #expect(colored.contains("\u{1B}[1;31merror:\u{1B}[0m"))
    let stripped = colored.replacing(/\u{1B}\[[0-9;]*m/, with: "")
    #expect(stripped == uncolored)
  }
}
