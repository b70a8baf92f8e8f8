extension Dispatcher {
  mutating func begin() {
    if request.mode.predicts, space.rules.limit == nil, space.hasRules {
      measureRoom(inDetail: false)
    }
    guard network != nil else { return discoverAll() }
    readConditions()
  }

  private mutating func readConditions() {
    guard let watch = network else { return }
    network?.beginReading()
    effects.append(.readConditions(watch.readings.aspects, hasMemory: !watch.needsMemory))
  }

  mutating func conditionsRead(_ reading: ConditionsReading) {
    network?.read(reading, at: now)
    announce(.conditionsRead(reading.conditions))
    if let failure = reading.failure { return memoryFailed(failure) }
    guard halt == nil else { return giveUpWaiting() }
    decide()
    // A manifest may have added rules during this reading.
    guard network?.readings.areEnough == true else { return readConditions() }
    let waiting = awaitingConditions
    awaitingConditions = []
    for (segment, rejected) in waiting {
      withInventory(.plan(segment: segment, rejected: rejected))
    }
    if !hasDiscovered { discoverAll() }
  }

  private mutating func giveUpWaiting() {
    let waiting = awaitingConditions
    awaitingConditions = []
    for (segment, _) in waiting { settleManifestHalted(segment) }
    if !hasDiscovered { giveUpAll() }
  }

  /// Applies network rules of a manifest and its items; false if the segment waits for conditions.
  mutating func applyNetworkRules(_ rules: NetworkPolicy?, to index: Int) -> Bool {
    let entries = segments[index].entries
    guard rules != nil || entries.hasNetworkRules, !request.policy.isOffline else { return true }
    hasDiscovered = true
    var watch = network ?? NetworkWatch(request)
    let isKnown = watch.narrow(
      index,
      by: rules,
      itemAspects: entries.networkAspects,
      zone: request.policy.zone
    )
    if network == nil { wire.stopLookingAhead() }
    network = watch
    guard !isKnown else {
      decide()
      return true
    }
    if !watch.isReading { readConditions() }
    return false
  }

  private mutating func discoverAll() {
    hasDiscovered = true
    warnOfClock()
    for index in segments.indices { discover(index) }
  }

  private mutating func giveUpAll() {
    hasDiscovered = true
    for index in segments.indices { settleManifestHalted(index) }
  }

  /// Halts the run, since unreadable or unwritable usage records enforce no limit.
  mutating func memoryFailed(_ failure: Failure) {
    announce(.storeFailed(failure))
    stop(.store(failure))
    giveUpWaiting()
  }

  mutating func watchNetwork() {
    guard let watch = network, watch.isReady, halt == nil, !isQuiescent(.work) else { return }
    if watch.readings.areDue(at: now.uptime) { readConditions() }
    if watch.isRenewalDue(at: now) { decide() }
  }

  /// Uptime at which a window closes or a budget period ends; nil if no work is open.
  var networkDeadline: Duration? {
    guard halt == nil, !isQuiescent(.work) else { return nil }
    return network?.renewal.uptime
  }

  private mutating func decide(sweepsItems: Bool = true) {
    guard let before = network, let isOther = network?.decide(at: now) else { return }
    if isOther, let quality = network?.quality {
      announce(.qualityChanged(quality))
    }
    let limit = request.policy.concurrency
    let isThrottled = network?.isThrottled == true
    wire.setConcurrency(isThrottled ? min(limit, NetworkWatch.throttledConcurrency) : limit)
    let hasOwnRules = sweepsItems && segments.contains { $0.entries.hasNetworkRules }
    let hasChanged =
      network?.verdicts != before.verdicts || network?.isExhausted != before.isExhausted
    guard hasOwnRules || hasChanged else { return }
    deferForbiddenJobs()
  }

  private mutating func deferForbiddenJobs() {
    for job in wire.drainQueue() {
      guard let deferral = deferral(of: job) else {
        enqueue(job)
        continue
      }
      settle(job, deferral)
    }
    for (id, job) in wire.transfers where network?.isExhausted[segment(of: job)] == true {
      effects.append(.cancelTransfer(id))
    }
  }

  mutating func settle(_ job: Job, _ deferral: Deferral) {
    switch job {
    case .document(let number): settleDeferred(document: number, deferral)
    case .item(let item): settleDeferred(item, deferral)
    }
  }

  /// Handles a cancelled transfer: after a halt, or because its budget is used up.
  mutating func brokenOff(_ job: Job) {
    guard halt == nil else { return settleHalted(job) }
    guard let deferral = deferral(of: job) else {
      // Other transfers under the budget may end as well; their bytes are recorded first.
      network?.renewAllowances()
      return pause(job, until: now.uptime + Self.recordingTime)
    }
    settle(job, deferral)
  }

  private static let recordingTime: Duration = .milliseconds(100)

  mutating func allowed(_ request: TransferRequest, of segment: Int) -> TransferRequest {
    guard let allowances = network?.allowances(of: segment), !allowances.isEmpty else {
      return request
    }
    var request = request
    request.allowances = allowances
    return request
  }

  // MARK: Who is held back

  /// Returns why a job may not start now; a started job continues while there is a budget.
  mutating func deferral(of job: Job, isRetry: Bool = false) -> Deferral? {
    guard network != nil, let deferral = verdict(of: job).deferral else { return nil }
    let isExhausted = network?.isExhausted[segment(of: job)] == true
    return isRetry || !hasBegun(job) || isExhausted ? deferral : nil
  }

  func deferral(ofSegment index: Int) -> Deferral? {
    network?.verdicts[index].deferral
  }

  private mutating func verdict(of job: Job) -> NetworkVerdict {
    let index = segment(of: job)
    guard case .item(let item) = job,
      let number = segments[index].entries.networkRule(at: Int(items[item].step.entry))
    else { return network?.verdicts[index] ?? .allowed }
    let zone = request.policy.zone
    let verdict = network?.verdict(
      of: index,
      narrowedBy: segments[index].entries.networkRules[number],
      number: number,
      zone: zone,
      at: now
    )
    return verdict ?? .allowed
  }

  private func hasBegun(_ job: Job) -> Bool {
    exchange(of: job).map { $0.value.attempts > 0 } ?? false
  }

  func segment(of job: Job) -> Int {
    switch job {
    case .document(let number): documents[number].segment
    case .item(let item): Int(items[item].segment)
    }
  }

  // MARK: Usage

  /// Whether a job is a probe of a dry run, whose bytes a run would not receive.
  private func isProbe(_ job: Job) -> Bool {
    guard request.mode.probes, case .item(let item) = job else { return false }
    return !isBundle(item) && !isPiece(item)
  }

  mutating func progressed(_ id: TransferID, _ advance: TransferAdvance) {
    guard let job = wire.progressed(id, advance) else { return }
    growReservation(of: job, by: advance.bytes)
    guard network != nil, !isProbe(job) else { return }
    let segment = segment(of: job)
    network?.progressed(id, bytes: advance.bytes, of: segment)
  }

  mutating func recordUsage(_ id: TransferID, _ result: TransferResult, of job: Job) {
    guard network != nil, !isProbe(job) else { return }
    let segment = segment(of: job)
    let hasNews = network?.finished(id, result, of: segment, at: now)
    if hasNews == true, halt == nil { decide(sweepsItems: false) }
  }

  mutating func writeUsage(isIdle: Bool) {
    guard request.mode.writes, let memory = network?.unrecorded(isIdle: isIdle) else { return }
    effects.append(.record(memory))
  }

  mutating func usageRecorded(_ usage: TransferUsage) {
    guard network?.usageRecorded(usage) == true, halt == nil else { return }
    decide()
  }

  // MARK: No route: after the first failure only this machine is asked

  mutating func networkLost() {
    // A proxy on this machine may reach more than its own routes.
    guard !isCutOff, halt == nil, !request.policy.connections.mayBeProxied else { return }
    isCutOff = true
    for job in wire.drain() { enqueue(job) }
  }

  /// Returns the failure of a job that would leave a machine without network; nil for others.
  func cutOff(_ job: Job) -> Exchange.Step? {
    guard isCutOff, let origin = origin(of: job) else { return nil }
    let isHere =
      origin.host == "localhost" || origin.host.hasSuffix(".localhost")
      || IPAddress(host: origin.host)?.isLoopback == true
    return isHere ? nil : .failed(.noRoute, status: nil)
  }

  func explained(_ result: TransferResult, of job: Job) -> TransferResult {
    guard let failure = result.failure, failure.mayMeanNoNetwork,
      case .failed(let loss, _) = cutOff(job)
    else { return result }
    return result.failed(loss)
  }
}

extension Failure {
  package static let noRoute = Failure(
    .noNetwork,
    "this machine has no network: it has no default route",
    isTransient: true
  )

  package var mayMeanNoNetwork: Bool {
    code == .dns || code == .connect || code == .noNetwork
  }
}

/// Result of reading the machine's network conditions.
package struct ConditionsReading: Sendable {
  package var conditions: NetworkConditions
  package var memory: NetworkMemory?
  package var failure: Failure?

  package init(
    _ conditions: NetworkConditions,
    memory: NetworkMemory? = nil,
    failure: Failure? = nil
  ) {
    self.conditions = conditions
    self.memory = memory
    self.failure = failure
  }
}
