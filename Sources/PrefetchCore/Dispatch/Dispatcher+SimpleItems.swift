/// Counts of answers since the last announcement, for observers that need no single ones.
struct ResponseCounts: Sendable {
  struct Count: Sendable {
    var segment: Int
    var status: Int
    var responses = 0
    var wireBytes: Int64 = 0
  }

  private(set) var counts: [Count] = []

  mutating func add(_ status: Int, wireBytes: Int64, of segment: Int) {
    let known = counts.firstIndex { $0.segment == segment && $0.status == status }
    if known == nil { counts.append(Count(segment: segment, status: status)) }
    counts[known ?? counts.count - 1].responses += 1
    counts[known ?? counts.count - 1].wireBytes += wireBytes
  }
}

/// Simple items; an unexpected event makes one active, as if it had been so from the start.
extension Dispatcher {
  /// Makes an untouched item plain, and adds what must be read for it; false if it cannot be plain.
  mutating func beginSimple(_ item: Int, into preparations: inout [Preparation]) -> Bool {
    guard !claims.hasOtherRuns, items.isBare(item), serverTime.isRequested,
      let reading = simplePreparation(of: item)
    else {
      // The run's first answer shows whether the clock is right, so its item is not plain.
      serverTime.isRequested = true
      return false
    }
    items.makeSimple(item)
    guard reading.record != nil || reading.digest != nil else {
      items[simple: item].isRead = true
      return true
    }
    begun.begin(.preparations)
    preparations.append(reading)
    return true
  }

  private mutating func simplePreparation(of item: Int) -> Preparation? {
    let step = items[item].step
    let (entry, index) = (Int(step.entry), Int(items[item].segment))
    guard start.isBrief, step.bundle == nil, step.age == .none, entrySuffices(index),
      !segments[index].table.value.hasExtras(at: entry), !hasPart(entry, in: index)
    else { return nil }
    let digest = segments[index].table.value.columnDigest(at: entry)
    guard let row = row(of: step) else {
      guard step.reason == .notStored, !request.keepsItems, space.rules.limit == nil else {
        return nil
      }
      return Preparation(item: item, record: nil, digest: digest)
    }
    guard step.decision == .revalidate, step.isHeld || !request.mode.isOfSegments, step.isDescribed,
      row.state == .cached, isUsable(row), digest == nil,
      // Another segment may have stored a body that this one would refuse.
      segments.count == 1
        || segments[index].declaration.expectation.isEmpty
          && !segments[index].declaration.honorsNoStore
    else { return nil }
    return Preparation(item: item, record: row.item, digest: nil)
  }

  private func hasPart(_ entry: Int, in index: Int) -> Bool {
    !start.partials.isEmpty
      && start.partials[segments[index].table.value.url(at: entry)] != nil
  }

  /// Whether the entry alone decides how a segment's items are requested; cached per segment.
  private mutating func entrySuffices(_ index: Int) -> Bool {
    guard network == nil else { return false }
    if let known = segments[index].entrySuffices { return known }
    let isAllowed = computeEntrySuffices(index)
    segments[index].entrySuffices = isAllowed
    return isAllowed
  }

  private func computeEntrySuffices(_ index: Int) -> Bool {
    let declaration = segments[index].declaration
    return !request.mode.probes && declaration.isStored && !declaration.requestsHeadOnly
      && declaration.publishing?.adopts != true
      && declaration.alternates.isEmpty && segments[index].mirrors.isEmpty
      && request.unregisteredOrigin == nil
      && !request.policy.tier.isTrusted
      && !connections.addsHeaders && !connections.rechecksPlainHTTP && !connections.dependsOnPurpose
  }

  mutating func order(_ item: Int, from host: HostID, behind preparations: inout [Preparation]) {
    items[simple: item].host = host
    // An item without anything to read overtakes no earlier item.
    if items[simple: item].isRead, items[simple: item].stored == nil, !preparations.isEmpty {
      items[simple: item].isRead = false
      begun.begin(.preparations)
      preparations.append(Preparation(item: item, record: nil, digest: nil))
    }
    guard items[simple: item].isRead else {
      items[item].state = .preparing
      return
    }
    sendOrder(item)
  }

  mutating func simpleItemRead(_ item: Int, _ preparation: Prepared) {
    guard mayRequest(item, with: preparation) else {
      let work = activate(item)
      work.isBeingRead = false
      work.prepared = preparation
      if items[item].state == .preparing { continueItem(item) }
      return
    }
    items[simple: item].stored = preparation.stored
    items[simple: item].isRead = true
    if items[item].state == .preparing { sendOrder(item) }
  }

  private func mayRequest(_ item: Int, with preparation: Prepared) -> Bool {
    guard halt == nil, network == nil, preparation.adoptedSize == nil else { return false }
    guard let row = row(of: items[item].step) else { return true }
    guard let stored = preparation.stored, stored.suitsSimpleItem else { return false }
    // With an entity tag there is always a condition to send.
    return row.entityTag != 0 || stored.confirmable?.conditions.isEmpty == false
  }

  private mutating func sendOrder(_ item: Int) {
    guard network == nil, reserveRoom(item) else {
      activate(item)
      return requestItem(item)
    }
    let (index, entry) = (Int(items[item].segment), Int(items[item].step.entry))
    let order = Order(
      terms: orderTerms(of: entry, in: index),
      entry: entry,
      stored: items[simple: item].stored,
      sizeLimit: sizeLimit(items[simple: item].diskLimit, in: index)
    )
    items[item].state = .inFlight
    effects.append(.startOrder(newTransfer(for: .item(item)), order))
  }

  private mutating func orderTerms(of entry: Int, in index: Int) -> OrderTerms {
    let origin = segments[index].table.value.originNumber(at: entry)
    if let known = segments[index].orderTerms[origin] { return known }
    var exchange = exchange(
      for: segments[index].table.value.columnURL(at: entry),
      size: nil,
      type: nil,
      record: nil,
      isConditional: false,
      in: index
    )
    exchange.tierRequest = tierRequest([], [])
    var transfer = exchange.nextRequest(TransferID(0), under: &connections, at: now.wall)
    transfer.rateGroup = rateGroup(of: index)
    let terms = OrderTerms(
      transfer,
      of: segments[index].declaration,
      joining: request.mode.keepsSegments ? segments[index].key : nil,
      table: segments[index].table,
      like: entry,
      agent: given.value.request.policy.agent,
      key: start.key,
      isAnonymous: exchange.isAnonymous
    )
    segments[index].orderTerms[origin] = terms
    return terms
  }

  private mutating func reserveRoom(_ item: Int) -> Bool {
    guard space.hasRules, items[simple: item].reservation == nil else { return true }
    guard items[simple: item].stored == nil else {
      items[simple: item].diskLimit = space.diskLeft
      return true
    }
    let size = segments[Int(items[item].segment)].table.value.size(at: Int(items[item].step.entry))
    guard let grant = space.requestSimple(size) else { return false }
    items[simple: item].diskLimit = grant.diskLimit
    items[simple: item].reservation = size ?? 0
    return true
  }

  mutating func growSimple(_ item: Int, by bytes: Int64) {
    guard let reservation = items[simple: item].reservation, items[simple: item].diskLimit != nil
    else { return }
    items[simple: item].reservation = reservation + bytes
    space.reservations.changeSimple(by: bytes)
  }

  // MARK: Answers

  mutating func transferJudged(_ id: TransferID, _ outcome: Outcome) {
    guard let job = wire.end(id) else { return }
    if case .item(let item) = job, handleSimpleOutcome(item, outcome) { return }
    transferEnded(id, job, outcome.result)
  }

  /// Returns a simple item's outcome for an answer that no worker judged; nil if none fits.
  func judged(_ item: Int, _ result: TransferResult) -> Outcome? {
    guard items.isSimple(item), !result.isFromSecondTier else { return nil }
    let (index, entry) = (Int(items[item].segment), Int(items[item].step.entry))
    let origin = segments[index].table.value.originNumber(at: entry)
    guard let terms = segments[index].orderTerms[origin] else { return nil }
    let stored = items[simple: item].stored
    return Order(terms: terms, entry: entry, stored: stored)
      .outcome(of: result.outcome, result.figures, confirming: stored?.confirmable, at: now.wall)
  }

  /// Takes an expected outcome into the batch; returns false if the answer needs full handling.
  mutating func handleSimpleOutcome(_ item: Int, _ outcome: Outcome) -> Bool {
    guard items.isSimple(item), storeFailure == nil, network == nil,
      let host = items[simple: item].host
    else { return false }
    if let arrival = outcome.arrival {
      storeArrival(item, arrival)
    } else {
      guard let renewal = outcome.renewal, let row = row(of: items[item].step),
        !space.evicted.contains(row.digest),
        // New headers may forbid another segment to store the body.
        segments.count == 1 || renewal.headers == nil
      else { return false }
      confirm(item, row, renewal.freshness)
    }
    // Each answer draws a random number, so that equal seeds give equal runs.
    _ = jitter.next()
    wire.finished(item, on: host, outcome, now: now)
    responseCounts.add(
      outcome.status,
      wireBytes: outcome.wireBytes,
      of: Int(items[item].segment)
    )
    items[item].state = .committing
    return true
  }

  private mutating func confirm(_ item: Int, _ row: Inventory.Row, _ freshness: Freshness) {
    limitQuiet(item, until: freshUntil(freshness, in: Int(items[item].segment)))
    items[simple: item].stored = nil
    batch.confirm(
      item: item,
      Confirmation(item: row.item, validatedAt: now.wall, freshness: freshness),
      now: now.uptime
    )
  }

  private mutating func storeArrival(_ item: Int, _ arrival: Arrival) {
    let (index, entry) = (Int(items[item].segment), Int(items[item].step.entry))
    let isPinned = segments[index].table.value.columnDigest(at: entry) != nil
    let until =
      arrival.variance == nil ? freshUntil(arrival.freshness, in: index) : nil
    limitQuiet(item, until: isPinned ? .distantFuture : until)
    if segments.publishes {
      let (digest, others) = (arrival.body.digest, arrival.body.otherDigests)
      recordFreshBody(
        arrival.url,
        TreeBody(digest: digest, otherDigests: others, size: arrival.body.size)
      )
    }
    if segments.count > 1 {
      settled.recordVariance(arrival.variance, of: item)
      settled.recordHeaders(arrival.headers, of: item)
    }
    if let reservation = items[simple: item].reservation {
      space.reservations.changeSimple(by: arrival.body.size - reservation)
      items[simple: item].reservation = arrival.body.size
    }
    items[simple: item].arrival = arrival
    if request.policy.tier.isWritten { offerToTier(arrival, isPinned: isPinned) }
    batch.arrive(item: item, arrival, now: now.uptime)
  }

  func arrivedDigest(of item: Int) -> ContentDigest? {
    items.isSimple(item) ? items[simple: item].arrival?.body.digest : nil
  }

  private mutating func freshUntil(_ freshness: Freshness, in index: Int) -> Instant? {
    if let granted = segments[index].granted {
      return freshness.end(under: granted, respondedAt: now.wall)
    }
    segments[index].granted = Planner.lifetimes(
      nil,
      ofSegments: CollectionOfOne(segments[index].declaration.lifetime),
      bound: request.policy.freshnessLimit
    )
    return freshUntil(freshness, in: index)
  }

  private mutating func limitQuiet(_ item: Int, until: Instant?) {
    segments[Int(items[item].segment)].limitQuiet(until: until)
  }

  // MARK: Trouble

  mutating func promoteSimple(_ item: Int, to new: ActiveItem) {
    let known = items.endSimple(item)
    let isWaiting = items[item].state == .queued || items[item].state == .preparing
    if let record = known.stored?.record, record.url == new.entry.url.string {
      new.record = Shared(record)
    }
    new.isRead = known.isRead
    new.isBeingRead = !known.isRead && isWaiting
    if let id = new.record?.value.id, new.result.id.isEmpty { new.result.id = id }
    new.host = known.host
    new.diskLimit = known.diskLimit
    if let reservation = known.reservation {
      let isGrowing = known.diskLimit != nil && known.arrival == nil
      space.reservations.adopt(item, bytes: reservation, isGrowing: isGrowing)
    }
    if let arrival = known.arrival { new.apply(arrival) }
    if items[item].state == .inFlight {
      var exchange = exchange(
        for: new.entry.url,
        size: new.entry.size,
        type: new.entry.type,
        digests: new.digests,
        record: new.record?.value,
        isConditional: new.record != nil,
        roomLimit: new.diskLimit,
        in: Int(items[item].segment)
      )
      exchange.tierRequest = tierRequest(new.digests, [])
      // Counts the request in flight, which equals the one made here.
      _ = exchange.nextRequest(TransferID(0), under: &connections, at: now.wall)
      new.exchange = ExchangeBox(exchange)
      new.result.attempts = 1
    }
  }

  // MARK: Ends

  mutating func settleSimple(_ written: [Int]) -> [Int] {
    var others: [Int] = []
    var ends = [SimpleEnds](repeating: SimpleEnds(), count: segments.count)
    for item in written {
      guard items.isSimple(item), items[item].state == .committing else {
        others.append(item)
        continue
      }
      let index = Int(items[item].segment)
      let arrival = items[simple: item].arrival
      if let arrival {
        ends[index].arrivals.append(arrival)
      } else {
        ends[index].confirmedCount += 1
        ends[index].confirmedBytes += row(of: items[item].step)?.size ?? 0
      }
      if let reservation = items[simple: item].reservation { space.endSimple(reservation) }
      if space.remembersLastActions {
        let key = key(of: item)
        space.recordAction(arrival == nil ? .revalidate : .fetch, of: key)
      }
      if segments.count > 1 {
        let isRequired = segments[index].declaration.isRequired
        let row = row(of: items[item].step)
        let end = SettledItem(
          simple: arrival?.body.size ?? row?.size,
          arrival?.body.digest ?? row?.digest,
          hasArrived: arrival != nil,
          isRequired
        )
        settled.recordEnd(end, of: item)
      }
      _ = items.endSimple(item)
      items[item].state = .settled
      unclaim(item)
    }
    for index in ends.indices { settle(ends[index], of: index) }
    return others
  }

  private struct SimpleEnds {
    var confirmedCount = 0
    var confirmedBytes: Int64 = 0
    var arrivals: [Arrival] = []
  }

  private mutating func settle(_ ends: SimpleEnds, of index: Int) {
    let count = ends.confirmedCount + ends.arrivals.count
    guard count > 0 else { return }
    let name = segments[index].declaration.name
    if ends.confirmedCount > 0 {
      let fact = RunFact.itemsConfirmed(
        segment: name,
        count: ends.confirmedCount,
        bytes: ends.confirmedBytes
      )
      announce(fact)
    }
    if !ends.arrivals.isEmpty {
      announce(.itemsArrived(segment: name, ends.arrivals))
    }
    let bytes = ends.arrivals.reduce(ends.confirmedBytes) { $0 + $1.body.size }
    segments.count(count, bytes, in: index)
    settleIfDone(index)
  }

  mutating func announceResponseCounts() {
    guard !responseCounts.counts.isEmpty else { return }
    for count in responseCounts.counts {
      let fact = RunFact.requestsCounted(
        segment: segments[count.segment].declaration.name,
        count: count.responses,
        status: count.status,
        wireBytes: count.wireBytes
      )
      announce(fact)
    }
    responseCounts = ResponseCounts()
  }
}

extension ActiveItem {
  fileprivate func apply(_ arrival: Arrival) {
    result.outcome = .added
    result.action = .fetch
    result.source = .network
    result.status = arrival.status
    result.attempts = 1
    result.state = .cached
    result.isUsable = true
    result.size = arrival.body.size
    result.digest = arrival.body.digest
  }
}
