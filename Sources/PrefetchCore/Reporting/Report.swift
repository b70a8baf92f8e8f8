/// Facts of a run, from which all renderings and the exit status are made.
package struct Report: Sendable {
  package enum Verdict: String, Hashable, Sendable, CaseIterable {
    case newData = "new_data"
    case noData = "no_data"
    case failed
  }

  package struct Segment: Sendable {
    package var name: String
    package var state: SegmentState
    package var priority: Int?
    package var isRequired = true
    package var manifest: ManifestResult
    package var totals = Totals()
    package var deferral: Deferral?
    package var tree: TreeOutcome?
    package private(set) var changes: [Change] = []

    package struct Change: Hashable, Sendable {
      package var outcome: ItemOutcome
      package var url: String
      package var size: Int64?
    }

    package static let mostChanges = 20

    mutating func recordChange(of item: ItemResult) {
      guard changes.count < Self.mostChanges, let outcome = item.outcome else { return }
      switch outcome {
      case .added, .updated, .headers, .removed:
        changes.append(Change(outcome: outcome, url: item.url, size: item.size))
      case .unchanged, .stale, .deferred, .failed, .redirected, .empty: break
      }
    }

    mutating func recordArrivals(_ arrivals: [Arrival]) {
      for arrival in arrivals.prefix(Self.mostChanges - changes.count) {
        changes.append(Change(outcome: .added, url: arrival.url, size: arrival.body.size))
      }
    }

    mutating func retract(_ url: String) {
      changes.removeAll { $0.url == url }
    }

    /// Whether only a signal ended the segment early, without a failure or deferral.
    package var isInterrupted: Bool {
      state == .deferred && deferral == nil
    }

    package init(name: String, state: SegmentState, manifest: ManifestResult) {
      self.name = name
      self.state = state
      self.manifest = manifest
    }
  }

  package var mode: RunRequest.Mode
  package var identity: String
  package var started: Instant
  package var finished: Instant
  package var elapsed: Duration = .zero
  package var totals = Totals()
  package var segments: [Segment] = []
  /// Items in the order in which they settled, possibly not all.
  package var items: [ItemResult] = []
  package var diagnostics: [Diagnostic] = []
  package var signal: Int32?
  package var storeFailure: Failure?
  package var hasFailedHook = false
  /// Refusal of the license, or the reason why it could not be sent safely.
  package var registration: Failure?
  /// Trust failure of the event collector, the only failure of it that affects a run.
  package var distrustedCollector: Failure?
  package var tier: TierFigures?
  /// Whether any server gave a response other than "not now".
  package var hasResponse = false
  package var gates: [HostGate] = []
  package var lessons: [ProtocolLesson: Set<String>] = [:]
  package var deferral: Deferral?
  package var network: NetworkConditions?
  package var quality = NetworkQuality.unknown
  /// Count of stale items in use, and the oldest time at which one of them was confirmed.
  package var staleCount = 0
  package var oldestStale: Instant?
  package var responseTimes: [String: ResponseTimes] = [:]
  /// Paces by ``WebURL/authority`` of hosts with enough bytes.
  package var paces: [String: HostPace] = [:]
  /// Count of ad servers without an ad, and the first of them.
  package var emptyCount = 0
  package var firstEmpty: String?
  /// Count of ads' HTML end cards, which are not stored, and the first item with one.
  package var htmlCardCount = 0
  package var firstHTMLCard: String?

  package init(mode: RunRequest.Mode, identity: String, started: Instant) {
    self.mode = mode
    self.identity = identity
    self.started = started
    finished = started
  }

  /// Records a failure of the store; a lock held too long by another process is only a deferral.
  package mutating func recordStoreFailure(_ failure: Failure) {
    guard failure.isOfWaiting else {
      storeFailure = storeFailure ?? failure
      return
    }
    guard failure.code == .locked, deferral == nil else { return }
    deferral = Deferral(rule: .lock)
    diagnostics.append(Diagnostic("store.locked", failure.message, severity: .warning))
  }

  package mutating func recordLostBodies(_ lost: [ItemResult]) {
    let listed = Dictionary(items.indices.map { (items[$0].url, $0) }) { $1 }
    for var item in lost {
      let position = listed[item.url]
      if let position, items[position].failure != nil || items[position].outcome == .deferred {
        items[position].loseBody()
        continue
      }
      let was = position.map { items[$0].action } ?? .keep
      item.size = position.flatMap { items[$0].size }
      item.isPinned = position.map { items[$0].isPinned } ?? false
      if let position { items[position] = item } else { items.append(item) }
      totals.recount(item, was: was)
      for index in segments.indices where item.segments.contains(segments[index].name) {
        segments[index].totals.recount(item, was: was)
        segments[index].state = .incomplete
      }
    }
  }

  package var verdict: Verdict {
    let hasTrouble = segments.contains { segment in
      segment.manifest.failure != nil || segment.tree?.hasFailed == true
    }
    if totals.failed > 0 || storeFailure != nil || hasTrouble { return .failed }
    return totals.fetched + totals.updated + totals.removed > 0 ? .newData : .noData
  }
}

package struct Totals: Hashable, Sendable {
  package var kept: Int64 = 0
  package var revalidated: Int64 = 0
  package var fetched: Int64 = 0
  package var updated: Int64 = 0
  package var deferred: Int64 = 0
  package var failed: Int64 = 0
  package var removed: Int64 = 0
  package var retained: Int64 = 0
  package var requests: Int64 = 0
  package var notModified: Int64 = 0
  package var retries: Int64 = 0
  /// Received bytes of headers and coded bodies.
  package var bytesWire: Int64 = 0
  package var bytesBody: Int64 = 0
  package var bytesStored: Int64 = 0
  /// Stored bytes that needed no transfer.
  package var bytesSaved: Int64 = 0
  /// Bytes of ``bytesSaved`` that servers confirmed.
  package var bytesConfirmed: Int64 = 0
  /// Bytes of ``bytesSaved`` of items kept for good: ``PlanReason/isForGood``.
  package var bytesPinned: Int64 = 0
  package var unknownSizes: Int64 = 0

  package init() {}

  package var items: Int64 {
    kept + revalidated + fetched + updated + deferred + failed
  }

  /// Counts an item; a removed one is not part of ``items``.
  package mutating func count(_ item: ItemResult) {
    let size = item.size ?? 0
    switch item.action {
    case .keep:
      kept += 1
      bytesSaved += size
      bytesPinned += item.isPinned ? size : 0
    case .revalidate:
      revalidated += 1
      bytesSaved += size
      bytesConfirmed += size
    case .fetch:
      fetched += 1
      bytesStored += item.isStored ? size : 0
      unknownSizes += item.size == nil ? 1 : 0
    case .update:
      updated += 1
      bytesStored += item.isStored ? size : 0
      unknownSizes += item.size == nil ? 1 : 0
    case .defer:
      deferred += 1
    case .fail:
      failed += 1
    case .remove:
      removed += 1
    }
    if item.source == .network || item.source == .alternate { bytesBody += size }
  }

  package mutating func recount(_ item: ItemResult, was: ItemAction) {
    let size = item.size ?? 0
    switch was {
    case .keep:
      kept -= 1
      bytesSaved -= size
      bytesPinned -= item.isPinned ? size : 0
    case .revalidate:
      revalidated -= 1
      bytesSaved -= size
      bytesConfirmed -= size
    case .fetch:
      fetched -= 1
      bytesStored -= size
    case .update:
      updated -= 1
      bytesStored -= size
    case .defer:
      deferred -= 1
    case .fail, .remove:
      return
    }
    failed += 1
  }

  package mutating func countConfirmed(_ count: Int, bytes: Int64) {
    revalidated += Int64(count)
    bytesSaved += bytes
    bytesConfirmed += bytes
  }

  package mutating func countKept(_ count: Int, _ bytes: SavedBytes) {
    kept += Int64(count)
    bytesSaved += bytes.all
    bytesPinned += bytes.pinned
  }

  package mutating func countArrived(_ count: Int, bytes: Int64) {
    fetched += Int64(count)
    bytesStored += bytes
    bytesBody += bytes
  }

  package mutating func count(_ responses: Int, status: Int, wireBytes: Int64) {
    requests += Int64(responses)
    notModified += status == 304 ? Int64(responses) : 0
    bytesWire += wireBytes
  }

  package mutating func count(_ request: RequestResult) {
    requests += Int64(request.figures.requestCount)
    notModified += request.status == 304 ? 1 : 0
    retries += request.figures.wasSent && request.isRetry ? 1 : 0
    bytesWire += request.wireBytes
  }
}
