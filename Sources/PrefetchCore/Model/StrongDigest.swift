/// SHA-512 without an array.
package struct StrongDigest: Hashable, Sendable {
  package static let byteCount = 64

  private var words: SIMD8<UInt64>

  package init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.byteCount else { return nil }
    words = unsafe bytes.unsafeLoadUnaligned(as: SIMD8<UInt64>.self)
  }

  package var bytes: [UInt8] {
    unsafe withUnsafeBytes(of: words) { unsafe Array($0) }
  }
}
