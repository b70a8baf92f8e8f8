/// Settings of the age gate: a body is taken only after it has existed for some time.
package struct AgeRules: Hashable, Sendable {
  /// Origin of an age.
  package enum Basis: String, Hashable, Sendable, CaseIterable {
    /// Date that the list states for the item.
    case published
    /// First run that saw the body.
    case seen
  }

  package var minimum: Duration = .zero
  /// Patterns of items that need no age, as in `include`.
  package var exceptions: [String] = []
  /// Basis for new items; nil for `published` in lists of registries and releases, else `seen`.
  package var basis: Basis?

  package init() {}

  /// Chooses the basis that the configuration leaves open.
  package mutating func complete(under manifest: Manifest) {
    if basis == nil, manifest.document.isOfRegistry { basis = .published }
  }
}

/// First sight of a body that an age gate held back.
package struct Sight: Hashable, Sendable {
  /// Text of a ``BodyMark``, by which a later run recognises the body.
  package var mark: String
  /// Mark that the server states for the same body in answer to HEAD, if it is another one.
  package var headMark: String?
  package var seen: Instant
  /// How often a body that waited was replaced, so that the wait began again.
  package var restarts: Int

  package init(mark: String, headMark: String? = nil, seen: Instant, restarts: Int = 0) {
    self.mark = mark
    self.headMark = headMark
    self.seen = seen
    self.restarts = restarts
  }
}

/// Text that tells a body from its predecessors, before or after it is received.
enum BodyMark {
  /// Returns the mark of a body that the list declares; nil without a digest that proves anything.
  static func declared(_ digests: [ExpectedDigest]) -> String? {
    let texts = digests.filter(\.algorithm.isTrustworthy).map {
      "\($0.algorithm.rawValue):\(Hexadecimal.encode($0.bytes))"
    }
    return texts.isEmpty ? nil : texts.sorted().joined(separator: " ")
  }

  /// Returns the mark that a response states: its tag, else its date and length.
  static func stated(_ validators: Validators, size: Int64?) -> String? {
    if let tag = validators.entityTag { return "tag \(tag)" }
    guard let date = validators.lastModified, let size else { return nil }
    return "\(size) bytes of \(date)"
  }

  private static let received = "body "

  static func received(_ digest: ContentDigest) -> String {
    received + digest.description
  }

  /// Whether only the whole body shows this mark, so that a look at it is a transfer.
  static func isOfReceivedBody(_ mark: String) -> Bool {
    mark.hasPrefix(received)
  }
}
