/// User's file at an item's path in the published folder, which may hold the item's body.
package struct AdoptableFile: Hashable, Sendable {
  package var rules: PublishingRules
  package var name: String
  package var size: Int64?
  package var limit: Int64?
  package var digests: [ExpectedDigest]
  /// Time that the server states, in whole seconds; nil before the server responded.
  package var modified: Instant?

  package init(rules: PublishingRules, name: String, size: Int64?, digests: [ExpectedDigest]) {
    self.rules = rules
    self.name = name
    self.size = size
    self.digests = digests
  }
}

/// Body found without a transfer: a user's file, or an object that no row names.
package struct FoundBody: Hashable, Sendable {
  /// Digest of the object; nil for a file that the server has to confirm first.
  package var digest: ContentDigest?
  package var size: Int64
  package var otherDigests: [DigestAlgorithm: [UInt8]] = [:]
  package var modified: Instant?

  package init(digest: ContentDigest?, size: Int64) {
    self.digest = digest
    self.size = size
  }
}
