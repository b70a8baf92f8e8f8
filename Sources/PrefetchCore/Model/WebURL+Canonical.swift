/// Whether bytes are what ``WebURL`` would make of them anyway; no is also said to some that are.
extension WebURL {
  /// A path, with its query, that begins with a slash.
  static func isCanonical(target: RawSpan) -> Bool {
    guard target.byteCount > 0 else { return false }
    let first = unsafe target.unsafeLoad(as: UInt8.self)
    return first == UInt8(ascii: "/") && isCanonical(target, follows: 0)
  }

  static func isCanonical(relative reference: String) -> Bool {
    var reference = reference
    return reference.withUTF8 { unsafe isCanonical(relative: RawSpan(_unsafeElements: $0)) }
  }

  /// A reference to something below the folder of its base, which begins with no slash.
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
    // The highest bit of the lowest byte, where the byte before the word is a slash.
    var slashBefore: UInt64 = before == UInt8(ascii: "/") ? 0x80 : 0
    let count = text.byteCount
    var offset = 0
    while offset < count {
      let word = EightBytes(of: text, from: offset)
      guard word.holdsOnlyPlainBytes else { return false }
      let slashes = word.equal(to: UInt8(ascii: "/"))
      // A segment of dots, which may be written as an escape.
      let suspects = word.equal(to: UInt8(ascii: ".")) | word.equal(to: UInt8(ascii: "%"))
      guard suspects & (slashes << 8 | slashBefore) == 0 else { return false }
      slashBefore = slashes >> 56
      offset += 8
    }
    return true
  }
}

extension EightBytes {
  /// The bytes from there on, with a letter for each that is missing at the end.
  fileprivate init(of text: RawSpan, from offset: Int) {
    if offset + 8 <= text.byteCount {
      self.init(unsafe text.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
      return
    }
    var word = EightBytes(repeating: UInt8(ascii: "a")).word
    for place in (offset..<text.byteCount).reversed() {
      let byte = unsafe text.unsafeLoad(fromByteOffset: place, as: UInt8.self)
      word = word << 8 | UInt64(byte)
    }
    self.init(word)
  }

  /// Nothing that ``WebURL`` escapes, cuts off or refuses.
  fileprivate var holdsOnlyPlainBytes: Bool {
    guard beyondASCII == 0, atLeast(0x21) == 0x8080_8080_8080_8080 else { return false }
    // From the opening brace on; angle brackets differ in one bit.
    let angles = EightBytes(word | 0x0202_0202_0202_0202).equal(to: UInt8(ascii: ">"))
    let refused =
      atLeast(0x7B) | angles | equal(to: UInt8(ascii: "\"")) | equal(to: UInt8(ascii: "#"))
      | equal(to: UInt8(ascii: "\\")) | equal(to: UInt8(ascii: "^")) | equal(to: UInt8(ascii: "`"))
    // `~` alone of those above the brace is plain.
    return refused & ~equal(to: UInt8(ascii: "~")) == 0
  }
}
