/// Lossless conversion between the bytes of a header value and text.
///
/// Servers send arbitrary bytes, mostly Latin-1, and need their tags back unchanged. UTF-8 stands
/// for itself; each other byte from 0x80 on becomes a scalar of a private range, and so does each
/// byte of such a scalar itself.
package enum HeaderText {
  /// Base of the scalars U+F780…U+F7FF, which stand for the bytes 0x80…0xFF.
  private static let base: UInt32 = 0xF700
  private static let escapes: ClosedRange<UInt32> = 0xF780...0xF7FF
  package static let lead: UInt8 = 0xEF

  package static func decode(_ bytes: ArraySlice<UInt8>) -> String {
    var text = String(decoding: bytes, as: UTF8.self)
    // U+FFFD, the replacement for invalid UTF-8, begins with the same byte.
    let isUnescaped = text.withUTF8 { text in !(unsafe text.contains(lead)) }
    return isUnescaped ? text : decodeOdd(bytes)
  }

  private static func decodeOdd(_ bytes: ArraySlice<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self),
      !text.unicodeScalars.contains(where: { escapes.contains($0.value) })
    {
      return text
    }
    var text = String.UnicodeScalarView()
    var rest = bytes
    while let byte = rest.first {
      if let (scalar, length) = scalar(at: rest), !escapes.contains(scalar.value) {
        text.append(scalar)
        rest = rest.dropFirst(length)
      } else {
        text.append(Unicode.Scalar(base + UInt32(byte)) ?? "\u{FFFD}")
        rest = rest.dropFirst()
      }
    }
    return String(text)
  }

  /// Whether the text stands for bytes that are not UTF-8.
  package static func hasOddBytes(_ text: String) -> Bool {
    text.utf8.contains(lead) && text.unicodeScalars.contains { escapes.contains($0.value) }
  }

  package static func encode(_ text: String) -> [UInt8] {
    guard hasOddBytes(text) else { return Array(text.utf8) }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if escapes.contains(scalar.value) {
        bytes.append(UInt8(scalar.value - base))
      } else {
        bytes += Array(String(scalar).utf8)
      }
    }
    return bytes
  }

  /// Returns text for a URL, percent-encoding bytes beyond ASCII if the value is not UTF-8.
  package static func escaped(_ text: String) -> String {
    guard hasOddBytes(text) else { return text }
    var escaped: [UInt8] = []
    for byte in encode(text) {
      if byte < 0x80 {
        escaped.append(byte)
      } else {
        escaped += Array("%\(Hexadecimal.encode([byte]).uppercased())".utf8)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  package static func readable(_ text: String) -> String {
    hasOddBytes(text) ? String(decoding: encode(text), as: UTF8.self) : text
  }

  private static func scalar(at bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, length: Int)? {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
    return (scalar, UTF8.width(scalar))
  }
}
