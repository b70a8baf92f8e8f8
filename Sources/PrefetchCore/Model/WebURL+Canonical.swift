/// Tests for text that ``WebURL`` would not change; they may also reject canonical text.
extension WebURL {
  static func isCanonical(target: RawSpan) -> Bool {
    guard target.byteCount > 0 else { return false }
    let first = unsafe target.unsafeLoad(as: UInt8.self)
    return first == UInt8(ascii: "/") && isCanonical(target, follows: 0)
  }

  static func isCanonical(relative reference: String) -> Bool {
    var reference = reference
    return reference.withUTF8 { unsafe isCanonical(relative: RawSpan(_unsafeElements: $0)) }
  }

  /// Whether bytes are a canonical reference below its base's folder, without a leading slash.
  static func isCanonical(relative reference: RawSpan) -> Bool {
    guard reference.byteCount > 0 else { return false }
    let first = unsafe reference.unsafeLoad(as: UInt8.self)
    guard first != UInt8(ascii: "/"), first != UInt8(ascii: "?") else { return false }
    let holdsColon = unsafe reference.withUnsafeBytes { bytes in
      unsafe bytes.contains(UInt8(ascii: ":"))
    }
    return !holdsColon && isCanonical(reference, follows: UInt8(ascii: "/"))
  }

  private static func isCanonical(_ text: RawSpan, follows before: UInt8) -> Bool {
    // Highest bit of the lowest byte is set if the byte before the word is a slash.
    var slashBefore: UInt64 = before == UInt8(ascii: "/") ? 0x80 : 0
    let count = text.byteCount
    var offset = 0
    while offset < count {
      let word = EightBytes(of: text, from: offset)
      guard word.needsNoEscapes else { return false }
      let slashes = word.equal(to: UInt8(ascii: "/"))
      // A dot or an escape after a slash may begin a dot segment.
      let suspects = word.equal(to: UInt8(ascii: ".")) | word.equal(to: UInt8(ascii: "%"))
      guard suspects & (slashes << 8 | slashBefore) == 0 else { return false }
      slashBefore = slashes >> 56
      offset += 8
    }
    return true
  }
}

extension EightBytes {
  /// Loads the bytes from `offset`, with a letter for each missing at the end.
  fileprivate init(of text: RawSpan, from offset: Int) {
    if offset + 8 <= text.byteCount {
      self.init(unsafe text.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
      return
    }
    var word = EightBytes(repeating: UInt8(ascii: "a")).word
    for index in (offset..<text.byteCount).reversed() {
      let byte = unsafe text.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      word = word << 8 | UInt64(byte)
    }
    self.init(word)
  }

  /// Whether no byte is one that ``WebURL`` escapes, cuts off or refuses.
  fileprivate var needsNoEscapes: Bool {
    guard beyondASCII == 0, atLeast(0x21) == 0x8080_8080_8080_8080 else { return false }
    // Bytes from the opening brace up, and the angle brackets, which differ in one bit.
    let angles = EightBytes(word | 0x0202_0202_0202_0202).equal(to: UInt8(ascii: ">"))
    let refused =
      atLeast(0x7B) | angles | equal(to: UInt8(ascii: "\"")) | equal(to: UInt8(ascii: "#"))
      | equal(to: UInt8(ascii: "\\")) | equal(to: UInt8(ascii: "^")) | equal(to: UInt8(ascii: "`"))
    // Only `~` of the bytes above the brace is plain.
    return refused & ~equal(to: UInt8(ascii: "~")) == 0
  }
}
