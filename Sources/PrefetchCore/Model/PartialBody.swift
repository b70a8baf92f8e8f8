/// Received part of a body, kept so that a later request can ask for the rest.
package struct PartialBody: Hashable, Sendable {
  /// URL that answered, after redirects: its server gave the validator.
  package var source: String
  /// `If-Range`, verbatim: a strong entity tag, or a date that counts as one.
  package var validator: String
  package var offset: Int64
  /// Received bytes beyond `offset`, in order, with holes before them.
  package var spans: [Range<Int64>] = []
  package var wholeSize: Int64?
  package var head: HeaderBlock
  /// Stored body that has these bytes; nil if the part has its own file.
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

  /// Number of kept bytes.
  package var keptSize: Int64 {
    spans.reduce(offset) { $0 + $1.upperBound - $1.lowerBound }
  }

  /// First bytes to request; without an `end` they reach to the end of the body.
  package var firstHole: (start: Int64, end: Int64?) {
    var start = offset
    for span in spans {
      guard span.lowerBound <= start else { return (start, span.lowerBound) }
      start = span.upperBound
    }
    return (start, nil)
  }
}

package struct BodyPlan: Hashable, Sendable {
  package var expectedSize: Int64?
  /// Digests to compute in addition to SHA-256.
  package var algorithms: Set<DigestAlgorithm>
  /// Declared URL of the item, under which a part may be kept; nil keeps none.
  package var partialKey: String?
  /// Whether the body must leave free disk space, see ``BodyStaging/keepFree(_:)``.
  package var heedsFreeDisk = false
  package var keepsBytes: Bool
  package var prefixLength = StagedBody.prefixLength
  package var smallestPart: Int64 = 64 << 10
  package var resumption: Resumption

  /// Way to request the rest if the transfer breaks off.
  package enum Resumption: Hashable, Sendable {
    case unknown
    /// Response that begins the whole body; the part is derived on demand, as few bodies break off.
    case from(WholeResponse)
    /// Kept part; with an `offset` the body begins with its bytes.
    indirect case with(PartialBody)

    /// Part to keep; nil if nothing can be continued.
    package var part: PartialBody? {
      switch self {
      case .unknown: nil
      case .from(let response): response.part
      case .with(let part): part
      }
    }
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

  package var givenPart: PartialBody? {
    if case .with(let part) = resumption { part } else { nil }
  }

  package var partToKeep: PartialBody? { resumption.part }
}

package struct WholeResponse: Hashable, Sendable {
  package var source: String
  package var head: HeaderBlock
  package var size: Int64?

  package init(source: String, head: HeaderBlock, size: Int64?) {
    self.source = source
    self.head = head
    self.size = size
  }

  private var refusesRanges: Bool {
    head["Accept-Ranges"]?.lowercased() == "none"
  }

  /// Part without bytes; nil if it could not be identified later, or the server refuses ranges.
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
