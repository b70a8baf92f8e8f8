/// Words and punctuation of a Swift file, without comments and the text of strings; interpolations
/// count as code.
struct SwiftTokens {
  struct Token {
    /// Empty for marks.
    var word: String
    /// Zero for words.
    var mark: UInt8
    var line: Int
  }

  private(set) var all: [Token] = []
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    read()
  }

  init(_ text: String) {
    self.init(Array(text.utf8))
  }

  private func byte(_ offset: Int = 0) -> UInt8 {
    position + offset < bytes.count ? bytes[position + offset] : 0
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  /// Reads to the end, or past the parenthesis that closes one opened before.
  private mutating func read() {
    var depth = 0
    while position < bytes.count {
      switch byte() {
      case UInt8(ascii: "\n"):
        line += 1
        position += 1
      case UInt8(ascii: " "):
        position += 1
      case let first where Self.isOfWord(first):
        let start = position
        while Self.isOfWord(byte()) { position += 1 }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        all.append(Token(word: word, mark: 0, line: line))
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
        while position < bytes.count, byte() != UInt8(ascii: "\n") { position += 1 }
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"):
        skipComment()
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        readString()
      case let mark:
        all.append(Token(word: "", mark: mark, line: line))
        position += 1
        if mark == UInt8(ascii: "(") { depth += 1 }
        if mark == UInt8(ascii: ")") { depth -= 1 }
        if depth < 0 { return }
      }
    }
  }

  /// Comments may hold comments.
  private mutating func skipComment() {
    var depth = 0
    repeat {
      if byte() == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
        depth += 1
        position += 2
      } else if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
        depth -= 1
        position += 2
      } else {
        if byte() == UInt8(ascii: "\n") { line += 1 }
        position += 1
      }
    } while depth > 0 && position < bytes.count
  }

  /// Reads a string with its leading number signs, which may also begin something else.
  private mutating func readString() {
    var signs = 0
    while byte(signs) == UInt8(ascii: "#") { signs += 1 }
    guard byte(signs) == UInt8(ascii: "\"") else {
      all.append(Token(word: "", mark: byte(), line: line))
      position += 1
      return
    }
    position += signs
    let isLong = byte(1) == UInt8(ascii: "\"") && byte(2) == UInt8(ascii: "\"")
    let quotes = isLong ? 3 : 1
    position += quotes
    while position < bytes.count {
      if stands(UInt8(ascii: "\""), quotes, then: signs) {
        position += quotes + signs
        return
      }
      guard stands(UInt8(ascii: "\\"), 1, then: signs) else {
        if byte() == UInt8(ascii: "\n") { line += 1 }
        position += 1
        continue
      }
      position += 1 + signs
      let isCode = byte() == UInt8(ascii: "(")
      if byte() == UInt8(ascii: "\n") { line += 1 }
      position += 1
      if isCode { read() }
    }
  }

  /// Returns whether a byte is repeated `count` times here, followed by this number of signs.
  private func stands(_ wanted: UInt8, _ count: Int, then signs: Int) -> Bool {
    (0..<count).allSatisfy { byte($0) == wanted }
      && (0..<signs).allSatisfy { byte(count + $0) == UInt8(ascii: "#") }
  }
}
