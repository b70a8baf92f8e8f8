/// Whom a run may ask now, and what becomes of jobs whose host may not be asked.
extension Dispatcher {
  /// Puts a job, new or going on, into the line for its present host.
  mutating func enqueue(_ job: Job) {
    let (host, rank) = place(of: job)
    switch job {
    case .item(let item):
      items[item].state = .queued
      unclaim(item)
    case .document(let number): noteAsked(number)
    }
    if let step = withholding(job) ?? cutOff(job) {
      return turnAway(job, step)
    }
    switch limits.verdict(host, now: now) {
    case .open: break
    case .wait(let due): hold(host, until: due)
    case .deferred, .failed:
      return turnAway(job, from: host)
    }
    queue.append(job.number, to: host, rank: rank)
  }

  mutating func place(of job: Job) -> (host: HostID, rank: Rank) {
    let rank = rank(of: job)
    switch job {
    case .document(let number):
      return (queue.table.host(documents[number].exchange?.hop.authority ?? ""), rank)
    case .item(let item):
      if items[item].slot >= 0, let exchange = active[Int(items[item].slot)].exchange {
        return (queue.table.host(exchange.value.hop.authority), rank)
      }
      if isPart(item) {
        return (queue.table.host(active[Int(items[item].slot)].entry.url.authority), rank)
      }
      if items[item].source > 0 { return (queue.table.host(source(of: item).authority), rank) }
      return (host(of: Int(items[item].step.entry), in: Int(items[item].segment)), rank)
    }
  }

  /// Leaves a job alone until that uptime.
  mutating func pause(_ job: Job, until due: Duration) {
    waiting.insert(job.number, until: due)
    queue.expect(job.number, rank: rank(of: job))
    switch job {
    case .item(let item):
      items[item].state = .waiting
      unclaim(item)
    case .document(let number): noteStumbled(documents[number].segment)
    }
  }

  /// Of an entry; many entries have one origin.
  private mutating func host(of entry: Int, in segment: Int) -> HostID {
    let table = segments[segment].table
    let origin = table.value.originNumber(at: entry)
    if let known = segments[segment].hosts[origin] { return known }
    let host = queue.table.host(table.value.authority(at: entry))
    segments[segment].hosts[origin] = host
    return host
  }

  /// How a job ends that would go where we are not known; nil for all others.
  private func withholding(_ job: Job) -> Exchange.Step? {
    guard let withheld = request.withheld, origin(of: job) == withheld.origin else { return nil }
    return switch withheld.reason {
    case .deferred(let deferral): .deferred(deferral, status: nil)
    case .failed(let failure): .failed(failure, status: nil)
    }
  }

  func origin(of job: Job) -> WebURL.Origin? {
    switch job {
    case .document(let number):
      return documents[number].exchange?.hop.origin
    case .item(let item):
      if items[item].slot >= 0, let exchange = active[Int(items[item].slot)].exchange {
        return exchange.value.hop.origin
      }
      if isPart(item) { return active[Int(items[item].slot)].entry.url.origin }
      if items[item].source > 0 { return source(of: item).origin }
      let entries = segments[Int(items[item].segment)].entries
      return entries.origin(at: Int(items[item].step.entry)).origin
    }
  }

  /// A whole answer in peace: whatever was held against the host is over.
  mutating func noteOpen(_ host: HostID) {
    limits.noteAnswer(host, status: 200, retryAfter: nil, now: now)
    queue.restrict(host, to: limits.limit(of: host))
  }

  /// What a result says about its host, for everything else that waits for it.
  mutating func note(_ result: TransferResult, _ step: Exchange.Step, of host: HostID) {
    switch result.outcome {
    case .success(let response):
      limits.noteAnswer(
        host,
        status: response.status,
        retryAfter: response.headers[.retryAfter],
        now: now
      )
      if case .failed(let failure, _) = step, failure.code == .serverBusy {
        noteBroken(host, failure, isExhausted: true)
      }
    // The host was not asked.
    case .failure where result.figures.tierTrouble != nil: break
    case .failure(let failure):
      let isExhausted = if case .wait = step { false } else { true }
      noteBroken(host, failure, isExhausted: isExhausted)
    }
    queue.restrict(host, to: limits.limit(of: host))
    switch limits.verdict(host, now: now) {
    case .open: break
    case .wait(let due): hold(host, until: due)
    case .deferred, .failed:
      for number in queue.removeAll(of: host) {
        turnAway(Job(number: number), from: host)
      }
    }
  }

  private mutating func noteBroken(_ host: HostID, _ failure: Failure, isExhausted: Bool) {
    guard
      let until = limits.noteFailure(host, failure, isExhausted: isExhausted, now: now)
    else { return }
    announce(
      .warned(
        Diagnostic(
          "run.breaker",
          "`\(queue.table.name(of: host))` is left alone until \(Timestamp.format(until)): "
            + "item after item ended in `\(failure.code.rawValue)`; then one of them tries",
          severity: .warning
        )
      )
    )
  }

  /// A job whose host is not asked any more in this run: another source brings it, or nothing.
  private mutating func turnAway(_ job: Job, from host: HostID) {
    if let step = refusal(host) { turnAway(job, step) }
  }

  /// How a job ends whose host is not asked any more in this run; nil where it may be.
  private func refusal(_ host: HostID) -> Exchange.Step? {
    switch limits.verdict(host, now: now) {
    case .deferred(let deferral): .deferred(deferral, status: nil)
    case .failed(let failure): .failed(failure, status: nil)
    case .open, .wait: nil
    }
  }

  mutating func turnAway(_ job: Job, _ step: Exchange.Step) {
    switch job {
    case .document(let number):
      documentAnswered(number, step)
    case .item(let item):
      if takesDetour(item) { return enqueue(job) }
      let slot = activate(item)
      if readsFirst(item) { return }
      // Each of its sources says why it was not asked.
      if active[slot].exchange == nil, items[item].source > 0 {
        var question = question(of: item)
        _ = passOver(&question, of: item)
        active[slot].exchange = ExchangeBox(question)
      }
      if active[slot].exchange?.value.nextAlternate(
        after: step,
        policy: request.policy,
        now: now.wall
      )
        == true
      {
        return enqueue(job)
      }
      itemAnswered(item, active[slot].exchange?.value.lastWord(step) ?? step)
    }
  }

  // MARK: Detours

  /// Whether an item that was not asked for yet, and cannot be where it is declared, may be had from
  /// an alternate that it was not yet sent to.
  private mutating func takesDetour(_ item: Int) -> Bool {
    guard !isPart(item), items[item].slot < 0 || active[Int(items[item].slot)].exchange == nil
    else { return false }
    let (index, entry) = (Int(items[item].segment), entry(of: item))
    let purpose = connections.asksForPurpose ? RequestPurpose(itemType: entry.type) : .other
    let alternates = alternates(of: entry.url, entry.alternates, in: index)
    let allowed = alternates.prefix(Int(UInt8.max)).dropFirst(Int(items[item].source)).firstIndex {
      request.policy.refusal(
        of: $0,
        for: purpose,
        named: segments[index].provenance,
        at: now.wall
      ) == nil
    }
    guard let allowed else { return false }
    items[item].source = UInt8(allowed + 1)
    return true
  }

  private func entry(of item: Int) -> ManifestEntry {
    if items[item].slot >= 0 { return active[Int(items[item].slot)].entry }
    let entries = segments[Int(items[item].segment)].table.value
    return entries.entry(at: Int(items[item].step.entry), identified: false)
  }

  /// Where it is asked for first.
  private func source(of item: Int) -> WebURL {
    let entry = entry(of: item)
    let alternates = alternates(of: entry.url, entry.alternates, in: Int(items[item].segment))
    return alternates[Int(items[item].source) - 1]
  }

  /// Passes over the sources that are not asked, as the item's detour did; false where none is left.
  mutating func passOver(_ question: inout Exchange, of item: Int) -> Bool {
    while question.sources.number < items[item].source {
      // Its host may answer again by now; it was not asked all the same.
      let step =
        refusal(queue.table.host(question.hop.authority))
        ?? .failed(Failure(.connect, "its host was not to be asked"), status: nil)
      guard question.nextAlternate(after: step, policy: request.policy, now: now.wall) else {
        return false
      }
    }
    return true
  }

  /// What may stand in for an answer has to be known before it is given up; true while it is read.
  private mutating func readsFirst(_ item: Int) -> Bool {
    let work = active[Int(items[item].slot)]
    let mayBeStale = work.segments.contains {
      staleBound(of: $0) > .zero
    }
    guard halt == nil, mayBeStale, work.record == nil, !work.isRead,
      let row = row(of: items[item].step)
    else { return false }
    items[item].state = .preparing
    work.isTurnedAway = true
    if !work.isBeingRead {
      work.isBeingRead = true
      begun.begin(.preparations)
      effects.append(.prepare([Preparation(item: item, record: row.item, digest: nil)]))
    }
    return true
  }

  mutating func note(_ time: Duration?, of host: HostID) {
    guard let time else { return }
    let place = Int(host.number)
    while responseTimes.count <= place { responseTimes.append(ResponseTimes()) }
    responseTimes[place].note(time)
  }

  /// Of each host that answered.
  package var namedResponseTimes: [String: ResponseTimes] {
    var named: [String: ResponseTimes] = [:]
    for (place, times) in responseTimes.enumerated() where !times.isEmpty {
      named[queue.table.name(of: HostID(Int32(place)))] = times
    }
    return named
  }

  /// The hosts that the next run must leave alone as well.
  package func openGates(at now: Moment) -> [HostGate] {
    limits.gates(now: now).map { gate in
      HostGate(host: queue.table.name(of: gate.host), until: gate.until)
    }
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
