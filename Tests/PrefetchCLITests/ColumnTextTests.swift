import Testing

@testable import PrefetchCLI

@Suite("Text in columns")
struct ColumnTextTests {
  @Test(
    "A text is as wide as a terminal shows it",
    arguments: [
      ("", 0), ("plain", 5), ("ü", 1), ("日本", 4), ("e\u{301}", 1), ("👍", 2), ("한", 2),
      ("ｆｕｌｌ", 8),
    ]
  )
  func width(text: String, columns: Int) {
    #expect(ColumnText.width(of: text) == columns)
  }

  @Test(
    "A text is shortened in its middle, and a URL after its host",
    arguments: [
      ("short", 10, "short"), ("abcdefghijkl", 9, "abc...jkl"), ("abcdefghijkl", 4, "abcd"),
      ("https://a.org/one/two/three/four.txt", 28, "https://a.or...hree/four.txt"),
      ("https://a.org/one/two/three/four.txt", 34, "https://a.org/...wo/three/four.txt"),
      ("日本語日本語", 9, "日...本語"),
    ]
  )
  func shortened(text: String, columns: Int, shown: String) {
    #expect(ColumnText.shortened(text, to: columns) == shown)
    #expect(ColumnText.width(of: shown) <= columns)
  }

  @Test("A text that is too long for its line continues below its own column")
  func wrapped() {
    #expect(ColumnText.wrapped("news  one two three", to: 30, indent: 6) == ["news  one two three"])
    #expect(
      ColumnText.wrapped("news  one two three", to: 13, indent: 6)
        == ["news  one two", "      three"]
    )
    #expect(
      ColumnText.wrapped("news  averylongword x", to: 10, indent: 2)
        == ["news ", "  averylongword", "  x"]
    )
  }
}
