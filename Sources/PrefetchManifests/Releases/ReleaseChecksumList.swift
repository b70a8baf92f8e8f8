internal import PrefetchCore
internal import PrefetchCrypto

/// Reads a list of checksums among the assets of a release.
enum ReleaseChecksumList {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    guard case .checksums(let list) = source.documentRole else {
      return try ChecksumList.read(bytes, source: source)
    }
    let content = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    try check(content, list)
    if list.subject != nil, let digest = onlyDigest(in: content), let base = source.base {
      var entry = ManifestEntry(url: base)
      entry.digests = [digest]
      var draft = ManifestDraft()
      draft.add(entry)
      return try draft.finished(asFurtherDocument: true)
    }
    var manifest = try ChecksumList.read(bytes, source: source)
    // Lines of such a list are no items, so that none of them can fail.
    manifest.rejected = []
    return manifest
  }

  private static func check(_ content: [UInt8], _ list: ReleaseChecksums) throws(Failure) {
    guard let wanted = list.digests.first(where: { $0.algorithm == .sha256 }) else { return }
    let found = SHA256.digest(of: content)
    guard found.bytes != wanted.bytes else { return }
    throw Failure(
      .digestMismatch,
      "its sha256 is \(found.hexadecimal), but the release declares "
        + Hexadecimal.encode(wanted.bytes)
    )
  }

  /// Returns the digest of a list with one line, which need not name its file.
  private static func onlyDigest(in content: [UInt8]) -> ExpectedDigest? {
    let lines = content.split { $0 == 0x0A || $0 == 0x0D }
    guard lines.count == 1, let line = lines.first else { return nil }
    let digits = line.drop { $0 == 0x20 }.prefix { Hexadecimal.value(of: $0) != nil }
    let rest = line[digits.endIndex...]
    guard rest.first.map({ $0 == 0x20 || $0 == 0x09 }) ?? true,
      let algorithm = DigestText.algorithm(digits: digits.count)
    else { return nil }
    return DigestText.decode(String(decoding: digits, as: UTF8.self), algorithm: algorithm)
  }
}
