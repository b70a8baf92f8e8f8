internal import Glibc
internal import PrefetchCore

/// Rules for bytes in names and values of headers.
enum HeaderBytes {
  /// Characters of a token (RFC 9110) as bits, for bytes below and above 64.
  private static let firstTokens: UInt64 = 0x03FF_6CFA_0000_0000
  private static let secondTokens: UInt64 = 0x57FF_FFFF_C7FF_FFFE
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080
  private static let blanks: UInt64 = 0x2020_2020_2020_2020
  private static let deletes: UInt64 = 0x7F7F_7F7F_7F7F_7F7F

  static func isToken(_ byte: UInt8) -> Bool {
    let bits = byte < 64 ? firstTokens : secondTokens
    return byte < 128 && (bits &>> UInt64(byte)) & 1 == 1
  }

  static func tokenLength(_ line: RawSpan) -> Int {
    var index = 0
    while index < line.byteCount {
      let byte = unsafe line.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
      guard (byte | 0x20) &- UInt8(ascii: "a") < 26 || isToken(byte) else { break }
      index += 1
    }
    return index
  }

  /// Returns whether the bytes equal a word, ignoring case; `word` is in lower case.
  static func are(_ bytes: RawSpan, _ word: StaticString) -> Bool {
    guard bytes.byteCount == word.utf8CodeUnitCount else { return false }
    return word.withUTF8Buffer { expected in
      for index in expected.indices {
        let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
        let letter = unsafe expected[index]
        guard byte == letter || (letter >= 0x61 && byte == letter ^ 0x20) else { return false }
      }
      return true
    }
  }

  static func has(_ byte: UInt8, in text: RawSpan) -> Bool {
    position(of: byte, in: text) < text.byteCount
  }

  static func position(of byte: UInt8, in text: RawSpan) -> Int {
    unsafe text.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress,
        let found = unsafe memchr(start, CInt(byte), bytes.count)
      else { return bytes.count }
      return unsafe UnsafeRawPointer(found) - start
    }
  }

  /// Returns whether a value may contain the byte: control characters other than tab are refused.
  static func isValue(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F || byte == 0x09
  }

  /// Returns whether a value may contain all bytes; looks at eight at a time.
  static func areValue(_ bytes: RawSpan) -> Bool {
    var index = 0
    while index + 8 <= bytes.byteCount {
      let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      let other = word ^ deletes
      let below = (word &- blanks) & ~word
      let equal = (other &- ones) & ~other
      if (below | equal) & highBits != 0 {
        guard areValue(bytes, from: index, to: index + 8) else { return false }
      }
      index += 8
    }
    return areValue(bytes, from: index, to: bytes.byteCount)
  }

  private static func areValue(_ bytes: RawSpan, from start: Int, to end: Int) -> Bool {
    var index = start
    while index < end {
      let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
      guard isValue(byte) else { return false }
      index += 1
    }
    return true
  }
}

extension RawSpan {
  func begins(with text: StaticString) -> Bool {
    guard byteCount >= text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { expected in
      expected.indices.allSatisfy { index in
        unsafe unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self) == expected[index]
      }
    }
  }
}
