/// Eight bytes of a text, tested all at once: masks have the highest bit of each matching byte set,
/// and are exact once bytes beyond ASCII are ruled out.
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

  @inline(__always)
  var beyondASCII: UInt64 {
    word & Self.highs
  }

  @inline(__always)
  func atLeast(_ bound: UInt8) -> UInt64 {
    (word &+ EightBytes(repeating: 0x80 - bound).word) & Self.highs
  }

  @inline(__always)
  func equal(to byte: UInt8) -> UInt64 {
    let differing = word ^ EightBytes(repeating: byte).word
    return ~(differing &+ 0x7F7F_7F7F_7F7F_7F7F) & Self.highs
  }
}
