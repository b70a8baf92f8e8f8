internal import PrefetchCore

struct SourceText {
  let bytes: [UInt8]
  let source: String

  init(_ raw: [UInt8], source: String) throws(Diagnostic) {
    self.source = source
    bytes = raw.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(raw[3...]) : raw
    if let name = Self.foreignEncoding(of: raw) {
      throw Diagnostic(
        "document.encoding",
        "the document is written in \(name)",
        hint: "save it as UTF-8",
        file: source
      )
    }
    guard let offset = Self.firstInvalidByte(in: bytes) else { return }
    var cursor = TextCursor(self)
    let value = String(bytes[offset], radix: 16, uppercase: true)
    throw Diagnostic(
      "document.encoding",
      "the byte `0x\(value.count == 1 ? "0" : "")\(value)` is not valid UTF-8 here",
      hint: "save the document as UTF-8",
      at: cursor.location(fromByte: offset, toByte: offset + 1)
    )
  }

  var isBlank: Bool {
    bytes.allSatisfy { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) }
  }

  /// Returns the name of another encoding, known by its mark or by an early zero.
  private static func foreignEncoding(of bytes: [UInt8]) -> String? {
    let head = Array(bytes.prefix(4))
    if head == [0xFF, 0xFE, 0, 0] || head == [0, 0, 0xFE, 0xFF] { return "UTF-32" }
    guard head.count >= 2 else { return nil }
    return switch (head[0], head[1]) {
    case (0xFF, 0xFE), (0xFE, 0xFF): "UTF-16"
    case (0, 1...), (1..., 0): "UTF-16"
    default: nil
    }
  }

  private static func firstInvalidByte(in bytes: [UInt8]) -> Int? {
    do {
      _ = try UTF8Span(validating: bytes.span)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }
}

/// Lines and columns of increasing offsets, found in one forward walk; a line ends as in editors.
struct TextCursor {
  private let bytes: [UInt8]
  private let source: String
  private var byte = 0
  private var scalar = 0
  private var line = 1
  private var column = 1

  init(_ text: SourceText) {
    bytes = text.bytes
    source = text.source
  }

  mutating func location(fromByte start: Int, toByte end: Int) -> SourceLocation {
    if start < byte { rewind() }
    while byte < min(start, bytes.count) { advance() }
    var ahead = self
    while ahead.byte < min(end, bytes.count), !ahead.isAtBreak { ahead.advance() }
    return location(length: ahead.scalar - scalar)
  }

  mutating func location(fromScalar start: Int, toScalar end: Int) -> SourceLocation {
    if start < scalar { rewind() }
    while scalar < start, byte < bytes.count { advance() }
    var ahead = self
    while ahead.scalar < end, ahead.byte < bytes.count, !ahead.isAtBreak { ahead.advance() }
    return location(length: ahead.scalar - scalar)
  }

  var current: Unicode.Scalar? {
    guard byte < bytes.count else { return nil }
    return String(decoding: bytes[byte..<min(byte + 4, bytes.count)], as: UTF8.self)
      .unicodeScalars.first
  }

  /// Whether only blanks precede the last location on its line, with at least one tab.
  var isIndentedByTab: Bool {
    let blanks = bytes[..<byte].reversed().prefix { $0 == 0x20 || $0 == 0x09 }
    let start = byte - blanks.count
    return blanks.contains(0x09)
      && (start == 0 || bytes[start - 1] == 0x0A || bytes[start - 1] == 0x0D)
  }

  func bytes(behind text: String) -> ArraySlice<UInt8>? {
    let text = Array(text.utf8)
    let start = bytes[byte...].indices.first { bytes[$0...].starts(with: text) }
    return start.map { bytes[($0 + text.count)...] }
  }

  private var isAtBreak: Bool {
    bytes[byte] == 0x0A || bytes[byte] == 0x0D
  }

  private func location(length: Int) -> SourceLocation {
    SourceLocation(file: source, line: line, column: column, length: length)
  }

  private mutating func rewind() {
    (byte, scalar, line, column) = (0, 0, 1, 1)
  }

  private mutating func advance() {
    let first = bytes[byte]
    byte += 1
    while byte < bytes.count, bytes[byte] & 0xC0 == 0x80 { byte += 1 }
    scalar += 1
    column += 1
    let isCarriageReturn = first == 0x0D && !(byte < bytes.count && bytes[byte] == 0x0A)
    guard first == 0x0A || isCarriageReturn else { return }
    line += 1
    column = 1
  }
}

extension String {
  /// Shortened copy for messages, with control characters escaped, since terminals obey them.
  var quotable: String {
    var shown = ""
    for (count, scalar) in unicodeScalars.enumerated() {
      guard count < 60 else { return shown + "…" }
      let isControl = scalar.properties.generalCategory == .control
      shown += isControl ? scalar.escaped(asASCII: true) : String(scalar)
    }
    return shown
  }
}
