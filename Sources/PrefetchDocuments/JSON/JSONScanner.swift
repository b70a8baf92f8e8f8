internal import PrefetchCore

struct JSONScanner {
  private let bytes: [UInt8]
  private let source: String
  private var offset = 0
  private var line = 1
  private var lineStart = 0
  /// UTF-8 continuation bytes of the current line, so that a column is a subtraction.
  private var continuations = 0

  init(_ text: SourceText) {
    bytes = text.bytes
    source = text.source
  }

  /// Skips blanks and returns the next token's first byte without consuming it.
  mutating func nextToken() -> UInt8? {
    while offset < bytes.count {
      let byte = bytes[offset]
      switch byte {
      case 0x20, 0x09:
        offset += 1
      case 0x0D where offset + 1 < bytes.count && bytes[offset + 1] == 0x0A:
        offset += 1
      case 0x0A, 0x0D:
        offset += 1
        (line, lineStart, continuations) = (line + 1, offset, 0)
      default:
        return byte
      }
    }
    return nil
  }

  mutating func skip() {
    offset += 1
  }

  func location(length: Int = 1) -> SourceLocation {
    SourceLocation(
      file: source,
      line: line,
      column: offset - lineStart - continuations + 1,
      length: length
    )
  }

  func fault(_ message: String, hint: String? = nil, length: Int = 1) -> Diagnostic {
    Diagnostic("document.syntax", message, hint: hint, at: location(length: length))
  }
}

// MARK: - Strings

extension JSONScanner {
  /// Reads a string; it contains no line break, so only continuation bytes are counted.
  mutating func string() throws(Diagnostic) -> (String, SourceLocation) {
    let start = offset
    var location = location()
    let before = continuations
    offset += 1
    var chunkStart = offset
    var decoded: [UInt8] = []
    while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\\") {
        decoded += bytes[chunkStart..<offset]
        try escape(into: &decoded)
        chunkStart = offset
        continue
      }
      if byte < 0x20 { throw controlCharacter(byte, opening: location) }
      if byte & 0xC0 == 0x80 { continuations += 1 }
      offset += 1
    }
    guard offset < bytes.count else { throw unclosed(location) }
    let text: String
    if decoded.isEmpty {
      text = String(decoding: bytes[chunkStart..<offset], as: UTF8.self)
    } else {
      decoded += bytes[chunkStart..<offset]
      text = String(decoding: decoded, as: UTF8.self)
    }
    offset += 1
    location.length = offset - start - (continuations - before)
    return (text, location)
  }

  private mutating func escape(into decoded: inout [UInt8]) throws(Diagnostic) {
    let letter = offset + 1 < bytes.count ? bytes[offset + 1] : UInt8(ascii: "\"")
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(letter)
    case UInt8(ascii: "b"): decoded.append(0x08)
    case UInt8(ascii: "f"): decoded.append(0x0C)
    case UInt8(ascii: "n"): decoded.append(0x0A)
    case UInt8(ascii: "r"): decoded.append(0x0D)
    case UInt8(ascii: "t"): decoded.append(0x09)
    case UInt8(ascii: "u"): return try unicodeEscape(into: &decoded)
    default:
      throw fault(
        "`\\\(scalar(at: offset + 1).quotable)` is not an escape in JSON",
        hint: "write `\\\\` for a backslash",
        length: 2
      )
    }
    offset = min(offset + 2, bytes.count)
  }

  private mutating func unicodeEscape(into decoded: inout [UInt8]) throws(Diagnostic) {
    guard let first = codeUnit(at: offset) else {
      throw fault("`\\u` takes four hexadecimal digits", length: 2)
    }
    var units = [first]
    if UTF16.isLeadSurrogate(first), let second = codeUnit(at: offset + 6),
      UTF16.isTrailSurrogate(second)
    {
      units.append(second)
    }
    guard units.count == 2 || !(0xD800...0xDFFF).contains(first) else {
      let escape = String(decoding: bytes[offset..<offset + 6], as: UTF8.self)
      throw fault(
        "`\(escape)` is half of a surrogate pair",
        hint: "write both halves, or the character itself",
        length: 6
      )
    }
    decoded += String(decoding: units, as: UTF16.self).utf8
    offset += 6 * units.count
  }

  private func codeUnit(at index: Int) -> UInt16? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt16 = 0
    for digit in bytes[index + 2..<index + 6] {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        unit = unit << 4 | UInt16(digit & 0x0F)
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
        unit = unit << 4 | UInt16((digit & 0x0F) + 9)
      default:
        return nil
      }
    }
    return unit
  }

  /// A line break means a missing quote; other control characters must be escaped.
  private func controlCharacter(_ byte: UInt8, opening: SourceLocation) -> Diagnostic {
    let escape: String
    switch byte {
    case 0x0A, 0x0D: return unclosed(opening)
    case 0x08: escape = "\\b"
    case 0x09: escape = "\\t"
    case 0x0C: escape = "\\f"
    default: escape = "\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
    }
    return fault("a string holds a control character", hint: "write it as `\(escape)`")
  }

  private func unclosed(_ opening: SourceLocation) -> Diagnostic {
    Diagnostic(
      "document.syntax",
      "the string is not closed",
      hint: "add `\"` at its end; a line break inside is written `\\n`",
      at: opening
    )
  }

  private func scalar(at index: Int) -> String {
    String(decoding: bytes[index..<min(index + 4, bytes.count)], as: UTF8.self)
      .unicodeScalars.first.map { String($0) } ?? ""
  }
}

// MARK: - Numbers and words

extension JSONScanner {
  mutating func number() throws(Diagnostic) -> (String, SourceLocation) {
    let end = runEnd()
    var index = offset
    if bytes[index] == UInt8(ascii: "-") { index += 1 }
    let whole = digits(from: index, to: end)
    guard whole > index else { throw malformed("a number takes a digit after `-`", end) }
    guard whole == index + 1 || bytes[index] != UInt8(ascii: "0") else {
      throw malformed("a number takes no leading zero", end, hint: "put text in double quotes")
    }
    index = whole
    if index < end, bytes[index] == UInt8(ascii: ".") {
      let fraction = digits(from: index + 1, to: end)
      guard fraction > index + 1 else {
        throw malformed("a number takes a digit after its point", end)
      }
      index = fraction
    }
    if index < end, bytes[index] | 0x20 == UInt8(ascii: "e") {
      let isSigned =
        index + 1 < end
        && (bytes[index + 1] == UInt8(ascii: "+") || bytes[index + 1] == UInt8(ascii: "-"))
      index += isSigned ? 2 : 1
      let exponent = digits(from: index, to: end)
      guard exponent > index else {
        throw malformed("a number takes a digit in its exponent", end)
      }
      index = exponent
    }
    guard index == end else {
      throw malformed(
        "`\(run(to: end).quotable)` is not a number",
        end,
        hint: "put text in double quotes"
      )
    }
    let found = (run(to: end), location(length: end - offset))
    offset = end
    return found
  }

  mutating func word(_ byte: UInt8) throws(Diagnostic) -> (Scalar, SourceLocation) {
    let end = runEnd()
    let text = run(to: end)
    let scalar: Scalar? =
      switch text {
      case "true", "false": Scalar(text, kind: .boolean)
      case "null": Scalar(text, kind: .null)
      default: nil
      }
    guard let scalar else { throw unexpectedValue(byte, text, length: end - offset) }
    let found = location(length: end - offset)
    offset = end
    return (scalar, found)
  }

  private func runEnd() -> Int {
    var index = offset
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
        UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
        index += 1
      default: return index
      }
    }
    return index
  }

  private func digits(from start: Int, to end: Int) -> Int {
    var index = start
    while index < end, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
    return index
  }

  private func run(to end: Int) -> String {
    String(decoding: bytes[offset..<end], as: UTF8.self)
  }

  private func malformed(_ message: String, _ end: Int, hint: String? = nil) -> Diagnostic {
    fault(message, hint: hint, length: end - offset)
  }
}

// MARK: - Everything else

extension JSONScanner {
  func unexpected(_ byte: UInt8, _ expected: String) -> Diagnostic {
    comment(byte) ?? fault("\(expected), found `\(scalar(at: offset).quotable)`")
  }

  func unexpectedKey(_ byte: UInt8) -> Diagnostic {
    if let comment = comment(byte) { return comment }
    if byte == UInt8(ascii: "'") { return fault("a key takes double quotes") }
    let end = runEnd()
    guard end > offset else { return unexpected(byte, "expected a key in double quotes") }
    let text = run(to: end).quotable
    return malformed("the key `\(text)` takes double quotes", end, hint: "write `\"\(text)\"`")
  }

  private func unexpectedValue(_ byte: UInt8, _ text: String, length: Int) -> Diagnostic {
    if let comment = comment(byte) { return comment }
    if byte == UInt8(ascii: "'") { return fault("text takes double quotes") }
    guard !text.isEmpty else { return unexpected(byte, "expected a value") }
    if byte == UInt8(ascii: "+") {
      return fault("a number takes no `+`", hint: "remove the sign", length: length)
    }
    if byte == UInt8(ascii: ".") {
      return fault("a number takes a digit before its point", length: length)
    }
    let known = ["true", "false", "null"].first { $0 == text.lowercased() }
    return fault(
      "`\(text.quotable)` is not a value in JSON",
      hint: known.map { "write `\($0)`" } ?? "put text in double quotes",
      length: length
    )
  }

  private func comment(_ byte: UInt8) -> Diagnostic? {
    guard byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#") else { return nil }
    return fault(
      "JSON takes no comments",
      hint: "remove it, or keep the file in YAML, which has comments"
    )
  }
}
