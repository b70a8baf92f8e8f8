/// What the rules of the network hold back, and what they break off.
extension Dispatcher {
  /// Begins with what the machine says of its network, where any rule needs it, else at once.
  mutating func begin() {
    if request.mode.foretells, space.rules.limit == nil, space.hasRules {
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
    // Another manifest may have asked for more while this was looked at.
    guard network?.readings.areEnough == true else { return readConditions() }
    let waiting = awaitingConditions
    awaitingConditions = []
    for (segment, rejected) in waiting {
      withInventory(.plan(segment: segment, rejected: rejected))
    }
    if !hasDiscovered { discoverAll() }
  }

  /// Settles the segments that wait for the network, since nothing begins any more.
  private mutating func giveUpWaiting() {
    let waiting = awaitingConditions
    awaitingConditions = []
    for (segment, _) in waiting { settleManifestHalted(segment) }
    if !hasDiscovered { giveUpAll() }
  }

  /// Takes in what a manifest and its items ask of the network; false if it is unknown how that
  /// stands, and the segment has to wait.
  mutating func isNarrowed(_ index: Int, by rules: NetworkPolicy?) -> Bool {
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

  /// Books that cannot be read or kept hold no limit.
  mutating func memoryFailed(_ failure: Failure) {
    announce(.storeFailed(failure))
    stop(.store(failure))
    giveUpWaiting()
  }

  /// Looks whether anything may go on that did before.
  mutating func watchNetwork() {
    guard let watch = network, watch.isReady, halt == nil, !isQuiescent(.work) else { return }
    if watch.readings.areDue(at: now.uptime) { readConditions() }
    if watch.hasTurned(at: now) { decide() }
  }

  /// The uptime at which a window closes or a period turns, while anything waits for its turn.
  var networkDeadline: Duration? {
    guard halt == nil, !isQuiescent(.work) else { return nil }
    return network?.turns.uptime
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
    let hasTurned =
      network?.verdicts != before.verdicts || network?.isExhausted != before.isExhausted
    guard hasOwnRules || hasTurned else { return }
    holdBack()
  }

  /// Settles what waits and may not begin any more, and breaks off what no budget is left for.
  private mutating func holdBack() {
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

  /// A transfer that was called back: at the end of the run, or since no budget was left for it.
  mutating func brokenOff(_ job: Job) {
    guard halt == nil else { return settleHalted(job) }
    guard let deferral = deferral(of: job) else {
      // Others under the same budget may be about to end as well, and are booked then.
      network?.renewAllowances()
      return pause(job, until: now.uptime + Self.bookingTime)
    }
    settle(job, deferral)
  }

  private static let bookingTime: Duration = .milliseconds(100)

  /// The request with what it may receive.
  mutating func allowed(_ request: TransferRequest, of segment: Int) -> TransferRequest {
    guard let allowances = network?.allowances(of: segment), !allowances.isEmpty else {
      return request
    }
    var request = request
    request.allowances = allowances
    return request
  }

  // MARK: Who is held back

  /// Why a job may not begin now; what has begun goes on, as long as there is a budget.
  mutating func deferral(of job: Job, isRetry: Bool = false) -> Deferral? {
    guard network != nil, let deferral = verdict(of: job).deferral else { return nil }
    let isExhausted = network?.isExhausted[segment(of: job)] == true
    return isRetry || !hasBegun(job) || isExhausted ? deferral : nil
  }

  /// Why nothing of a segment may begin now.
  func deferral(ofSegment index: Int) -> Deferral? {
    network?.verdicts[index].deferral
  }

  private mutating func verdict(of job: Job) -> NetworkVerdict {
    let index = segment(of: job)
    guard case .item(let item) = job,
      let number = segments[index].entries.networkRule(at: Int(items[item].step.entry))
    else { return network?.verdicts[index] ?? .go }
    let zone = request.policy.zone
    let verdict = network?.verdict(
      of: index,
      narrowedBy: segments[index].entries.networkRules[number],
      number: number,
      zone: zone,
      at: now
    )
    return verdict ?? .go
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

  // MARK: Books

  /// What a dry run asks of items is not what a run would receive.
  private func isProbe(_ job: Job) -> Bool {
    guard request.mode.probes, case .item(let item) = job else { return false }
    // Playlists are read as manifests are.
    return !isBundle(item) && !isPart(item)
  }

  mutating func progressed(_ id: TransferID, _ advance: TransferAdvance) {
    guard let job = wire.progressed(id, advance) else { return }
    growReservation(of: job, by: advance.bytes)
    guard network != nil, !isProbe(job) else { return }
    let segment = segment(of: job)
    network?.progressed(id, bytes: advance.bytes, of: segment)
  }

  /// Books what came, and decides anew where that may change anything.
  mutating func book(_ id: TransferID, _ result: TransferResult, of job: Job) {
    guard network != nil, !isProbe(job) else { return }
    let segment = segment(of: job)
    let hasNews = network?.finished(id, result, of: segment, at: now)
    if hasNews == true, halt == nil { decide(sweepsItems: false) }
  }

  /// Has kept for good what came; a dry run keeps nothing.
  mutating func keepBooks(isIdle: Bool) {
    guard request.mode.writes, let memory = network?.unrecorded(isIdle: isIdle) else { return }
    effects.append(.record(memory))
  }

  /// Other runs may have used up what this one still counted on.
  mutating func booked(_ usage: TransferUsage) {
    guard network?.booked(usage) == true, halt == nil else { return }
    decide()
  }
}

/// What came of looking at the machine.
package struct ConditionsReading: Sendable {
  package var conditions: NetworkConditions
  /// What is remembered, where it was asked for.
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
