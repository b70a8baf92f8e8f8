/// Bytes as four letters for three, as pins and digests are written.
enum Base64 {
  /// Nil unless the text is complete groups of the standard alphabet, padded.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let letters = Array(text.utf8)
    guard !letters.isEmpty, letters.count.isMultiple(of: 4) else { return nil }
    let padding = letters.suffix(2).count { $0 == UInt8(ascii: "=") }
    var bytes: [UInt8] = []
    var group: UInt32 = 0
    for (index, letter) in letters.enumerated() {
      let isPadding = index >= letters.count - padding
      guard let bits = isPadding ? 0 : value(of: letter) else { return nil }
      group = group << 6 | UInt32(bits)
      guard index % 4 == 3 else { continue }
      bytes += [UInt8(group >> 16 & 255), UInt8(group >> 8 & 255), UInt8(group & 255)]
      group = 0
    }
    guard bytes.suffix(padding).allSatisfy({ $0 == 0 }) else { return nil }
    return Array(bytes.dropLast(padding))
  }

  static func encode(_ bytes: [UInt8]) -> String {
    var letters: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let padded = Array(part) + Array(repeating: 0, count: 3 - part.count)
      let group = UInt32(padded[0]) << 16 | UInt32(padded[1]) << 8 | UInt32(padded[2])
      for position in 0..<4 {
        let isPadding = position > part.count
        let index = Int(group >> UInt32(18 - 6 * position) & 63)
        letters.append(isPadding ? UInt8(ascii: "=") : alphabet[index])
      }
    }
    return String(decoding: letters, as: UTF8.self)
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
  )

  private static func value(of letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
