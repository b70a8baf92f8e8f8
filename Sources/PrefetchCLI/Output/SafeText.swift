import PrefetchCore

/// Makes foreign text inert for a terminal or a line protocol.
enum SafeText {
  /// Masks user-info, and writes controls, line breaks, direction marks, invisible characters and
  /// those that XML cannot hold as `\u{…}`.
  static func line(_ text: String) -> String {
    let text = UserInformation.masked(text)
    // Fast path: nearly all text is ASCII, and bytes are faster than scalars.
    if text.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F }) { return text }
    guard text.unicodeScalars.contains(where: isActive) else { return text }
    var safe = ""
    for scalar in text.unicodeScalars {
      if isActive(scalar) {
        safe += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        safe.unicodeScalars.append(scalar)
      }
    }
    return safe
  }

  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E,
      0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xFFFE, 0xFFFF, 0xE0000...0xE007F:
      true
    default: false
    }
  }
}
