/// The requests of a run: queued, in flight, and waiting for their next attempt; with the limits that
/// responses set for their hosts.
///
/// The wire knows jobs and hosts by their numbers, and nothing of what the jobs are for.
struct Wire: Sendable {
  private(set) var queue: TransferQueue
  private(set) var limits: HostLimits
  private var inFlight = InFlight()
  private var backoff = WaitingLine()
  /// Progress of bodies in flight that have taken longer than a moment.
  private(set) var advances: [TransferID: TransferAdvance] = [:]
  /// Response times per host, indexed by `HostID.number`.
  private var responseTimes: [ResponseTimes] = []
  /// How fast the bodies of each host came, indexed likewise.
  private var paces: [HostPace] = []

  init(_ policy: RunPolicy, looksAhead: Bool, gates: [HostGate], deadline: Duration?, now: Moment) {
    queue = TransferQueue(
      concurrency: policy.concurrency,
      perHost: policy.perHost,
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

  // MARK: In line

  /// Result of queueing a job for a host.
  enum Entry: Sendable {
    case inLine
    /// The host is to be left alone until then.
    case behindGate(until: Duration)
    /// The host is not asked any more in this run.
    case refused(Exchange.Step)
  }

  mutating func enqueue(_ job: Job, to host: HostID, rank: Rank, now: Moment) -> Entry {
    if let step = refusal(of: host, now: now) { return .refused(step) }
    var entry = Entry.inLine
    if case .wait(let due) = limits.verdict(host, now: now) {
      queue.hold(host, until: due)
      entry = .behindGate(until: due)
    }
    queue.append(job.number, to: host, rank: rank)
    return entry
  }

  /// Returns the end of a job whose host is not asked any more in this run; nil if the host may be asked.
  func refusal(of host: HostID, now: Moment) -> Exchange.Step? {
    switch limits.verdict(host, now: now) {
    case .deferred(let deferral): .deferred(deferral, status: nil)
    case .failed(let failure): .failed(failure, status: nil)
    case .open, .wait: nil
    }
  }

  /// Returns until when a host must not be asked; nil if it may be asked now.
  func pause(of host: HostID, now: Moment) -> Duration? {
    if case .wait(let due) = limits.verdict(host, now: now) { due } else { nil }
  }

  /// Puts a job of the line before or behind others.
  mutating func move(_ job: Job, on host: HostID, from old: Rank, to new: Rank) {
    guard queue.withdraw(job.number, from: host, rank: old) else { return }
    queue.append(job.number, to: host, rank: new)
  }

  /// Leaves a job alone until that uptime; none behind it goes ahead of its turn.
  mutating func pause(_ job: Job, until due: Duration, rank: Rank) {
    backoff.insert(job.number, until: due)
    queue.expect(job.number, rank: rank)
  }

  /// The next job whose pause is over.
  mutating func resume(at now: Duration) -> Job? {
    guard let number = backoff.take(at: now) else { return nil }
    queue.stopExpecting(number)
    return Job(number: number)
  }

  /// Takes out all that is in line.
  mutating func drainQueue() -> [Job] {
    queue.drain().map { Job(number: $0) }
  }

  /// Takes out all queued jobs, and those that wait for their next attempt.
  mutating func drain() -> [Job] {
    drainQueue() + backoff.drain().map { Job(number: $0) }
  }

  /// Whether a job waits for its next attempt.
  func isPaused(_ job: Job) -> Bool { backoff.contains(job.number) }

  /// Lets no job come back after its pause that is wanted no more.
  mutating func endPauses(of jobs: Set<Job>) {
    backoff.remove(Set(jobs.map(\.number)))
    for job in jobs { queue.stopExpecting(job.number) }
  }

  /// Takes out all that is in line for a host.
  mutating func drainQueue(of host: HostID) -> [Job] {
    queue.removeAll(of: host).map { Job(number: $0) }
  }

  /// Puts a job that was taken out back into its line.
  mutating func putBack(_ job: Job, to host: HostID, rank: Rank) {
    queue.append(job.number, to: host, rank: rank)
  }

  // MARK: Under way

  mutating func release(at now: Duration) {
    queue.release(at: now)
  }

  /// The next job that may start now; its place is taken from here on.
  mutating func take(at now: Duration) -> (job: Job, host: HostID)? {
    queue.take(at: now).map { (Job(number: $0.job), $0.host) }
  }

  mutating func start(_ job: Job) -> TransferID {
    inFlight.start(job)
  }

  /// Ends a transfer; returns nil for one that has ended already.
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

  /// The transfers under way, the oldest first.
  var transfers: [(id: TransferID, job: Job)] {
    inFlight.ids.compactMap { id in inFlight[id].map { (id, $0) } }
  }

  /// Gives a place back without a request.
  mutating func leave(_ job: Job, on host: HostID) {
    queue.finished(job.number, on: host, httpVersion: nil)
  }

  /// Gives a place back after a request that never went out.
  mutating func takeBack(_ job: Job, from host: HostID) {
    queue.tookBack(job.number, from: host)
  }

  mutating func finished(_ job: Job, on host: HostID, _ result: TransferResult, at now: Moment) {
    queue.finished(job.number, on: host, result)
    note(result.figures.responseTime, of: host)
    if let elapsed = result.bodyTime {
      notePace(result.figures.wireBytes, elapsed, of: host, at: now)
    }
  }

  /// Ends a request whose response was the expected one.
  mutating func finished(_ item: Int, on host: HostID, _ outcome: Outcome, now: Moment) {
    queue.finished(item, on: host, outcome)
    limits.noteAnswer(host, status: 200, retryAfter: nil, now: now)
    queue.restrict(host, to: limits.limit(of: host))
    note(outcome.responseTime, of: host)
    if let arrival = outcome.arrival {
      notePace(outcome.wireBytes, arrival.timing.elapsed, of: host, at: now)
    }
  }

  private mutating func notePace(
    _ bytes: Int64,
    _ elapsed: Duration,
    of host: HostID,
    at now: Moment
  ) {
    let place = Int(host.number)
    while paces.count <= place { paces.append(HostPace()) }
    paces[place].note(bytes, took: elapsed, until: now.uptime)
  }

  private mutating func note(_ time: Duration?, of host: HostID) {
    guard let time else { return }
    let place = Int(host.number)
    while responseTimes.count <= place { responseTimes.append(ResponseTimes()) }
    responseTimes[place].note(time)
  }

  // MARK: Hosts

  /// Changes that a result makes for all jobs that wait for its host.
  struct HostNews: Sendable {
    /// End of the host's pause after a row of broken transfers, and the last one's failure.
    var broken: (until: Instant, failure: Failure)?
    var isHeld = false
    /// Jobs that were queued for the host and must go elsewhere; `refusal` says why.
    var turnedAway: [Job] = []
    var refusal: Exchange.Step?
  }

  mutating func note(
    _ result: TransferResult,
    _ step: Exchange.Step,
    of host: HostID,
    now: Moment
  ) -> HostNews {
    var news = HostNews()
    switch result.outcome {
    case .success(let response):
      limits.noteAnswer(
        host,
        status: response.status,
        retryAfter: response.headers[.retryAfter],
        now: now
      )
      if case .failed(let failure, _) = step, failure.code == .serverBusy {
        noteFailure(failure, isExhausted: true, of: host, now, &news)
      }
    // The host was not asked.
    case .failure where result.figures.tierTrouble != nil: break
    case .failure(let failure):
      let isExhausted = if case .wait = step { false } else { true }
      noteFailure(failure, isExhausted: isExhausted, of: host, now, &news)
    }
    queue.restrict(host, to: limits.limit(of: host))
    if let due = pause(of: host, now: now) {
      queue.hold(host, until: due)
      news.isHeld = true
    }
    news.refusal = refusal(of: host, now: now)
    if news.refusal != nil {
      news.turnedAway = drainQueue(of: host)
    }
    return news
  }

  private mutating func noteFailure(
    _ failure: Failure,
    isExhausted: Bool,
    of host: HostID,
    _ now: Moment,
    _ news: inout HostNews
  ) {
    let until = limits.noteFailure(host, failure, isExhausted: isExhausted, now: now)
    if let until { news.broken = (until, failure) }
  }

  func isHeld(_ host: HostID) -> Bool {
    queue.isHeld(host)
  }

  /// Puts one holdback in the place of another, the new one first, so that no job slips through
  /// between the two.
  mutating func holdBack(_ new: Holdback?, insteadOf old: Holdback?) {
    if let new { queue.holdBack(new) }
    if let old { queue.endHoldback(old) }
  }

  mutating func setConcurrency(_ limit: Int) {
    queue.setConcurrency(limit)
  }

  mutating func stopLookingAhead() {
    queue.stopLookingAhead()
  }

  // MARK: What is open

  var transferCount: Int { inFlight.count }

  var queuedCount: Int { queue.count }

  var isBackoffEmpty: Bool { backoff.isEmpty }

  /// Uptime at which the first waiting job may go on.
  var nextMoment: Duration? {
    [backoff.earliest, queue.nextRelease].compactMap(\.self).min()
  }

  /// Response times by the name of the host.
  var namedResponseTimes: [String: ResponseTimes] {
    var named: [String: ResponseTimes] = [:]
    for (place, times) in responseTimes.enumerated() where !times.isEmpty {
      named[name(of: HostID(Int32(place)))] = times
    }
    return named
  }

  /// The hosts of which enough came to tell how fast they are, by their names.
  var namedPaces: [String: HostPace] {
    var named: [String: HostPace] = [:]
    for (place, pace) in paces.enumerated() where pace.isTelling {
      named[name(of: HostID(Int32(place)))] = pace
    }
    return named
  }

  /// The hosts that the next run must leave alone as well.
  func openGates(at now: Moment) -> [HostGate] {
    limits.gates(now: now).map { HostGate(host: name(of: $0.host), until: $0.until) }
  }
}

/// A host that named a time before which it does not want to be asked, as runs remember it.
package struct HostGate: Hashable, Sendable {
  /// As ``WebURL/authority`` has it.
  package var host: String
  package var until: Instant

  package init(host: String, until: Instant) {
    self.host = host
    self.until = until
  }
}
