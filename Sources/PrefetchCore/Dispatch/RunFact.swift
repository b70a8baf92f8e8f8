/// What a run has to tell: the report is a fold over these, and nothing else.
package enum RunFact: Sendable {
  indirect case conditionsRead(NetworkConditions)
  case qualityChanged(NetworkQuality)
  case itemsDiscovered(segment: String, count: Int)
  /// Items that nothing was done about, told together; `fresh` ones no other segment has told of.
  case itemsKept(
    segment: String,
    count: Int,
    bytes: SavedBytes,
    freshCount: Int,
    freshBytes: SavedBytes
  )
  /// Items that left the segment's list and stay until their successors are stored.
  case itemsRetained(segment: String, count: Int)
  /// One of these, where a dry run lists what is kept.
  indirect case itemRetained(ItemResult)
  /// Items whose servers said "unchanged" and nothing else, where no observer hears of each.
  case itemsConfirmed(segment: String, count: Int, bytes: Int64)
  /// Items of which nothing was here, whose bodies are stored now; no observer hears of each.
  indirect case itemsArrived(segment: String, [Arrival])
  /// Their requests.
  case requestsAnswered(segment: String, count: Int, status: Int, wireBytes: Int64)
  /// Items that are about to be asked for, told together before the first of them is.
  case itemsStarted(segment: String, [WebURL])
  case bytesReceived(Int64)
  indirect case requestFinished(RequestResult)
  /// The same in full, where an observer hears of each.
  indirect case requestTold(RequestStory)
  indirect case requestWaits(RequestWait)
  indirect case manifestSettled(segment: String, ManifestResult)
  /// A list was read and accepted; only in the mode `lists`.
  case listRead(segment: String, Shared<Manifest>)
  indirect case itemSettled(ItemResult)
  /// The body of an item that had come to its end went for others.
  indirect case itemEvicted(ItemResult, was: ItemAction)
  /// One more segment names an item that has settled already.
  indirect case itemShared(ItemResult, segment: String)
  case segmentSettled(SegmentResult)
  /// Before its segment settles.
  indirect case treePublished(segment: String, TreeOutcome)
  /// What became of the license before anything else was asked.
  case registration(RegistrationNews)
  case interrupted(signal: Int32)
  /// A warning that belongs to no segment.
  indirect case warned(Diagnostic)
  /// Trouble with the store that belongs to no single item.
  case storeFailed(Failure)
}

/// Bytes that did not have to be transferred.
package struct SavedBytes: Hashable, Sendable {
  package var all: Int64 = 0
  /// Of these, what its declaration says to be right for good: see ``PlanReason/isForGood``.
  package var pinned: Int64 = 0

  package mutating func add(_ bytes: Int64, isPinned: Bool) {
    all += bytes
    pinned += isPinned ? bytes : 0
  }
}

/// One request that went out, or was to.
package struct RequestResult: Hashable, Sendable {
  package var url: WebURL?
  /// On whose behalf.
  package var segments: [String] = []
  package var status: Int?
  /// Why no whole answer came.
  package var failure: Failure?
  package var isRetry: Bool
  package var figures = TransferFigures()

  package var wireBytes: Int64 { figures.wireBytes }
}

package struct ManifestResult: Hashable, Sendable {
  package enum Status: String, Hashable, Sendable, CaseIterable {
    case fetched
    case notModified = "not_modified"
    case inline
    case refused
    case failed
    case skipped
  }

  package var url: String?
  package var status: Status
  package var httpStatus: Int?
  package var bytes: Int64?
  package var failure: Failure?
  /// Whether it must be signed, so that whatever is wrong with it may be an attacker's doing.
  package var needsSignature = false
  package var warnings: [Diagnostic] = []

  package init(url: String?, status: Status) {
    self.url = url
    self.status = status
  }
}

package struct RedirectHop: Hashable, Sendable {
  package var status: Int
  package var url: WebURL
}

/// What came of one of the places where an item may be.
package struct SourceResult: Hashable, Sendable {
  package var url: WebURL
  package var status: Int?
  /// Nil for the one that served.
  package var failure: Failure?
}

/// Why something waits, and until when if that is known.
package struct Deferral: Hashable, Sendable {
  package enum Rule: String, Hashable, Sendable, CaseIterable {
    case window
    case metered
    case networkType = "network_type"
    case dailyLimit = "daily_limit"
    case freeDisk = "free_disk"
    case power
    case quality
    case deadline
    case retryAfter = "retry_after"
    case paused
    case breaker
    case lock
    case registration
    case features
  }

  package var rule: Rule
  package var until: Instant?

  package init(rule: Rule, until: Instant? = nil) {
    self.rule = rule
    self.until = until
  }
}

/// Why a body that was stored is stored no more.
package enum Departure: String, Hashable, Sendable, CaseIterable {
  /// Its declaration says until when it is of use.
  case expired
  /// Declared no more, or by no segment that is subscribed to.
  case unsubscribed
  /// It went for others.
  case space
  /// Its server has it no more.
  case deleted

  var reason: String {
    switch self {
    case .expired: "past its `expires`"
    case .unsubscribed: "no longer listed"
    case .space: "evicted to make room"
    case .deleted: "its server no longer has it, and `on_gone` removes it"
    }
  }
}

/// The end of one item.
package struct ItemResult: Hashable, Sendable {
  package enum Source: String, Hashable, Sendable, CaseIterable {
    case network
    case revalidated
    case cache
    case stale
    case alternate
    case remote
  }

  package var url: String
  package var id: String
  package var provider: String?
  package var type: String?
  package var title: String?
  package var segments: [String]
  package var state: ItemState
  package var action: ItemAction
  package var outcome: ItemOutcome?
  package var reason: String
  package var source: Source?
  package var status: Int?
  package var attempts = 0
  /// Of the stored body, or of the one that a dry run heard of.
  package var size: Int64?
  package var digest: ContentDigest?
  package var figures: TransferFigures?
  package var redirects: [RedirectHop] = []
  /// Where it was looked for, in order, if that was more than one place.
  package var sources: [SourceResult] = []
  package var finalURL: String?
  package var failure: Failure?
  /// Why its body is stored no more, where one was.
  package var departure: Departure?
  /// Why there is nothing, where that is no fault.
  package var emptiness: Failure?
  package var deferral: Deferral?
  /// Where its segment lists it, from 0.
  package var position: Int?
  /// Whether a body of it is to stay, rather than to warm a cache on the way.
  package var isStored = true
  /// Whether a body can be used, be it an older one.
  package var isUsable = false
  package var isRequired = true
  /// Whether it is kept because its declaration says that what is stored is right for good.
  package var isPinned = false
  /// How long the server's word holds that it does not have the item, as the answer states it.
  package var absence: Freshness?
  /// When a server last confirmed a copy that is served stale.
  package var confirmedAt: Instant?
  /// Count of the end cards of its ads that are pages and are not kept.
  package var htmlCards = 0
  /// How long the pieces of a stream took to come, where any came.
  package var download: PastDownload?

  /// Whether the run was interrupted before its end; the next one goes on with it.
  package var isInterrupted: Bool {
    outcome == .deferred && deferral == nil
  }

  /// An older body that was to stand in is gone.
  package mutating func loseBody() {
    isUsable = false
    digest = nil
    if state == .cached { state = failure == nil ? .pending : .failed }
  }

  package init(
    url: String,
    id: String,
    segments: [String],
    state: ItemState,
    action: ItemAction,
    reason: String
  ) {
    self.url = url
    self.id = id
    self.segments = segments
    self.state = state
    self.action = action
    self.reason = reason
  }
}

package struct SegmentResult: Hashable, Sendable {
  package var name: String
  package var state: SegmentState
  package var priority: Int?
  package var isRequired: Bool
  package var deferral: Deferral?
  /// Whether items that it held leave it at the end of the run.
  package var isLeft = false
}
