import PrefetchCore
import PrefetchCrypto

extension [ExpectedDigest] {
  mutating func appendIfNew(_ digest: ExpectedDigest) {
    if count < EntryCollector.maximumDigests, !contains(digest) { append(digest) }
  }
}

enum DigestText {
  /// Decodes hexadecimal or base64 of exactly the algorithm's length.
  static func decode(_ text: String, algorithm: DigestAlgorithm) -> ExpectedDigest? {
    let bytes = Hexadecimal.decode(text) ?? Base64.decode(text)
    guard let bytes, bytes.count == algorithm.byteCount else { return nil }
    return ExpectedDigest(algorithm: algorithm, bytes: bytes)
  }

  /// Parses a name such as `sha-256` or `SHA256`; nil unless the algorithm hashes the body's bytes.
  static func algorithm(_ name: some StringProtocol) -> DigestAlgorithm? {
    let algorithm = DigestAlgorithm(rawValue: name.lowercased().filter { $0 != "-" })
    return algorithm?.isOfBytes == true ? algorithm : nil
  }

  static func algorithm(digits: Int) -> DigestAlgorithm? {
    DigestAlgorithm.ofBytes.first { 2 * $0.byteCount == digits }
  }
}
