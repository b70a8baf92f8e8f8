/// Writes JSON, either compact or indented by two spaces.
package struct JSONWriter {
  package enum Form: Sendable {
    case compact
    case pretty
  }

  private let form: Form
  private var bytes: [UInt8] = []
  private var level = 0

  private init(form: Form) {
    self.form = form
  }

  /// Returns the JSON without a final line break; `level` is the indentation of the first line.
  package static func bytes(
    _ value: JSONValue,
    form: Form = .compact,
    level: Int = 0
  ) -> [UInt8] {
    var writer = JSONWriter(form: form)
    writer.level = level
    writer.write(value)
    return writer.bytes
  }

  package static func string(_ value: JSONValue, form: Form = .compact) -> String {
    String(decoding: bytes(value, form: form), as: UTF8.self)
  }

  /// Writes an object whose member `key` is a long array, of which few elements exist at a time,
  /// and a line break.
  package static func write<Fault>(
    _ members: [(String, JSONValue)],
    with elements: some Sequence<JSONValue>,
    as key: String,
    form: Form,
    to sink: (RawSpan) throws(Fault) -> Void
  ) throws(Fault) {
    var writer = JSONWriter(form: form)
    writer.open("{")
    for (index, (name, value)) in members.enumerated() {
      writer.write(name, isFirst: index == 0)
      guard name == key else {
        writer.write(value)
        continue
      }
      writer.open("[")
      var isFirst = true
      for element in elements {
        writer.separate(isFirst: isFirst)
        writer.write(element)
        isFirst = false
        if writer.bytes.count >= pieceSize { try writer.flush(to: sink) }
      }
      writer.close("]", isEmpty: isFirst)
    }
    writer.close("}", isEmpty: members.isEmpty)
    writer.bytes.append(0x0A)
    try writer.flush(to: sink)
  }

  /// Writes values on a line each.
  package static func writeLines<Fault>(
    _ values: some Sequence<JSONValue>,
    to sink: (RawSpan) throws(Fault) -> Void
  ) throws(Fault) {
    var writer = JSONWriter(form: .compact)
    for value in values {
      writer.write(value)
      writer.bytes.append(0x0A)
      if writer.bytes.count >= pieceSize { try writer.flush(to: sink) }
    }
    try writer.flush(to: sink)
  }

  private static let pieceSize = 65_536

  private mutating func flush<Fault>(
    to sink: (RawSpan) throws(Fault) -> Void
  ) throws(Fault) {
    unsafe try sink(bytes.span.bytes)
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func write(_ value: JSONValue) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += String(value).utf8
    case .double(let value): write(value)
    case .string(let value): write(value)
    case .array(let values): write(values)
    case .object(let members): write(members)
    }
  }

  /// JSON has neither infinities nor NaN, and `3.0` is written as `3`.
  private mutating func write(_ value: Double) {
    bytes += (value.isFinite ? value.shortestText : "null").utf8
  }

  private mutating func write(_ values: [JSONValue]) {
    open("[")
    for (index, value) in values.enumerated() {
      separate(isFirst: index == 0)
      write(value)
    }
    close("]", isEmpty: values.isEmpty)
  }

  private mutating func write(_ members: [(String, JSONValue)]) {
    open("{")
    for (index, (key, value)) in members.enumerated() {
      write(key, isFirst: index == 0)
      write(value)
    }
    close("}", isEmpty: members.isEmpty)
  }

  private mutating func write(_ key: String, isFirst: Bool) {
    separate(isFirst: isFirst)
    write(key)
    bytes.append(UInt8(ascii: ":"))
    if form == .pretty { bytes.append(0x20) }
  }

  private mutating func open(_ mark: Unicode.Scalar) {
    bytes.append(UInt8(ascii: mark))
    level += 1
  }

  private mutating func close(_ mark: Unicode.Scalar, isEmpty: Bool) {
    level -= 1
    if !isEmpty { breakLine() }
    bytes.append(UInt8(ascii: mark))
  }

  private mutating func separate(isFirst: Bool) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    breakLine()
  }

  private mutating func breakLine() {
    guard form == .pretty else { return }
    bytes.append(0x0A)
    bytes.append(contentsOf: repeatElement(0x20, count: 2 * level))
  }
}

// MARK: - Strings

extension JSONWriter {
  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    let utf8 = Array(text.utf8)
    var chunkStart = 0
    var index = 0
    while index < utf8.count {
      let length = escapedLength(utf8, at: index)
      guard length > 0 else {
        index += 1
        continue
      }
      bytes += utf8[chunkStart..<index]
      writeEscape(of: utf8[index..<index + length])
      index += length
      chunkStart = index
    }
    bytes += utf8[chunkStart...]
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns the byte length of a character that must be escaped; 0 for others.
  ///
  /// Escapes more than JSON requires: DEL, C1 controls (C2 80 to C2 9F), JavaScript's line breaks
  /// (E2 80 A8 and A9), direction marks (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
  /// U+2069), and U+FEFF, U+FFFE and U+FFFF, which YAML rejects.
  private func escapedLength(_ utf8: [UInt8], at index: Int) -> Int {
    switch utf8[index] {
    case 0..<0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "\\"): 1
    case 0xC2 where utf8[index + 1] < 0xA0: 2
    case 0xD8 where utf8[index + 1] == 0x9C: 2
    case 0xE2 where isDirectionOrLineBreak(utf8[index + 1], utf8[index + 2]): 3
    case 0xEF where utf8[index + 1] == 0xBB && utf8[index + 2] == 0xBF: 3
    case 0xEF where utf8[index + 1] == 0xBF && utf8[index + 2] >= 0xBE: 3
    default: 0
    }
  }

  private func isDirectionOrLineBreak(_ second: UInt8, _ third: UInt8) -> Bool {
    switch second {
    case 0x80: third == 0x8E || third == 0x8F || (0xA8...0xAE).contains(third)
    case 0x81: (0xA6...0xA9).contains(third)
    default: false
    }
  }

  private mutating func writeEscape(of character: ArraySlice<UInt8>) {
    bytes.append(UInt8(ascii: "\\"))
    switch character.first {
    case UInt8(ascii: "\""): bytes.append(UInt8(ascii: "\""))
    case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    default:
      let scalar = String(decoding: character, as: UTF8.self).unicodeScalars.first?.value ?? 0xFFFD
      let digits = String(scalar, radix: 16)
      bytes.append(UInt8(ascii: "u"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
      bytes += digits.utf8
    }
  }
}

extension Double {
  var shortestText: String {
    let text = description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
