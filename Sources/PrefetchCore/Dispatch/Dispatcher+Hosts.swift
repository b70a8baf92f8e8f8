extension Dispatcher {
  mutating func enqueue(_ job: Job) {
    let (host, rank) = hostAndRank(of: job)
    switch job {
    case .item(let item):
      items[item].state = .queued
      unclaim(item)
    case .document(let number): addRequestedDocument(number)
    }
    if let step = withholding(job) ?? cutOff(job) {
      return refuseJob(job, step)
    }
    switch wire.enqueue(job, to: host, rank: rank, now: now) {
    case .queued: break
    case .behindGate: renewStartBarriers()
    case .refused(let step): refuseJob(job, step)
    }
  }

  mutating func hostAndRank(of job: Job) -> (host: HostID, rank: Rank) {
    let rank = rank(of: job)
    if let exchange = exchange(of: job) {
      return (wire.host(exchange.value.hop.authority), rank)
    }
    switch job {
    case .document: return (wire.host(""), rank)
    case .item(let item):
      if isPiece(item) {
        return (wire.host(items.active(item).entry.url.authority), rank)
      }
      if items[item].source > 0 { return (wire.host(source(of: item).authority), rank) }
      return (host(of: Int(items[item].step.entry), in: Int(items[item].segment)), rank)
    }
  }

  mutating func pause(_ job: Job, until due: Duration) {
    wire.pause(job, until: due, rank: rank(of: job))
    switch job {
    case .item(let item):
      items[item].state = .waiting
      unclaim(item)
    case .document(let number): recordDocumentRetry(documents[number].segment)
    }
  }

  private mutating func host(of entry: Int, in segment: Int) -> HostID {
    let table = segments[segment].table
    let origin = table.value.originNumber(at: entry)
    if let known = segments[segment].hosts[origin] { return known }
    let host = wire.host(table.value.authority(at: entry))
    segments[segment].hosts[origin] = host
    return host
  }

  /// Returns the end of a job for the withheld origin, which would not know this machine.
  private func withholding(_ job: Job) -> Exchange.Step? {
    guard let withheld = request.unregisteredOrigin, origin(of: job) == withheld.origin else {
      return nil
    }
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
      if isPiece(item) { return items.active(item).entry.url.origin }
      if items[item].source > 0 { return source(of: item).origin }
      let entries = segments[Int(items[item].segment)].entries
      return entries.origin(at: Int(items[item].step.entry)).origin
    }
  }

  /// Records a result in its host's limits, and turns away queued jobs that must not ask it.
  mutating func recordResult(
    _ result: TransferResult,
    _ step: Exchange.Step,
    of host: HostID,
    rateLimit: Duration?
  ) {
    let news = wire.recordResult(result, step, of: host, rateLimit: rateLimit, now: now)
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
    if news.isHeld { renewStartBarriers() }
    guard let refusal = news.refusal else { return }
    for job in news.refusedJobs { refuseJob(job, refusal) }
  }

  mutating func refuseJob(_ job: Job, _ step: Exchange.Step) {
    switch job {
    case .document: exchangeEnded(job, step)
    case .item(let item):
      if switchToAlternate(item) { return enqueue(job) }
      let work = activate(item)
      if readsFirst(item) { return }
      if work.exchange == nil, items[item].source > 0 {
        var exchange = makeExchange(for: item)
        _ = passOver(&exchange, of: item)
        work.exchange = ExchangeBox(exchange)
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
      exchangeEnded(job, work.exchange?.value.gravestStep(after: step) ?? step)
    }
  }

  // MARK: Detours

  private mutating func switchToAlternate(_ item: Int) -> Bool {
    guard !isPiece(item), !items.isActive(item) || items.active(item).exchange == nil
    else { return false }
    let (index, entry) = (Int(items[item].segment), entry(of: item))
    let purpose = connections.dependsOnPurpose ? RequestPurpose(itemType: entry.type) : .other
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

  private func source(of item: Int) -> WebURL {
    let entry = entry(of: item)
    let alternates = alternates(of: entry.url, entry.alternates, in: Int(items[item].segment))
    return alternates[Int(items[item].source) - 1]
  }

  mutating func passOver(_ exchange: inout Exchange, of item: Int) -> Bool {
    while exchange.sources.number < items[item].source {
      // The host may be open again by now, but it was not asked.
      let step =
        wire.refusal(of: wire.host(exchange.hop.authority), now: now)
        ?? .failed(Failure(.connect, "its host is paused"), status: nil)
      guard exchange.nextAlternate(after: step, policy: request.policy, now: now.wall) else {
        return false
      }
    }
    return true
  }

  /// Reads the stored record if a stale copy may serve; returns whether the item waits for it.
  private mutating func readsFirst(_ item: Int) -> Bool {
    let work = items.active(item)
    let mayBeStale = work.segments.contains {
      staleBound(of: $0) > .zero
    }
    guard halt == nil, mayBeStale, work.record == nil, !work.isRead,
      let row = row(of: items[item].step)
    else { return false }
    items[item].state = .preparing
    work.awaitsRecordOnly = true
    if !work.isBeingRead {
      work.isBeingRead = true
      begun.begin(.preparations)
      effects.append(.prepare([Preparation(item: item, record: row.item, digest: nil)]))
    }
    return true
  }
}
