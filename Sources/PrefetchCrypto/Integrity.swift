package import PrefetchCore

/// Subresource integrity strings (`sha512-BASE64 sha512-BASE64?option`), as package locks use them.
package enum Integrity {
  package enum Fault: Error, Hashable, Sendable {
    /// No digest in it, or none of a known algorithm.
    case nothingKnown
    /// A known algorithm's digest that is no base64 of the right length.
    case malformed(String)
  }

  /// The digests of the strongest algorithm named; a body that has any one of them is the right one.
  package static func expectedDigests(
    in text: some StringProtocol
  ) throws(Fault) -> [ExpectedDigest] {
    var found: [ExpectedDigest] = []
    for token in text.split(whereSeparator: \.isWhitespace) {
      guard let dash = token.firstIndex(of: "-") else { throw .malformed(String(token)) }
      // Later standards may name stronger functions; those that we know stay binding.
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
