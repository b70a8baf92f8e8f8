/// Versions of Semantic Versioning 2.0, also with a `v` in front.
enum SemanticVersion {
  /// Returns nil for a text that the specification does not allow.
  static func key(_ bytes: ArraySlice<UInt8>) -> VersionKey? {
    var text = VersionText(bytes)
    text.skipPrefix()
    var key = VersionKey()
    for position in 0..<3 {
      guard position == 0 || text.skip("."), let number = text.takeDigits(), isCanonical(number)
      else { return nil }
      key.append(number: number)
    }
    if text.skip("-") {
      guard appendPrerelease(from: &text, to: &key) else { return nil }
    } else {
      // A release comes after its pre-releases, whose parts begin with 1 or 2.
      key.append(3)
    }
    // Build metadata has no rank.
    if text.skip("+") {
      repeat {
        guard text.take(while: isIdentifier) != nil else { return nil }
      } while text.skip(".")
    }
    return text.isAtEnd ? key : nil
  }

  private static func appendPrerelease(
    from text: inout VersionText,
    to key: inout VersionKey
  ) -> Bool {
    repeat {
      guard let part = text.take(while: isIdentifier) else { return false }
      guard !part.allSatisfy(ASCII.isDigit) || isCanonical(part) else { return false }
      key.append(part: part, numberRank: 1, wordRank: 2)
    } while text.skip(".")
    key.append(0)
    return true
  }

  private static func isCanonical(_ digits: ArraySlice<UInt8>) -> Bool {
    digits.count == 1 || digits.first != UInt8(ascii: "0")
  }

  private static func isIdentifier(_ byte: UInt8) -> Bool {
    VersionText.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-")
  }
}
