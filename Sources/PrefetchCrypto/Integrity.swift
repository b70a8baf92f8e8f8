package import PrefetchCore

/// Subresource integrity strings, `sha512-BASE64 sha512-BASE64?option`, as lock files use them.
package enum Integrity {
  package enum Fault: Error, Hashable, Sendable {
    case nothingKnown
    case malformed(String)
  }

  /// Returns the strongest algorithm's digests; a body needs to match one of them.
  package static func expectedDigests(
    in text: some StringProtocol
  ) throws(Fault) -> [ExpectedDigest] {
    var found: [ExpectedDigest] = []
    for token in text.split(whereSeparator: \.isWhitespace) {
      guard let dash = token.firstIndex(of: "-") else { throw .malformed(String(token)) }
      // Unknown algorithms are ignored; the known ones stay binding.
      guard let algorithm = DigestAlgorithm(rawValue: token[..<dash].lowercased()),
        algorithm.isOfBytes
      else { continue }
      let encoded = token[token.index(after: dash)...].prefix { $0 != "?" }
      guard let bytes = Base64.decode(encoded), bytes.count == algorithm.byteCount else {
        throw .malformed(String(token))
      }
      found.append(ExpectedDigest(algorithm: algorithm, bytes: bytes))
    }
    guard let strongest = found.map(\.algorithm).max() else { throw .nothingKnown }
    return found.filter { $0.algorithm == strongest }
  }
}

extension Integrity.Fault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .nothingKnown: "names no digest; write it as `sha512-` and base64"
    case .malformed(let token):
      "holds `\(token)`, which is not an algorithm, dash and base64 digest"
    }
  }
}
