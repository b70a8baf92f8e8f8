package enum Base64 {
  package enum Form: Hashable, Sendable {
    /// Alphabet with `+` and `/`; padding required.
    case standard
    /// Written with `-` and `_` without padding; read in either alphabet, padded or not.
    case urlSafe
  }

  /// Decodes one whole canonical encoding (RFC 4648); nil for spaces, line ends or loose bits.
  package static func decode(_ text: some StringProtocol, as form: Form = .standard) -> [UInt8]? {
    let characters = Array(text.utf8)
    let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    let hasWholeGroups = characters.count.isMultiple(of: 4)
    guard padding <= 2, hasWholeGroups || (form == .urlSafe && padding == 0) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 4 * 3)
    var pending: UInt32 = 0
    var bitCount = 0
    for character in characters.dropLast(padding) {
      guard let value = value(of: character, in: form) else { return nil }
      pending = pending << 6 | UInt32(value)
      bitCount += 6
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bitCount)))
      pending &= (1 << UInt32(bitCount)) - 1
    }
    return pending == 0 && bitCount < 6 ? bytes : nil
  }

  package static func encode(_ bytes: some Sequence<UInt8>, as form: Form = .standard) -> String {
    let alphabet = form == .standard ? standardAlphabet : urlSafeAlphabet
    var text: [UInt8] = []
    var pending: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
      pending = (pending << 8 | UInt32(byte)) & 0xFFFF
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        text.append(alphabet[Int(pending >> UInt32(bitCount) & 63)])
      }
    }
    if bitCount > 0 {
      text.append(alphabet[Int(pending << UInt32(6 - bitCount) & 63)])
    }
    while form == .standard, !text.count.isMultiple(of: 4) {
      text.append(UInt8(ascii: "="))
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func value(of character: UInt8, in form: Form) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    case UInt8(ascii: "-") where form == .urlSafe: 62
    case UInt8(ascii: "_") where form == .urlSafe: 63
    default: nil
    }
  }

  private static let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  private static let standardAlphabet = Array((common + "+/").utf8)
  private static let urlSafeAlphabet = Array((common + "-_").utf8)
}
