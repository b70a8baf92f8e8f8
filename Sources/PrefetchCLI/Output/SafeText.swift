import PrefetchCore

/// Remote and user text on a terminal or in a line protocol: nothing in it may act as control.
enum SafeText {
  /// User-info of URLs masked; controls, line breaks, direction marks, invisible characters and those that XML cannot hold as
  /// `\u{…}`; everything else as it is.
  static func line(_ text: String) -> String {
    let text = UserInformation.masked(text)
    // Nearly every text is plain, and bytes are quicker to look at than scalars.
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
