/// What a run did, as facts; every rendering and the exit status are readers of this value.
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
    /// Where the segment publishes one.
    package var tree: TreeOutcome?
    /// The first of its items that were added, updated or removed, for people.
    package private(set) var changes: [Change] = []

    package struct Change: Hashable, Sendable {
      package var outcome: ItemOutcome
      package var url: String
      package var size: Int64?
    }

    package static let mostChanges = 20

    mutating func note(_ item: ItemResult) {
      guard changes.count < Self.mostChanges, let outcome = item.outcome else { return }
      switch outcome {
      case .added, .updated, .headers, .removed:
        changes.append(Change(outcome: outcome, url: item.url, size: item.size))
      case .unchanged, .stale, .deferred, .failed, .redirected, .empty: break
      }
    }

    mutating func note(_ arrivals: [Arrival]) {
      for arrival in arrivals.prefix(Self.mostChanges - changes.count) {
        changes.append(Change(outcome: .added, url: arrival.url, size: arrival.body.size))
      }
    }

    /// What was told of it before is not true any more.
    mutating func retract(_ url: String) {
      changes.removeAll { $0.url == url }
    }

    /// Whether a signal came before its end, with nothing wrong and no rule holding it back.
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
  /// In the order in which they settled; few or none where the request keeps none.
  package var items: [ItemResult] = []
  package var diagnostics: [Diagnostic] = []
  package var signal: Int32?
  package var storeFailure: Failure?
  /// Whether a hook that is required did not do what it should.
  package var hasFailedHook = false
  /// Why the license is refused, or why it could not safely be shown.
  package var registration: Failure?
  /// Why the collector of events may not be trusted; whatever else goes wrong there changes nothing.
  package var distrustedCollector: Failure?
  /// What came of the second tier; nil where there is none.
  package var tier: TierFigures?
  /// Whether any server said anything but "not now".
  package var hasAnswer = false
  /// Hosts that the next run must leave alone for a while.
  package var gates: [HostGate] = []
  /// Hosts, as ``WebURL/authority`` has them, by what was learnt of them.
  package var lessons: [ProtocolLesson: Set<String>] = [:]
  /// Something that held the whole run back, before any segment was looked at.
  package var deferral: Deferral?
  /// As it was seen last; nil where no rule had to look.
  package var network: NetworkConditions?
  package var quality = NetworkQuality.unknown
  /// Items that older copies stand in for, and when the oldest of these was last confirmed.
  package var staleCount = 0
  package var oldestStale: Instant?
  /// Of the hosts that answered, by ``WebURL/authority``.
  package var responseTimes: [String: ResponseTimes] = [:]
  /// Of the hosts that enough came from to tell how fast they are, likewise.
  package var paces: [String: HostPace] = [:]
  /// Ad servers that had no ad, and the first of them.
  package var emptyCount = 0
  package var firstEmpty: String?
  /// Count of the end cards of ads that are pages and are not kept, and the first item with one.
  package var htmlCardCount = 0
  package var firstHTMLCard: String?

  package init(mode: RunRequest.Mode, identity: String, started: Instant) {
    self.mode = mode
    self.identity = identity
    self.started = started
    finished = started
  }

  /// A store that another process has for too long only puts off what is left.
  package mutating func noteStoreFailure(_ failure: Failure) {
    guard failure.isOfWaiting else {
      storeFailure = storeFailure ?? failure
      return
    }
    guard failure.code == .locked, deferral == nil else { return }
    deferral = Deferral(rule: .lock)
    diagnostics.append(Diagnostic("store.locked", failure.message, severity: .warning))
  }

  /// Items that counted as usable are so no more; of what failed or waits only its body is gone.
  package mutating func noteGone(_ gone: [ItemResult]) {
    let listed = Dictionary(items.indices.map { (items[$0].url, $0) }) { $1 }
    for var item in gone {
      let place = listed[item.url]
      if let place, items[place].failure != nil || items[place].outcome == .deferred {
        items[place].loseBody()
        continue
      }
      let was = place.map { items[$0].action } ?? .keep
      item.size = place.flatMap { items[$0].size }
      item.isPinned = place.map { items[$0].isPinned } ?? false
      if let place { items[place] = item } else { items.append(item) }
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

/// Sums over the items and requests of a run or of a segment.
package struct Totals: Hashable, Sendable {
  package var kept: Int64 = 0
  package var revalidated: Int64 = 0
  package var fetched: Int64 = 0
  package var updated: Int64 = 0
  package var deferred: Int64 = 0
  package var failed: Int64 = 0
  package var removed: Int64 = 0
  /// Items that left their lists and stay until their successors are stored.
  package var retained: Int64 = 0
  package var requests: Int64 = 0
  package var notModified: Int64 = 0
  package var retries: Int64 = 0
  /// Everything received, headers and coded bodies.
  package var bytesWire: Int64 = 0
  /// Decoded bodies received.
  package var bytesBody: Int64 = 0
  /// Bodies that entered the store.
  package var bytesStored: Int64 = 0
  /// The stored size of what did not have to be transferred.
  package var bytesSaved: Int64 = 0
  /// Of these, what servers confirmed when they were shown its validators.
  package var bytesConfirmed: Int64 = 0
  /// Of these, what its declaration says to be right for good: see ``PlanReason/isForGood``.
  package var bytesPinned: Int64 = 0
  /// Items to be transferred of which a plan does not know how large they are.
  package var unknownSizes: Int64 = 0

  package init() {}

  package var items: Int64 {
    kept + revalidated + fetched + updated + deferred + failed
  }

  /// Removals are no items of the declaration, so they stand beside the sum.
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

  /// It has come to another end than it was counted with.
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

  /// As each of them would be counted by itself.
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

  /// So many requests that were answered with the same status at the first try.
  package mutating func count(_ answers: Int, status: Int, wireBytes: Int64) {
    requests += Int64(answers)
    notModified += status == 304 ? Int64(answers) : 0
    bytesWire += wireBytes
  }

  package mutating func count(_ request: RequestResult) {
    requests += Int64(request.figures.requestCount)
    notModified += request.status == 304 ? 1 : 0
    retries += request.figures.wasSent && request.isRetry ? 1 : 0
    bytesWire += request.wireBytes
  }
}
