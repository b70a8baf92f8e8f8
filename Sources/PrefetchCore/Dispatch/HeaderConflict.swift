/// A segment that requests an item of an earlier segment with other headers.
struct HeaderConflict: Sendable {
  let segment: Int
  let url: String
  let id: String?
  let first: String
  let names: Set<String>
  let digests: [ExpectedDigest]
  let isRequired: Bool

  /// Returns nil if both segments send the same headers; `fields` are those of a request.
  init?(
    _ entry: ManifestEntry,
    of second: SegmentDeclaration,
    at index: Int,
    against other: ManifestEntry,
    of first: SegmentDeclaration,
    sending fields: (SegmentDeclaration, ManifestEntry) -> [HeaderField]
  ) {
    // All tags of an ad space get the same ad, whatever their headers.
    guard entry.zone == nil,
      [first.headers, second.headers, other.headers, entry.headers].contains(where: { !$0.isEmpty })
    else { return nil }
    names = Variance.difference(fields(first, other), fields(second, entry))
    guard !names.isEmpty else { return nil }
    segment = index
    url = entry.url.string
    id = entry.id
    self.first = first.name
    digests = entry.digests
    isRequired = entry.isRequired
  }

  func isSeparated(by selecting: [String], from body: StagedBody?) -> Bool {
    let proofs = digests.filter(\.algorithm.isTrustworthy)
    return isMet(by: selecting) && !(body.map { proofs.contains(where: $0.matches) } ?? false)
  }

  func isMet(by selecting: [String]) -> Bool {
    selecting.contains { $0 == Variance.anything || names.contains($0) }
  }

  var reason: String {
    "segment `\(first)` requests it with other headers"
  }

  var failure: Failure {
    Failure(
      .unsupported,
      "its server's answer depends on "
        + names.sorted().map { "`\($0)`" }.joined(separator: " and ")
        + ", for which segment `\(first)` has another value; a cache holds one body for a URL"
    )
  }
}
