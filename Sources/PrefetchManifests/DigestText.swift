import PrefetchCore
import PrefetchCrypto

/// Digests as manifests spell them.
enum DigestText {
  /// Hexadecimal or base64 of exactly the algorithm's length.
  static func decode(_ text: String, algorithm: DigestAlgorithm) -> ExpectedDigest? {
    let bytes = Hexadecimal.decode(text) ?? Base64.decode(text)
    guard let bytes, bytes.count == algorithm.byteCount else { return nil }
    return ExpectedDigest(algorithm: algorithm, bytes: bytes)
  }
}
