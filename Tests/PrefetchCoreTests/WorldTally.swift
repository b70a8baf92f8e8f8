import PrefetchCore

/// Counts of a simulated world, independent of the report.
struct WorldTally {
  private typealias Ends = [ItemAction: Int64]

  private var requests: Int64 = 0
  private var notModified: Int64 = 0
  private var wireBytes: Int64 = 0
  /// URLs with bodies that were written and committed.
  private var stored: Set<String> = []
  private var ends: Ends = [:]
  private var endsBySegment: [String: Ends] = [:]
  private var discovered: [String: Int64] = [:]
  private var positions: Set<Int> = []
  private var settledSegments: [String: Int] = [:]
  private(set) var problems: [String] = []
  private(set) var deferredCount = 0
  private var isInterrupted = false
  /// Number of confirmed items that were only reported in groups.
  private(set) var confirmedCount = 0
  /// Number of fetched items that were only reported in groups.
  private(set) var arrivedCount = 0

  mutating func record(_ event: Event) {
    guard case .transferFinished(_, let result) = event, !result.wasNotSent else { return }
    requests += 1
    wireBytes += result.figures.wireBytes
    guard case .success(let response) = result.outcome, response.status == 304 else { return }
    notModified += 1
  }

  /// Changes that did not fail.
  mutating func recordCommitted(_ changes: [StoreChange]) {
    for change in changes {
      if case .arrived(let arrivals) = change { stored.formUnion(arrivals.map(\.url)) }
      if case .store(let record, _, _, _) = change, record.digest != nil {
        stored.insert(record.url)
      }
    }
  }

  mutating func record(_ fact: RunFact, in mode: RunRequest.Mode) {
    switch fact {
    case .itemsDiscovered(let segment, let count):
      discovered[segment, default: 0] += Int64(count)
    case .itemsKept(let segment, let count, _, let freshCount, _):
      ends[.keep, default: 0] += Int64(freshCount)
      endsBySegment[segment, default: [:]][.keep, default: 0] += Int64(count)
    case .itemsConfirmed(let segment, let count, _):
      ends[.revalidate, default: 0] += Int64(count)
      endsBySegment[segment, default: [:]][.revalidate, default: 0] += Int64(count)
      confirmedCount += count
    case .itemsArrived(let segment, let arrivals):
      ends[.fetch, default: 0] += Int64(arrivals.count)
      endsBySegment[segment, default: [:]][.fetch, default: 0] += Int64(arrivals.count)
      arrivedCount += arrivals.count
      for arrival in arrivals where !stored.contains(arrival.url) {
        problems.append("\(arrival.url) is reported as new and was not stored")
      }
    case .itemSettled(let item):
      check(item, in: mode)
      ends[item.action, default: 0] += 1
      for segment in item.segments {
        endsBySegment[segment, default: [:]][item.action, default: 0] += 1
      }
      if item.deferral != nil { deferredCount += 1 }
    case .itemShared(let item, let segment):
      endsBySegment[segment, default: [:]][item.action, default: 0] += 1
    case .segmentSettled(let segment):
      settledSegments[segment.name, default: 0] += 1
    case .conditionsRead, .qualityChanged, .itemsRetained, .itemRetained, .itemsStarted,
      .bytesReceived, .requestFinished,
      .requestsCounted, .requestTraced, .requestWaits, .manifestSettled, .listRead, .treePublished,
      .registration, .storeFailed, .warned, .itemEvicted:
      break
    case .interrupted:
      isInterrupted = true
    }
  }

  private mutating func check(_ item: ItemResult, in mode: RunRequest.Mode) {
    if let position = item.position, !positions.insert(position).inserted {
      problems.append("\(item.url) settled twice")
    }
    if Set(item.segments).count < item.segments.count {
      problems.append("\(item.url) settled twice in a segment")
    }
    if (item.action == .fail) != (item.failure != nil) {
      problems.append("\(item.url): \(item.action) with the failure \(item.failure as Any)")
    }
    if (item.action == .defer) != (item.deferral != nil || item.isInterrupted && isInterrupted) {
      problems.append("\(item.url): \(item.action) with the deferral \(item.deferral as Any)")
    }
    let isNew = item.action == .fetch || item.action == .update
    if isNew, item.isStored, mode != .plan, !stored.contains(item.url) {
      problems.append("\(item.url) is reported as new and was not stored")
    }
  }

  /// Returns the errors in the report of the whole run.
  func problems(of report: Report, segments names: [String]) -> [String] {
    var problems = problems
    let expect = { (what: String, counted: Int64, reported: Int64) in
      if counted != reported { problems.append("\(what): \(counted), not \(reported)") }
    }
    expect("requests", requests, report.totals.requests)
    expect("not modified", notModified, report.totals.notModified)
    expect("bytes on the wire", wireBytes, report.totals.bytesWire)
    for action in ItemAction.allCases {
      expect("\(action)", ends[action] ?? 0, report.totals[action])
    }
    for segment in report.segments {
      let ends = endsBySegment[segment.name] ?? [:]
      for action in ItemAction.allCases {
        expect("\(action) in \(segment.name)", ends[action] ?? 0, segment.totals[action])
      }
      let ended = ends.filter { $0.key != .remove }.values.reduce(0, +)
      expect("ends in \(segment.name)", ended, discovered[segment.name] ?? 0)
      expect("ends of \(segment.name)", Int64(settledSegments[segment.name] ?? 0), 1)
    }
    if report.segments.map(\.name) != names { problems.append("other segments than asked for") }
    return problems
  }
}

extension Totals {
  fileprivate subscript(_ action: ItemAction) -> Int64 {
    switch action {
    case .keep: kept
    case .revalidate: revalidated
    case .fetch: fetched
    case .update: updated
    case .remove: removed
    case .defer: deferred
    case .fail: failed
    }
  }
}
