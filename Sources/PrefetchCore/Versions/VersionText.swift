/// Cursor over the bytes of a version.
struct VersionText {
  private(set) var rest: ArraySlice<UInt8>

  var isAtEnd: Bool { rest.isEmpty }

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  /// Whether the bytes begin as a version does: with a digit, or with `v` and a digit.
  static func begins(_ bytes: ArraySlice<UInt8>) -> Bool {
    let digits = ASCII.lowercased(bytes.first ?? 0) == UInt8(ascii: "v") ? bytes.dropFirst() : bytes
    return digits.first.map(ASCII.isDigit) ?? false
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    let letter = ASCII.lowercased(byte)
    return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")
  }

  /// Skips the `v` of `v1.2`, which is no part of the number.
  mutating func skipPrefix() {
    if Self.begins(rest), !ASCII.isDigit(rest[rest.startIndex]) { rest = rest.dropFirst() }
  }

  mutating func skip(_ word: String) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest = rest.dropFirst(word.utf8.count)
    return true
  }

  mutating func skip(anyOf bytes: String) -> Bool {
    guard let first = rest.first, bytes.utf8.contains(first) else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Takes the longest run of matching bytes; nil if it is empty.
  mutating func take(while matches: (UInt8) -> Bool) -> ArraySlice<UInt8>? {
    let run = rest.prefix(while: matches)
    guard !run.isEmpty else { return nil }
    rest = rest[run.endIndex...]
    return run
  }

  mutating func takeDigits() -> ArraySlice<UInt8>? {
    take(while: ASCII.isDigit)
  }
}
