package enum Hexadecimal {
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    unsafe String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      var count = 0
      for byte in bytes {
        unsafe text[count] = digit(byte >> 4)
        unsafe text[count + 1] = digit(byte & 15)
        count += 2
      }
      return count
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
  }

  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      guard let value = value(of: character) else { return nil }
      if let pending = high {
        bytes.append(pending << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }

  /// Removes percent-encoding; invalid UTF-8 is repaired.
  static func decodePercent(_ text: some Collection<UInt8>) -> String {
    let text = Array(text)
    var bytes: [UInt8] = []
    var index = 0
    while index < text.count {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.count,
        let high = value(of: text[index + 1]), let low = value(of: text[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(text[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Removes percent-encoding; nil for a broken escape or invalid UTF-8.
  package static func decodePercent(strictly text: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value)
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  package static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Escapes all bytes but ASCII letters, digits and `-._~`.
  package static func encodePercent(_ text: String, blank: String = "%20") -> String {
    var encoded = ""
    for byte in text.utf8 {
      let isLetter = (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
      if isLetter || ASCII.isDigit(byte) || "-._~".utf8.contains(byte) {
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      } else if byte == UInt8(ascii: " ") {
        encoded += blank
      } else {
        encoded += "%" + encode([byte]).uppercased()
      }
    }
    return encoded
  }
}
