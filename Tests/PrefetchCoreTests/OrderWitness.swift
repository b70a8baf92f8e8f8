@testable import PrefetchCore

/// Watches a dispatcher's steps for jobs that started before a waiting job of higher rank.
struct OrderWitness {
  private var ordered: Set<Job> = []
  private(set) var problems: [String] = []
  /// Starts while another job waited.
  private(set) var contestedCount = 0
  /// Looks at a job that had to wait for another segment's manifest.
  private(set) var heldBackCount = 0

  private struct RankedJob {
    var job: Job
    var host: HostID
    var rank: Rank
  }

  /// Compares the dispatcher's state with that before the last step.
  mutating func look(_ dispatcher: inout Dispatcher, now: Moment) {
    let before = ordered
    ordered = Self.ordered(dispatcher)
    guard dispatcher.halt == nil else { return }
    let started = ordered.subtracting(before).map { Self.rankedJob(of: $0, &dispatcher) }
    let waiting = Self.waiting(dispatcher).map { Self.rankedJob(of: $0, &dispatcher) }
    for one in started {
      let keeper = dispatcher.segments.indices.first { Self.keeps(one, from: $0, &dispatcher) }
      if let keeper { problems.append("\(one.job) started before the manifest of \(keeper)") }
    }
    let lookedUp = dispatcher.documents.count { $0.isBeingLookedUp }
    let isFull =
      dispatcher.wire.transferCount + dispatcher.begun.count(of: .preparations) + lookedUp
      >= min(dispatcher.request.policy.concurrency, dispatcher.network?.transferLimit ?? .max)
    for other in waiting where mayUse(other, &dispatcher, now: now) {
      if !isFull { problems.append("\(other.job) waits for no other job") }
      if !started.isEmpty { contestedCount += 1 }
      for one in started where other.rank < one.rank {
        problems.append("\(one.job) started before \(other.job)")
      }
    }
  }

  private static func rankedJob(of job: Job, _ dispatcher: inout Dispatcher) -> RankedJob {
    let (host, rank) = dispatcher.hostAndRank(of: job)
    return RankedJob(job: job, host: host, rank: rank)
  }

  /// Returns the jobs that are in flight or with a worker.
  private static func ordered(_ dispatcher: borrowing Dispatcher) -> Set<Job> {
    var jobs = Set(dispatcher.wire.transfers.map(\.job))
    for (item, work) in dispatcher.items.enumerated() where work.state == .preparing {
      if dispatcher.items.isSimple(item) {
        jobs.insert(.item(item))
      } else if let active = dispatcher.items.ifActive(item) {
        if active.host != nil, !active.awaitsRecordOnly { jobs.insert(.item(item)) }
      }
    }
    for number in dispatcher.documents.indices where dispatcher.documents[number].isBeingLookedUp {
      jobs.insert(.document(number))
    }
    return jobs
  }

  /// Returns the queued jobs, without documents in backoff.
  private static func waiting(_ dispatcher: borrowing Dispatcher) -> [Job] {
    var jobs: [Job] = []
    for (item, work) in dispatcher.items.enumerated() where work.state == .queued {
      jobs.append(.item(item))
    }
    let sent = ordered(dispatcher)
    for segment in dispatcher.segments
    where segment.phase == .discovering && !segment.hadDocumentRetry {
      jobs += segment.requestedDocuments.sorted().map { .document($0) }.filter {
        !sent.contains($0)
      }
    }
    return jobs
  }

  private mutating func mayUse(
    _ one: RankedJob,
    _ dispatcher: inout Dispatcher,
    now: Moment
  ) -> Bool {
    guard case .open = dispatcher.wire.limits.verdict(one.host, now: now),
      dispatcher.wire.limits.limit(of: one.host) == nil,
      dispatcher.wire.queue.inFlight(on: one.host) < dispatcher.request.policy.assuredPerHost
    else { return false }
    for index in dispatcher.segments.indices {
      let segment = dispatcher.segments[index]
      let isRead =
        segment.phase == .planning
        || segment.phase == .discovering && segment.requestedDocuments.isEmpty
      if isRead, Rank(documentOf: index, priority: segment.knownPriority) < one.rank {
        return false
      }
      if Self.keeps(one, from: index, &dispatcher) {
        heldBackCount += 1
        return false
      }
    }
    return true
  }

  /// Returns whether a start barrier holds: a segment's manifest is requested first on the other's
  /// host.
  private static func keeps(
    _ one: RankedJob,
    from index: Int,
    _ dispatcher: inout Dispatcher
  ) -> Bool {
    let segment = dispatcher.segments[index]
    guard segment.phase == .discovering, !segment.hadDocumentRetry,
      let priority = segment.knownPriority,
      Rank.last(ofPriority: priority) < one.rank
    else { return false }
    let requestedHosts = segment.requestedDocuments.map {
      rankedJob(of: .document($0), &dispatcher).host
    }
    guard !requestedHosts.isEmpty, requestedHosts.allSatisfy({ !dispatcher.wire.isHeld($0) }) else {
      return false
    }
    let origins = segment.requestedDocuments.compactMap { dispatcher.documents[$0].url?.authority }
    guard let last = segment.recorded.map(\.hosts) ?? [] else { return true }
    let hosts = requestedHosts + (origins + last).map { dispatcher.wire.host($0) }
    return hosts.contains(one.host)
  }
}
