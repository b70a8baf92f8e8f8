/// Whether a body is what a terminal can show.
enum TextBody {
  /// So much of a body says what it is.
  private static let lookedAt = 8192

  /// No control characters but line ends, tabs and form feeds, and nothing that would be one where
  /// it is not UTF-8.
  static func isText(_ bytes: RawSpan) -> Bool {
    let count = min(bytes.byteCount, lookedAt)
    let beginning = unsafe bytes.extracting(0..<count).withUnsafeBytes { unsafe Array($0) }
    let hasControl = beginning.contains { byte in
      byte < 0x20 ? !(0x09...0x0D).contains(byte) : byte == 0x7F
    }
    guard !hasControl else { return false }
    guard beginning.contains(where: { (0x80..<0xA0).contains($0) }) else { return true }
    // A letter may be cut at the end of what is looked at.
    let mayBeCut = bytes.byteCount > beginning.count
    return (0...(mayBeCut ? 3 : 0)).contains { left in
      String(validating: beginning.dropLast(left), as: UTF8.self) != nil
    }
  }
}
