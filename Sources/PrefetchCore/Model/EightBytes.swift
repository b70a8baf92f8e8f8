/// Eight bytes of a text, asked all at once.
///
/// Every answer has the highest bit of a byte set where it says yes; of several the lowest is
/// exact, and those above it only where the doc comment says so.
package struct EightBytes: Sendable {
  package let word: UInt64

  @inline(__always)
  package init(_ word: UInt64) {
    self.word = word
  }

  @inline(__always)
  init(repeating byte: UInt8) {
    word = UInt64(byte) &* 0x0101_0101_0101_0101
  }

  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Where the byte is beyond ASCII, exactly.
  @inline(__always)
  var beyondASCII: UInt64 {
    word & Self.highs
  }

  /// Where an ASCII byte is at least `bound`, exactly; anything beyond ASCII must be ruled out.
  @inline(__always)
  func atLeast(_ bound: UInt8) -> UInt64 {
    (word &+ EightBytes(repeating: 0x80 - bound).word) & Self.highs
  }

  /// Where an ASCII byte is just this one, exactly; anything beyond ASCII must be ruled out.
  @inline(__always)
  func equal(to byte: UInt8) -> UInt64 {
    let differing = word ^ EightBytes(repeating: byte).word
    return ~(differing &+ 0x7F7F_7F7F_7F7F_7F7F) & Self.highs
  }
}
