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
  /// Whether its bytes are wanted, rather than its digests alone.
  package var keepsBytes = true
  /// What the rest is asked for with should it break off; nil leaves that to `answer`.
  ///
  /// With an `offset` the body begins with the bytes that are kept under the key.
  package var partial: PartialBody?
  /// The answer that brings the whole.
  package var answer: WholeAnswer?

  package init(
    expectedSize: Int64? = nil,
    algorithms: Set<DigestAlgorithm> = [],
    partialKey: String? = nil,
    partial: PartialBody? = nil
  ) {
    self.expectedSize = expectedSize
    self.algorithms = algorithms
    self.partialKey = partialKey
    self.partial = partial
  }

  /// How the rest can be asked for should it break off; nil where nobody can tell.
  package var part: PartialBody? {
    partial ?? answer?.part
  }
}

/// What describes a part of a body once it is one: most bodies are never broken off.
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

  /// Nil where a part could not be told from the part of another body.
  package var part: PartialBody? {
    guard let validator = ResumeRule.validator(head) else { return nil }
    return PartialBody(
      source: source,
      validator: validator,
      offset: 0,
      wholeSize: size,
      head: head
    )
  }
}
