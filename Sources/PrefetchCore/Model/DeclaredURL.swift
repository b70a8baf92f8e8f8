/// Declared URL, and the digests after its `#`.
package struct DeclaredURL: Hashable, Sendable {
  package var url: WebURL
  /// Digests that the body must have; never sent.
  package var digests: [ExpectedDigest] = []
  package var otherFragment: String?

  package init(_ text: some StringProtocol, base: WebURL? = nil) throws(WebURL.Fault) {
    url = if let base { try base.resolving(text) } else { try WebURL(text) }
    guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return }
    let fragment = String(text[text.utf8.index(after: mark)...])
    for part in fragment.split(separator: "&") {
      guard let digest = try Self.digest(in: part) else {
        otherFragment = otherFragment ?? String(part)
        continue
      }
      if !digests.contains(digest) { digests.append(digest) }
    }
  }

  package init(_ url: WebURL) {
    self.url = url
  }

  /// Returns all digests with those declared elsewhere; nil if they contradict each other.
  package func digests(combinedWith others: [ExpectedDigest]) -> [ExpectedDigest]? {
    var all = others
    for digest in digests where !all.contains(digest) {
      guard !others.contains(where: { $0.algorithm == digest.algorithm }) else { return nil }
      all.append(digest)
    }
    return all
  }

  private static func digest(in part: Substring) throws(WebURL.Fault) -> ExpectedDigest? {
    guard let equals = part.firstIndex(of: "=") else { return nil }
    let name = part[..<equals].lowercased().filter { $0 != "-" }
    guard let algorithm = DigestAlgorithm(rawValue: name), algorithm.isOfBytes else { return nil }
    var value = part[part.index(after: equals)...]
    while let last = value.utf8.last, last <= 0x20 { value.removeLast() }
    let bytes = Hexadecimal.decode(value) ?? Base64.decode(value)
    guard let bytes, bytes.count == algorithm.byteCount else {
      throw .malformedDigest(algorithm, String(part.prefix(80)))
    }
    return ExpectedDigest(algorithm: algorithm, bytes: bytes)
  }
}
