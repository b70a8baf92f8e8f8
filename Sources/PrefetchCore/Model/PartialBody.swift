/// What has arrived of a body that is not whole, kept so that a later request can ask for the rest.
package struct PartialBody: Hashable, Sendable {
  /// The URL that answered, after redirects: its server gave the validator.
  package var source: String
  /// What `If-Range` sends, verbatim: a strong entity tag, or a date that counts as one.
  package var validator: String
  /// How many bytes are there already.
  package var offset: Int64
  /// The size of the whole, where the server told it.
  package var wholeSize: Int64?
  /// What the first answer said of the whole, renewed by the later ones.
  package var head: HeaderBlock
  /// The stored body that has these bytes; nil where they are a part by themselves.
  package var object: ContentDigest?

  package init(
    source: String,
    validator: String,
    offset: Int64,
    wholeSize: Int64? = nil,
    head: HeaderBlock = HeaderBlock()
  ) {
    self.source = source
    self.validator = validator
    self.offset = offset
    self.wholeSize = wholeSize
    self.head = head
  }
}

/// What is known of a body before its first byte.
package struct BodyPlan: Hashable, Sendable {
  package var expectedSize: Int64?
  /// Digests to take besides SHA-256.
  package var algorithms: Set<DigestAlgorithm>
  /// The name under which a part of it may be kept: the item's declared URL; nil keeps nothing.
  package var partialKey: String?
  /// Whether the body must leave free disk space, see ``BodyStaging/keepFree(_:)``.
  package var heedsFreeDisk = false
  /// Whether its bytes are wanted, rather than its digests alone.
  package var keepsBytes: Bool
  /// So many of its first bytes are told with it.
  package var prefixLength = StagedBody.prefixLength
  /// The smallest part that is worth keeping when it breaks off.
  package var smallestPart: Int64 = 64 << 10
  package var resumption: Resumption

  /// How the rest can be asked for should it break off.
  package enum Resumption: Hashable, Sendable {
    /// It cannot be told.
    case unknown
    /// As the answer says that brings the whole; most bodies are never broken off.
    case from(WholeAnswer)
    /// With an `offset` the body begins with the bytes that are kept under the key.
    indirect case with(PartialBody)
  }

  package init(
    expectedSize: Int64? = nil,
    algorithms: consuming Set<DigestAlgorithm> = [],
    partialKey: consuming String? = nil,
    keepsBytes: Bool = true,
    resumption: consuming Resumption = .unknown
  ) {
    self.expectedSize = expectedSize
    self.algorithms = algorithms
    self.partialKey = partialKey
    self.keepsBytes = keepsBytes
    self.resumption = resumption
  }

  /// What is kept and goes on here, or may be kept of it.
  package var partial: PartialBody? {
    if case .with(let part) = resumption { part } else { nil }
  }

  /// What the body is described by should it break off.
  package var part: PartialBody? {
    switch resumption {
    case .unknown: nil
    case .from(let answer): answer.part
    case .with(let part): part
    }
  }
}

/// What says how a part of a body would be described.
package struct WholeAnswer: Hashable, Sendable {
  /// The URL that answered.
  package var source: String
  package var head: HeaderBlock
  /// What the head says of the size.
  package var size: Int64?

  package init(source: String, head: HeaderBlock, size: Int64?) {
    self.source = source
    self.head = head
    self.size = size
  }

  private var refusesRanges: Bool {
    head["Accept-Ranges"]?.lowercased() == "none"
  }

  /// Nil where a part could not be told from the part of another body, or the rest not be had.
  package var part: PartialBody? {
    guard let validator = ResumeRule.validator(head), !refusesRanges else { return nil }
    return PartialBody(
      source: source,
      validator: validator,
      offset: 0,
      wholeSize: size,
      head: head
    )
  }
}
