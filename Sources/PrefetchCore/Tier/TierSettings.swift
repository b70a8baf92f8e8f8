/// A store of bodies that many machines share, between the local cache and the origins.
package struct TierSettings: Hashable, Sendable {
  /// How its server is spoken to; the names below its URL are the same.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case http
    case s3
  }

  package enum Mode: String, Hashable, Sendable, CaseIterable {
    case read
    case write
    case readWrite = "read_write"
  }

  /// Nil where there is none.
  package var url: WebURL?
  package var kind = Kind.http
  package var mode = Mode.read
  /// Whether its word counts for what an origin said, rather than for bytes with a digest alone.
  package var isTrusted = false
  /// Whether bodies go there that not every machine could have fetched.
  package var sharesAll = false
  /// Whether a run that cannot use it has failed.
  package var isRequired = false
  /// How long it may say nothing.
  package var timeout: Duration = .seconds(10)
  package var headers: [HeaderField] = []
  package var region = "us-east-1"
  package var credentials: Secret?

  package init() {}

  package var isRead: Bool { url != nil && (mode == .read || mode == .readWrite) }
  package var isWritten: Bool { url != nil && (mode == .write || mode == .readWrite) }
}

/// How a second tier ends a request that the origin was not asked for.
package enum TierTrouble: Hashable, Sendable {
  /// The run requires the tier, and the tier cannot be used.
  case refusal
  /// The tier reported a redirect, and does not have what the redirect leads to.
  case lostRecord
}

/// What may be asked of a second tier in the place of a request to an origin.
package struct TierQuestion: Hashable, Sendable {
  /// The body that will do, whoever gives it.
  package var digest: ContentDigest?
  /// What is granted to an answer of the origin that others have heard; nil where only the origin's own
  /// word will do.
  package var granted: [Freshness.Lifetime]?
  /// Whether the request is for a URL that was declared, not for one that a redirect names.
  package var isFirstHop = true
  /// Whether the URL was named by a redirect that the tier reported, not by one of the origin.
  package var isLedByTier = false

  package init(digest: ContentDigest? = nil, granted: [Freshness.Lifetime]? = nil) {
    self.digest = digest
    self.granted = granted
  }
}

/// What came of the second tier in one run.
package struct TierFigures: Hashable, Sendable {
  /// For people: its server.
  package var host: String
  package var isRequired = false
  /// Bodies that came from it, and their bytes.
  package var hits: Int64 = 0
  package var hitBytes: Int64 = 0
  /// Answers of origins that it knew, so that these were not asked.
  package var answers: Int64 = 0
  /// Asked for in vain.
  package var misses: Int64 = 0
  package var written: Int64 = 0
  package var writtenBytes: Int64 = 0
  /// What went wrong first, and how often anything did.
  package var trouble: Failure?
  package var troubles: Int64 = 0

  package init(host: String) {
    self.host = host
  }

  package mutating func note(_ failure: Failure) {
    troubles += 1
    // What harms trust is told before all else.
    let isGraver = failure.code.category == .trust && trouble?.code.category != .trust
    if trouble == nil || isGraver { trouble = failure }
  }
}

/// Where answers are left for other machines.
package protocol SecondTier: AnyObject {
  /// Takes what is stored here now; it goes on its way while other work is done.
  func offer(_ answers: [OriginAnswer])
  /// Whether something of it is under way; only a `wait` of the transport brings it further.
  var isWriting: Bool { get }
  var figures: TierFigures { get }
}
