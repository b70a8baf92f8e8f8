/// Requests of a run: queued, in flight, and waiting for their next attempt; with host limits.
struct Wire: Sendable {
  private(set) var queue: TransferQueue
  private(set) var limits: HostLimits
  private var inFlight = InFlight()
  private var backoff = BackoffQueue()
  private(set) var advances: [TransferID: TransferAdvance] = [:]
  /// Response times per host, indexed by `HostID.number`.
  private var responseTimes: [ResponseTimes] = []
  private var paces: [HostPace] = []

  init(_ policy: RunPolicy, looksAhead: Bool, gates: [HostGate], deadline: Duration?, now: Moment) {
    queue = TransferQueue(
      concurrency: policy.concurrency,
      perHost: policy.assuredPerHost,
      lookAhead: looksAhead ? policy.lookAhead : 0
    )
    var known: [HostLimits.Gate] = []
    for gate in gates {
      known.append(HostLimits.Gate(host: queue.table.host(gate.host), until: gate.until))
    }
    limits = HostLimits(retries: policy.retries, deadline: deadline, remembered: known, now: now)
  }

  mutating func host(_ authority: String) -> HostID {
    queue.table.host(authority)
  }

  func name(of host: HostID) -> String {
    queue.table.name(of: host)
  }

  // MARK: Queue

  enum Entry: Sendable {
    case queued
    case behindGate(until: Duration)
    case refused(Exchange.Step)
  }

  mutating func enqueue(_ job: Job, to host: HostID, rank: Rank, now: Moment) -> Entry {
    if let step = refusal(of: host, now: now) { return .refused(step) }
    var entry = Entry.queued
    if case .wait(let due) = limits.verdict(host, now: now) {
      queue.hold(host, until: due)
      entry = .behindGate(until: due)
    }
    queue.append(job.number, to: host, rank: rank)
    return entry
  }

  func refusal(of host: HostID, now: Moment) -> Exchange.Step? {
    switch limits.verdict(host, now: now) {
    case .deferred(let deferral): .deferred(deferral, status: nil)
    case .failed(let failure): .failed(failure, status: nil)
    case .open, .wait: nil
    }
  }

  func pause(of host: HostID, now: Moment) -> Duration? {
    if case .wait(let due) = limits.verdict(host, now: now) { due } else { nil }
  }

  mutating func move(_ job: Job, on host: HostID, from old: Rank, to new: Rank) {
    guard queue.withdraw(job.number, from: host, rank: old) else { return }
    queue.append(job.number, to: host, rank: new)
  }

  /// Delays a job until that uptime; no job ranked after it starts in advance.
  mutating func pause(_ job: Job, until due: Duration, rank: Rank) {
    backoff.insert(job.number, until: due)
    queue.expect(job.number, rank: rank)
  }

  mutating func resume(at now: Duration) -> Job? {
    guard let number = backoff.dequeue(at: now) else { return nil }
    queue.stopExpecting(number)
    return Job(number: number)
  }

  mutating func drainQueue() -> [Job] {
    queue.drain().map { Job(number: $0) }
  }

  mutating func drain() -> [Job] {
    drainQueue() + backoff.drain().map { Job(number: $0) }
  }

  func isPaused(_ job: Job) -> Bool { backoff.contains(job.number) }

  mutating func endPauses(of jobs: Set<Job>) {
    backoff.remove(Set(jobs.map(\.number)))
    for job in jobs { queue.stopExpecting(job.number) }
  }

  mutating func drainQueue(of host: HostID) -> [Job] {
    queue.removeAll(of: host).map { Job(number: $0) }
  }

  mutating func putBack(_ job: Job, to host: HostID, rank: Rank) {
    queue.append(job.number, to: host, rank: rank)
  }

  // MARK: In flight

  mutating func release(at now: Duration) {
    queue.release(at: now)
  }

  mutating func dequeue(at now: Duration) -> (job: Job, host: HostID)? {
    queue.dequeue(at: now).map { (Job(number: $0.job), $0.host) }
  }

  mutating func start(_ job: Job) -> TransferID {
    inFlight.start(job)
  }

  /// Ends a transfer; returns nil if it has ended already.
  mutating func end(_ id: TransferID) -> Job? {
    guard let job = inFlight.end(id) else { return nil }
    advances[id] = nil
    return job
  }

  mutating func progressed(_ id: TransferID, _ advance: TransferAdvance) -> Job? {
    guard let job = inFlight[id] else { return nil }
    advances[id] = advance
    return job
  }

  /// Transfers in flight, oldest first.
  var transfers: [(id: TransferID, job: Job)] {
    inFlight.ids.compactMap { id in inFlight[id].map { (id, $0) } }
  }

  mutating func leave(_ job: Job, on host: HostID) {
    queue.finished(job.number, on: host, httpVersion: nil)
  }

  mutating func releaseUnsent(_ job: Job, from host: HostID) {
    queue.releaseUnsent(job.number, from: host)
  }

  mutating func finished(_ job: Job, on host: HostID, _ result: TransferResult, at now: Moment) {
    queue.finished(job.number, on: host, result)
    recordResponseTime(result.figures.responseTime, of: host)
    if let elapsed = result.bodyTime {
      recordPace(result.figures.wireBytes, elapsed, of: host, at: now)
    }
  }

  mutating func finished(_ item: Int, on host: HostID, _ outcome: Outcome, now: Moment) {
    queue.finished(item, on: host, outcome)
    limits.recordResponse(host, status: 200, retryAfter: nil, now: now)
    queue.restrict(host, to: limits.limit(of: host))
    recordResponseTime(outcome.responseTime, of: host)
    if let arrival = outcome.arrival {
      recordPace(outcome.wireBytes, arrival.timing.elapsed, of: host, at: now)
    }
  }

  private mutating func recordPace(
    _ bytes: Int64,
    _ elapsed: Duration,
    of host: HostID,
    at now: Moment
  ) {
    let index = Int(host.number)
    while paces.count <= index { paces.append(HostPace()) }
    paces[index].record(bytes, took: elapsed, until: now.uptime)
  }

  private mutating func recordResponseTime(_ time: Duration?, of host: HostID) {
    guard let time else { return }
    let index = Int(host.number)
    while responseTimes.count <= index { responseTimes.append(ResponseTimes()) }
    responseTimes[index].record(time)
  }

  // MARK: Hosts

  /// Effects of a result on the other jobs of its host.
  struct HostNews: Sendable {
    /// End of the host's pause after a row of broken transfers, and the last failure.
    var broken: (until: Instant, failure: Failure)?
    var isHeld = false
    var refusedJobs: [Job] = []
    var refusal: Exchange.Step?
  }

  mutating func recordResult(
    _ result: TransferResult,
    _ step: Exchange.Step,
    of host: HostID,
    rateLimit: Duration? = nil,
    now: Moment
  ) -> HostNews {
    var news = HostNews()
    switch result.outcome {
    case .success(let response):
      if let rateLimit {
        limits.recordRateLimit(host, rateLimit, now: now)
      } else {
        limits.recordResponse(
          host,
          status: response.status,
          retryAfter: response.headers[.retryAfter],
          now: now
        )
      }
      if case .failed(let failure, _) = step, failure.code == .serverBusy {
        recordFailure(failure, isExhausted: true, of: host, now, &news)
      }
    // The host got no request.
    case .failure where result.figures.tierTrouble != nil: break
    case .failure(let failure):
      let isExhausted = if case .wait = step { false } else { true }
      recordFailure(failure, isExhausted: isExhausted, of: host, now, &news)
    }
    queue.restrict(host, to: limits.limit(of: host))
    if let due = pause(of: host, now: now) {
      queue.hold(host, until: due)
      news.isHeld = true
    }
    news.refusal = refusal(of: host, now: now)
    if news.refusal != nil {
      news.refusedJobs = drainQueue(of: host)
    }
    return news
  }

  private mutating func recordFailure(
    _ failure: Failure,
    isExhausted: Bool,
    of host: HostID,
    _ now: Moment,
    _ news: inout HostNews
  ) {
    let until = limits.recordFailure(host, failure, isExhausted: isExhausted, now: now)
    if let until { news.broken = (until, failure) }
  }

  func isHeld(_ host: HostID) -> Bool {
    queue.isHeld(host)
  }

  /// Replaces a start barrier; the new one comes first, so that no job starts in between.
  mutating func setBarrier(_ new: StartBarrier?, insteadOf old: StartBarrier?) {
    if let new { queue.addBarrier(new) }
    if let old { queue.removeBarrier(old) }
  }

  mutating func setConcurrency(_ limit: Int) {
    queue.setConcurrency(limit)
  }

  mutating func setConnections(_ count: Int, to authority: String) {
    queue.setConnections(count, to: host(authority))
  }

  mutating func stopLookingAhead() {
    queue.stopLookingAhead()
  }

  // MARK: What is open

  var transferCount: Int { inFlight.count }

  var queuedCount: Int { queue.count }

  var isBackoffEmpty: Bool { backoff.isEmpty }

  var nextMoment: Duration? {
    [backoff.earliest, queue.nextRelease].compactMap(\.self).min()
  }

  var namedResponseTimes: [String: ResponseTimes] {
    var named: [String: ResponseTimes] = [:]
    for (index, times) in responseTimes.enumerated() where !times.isEmpty {
      named[name(of: HostID(Int32(index)))] = times
    }
    return named
  }

  /// Download rates by host name, where enough bytes came.
  var namedPaces: [String: HostPace] {
    var named: [String: HostPace] = [:]
    for (index, pace) in paces.enumerated() where pace.hasEnoughBytes {
      named[name(of: HostID(Int32(index)))] = pace
    }
    return named
  }

  func openGates(at now: Moment) -> [HostGate] {
    limits.gates(now: now).map { HostGate(host: name(of: $0.host), until: $0.until) }
  }
}

/// A host's demanded pause, as stored between runs.
package struct HostGate: Hashable, Sendable {
  /// Host in the form of ``WebURL/authority``.
  package var host: String
  package var until: Instant

  package init(host: String, until: Instant) {
    self.host = host
    self.until = until
  }
}
