internal import PrefetchCore

extension TOMLScanner {
  mutating func string() throws(Diagnostic) -> String {
    let quote = byte()
    let opening = location()
    guard byte(1) == quote, byte(2) == quote else {
      offset += 1
      return try line(quote, opening)
    }
    offset += 3
    // A line break directly after the opening quotes is not part of the text.
    _ = skipLineEnd()
    return try lines(quote, opening)
  }

  private mutating func line(
    _ quote: UInt8,
    _ opening: SourceLocation
  ) throws(Diagnostic) -> String {
    var text: [UInt8] = []
    while byte() != quote {
      guard !isAtEnd, byte() != 0x0A, !(byte() == 0x0D && byte(1) == 0x0A) else {
        throw unclosed(quote, opening, hint: "a text of several lines takes three quotes")
      }
      try character(quote, into: &text)
    }
    offset += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func lines(
    _ quote: UInt8,
    _ opening: SourceLocation
  ) throws(Diagnostic) -> String {
    var text: [UInt8] = []
    while true {
      guard !isAtEnd else { throw unclosed(quote, opening, hint: nil) }
      if byte() == quote, byte(1) == quote, byte(2) == quote { break }
      let start = offset
      if skipLineEnd() {
        text += bytes[start..<offset]
      } else if quote == UInt8(ascii: "\""), byte() == UInt8(ascii: "\\"), skipFoldedLines() {
        continue
      } else {
        try character(quote, into: &text)
      }
    }
    offset += 3
    // Up to two quotes may directly precede the closing ones.
    for _ in 0..<2 where accept(quote) { text.append(quote) }
    return String(decoding: text, as: UTF8.self)
  }

  /// A backslash at a line's end removes all blanks and line ends up to the next text.
  private mutating func skipFoldedLines() -> Bool {
    let start = offset
    offset += 1
    skipBlanks()
    guard skipLineEnd() else {
      offset = start
      return false
    }
    repeat { skipBlanks() } while skipLineEnd()
    return true
  }

  private mutating func character(_ quote: UInt8, into text: inout [UInt8]) throws(Diagnostic) {
    if byte() == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { return try escape(into: &text) }
    if isControl(byte()) {
      throw fault("a text holds a control character", hint: "write it as an escape, `\\u0001`")
    }
    text.append(byte())
    offset += 1
  }

  private mutating func escape(into text: inout [UInt8]) throws(Diagnostic) {
    switch byte(1) {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(byte(1))
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "u"): return try codePoint(digits: 4, into: &text)
    case UInt8(ascii: "U"): return try codePoint(digits: 8, into: &text)
    default:
      throw fault(
        "a backslash begins no escape that TOML has",
        hint: "write `\\\\` for a backslash, or put the text in single quotes"
      )
    }
    offset += 2
  }

  private mutating func codePoint(digits: Int, into text: inout [UInt8]) throws(Diagnostic) {
    let end = min(offset + 2 + digits, bytes.count)
    let written = bytes[min(offset + 2, end)..<end]
    var value: UInt32 = 0
    for digit in written {
      guard let number = Hexadecimal.value(of: digit) else { break }
      value = value << 4 | UInt32(number)
    }
    guard written.count == digits, written.allSatisfy({ Hexadecimal.value(of: $0) != nil }),
      let scalar = Unicode.Scalar(value)
    else {
      throw fault("the escape names no character; it takes \(digits) hexadecimal digits", length: 2)
    }
    text += String(scalar).utf8
    offset = end
  }

  private func unclosed(
    _ quote: UInt8,
    _ opening: SourceLocation,
    hint: String?
  ) -> Diagnostic {
    Diagnostic("document.syntax", "the text is not closed", hint: hint, at: opening)
  }
}
