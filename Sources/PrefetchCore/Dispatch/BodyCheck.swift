/// Checks whether a received body is the declared one.
package enum BodyCheck {
  package struct Stored: Hashable, Sendable {
    package var size: Int64
    /// Media type of the stored body; nil if unknown or if any type may replace it.
    package var mime: String?

    package init(size: Int64, mime: String? = nil) {
      self.size = size
      self.mime = mime
    }
  }

  /// Returns why a body may not enter the store; nil if it may.
  package static func objection(
    to body: StagedBody,
    headers: HeaderBlock,
    entry: ManifestEntry,
    digests: [ExpectedDigest]? = nil,
    expectations: [ContentExpectation] = [],
    stored: Stored? = nil
  ) -> Failure? {
    if let objection = body.digestFailure { return objection }
    let digests = digests ?? entry.digests
    // Digests come first: a body of the wrong length may be a replaced version. Several values of
    // one algorithm are alternatives; every algorithm must match.
    let algorithms = digests.isEmpty ? [] : Set(digests.map(\.algorithm)).sorted(by: >)
    for algorithm in algorithms {
      let accepted = digests.filter { $0.algorithm == algorithm }
      guard !accepted.contains(where: body.matches) else { continue }
      let found = algorithm == .sha256 ? body.digest.bytes : body.otherDigests[algorithm] ?? []
      let name = algorithm.isOfBytes ? algorithm.rawValue : "sum"
      if accepted.contains(where: \.isOfLockfile) {
        return .drifted("its \(name) is \(Hexadecimal.encode(found))")
      }
      return Failure(
        .digestMismatch,
        "its \(name) is \(ExpectedDigest(algorithm: algorithm, bytes: found).spelled), but "
          + accepted.map(\.spelled).joined(separator: " or ") + " is declared"
      )
    }
    let objection = objection(
      toHead: headers,
      size: body.size,
      prefix: body.prefix,
      entry: entry,
      expectations: expectations,
      stored: stored
    )
    if let objection { return objection }
    // A trustworthy digest outweighs the look of a page.
    guard !entry.digests.contains(where: \.algorithm.isTrustworthy) else { return nil }
    return PageGuard.objection(type: headers[.contentType], prefix: body.prefix, entry: entry)
  }

  package static func objection(
    toHead headers: HeaderBlock,
    size: Int64?,
    prefix: [UInt8]? = nil,
    entry: ManifestEntry,
    expectations: [ContentExpectation],
    stored: Stored?
  ) -> Failure? {
    if let declared = entry.size, let size, declared != size {
      if entry.isLocked { return .drifted("it has \(size) bytes") }
      return Failure(.corrupted, "it has \(size) bytes, but \(declared) are declared")
    }
    if let expected = entry.mime, let received = headers[.contentType],
      essence(received) != essence(expected)
    {
      return Failure(
        .unexpectedContent,
        "its type is `\(essence(received))`, but `\(essence(expected))` is declared"
      )
    }
    for expectation in expectations {
      let objection = expectation.objection(
        type: headers[.contentType],
        size: size,
        prefix: prefix
      )
      if let objection { return objection }
    }
    guard let stored, !entry.digests.contains(where: \.algorithm.isTrustworthy) else { return nil }
    if let old = stored.mime, let new = headers[.contentType], entry.mime == nil,
      entry.type != "page", !expectations.contains(where: { !$0.types.isEmpty }),
      PageGuard.isPageType(essence(new)), !PageGuard.isPageType(essence(old))
    {
      return Failure(
        .unexpectedContent,
        "its type is `\(essence(new))`, but the stored body is `\(essence(old))`; "
          + "`--refetch` accepts the page"
      )
    }
    guard size == 0, stored.size > 0, entry.size != 0 else { return nil }
    return Failure(.empty, "it is empty; the stored body has \(stored.size) bytes")
  }

  /// Returns type and subtype in lower case, without parameters and `+suffix`.
  package static func essence(_ mime: String) -> String {
    var type = typeBytes(mime)
    if let plus = type.lastIndex(of: UInt8(ascii: "+")) { type.removeSubrange(plus...) }
    return String(decoding: type, as: UTF8.self)
  }

  static func mediaType(_ mime: String) -> String {
    String(decoding: typeBytes(mime), as: UTF8.self)
  }

  private static func typeBytes(_ mime: String) -> [UInt8] {
    var type: [UInt8] = []
    type.reserveCapacity(mime.utf8.count)
    for byte in mime.utf8 where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\t") {
      guard byte != UInt8(ascii: ";") else { break }
      type.append(ASCII.lowercased(byte))
    }
    return type
  }
}
