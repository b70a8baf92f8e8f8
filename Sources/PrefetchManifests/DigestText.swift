import PrefetchCore
import PrefetchCrypto

extension [ExpectedDigest] {
  /// One more of an item, unless it is there already or there are more than any item has.
  mutating func take(_ digest: ExpectedDigest) {
    if count < EntryCollector.maximumDigests, !contains(digest) { append(digest) }
  }
}

/// Digests as manifests spell them.
enum DigestText {
  /// Hexadecimal or base64 of exactly the algorithm's length.
  static func decode(_ text: String, algorithm: DigestAlgorithm) -> ExpectedDigest? {
    let bytes = Hexadecimal.decode(text) ?? Base64.decode(text)
    guard let bytes, bytes.count == algorithm.byteCount else { return nil }
    return ExpectedDigest(algorithm: algorithm, bytes: bytes)
  }

  /// By its name with or without dashes: `sha-256`, `SHA256`; only those of a body's bytes.
  static func algorithm(_ name: some StringProtocol) -> DigestAlgorithm? {
    let algorithm = DigestAlgorithm(rawValue: name.lowercased().filter { $0 != "-" })
    return algorithm?.isOfBytes == true ? algorithm : nil
  }

  /// By how many hexadecimal digits it has.
  static func algorithm(digits: Int) -> DigestAlgorithm? {
    DigestAlgorithm.ofBytes.first { 2 * $0.byteCount == digits }
  }
}
