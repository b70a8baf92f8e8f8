internal import PrefetchCore

/// Parses digests directly from bytes, without a `String`.
enum DigestBytes {
  static func sha256(_ text: UnsafeRawBufferPointer) -> ContentDigest? {
    switch text.count {
    case 64: unsafe hexadecimal(text)
    case 44:
      unsafe base64(text).flatMap { ContentDigest(bytes: $0) }
    default: nil
    }
  }

  static func sha512(_ text: UnsafeRawBufferPointer) -> StrongDigest? {
    let bytes: [UInt8]? =
      switch text.count {
      case 128: unsafe Hexadecimal.decode(String(decoding: text, as: UTF8.self))
      case 88: unsafe base64(text)
      default: nil
      }
    return bytes.flatMap { unsafe StrongDigest($0.span.bytes) }
  }

  private static func base64(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    unsafe Base64.decode(String(decoding: text, as: UTF8.self))
  }

  private static func hexadecimal(_ text: UnsafeRawBufferPointer) -> ContentDigest? {
    guard let first = unsafe word(text, 0), let second = unsafe word(text, 16),
      let third = unsafe word(text, 32), let fourth = unsafe word(text, 48)
    else { return nil }
    return ContentDigest(first: first, second: second, third: third, fourth: fourth)
  }

  @inline(__always)
  private static func word(_ text: UnsafeRawBufferPointer, _ offset: Int) -> UInt64? {
    guard
      let high = digits(unsafe text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
      let low = digits(unsafe text.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
    else { return nil }
    return high << 32 | low
  }

  /// Parses eight hexadecimal digits at once; the first digit is in the lowest byte.
  @inline(__always)
  static func digits(_ text: UInt64) -> UInt64? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    let text = UInt64(littleEndian: text)
    guard text & highs == 0 else { return nil }
    // Bit 0x20 makes letters small, but would also make digits of control characters.
    let isPrintable = text &+ 0x60 &* ones
    let small = text | 0x20 &* ones
    let isDigit = (small &+ 0x50 &* ones) & ~(small &+ 0x46 &* ones)
    let isLetter = (small &+ 0x1F &* ones) & ~(small &+ 0x19 &* ones)
    guard isPrintable & (isDigit | isLetter) & highs == highs else { return nil }
    let values = (small & (0x0F &* ones)) &+ ((isLetter & highs) >> 7) &* 9
    var pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
    pairs = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
    pairs = (pairs | pairs >> 16) & 0xFFFF_FFFF
    return UInt64(UInt32(truncatingIfNeeded: pairs).byteSwapped)
  }
}
