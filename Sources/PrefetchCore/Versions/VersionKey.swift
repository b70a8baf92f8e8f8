/// Sort key of a version: two keys compare byte by byte as their versions compare.
///
/// A key is made once per version, so sorting parses nothing. No key is the beginning of another
/// one, so that a second key can follow and rank equal versions.
package struct VersionKey: Comparable, Sendable {
  private var bytes: [UInt8] = []

  package static func < (a: Self, b: Self) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }

  mutating func append(_ byte: UInt8) {
    bytes.append(byte)
  }

  mutating func append(text: ArraySlice<UInt8>) {
    bytes += text
  }

  mutating func append(_ key: Self) {
    bytes += key.bytes
  }

  /// Appends a decimal number of any length; no digits are zero.
  ///
  /// The count of digits precedes them, so that a longer number is the greater one.
  mutating func append(number digits: ArraySlice<UInt8>) {
    let significant = digits.drop { $0 == UInt8(ascii: "0") }
    if significant.count < 255 {
      bytes.append(UInt8(significant.count))
    } else {
      bytes.append(255)
      append(integer: UInt64(significant.count))
    }
    bytes += significant
  }

  mutating func append(integer: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: integer >> UInt64(shift)))
    }
  }

  /// Appends a part that is a number or a word, the two kinds in the order of their ranks.
  mutating func append(part: ArraySlice<UInt8>, numberRank: UInt8, wordRank: UInt8) {
    if part.allSatisfy(ASCII.isDigit) {
      append(numberRank)
      append(number: part)
    } else {
      append(wordRank)
      append(text: part)
      append(0)
    }
  }
}
