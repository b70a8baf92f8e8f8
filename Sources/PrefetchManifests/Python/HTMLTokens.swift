/// Tokenizes the HTML of package indexes; malformed markup is skipped.
struct HTMLTokens: Sequence, IteratorProtocol {
  enum Token: Hashable {
    /// An opening tag; its name and its attributes' names are in lower case.
    case tag(String, [String: String])
    case text(String)
  }

  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func next() -> Token? {
    while offset < bytes.count {
      guard bytes[offset] == UInt8(ascii: "<") else { return .text(text()) }
      if let tag = tag() { return tag }
    }
    return nil
  }

  private mutating func text() -> String {
    let end = bytes[offset...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
    defer { offset = end }
    return Self.decoded(bytes[offset..<end])
  }

  private mutating func tag() -> Token? {
    if bytes[offset...].starts(with: "<!--".utf8) {
      skip(past: "-->")
      return nil
    }
    offset += 1
    let start = offset
    while offset < bytes.count, Self.isNameByte(bytes[offset]) { offset += 1 }
    let name = String(decoding: bytes[start..<offset], as: UTF8.self).lowercased()
    guard !name.isEmpty else {
      skip(past: ">")
      return nil
    }
    let attributes = attributes()
    if name == "script" || name == "style" { skip(past: "</\(name)") }
    return .tag(name, attributes)
  }

  private mutating func skip(past end: String) {
    let wanted = Array(end.utf8)
    while offset < bytes.count, !bytes[offset...].starts(with: wanted) { offset += 1 }
    offset = Swift.min(offset + wanted.count, bytes.count)
  }

  private mutating func attributes() -> [String: String] {
    var attributes: [String: String] = [:]
    while offset < bytes.count, bytes[offset] != UInt8(ascii: ">") {
      let start = offset
      while offset < bytes.count, Self.isNameByte(bytes[offset]) { offset += 1 }
      guard offset > start else {
        offset += 1
        continue
      }
      let name = String(decoding: bytes[start..<offset], as: UTF8.self).lowercased()
      skipBlanks()
      var value = ""
      if offset < bytes.count, bytes[offset] == UInt8(ascii: "=") {
        offset += 1
        skipBlanks()
        value = self.value()
      }
      if attributes[name] == nil { attributes[name] = value }
    }
    offset = Swift.min(offset + 1, bytes.count)
    return attributes
  }

  private mutating func value() -> String {
    guard offset < bytes.count else { return "" }
    let quote = bytes[offset]
    let start: Int
    let end: Int
    if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      start = offset + 1
      end = bytes[start...].firstIndex(of: quote) ?? bytes.count
      offset = Swift.min(end + 1, bytes.count)
    } else {
      start = offset
      end = bytes[start...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: ">") } ?? bytes.count
      offset = end
    }
    return Self.decoded(bytes[start..<end])
  }

  private mutating func skipBlanks() {
    while offset < bytes.count, bytes[offset] <= 0x20 { offset += 1 }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: ":"):
      true
    default: false
    }
  }

  /// Decodes text with the five entities of XML and numeric ones.
  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    var decoded = ""
    var rest = text[...]
    while let mark = rest.firstIndex(of: "&") {
      decoded += rest[..<mark]
      let name = rest[mark...].dropFirst().prefix(10).prefix { $0 != ";" }
      let end = name.endIndex
      guard end < rest.endIndex, rest[end] == ";", let character = character(named: name) else {
        decoded += "&"
        rest = rest[mark...].dropFirst()
        continue
      }
      decoded.unicodeScalars.append(character)
      rest = rest[end...].dropFirst()
    }
    return decoded + rest
  }

  private static func character(named name: Substring) -> Unicode.Scalar? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    guard name.first == "#" else { return nil }
    let digits = name.dropFirst()
    let isHexadecimal = digits.first == "x" || digits.first == "X"
    let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return number.flatMap { Unicode.Scalar($0) }
  }
}
