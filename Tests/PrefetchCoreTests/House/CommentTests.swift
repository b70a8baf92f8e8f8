import PrefetchTestSupport
import Testing

/// Comments of `Sources` and `Tests`, as blocks of adjacent lines.
@Suite("Comments are plain English") struct CommentTests {
  private struct Block {
    var path: String
    var line: Int
    var lines: [String]
  }

  private static let blocks = ["Sources", "Tests"].flatMap { folder in
    Repository.swiftFiles(below: folder).flatMap { path in
      blocks(of: String(decoding: Repository.text(of: path), as: UTF8.self), path)
    }
  }

  /// First words that leave the described thing to the reader.
  private static let openers: Set<Substring> = [
    "What", "Of", "Where", "Nil", "Whose", "Whom", "Who", "Whatever", "Behind", "As", "That",
    "Those", "These", "One", "Such", "Its", "It",
  ]

  private static func blocks(of text: String, _ path: String) -> [Block] {
    var blocks: [Block] = []
    var isInside = false
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let text = line.drop { $0 == " " }
      guard text.hasPrefix("//"), !text.hasPrefix("// MARK") else {
        isInside = false
        continue
      }
      let words = String(text.drop { $0 == "/" }.drop { $0 == " " })
      if isInside {
        blocks[blocks.count - 1].lines.append(words)
      } else {
        blocks.append(Block(path: path, line: number + 1, lines: [words]))
      }
      isInside = true
    }
    return blocks
  }

  private static func lacksNoun(_ block: Block) -> Bool {
    let first = block.lines[0].split { " ,.;:".contains($0) }.first ?? ""
    return openers.contains(first) || block.lines[0].hasPrefix("The same")
  }

  private static func archaicWord(in block: Block) -> String? {
    PlainWords.archaic(in: block.lines.joined(separator: " "), and: ["anew"]).first
  }

  @Test("A comment begins with its noun or its verb")
  func nounFirst() {
    #expect(Self.blocks.count > 5_000)
    for block in Self.blocks where Self.lacksNoun(block) {
      Issue.record("\(block.path):\(block.line): \(block.lines[0])")
    }
  }

  @Test("A comment has no archaic or vague word")
  func plainWords() {
    for block in Self.blocks {
      guard let word = Self.archaicWord(in: block) else { continue }
      Issue.record("\(block.path):\(block.line): `\(word)`")
    }
  }

  @Test("A comment without its noun and an archaic word are found in a source")
  func canFail() {
    let archaic = PlainWords.archaic[1]
    let lines = [
      "let a = 1", "/// Of those that ask.", "/// Second line, \(archaic) it describes.",
      "let b = 2 // What is left",
    ]
    let source = lines.joined(separator: "\n")
    let blocks = Self.blocks(of: source, "a.swift")
    #expect(blocks.map(\.line) == [2])
    #expect(blocks.allSatisfy(Self.lacksNoun))
    #expect(blocks.compactMap(Self.archaicWord) == [archaic])
  }
}
