/// The string literals of a Swift file and the code around them, without its comments.
///
/// Adjacent literals that `+` joins are one, and each interpolation is one word `…` in its literal.
struct SwiftLiterals {
  enum Token: Equatable {
    case word(String)
    case mark(Character)
    case literal(String)
  }

  private var tokens: [Token] = []
  /// Literals within interpolations.
  private var inner: [String] = []
  private let text: [Character]
  private var position = 0

  init(_ bytes: [UInt8]) {
    text = Array(String(decoding: bytes, as: UTF8.self))
    read()
    join()
  }

  var all: [String] {
    tokens.compactMap { if case .literal(let text) = $0 { text } else { nil } } + inner
  }

  /// Literal that is an argument of a call.
  struct Argument {
    var callee: String
    var label: String?
    var text: String
    /// Labels of the call's arguments from this one on, and the members named in them.
    var words: [String]
  }

  var arguments: [Argument] {
    tokens.indices.compactMap { index in
      guard case .literal(let text) = tokens[index], let callee = callee(of: index) else {
        return nil
      }
      var label: String?
      if index > 1, tokens[index - 1] == .mark(":"), case .word(let word) = tokens[index - 2] {
        label = word
      }
      return Argument(callee: callee, label: label, text: text, words: words(after: index))
    }
  }

  private func callee(of index: Int) -> String? {
    var depth = 0
    for tokenIndex in tokens[..<index].indices.reversed() {
      switch tokens[tokenIndex] {
      case .mark(")"), .mark("]"), .mark("}"): depth += 1
      case .mark("["), .mark("{"):
        guard depth > 0 else { return nil }
        depth -= 1
      case .mark("("):
        guard depth == 0 else {
          depth -= 1
          continue
        }
        guard tokenIndex > 0, case .word(let word) = tokens[tokenIndex - 1] else { return nil }
        return word
      default: break
      }
    }
    return nil
  }

  private func words(after index: Int) -> [String] {
    var depth = 0
    var words: [String] = []
    for token in tokens[index...] {
      switch token {
      case .mark("("), .mark("["), .mark("{"): depth += 1
      case .mark(")"), .mark("]"), .mark("}"): depth -= 1
      case .word(let word): words.append(word)
      default: break
      }
      guard depth >= 0 else { break }
    }
    return words
  }

  // MARK: Reading

  private func holds(_ wanted: String) -> Bool {
    text[position...].starts(with: wanted)
  }

  /// Until the end, or after the parenthesis that closes an interpolation.
  private mutating func read(inside isInside: Bool = false) {
    var depth = 0
    while position < text.count {
      let first = text[position]
      if first.isLetter || first.isNumber || first == "_" {
        let start = position
        while position < text.count,
          text[position].isLetter || text[position].isNumber || text[position] == "_"
        {
          position += 1
        }
        tokens.append(.word(String(text[start..<position])))
      } else if holds("//") {
        while position < text.count, !text[position].isNewline { position += 1 }
      } else if holds("/*") {
        while position < text.count, !holds("*/") { position += 1 }
        position += 2
      } else if first == "\"" || first == "#" {
        readLiteral()
      } else {
        position += 1
        guard !first.isWhitespace else { continue }
        if first == "(" { depth += 1 }
        if first == ")" { depth -= 1 }
        if isInside, depth < 0 { return }
        tokens.append(.mark(first))
      }
    }
  }

  private mutating func readLiteral() {
    var signs = ""
    let start = position
    while position < text.count, text[position] == "#" {
      signs += "#"
      position += 1
    }
    guard position < text.count, text[position] == "\"" else {
      position = start + 1
      return tokens.append(.mark("#"))
    }
    let quotes = holds("\"\"\"") ? "\"\"\"" : "\""
    position += quotes.count
    var literal = ""
    let tokenIndex = tokens.count
    while position < text.count, !holds(quotes + signs) {
      guard holds("\\" + signs) else {
        literal.append(text[position])
        position += 1
        continue
      }
      position += 1 + signs.count
      if holds("(") {
        position += 1
        literal += "…"
        read(inside: true)
      } else {
        if !text[position].isNewline { literal.append(text[position]) }
        position += 1
      }
    }
    position += quotes.count + signs.count
    // The code of an interpolation is of no interest, its literals are.
    for case .literal(let text) in tokens[tokenIndex...] { inner.append(text) }
    tokens.replaceSubrange(tokenIndex..., with: [.literal(literal)])
  }

  private mutating func join() {
    var joined: [Token] = []
    for token in tokens {
      if case .literal(let text) = token, joined.last == .mark("+"), joined.count > 1,
        case .literal(let before) = joined[joined.count - 2]
      {
        joined.removeLast(2)
        joined.append(.literal(before + text))
      } else {
        joined.append(token)
      }
    }
    tokens = joined
  }
}
