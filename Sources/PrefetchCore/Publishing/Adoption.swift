/// A file that may lie where an item belongs in the folder that its segment publishes to.
package struct AdoptableFile: Hashable, Sendable {
  package var rules: PublishingRules
  /// Below the folder.
  package var name: String
  /// The declared size, or the one that the server states.
  package var size: Int64?
  /// The most that the item may have.
  package var limit: Int64?
  /// The digests that are declared of the item.
  package var digests: [ExpectedDigest]
  /// The time that the server states, in whole seconds; nil before the server was asked.
  package var modified: Instant?

  package init(rules: PublishingRules, name: String, size: Int64?, digests: [ExpectedDigest]) {
    self.rules = rules
    self.name = name
    self.size = size
    self.digests = digests
  }
}

/// A body that is here without a transfer: a file of the user's, or an object that no row names.
package struct FoundBody: Hashable, Sendable {
  /// The object's digest; nil for a file that the server has to confirm first.
  package var digest: ContentDigest?
  package var size: Int64
  /// Digests besides SHA-256 that were asked for.
  package var otherDigests: [DigestAlgorithm: [UInt8]] = [:]
  /// When the user's file was last changed, in whole seconds; nil for an object.
  package var modified: Instant?

  package init(digest: ContentDigest?, size: Int64) {
    self.digest = digest
    self.size = size
  }
}
