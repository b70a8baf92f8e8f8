enum TextBody {
  private static let lookedAt = 8192

  /// Whether there are no control characters other than line ends, tabs and form feeds.
  static func isText(_ bytes: RawSpan) -> Bool {
    let count = min(bytes.byteCount, lookedAt)
    let beginning = unsafe bytes.extracting(0..<count).withUnsafeBytes { unsafe Array($0) }
    let hasControl = beginning.contains { byte in
      byte < 0x20 ? !(0x09...0x0D).contains(byte) : byte == 0x7F
    }
    guard !hasControl else { return false }
    guard beginning.contains(where: { (0x80..<0xA0).contains($0) }) else { return true }
    // The examined part may end within a character.
    let mayBeCut = bytes.byteCount > beginning.count
    return (0...(mayBeCut ? 3 : 0)).contains { left in
      String(validating: beginning.dropLast(left), as: UTF8.self) != nil
    }
  }
}
