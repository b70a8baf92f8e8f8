internal import PrefetchCore

struct TOMLScanner {
  let bytes: [UInt8]
  var offset = 0
  private var cursor: TextCursor

  init(_ text: SourceText) {
    bytes = text.bytes
    cursor = TextCursor(text)
  }

  /// Returns a byte ahead; zero past the end, as no valid text contains a zero.
  func byte(_ ahead: Int = 0) -> UInt8 {
    offset + ahead < bytes.count ? bytes[offset + ahead] : 0
  }

  var isAtEnd: Bool { offset >= bytes.count }

  mutating func skip() {
    offset += 1
  }

  mutating func accept(_ wanted: UInt8) -> Bool {
    guard byte() == wanted else { return false }
    offset += 1
    return true
  }

  mutating func location(from start: Int? = nil, to end: Int? = nil) -> SourceLocation {
    let start = start ?? offset
    return cursor.location(fromByte: start, toByte: end ?? start + 1)
  }
}

// MARK: - Lines

extension TOMLScanner {
  mutating func nextLine() throws(Diagnostic) -> UInt8? {
    try skipEmptyLines()
    return isAtEnd ? nil : byte()
  }

  mutating func nextInLine(_ expected: String) throws(Diagnostic) -> UInt8 {
    skipBlanks()
    guard !isAtEnd, byte() != 0x0A, byte() != 0x0D, byte() != UInt8(ascii: "#") else {
      throw unexpected("expected \(expected)")
    }
    return byte()
  }

  /// Skips blanks, comments and line ends and returns the next byte; throws at the text's end.
  mutating func nextAnywhere(_ expected: String) throws(Diagnostic) -> UInt8 {
    try skipEmptyLines()
    guard !isAtEnd else { throw unexpected("expected \(expected)") }
    return byte()
  }

  mutating func finishLine() throws(Diagnostic) {
    skipBlanks()
    try skipComment()
    guard isAtEnd || skipLineEnd() else { throw unexpected("expected the end of the line") }
  }

  mutating func expect(_ wanted: UInt8, after what: String) throws(Diagnostic) {
    skipBlanks()
    try expectAdjacent(wanted, after: what)
  }

  mutating func expectAdjacent(_ wanted: UInt8, after what: String) throws(Diagnostic) {
    guard accept(wanted) else {
      throw unexpected("expected `\(Character(Unicode.Scalar(wanted)))` after \(what)")
    }
  }

  mutating func skipBlanks() {
    while byte() == 0x20 || byte() == 0x09 { offset += 1 }
  }

  private mutating func skipEmptyLines() throws(Diagnostic) {
    repeat {
      skipBlanks()
      try skipComment()
    } while skipLineEnd()
  }

  private mutating func skipComment() throws(Diagnostic) {
    guard byte() == UInt8(ascii: "#"), !isAtEnd else { return }
    while !isAtEnd, byte() != 0x0A, !(byte() == 0x0D && byte(1) == 0x0A) {
      if isControl(byte()) { throw fault("a comment holds a control character") }
      offset += 1
    }
  }

  mutating func skipLineEnd() -> Bool {
    if accept(0x0A) { return true }
    guard byte() == 0x0D, byte(1) == 0x0A else { return false }
    offset += 2
    return true
  }

  func isControl(_ byte: UInt8) -> Bool {
    (byte < 0x20 && byte != 0x09) || byte == 0x7F
  }
}

// MARK: - Keys

extension TOMLScanner {
  mutating func keyPath(terminatedBy end: UInt8) throws(Diagnostic) -> [TOMLTree.Key] {
    var path: [TOMLTree.Key] = []
    repeat {
      skipBlanks()
      path.append(try key(terminatedBy: end))
      skipBlanks()
    } while accept(UInt8(ascii: "."))
    return path
  }

  private mutating func key(terminatedBy end: UInt8) throws(Diagnostic) -> TOMLTree.Key {
    let start = offset
    switch byte() {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      guard byte(1) != byte() || byte(2) != byte() else {
        throw fault("a key takes one quote at each end", length: 3)
      }
      let text = try string()
      return TOMLTree.Key(text: text, location: location(from: start, to: offset))
    default:
      while isBare(byte()) { offset += 1 }
      guard offset > start else {
        throw isAtEnd || byte() == 0x0A || byte() == end || byte() == UInt8(ascii: ".")
          ? fault("a key is missing here") : unexpected("expected a key", hint: "put it in quotes")
      }
      let text = String(decoding: bytes[start..<offset], as: UTF8.self)
      return TOMLTree.Key(text: text, location: location(from: start, to: offset))
    }
  }

  private func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

// MARK: - Faults

extension TOMLScanner {
  mutating func fault(_ message: String, hint: String? = nil, length: Int = 1) -> Diagnostic {
    fault(message, hint: hint, from: offset, to: offset + length)
  }

  mutating func fault(
    _ message: String,
    hint: String? = nil,
    from start: Int,
    to end: Int
  ) -> Diagnostic {
    Diagnostic("document.syntax", message, hint: hint, at: location(from: start, to: end))
  }

  mutating func unexpected(
    _ expected: String,
    hint: String? = nil,
    back: Int = 0
  ) -> Diagnostic {
    offset -= back
    let found =
      isAtEnd
      ? "the end of the document"
      : byte() == 0x0A || byte() == 0x0D ? "the end of the line" : "`\(scalarHere.quotable)`"
    return fault("\(expected), found \(found)", hint: hint)
  }

  private var scalarHere: String {
    String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self)
      .unicodeScalars.first.map { String($0) } ?? ""
  }
}
