/// Second tier: a store of bodies that machines share, between local caches and origins.
package struct TierSettings: Hashable, Sendable {
  /// Protocol of the server; the names below its URL are the same for both.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case http
    case s3
  }

  package enum Mode: String, Hashable, Sendable, CaseIterable {
    case read
    case write
    case readWrite = "read_write"
  }

  package var url: WebURL?
  package var kind = Kind.http
  package var mode = Mode.read
  /// Whether its answers count as the origin's; otherwise only bodies of a given digest are used.
  package var isTrusted = false
  /// Whether bodies are shared that not every machine could fetch.
  package var sharesAll = false
  package var isRequired = false
  package var timeout: Duration = .seconds(10)
  package var headers: [HeaderField] = []
  package var region = "us-east-1"
  package var credentials: Secret?

  package init() {}

  package var isRead: Bool { url != nil && (mode == .read || mode == .readWrite) }
  package var isWritten: Bool { url != nil && (mode == .write || mode == .readWrite) }
}

/// Ways in which a second tier ends a request without the origin.
package enum TierTrouble: Hashable, Sendable {
  case refusal
  /// The tier reported a redirect, and does not have what the redirect leads to.
  case lostRecord
}

/// Question to a second tier in place of a request to an origin.
package struct TierRequest: Hashable, Sendable {
  package var digest: ContentDigest?
  /// Lifetimes granted to an answer that other machines got; nil if only the origin may answer.
  package var granted: [Freshness.Lifetime]?
  /// Whether the URL is a declared one, not the target of a redirect.
  package var isFirstHop = true
  /// Whether a redirect that the tier reported led to the URL.
  package var isLedByTier = false

  package init(digest: ContentDigest? = nil, granted: [Freshness.Lifetime]? = nil) {
    self.digest = digest
    self.granted = granted
  }
}

package struct TierFigures: Hashable, Sendable {
  package var host: String
  package var isRequired = false
  package var hits: Int64 = 0
  package var hitBytes: Int64 = 0
  /// Number of origin answers from the tier, for which no origin was asked.
  package var originResponses: Int64 = 0
  package var misses: Int64 = 0
  package var written: Int64 = 0
  package var writtenBytes: Int64 = 0
  /// First or gravest failure, and the number of failures.
  package var trouble: Failure?
  package var troubles: Int64 = 0

  package init(host: String) {
    self.host = host
  }

  package mutating func recordFailure(_ failure: Failure) {
    troubles += 1
    // A breach of trust outranks all other failures.
    let isGraver = failure.code.category == .trust && trouble?.code.category != .trust
    if trouble == nil || isGraver { trouble = failure }
  }
}

package protocol SecondTier: AnyObject {
  func offer(_ responses: [OriginResponse])
  /// Whether anything is being sent; it proceeds only while the transport waits.
  var isWriting: Bool { get }
  var figures: TierFigures { get }
}
