/// Facts that a run announces; the report is a fold over them.
package enum RunFact: Sendable {
  indirect case conditionsRead(NetworkConditions)
  case qualityChanged(NetworkQuality)
  case itemsDiscovered(segment: String, count: Int)
  /// Items kept without any work; `fresh` counts leave out items that another segment has reported.
  case itemsKept(
    segment: String,
    count: Int,
    bytes: SavedBytes,
    freshCount: Int,
    freshBytes: SavedBytes
  )
  /// Items removed from the segment's list that stay until their successors are stored.
  case itemsRetained(segment: String, count: Int)
  indirect case itemRetained(ItemResult)
  /// Simple items confirmed by a 304, if no observer wants each of them.
  case itemsConfirmed(segment: String, count: Int, bytes: Int64)
  indirect case itemsArrived(segment: String, [Arrival])
  case requestsCounted(segment: String, count: Int, status: Int, wireBytes: Int64)
  case itemsStarted(segment: String, [WebURL])
  case bytesReceived(Int64)
  indirect case requestFinished(RequestResult)
  indirect case requestTraced(RequestStory)
  indirect case requestWaits(RequestWait)
  indirect case manifestSettled(segment: String, ManifestResult)
  /// A list was accepted; only in the mode `lists`.
  case listRead(segment: String, Shared<Manifest>)
  indirect case itemSettled(ItemResult)
  indirect case itemEvicted(ItemResult, was: ItemAction)
  indirect case itemShared(ItemResult, segment: String)
  case segmentSettled(SegmentResult)
  /// A published tree, before its segment settles.
  indirect case treePublished(segment: String, TreeOutcome)
  /// State of the license, before any other request.
  case registration(RegistrationNews)
  case interrupted(signal: Int32)
  indirect case warned(Diagnostic)
  case storeFailed(Failure)
}

package struct SavedBytes: Hashable, Sendable {
  package var all: Int64 = 0
  /// Bytes of these that are valid until the declaration changes; see ``PlanReason/isForGood``.
  package var pinned: Int64 = 0

  package mutating func add(_ bytes: Int64, isPinned: Bool) {
    all += bytes
    pinned += isPinned ? bytes : 0
  }
}

package struct RequestResult: Hashable, Sendable {
  package var url: WebURL?
  package var segments: [String] = []
  package var status: Int?
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
  /// Whether a signature is required, so that any fault may be an attacker's doing.
  package var needsSignature = false
  package var warnings: [Diagnostic] = []
  /// Differences between the lock file and what a dry run sees of the list and its servers.
  package var drift: [Drift] = []

  package init(url: String?, status: Status) {
    self.url = url
    self.status = status
  }
}

package struct RedirectHop: Hashable, Sendable {
  package var status: Int
  package var url: WebURL
}

package struct SourceResult: Hashable, Sendable {
  package var url: WebURL
  package var status: Int?
  package var failure: Failure?
}

/// Reason why something waits, and the end of the wait if known.
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
    case age
    case registration
    case features
  }

  package var rule: Rule
  package var until: Instant?

  package init(rule: Rule, until: Instant? = nil) {
    self.rule = rule
    self.until = until
  }

  /// Returns the deferral that stands for both: the first, but an age only if nothing else waits.
  static func foremost(_ first: Self?, _ second: Self?) -> Self? {
    guard let first, let second else { return first ?? second }
    switch (first.rule, second.rule) {
    case (.age, .age):
      return (first.until ?? .distantFuture) <= (second.until ?? .distantFuture) ? first : second
    case (.age, _): return second
    default: return first
    }
  }
}

/// Reason why a stored body was removed.
package enum Departure: String, Hashable, Sendable, CaseIterable {
  case expired
  case unsubscribed
  case space
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
  package var size: Int64?
  package var digest: ContentDigest?
  package var figures: TransferFigures?
  package var redirects: [RedirectHop] = []
  /// Results of all sources in order; empty if there was only one.
  package var sources: [SourceResult] = []
  package var finalURL: String?
  package var failure: Failure?
  package var departure: Departure?
  /// Reason why there is no body although nothing failed.
  package var emptiness: Failure?
  package var deferral: Deferral?
  /// Position in the segment's list, from 0.
  package var position: Int?
  /// Whether the body is stored, rather than fetched to warm a cache on the way.
  package var isStored = true
  /// Whether a body can be used, perhaps an older one.
  package var isUsable = false
  package var isRequired = true
  package var isPinned = false
  package var absence: Freshness?
  /// Time of the last confirmation of a copy that is served stale.
  package var confirmedAt: Instant?
  package var htmlCards = 0
  package var download: PastDownload?

  /// Whether the run was interrupted before the item's end; the next run continues it.
  package var isInterrupted: Bool {
    outcome == .deferred && deferral == nil
  }

  /// Whether a stored body is right while its successor is too young.
  package var keepsOlderBody: Bool { deferral?.rule == .age && isUsable }

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
  package var isLeft = false
}
