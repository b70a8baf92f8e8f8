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
    switch wire.enqueue(job, to: host, rank: rank, now: now) {
    case .inLine: break
    case .behindGate: noteHeld()
    case .refused(let step): turnAway(job, step)
    }
  }

  mutating func place(of job: Job) -> (host: HostID, rank: Rank) {
    let rank = rank(of: job)
    if let exchange = exchange(of: job) {
      return (wire.host(exchange.value.hop.authority), rank)
    }
    switch job {
    case .document: return (wire.host(""), rank)
    case .item(let item):
      if isPart(item) {
        return (wire.host(items.active(item).entry.url.authority), rank)
      }
      if items[item].source > 0 { return (wire.host(source(of: item).authority), rank) }
      return (host(of: Int(items[item].step.entry), in: Int(items[item].segment)), rank)
    }
  }

  /// Leaves a job alone until that uptime.
  mutating func pause(_ job: Job, until due: Duration) {
    wire.pause(job, until: due, rank: rank(of: job))
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
    let host = wire.host(table.value.authority(at: entry))
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
    if let exchange = exchange(of: job) { return exchange.value.hop.origin }
    switch job {
    case .document: return nil
    case .item(let item):
      if isPart(item) { return items.active(item).entry.url.origin }
      if items[item].source > 0 { return source(of: item).origin }
      let entries = segments[Int(items[item].segment)].entries
      return entries.origin(at: Int(items[item].step.entry)).origin
    }
  }

  /// What a result says about its host, for everything else that waits for it.
  mutating func note(_ result: TransferResult, _ step: Exchange.Step, of host: HostID) {
    let news = wire.note(result, step, of: host, now: now)
    if let (until, failure) = news.broken {
      announce(
        .warned(
          Diagnostic(
            "run.breaker",
            "no requests to `\(wire.name(of: host))` until \(Timestamp.format(until)): "
              + "its last items ended in `\(failure.code.rawValue)`; then one of them tries again",
            severity: .warning
          )
        )
      )
    }
    if news.isHeld { noteHeld() }
    // Another source brings them, or nothing.
    guard let refusal = news.refusal else { return }
    for job in news.turnedAway { turnAway(job, refusal) }
  }

  mutating func turnAway(_ job: Job, _ step: Exchange.Step) {
    switch job {
    case .document: answered(job, step)
    case .item(let item):
      if takesDetour(item) { return enqueue(job) }
      let work = activate(item)
      if readsFirst(item) { return }
      // Each of its sources says why it was not asked.
      if work.exchange == nil, items[item].source > 0 {
        var question = question(of: item)
        _ = passOver(&question, of: item)
        work.exchange = ExchangeBox(question)
      }
      if work.exchange?.value.nextAlternate(
        after: step,
        policy: request.policy,
        now: now.wall
      )
        == true
      {
        return enqueue(job)
      }
      answered(job, work.exchange?.value.lastWord(step) ?? step)
    }
  }

  // MARK: Detours

  /// Whether an item that was not asked for yet, and cannot be where it is declared, may be had from
  /// an alternate that it was not yet sent to.
  private mutating func takesDetour(_ item: Int) -> Bool {
    guard !isPart(item), !items.isActive(item) || items.active(item).exchange == nil
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
    if items.isActive(item) { return items.active(item).entry }
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
        wire.refusal(of: wire.host(question.hop.authority), now: now)
        ?? .failed(Failure(.connect, "its host is paused"), status: nil)
      guard question.nextAlternate(after: step, policy: request.policy, now: now.wall) else {
        return false
      }
    }
    return true
  }

  /// What may stand in for an answer has to be known before it is given up; true while it is read.
  private mutating func readsFirst(_ item: Int) -> Bool {
    let work = items.active(item)
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
}
