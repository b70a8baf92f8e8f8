@unsafe @preconcurrency import Glibc

/// A secret that must not leak, in all spellings in which it could.
struct Canary: Sendable {
  let text: String
  private let needles: [[UInt8]]

  init(_ text: String) {
    self.text = text
    let encoded = [true, false].flatMap { isStrict in
      [true, false].map { Self.percentEncoded(text, isStrict: isStrict, isUpper: $0) }
    }
    let coded = (0..<3).flatMap { offset in
      ["+/", "-_"].map { Self.base64(text, offset: offset, last: $0) }
    }
    needles = Set([text] + encoded + coded).map { Array($0.utf8) }
  }

  /// Returns the first spelling found in the bytes; nil when there is none.
  func found(in bytes: [UInt8]) -> String? {
    needles.first { Self.holds(bytes, $0) }.map { String(decoding: $0, as: UTF8.self) }
  }

  func found(in text: String) -> String? {
    found(in: Array(text.utf8))
  }

  private static func holds(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool {
    var start = 0
    while start + needle.count <= bytes.count {
      let offset = unsafe bytes.withUnsafeBufferPointer { all -> Int? in
        guard let base = all.baseAddress else { return nil }
        let found = unsafe memchr(base + start, Int32(needle[0]), all.count - start)
        return unsafe found.map { unsafe UnsafeRawPointer($0) - UnsafeRawPointer(base) }
      }
      guard let offset else { return false }
      if bytes[offset...].starts(with: needle) { return true }
      start = offset + 1
    }
    return false
  }

  /// Everything escaped but letters and digits, or really everything.
  private static func percentEncoded(_ text: String, isStrict: Bool, isUpper: Bool) -> String {
    text.utf8.map { byte -> String in
      let character = Character(Unicode.Scalar(byte))
      let isUnreserved = character.isLetter || character.isNumber || "-._~".contains(character)
      if isUnreserved, !isStrict { return String(character) }
      let digits = String(byte, radix: 16)
      let padded = digits.count < 2 ? "0\(digits)" : digits
      return "%" + (isUpper ? padded.uppercased() : padded)
    }
    .joined()
  }

  /// Returns the base64 characters that do not depend on the surrounding bytes.
  private static func base64(_ text: String, offset: Int, last: String) -> String {
    let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last
    )
    let bits = text.utf8.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    // The first characters that do not depend on the preceding bytes.
    let skipped = (6 - offset * 8 % 6) % 6
    let groups = (bits.count - skipped) / 6
    return String(
      (0..<groups).map { group in
        let start = skipped + group * 6
        return alphabet[bits[start..<start + 6].reduce(0) { $0 << 1 | Int($1) }]
      }
    )
  }
}
