/// Counts of answers since the last announcement, for observers that need no single ones.
struct AnswerCounts: Sendable {
  struct Count: Sendable {
    var segment: Int
    var status: Int
    var answers = 0
    var wireBytes: Int64 = 0
  }

  private(set) var counts: [Count] = []

  mutating func note(_ status: Int, wireBytes: Int64, of segment: Int) {
    let known = counts.firstIndex { $0.segment == segment && $0.status == status }
    if known == nil { counts.append(Count(segment: segment, status: status)) }
    counts[known ?? counts.count - 1].answers += 1
    counts[known ?? counts.count - 1].wireBytes += wireBytes
  }
}

/// Plain items; an unexpected event makes one active, as if it had been so from the start.
extension Dispatcher {
  /// Makes an untouched item plain, and adds what must be read for it; false if it cannot be plain.
  mutating func beginPlain(_ item: Int, into preparations: inout [Preparation]) -> Bool {
    guard !claims.hasCompany, items.isBare(item), serverTime.isAsked,
      let reading = plainReading(of: item)
    else {
      // The run's first answer shows whether the clock is right, so its item is not plain.
      serverTime.isAsked = true
      return false
    }
    items.makePlain(item)
    guard reading.record != nil || reading.digest != nil else {
      items[plain: item].isRead = true
      return true
    }
    begun.begin(.preparations)
    preparations.append(reading)
    return true
  }

  private mutating func plainReading(of item: Int) -> Preparation? {
    let step = items[item].step
    let (entry, index) = (Int(step.entry), Int(items[item].segment))
    guard start.isBrief, step.bundle == nil, asksPlainly(index),
      !segments[index].table.value.isSpecial(at: entry)
    else { return nil }
    let digest = segments[index].table.value.plainDigest(at: entry)
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

  /// Whether the entry alone decides how a segment's items are requested; cached per segment.
  private mutating func asksPlainly(_ index: Int) -> Bool {
    guard network == nil else { return false }
    if let known = segments[index].asksPlainly { return known }
    let isPlain = isAskedPlainly(index)
    segments[index].asksPlainly = isPlain
    return isPlain
  }

  private func isAskedPlainly(_ index: Int) -> Bool {
    let declaration = segments[index].declaration
    return !request.mode.probes && declaration.isStored && !declaration.asksHeadOnly
      && declaration.publishing?.adopts != true && !start.seeksLostBodies
      && declaration.alternates.isEmpty && segments[index].mirrors.isEmpty
      && start.partials.isEmpty && request.withheld == nil && !request.policy.tier.isTrusted
      && !connections.addsHeaders && !connections.watchesPlainHTTP && !connections.asksForPurpose
  }

  mutating func order(_ item: Int, from host: HostID, behind preparations: inout [Preparation]) {
    items[plain: item].host = host
    // An item without anything to read overtakes no earlier item.
    if items[plain: item].isRead, items[plain: item].stored == nil, !preparations.isEmpty {
      items[plain: item].isRead = false
      begun.begin(.preparations)
      preparations.append(Preparation(item: item, record: nil, digest: nil))
    }
    guard items[plain: item].isRead else {
      items[item].state = .preparing
      return
    }
    sendOrder(item)
  }

  mutating func plainRead(_ item: Int, _ answer: Prepared) {
    guard isAsked(item, by: answer) else {
      let work = activate(item)
      work.isBeingRead = false
      work.prepared = answer
      if items[item].state == .preparing { goOn(item) }
      return
    }
    items[plain: item].stored = answer.stored
    items[plain: item].isRead = true
    if items[item].state == .preparing { sendOrder(item) }
  }

  private func isAsked(_ item: Int, by answer: Prepared) -> Bool {
    guard halt == nil, network == nil, answer.adoptedSize == nil else { return false }
    guard let row = row(of: items[item].step) else { return true }
    guard let stored = answer.stored, stored.isPlain else { return false }
    // With an entity tag there is always a condition to send.
    return row.entityTag != 0 || stored.confirmable?.conditions.isEmpty == false
  }

  private mutating func sendOrder(_ item: Int) {
    guard network == nil, bookRoom(item) else {
      activate(item)
      return ask(item)
    }
    let (index, entry) = (Int(items[item].segment), Int(items[item].step.entry))
    let order = Order(
      terms: orderTerms(of: entry, in: index),
      entry: entry,
      stored: items[plain: item].stored,
      sizeLimit: sizeLimit(items[plain: item].diskLimit, in: index)
    )
    items[item].state = .inFlight
    effects.append(.startOrder(newTransfer(for: .item(item)), order))
  }

  /// Returns the request terms of an entry's server, made from the first item and cached.
  private mutating func orderTerms(of entry: Int, in index: Int) -> OrderTerms {
    let origin = segments[index].table.value.originNumber(at: entry)
    if let known = segments[index].orderTerms[origin] { return known }
    var exchange = exchange(
      for: segments[index].table.value.plainURL(at: entry),
      size: nil,
      type: nil,
      record: nil,
      isConditional: false,
      in: index
    )
    exchange.tierQuestion = tierQuestion([], [])
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

  private mutating func bookRoom(_ item: Int) -> Bool {
    guard space.hasRules, items[plain: item].reservation == nil else { return true }
    guard items[plain: item].stored == nil else {
      items[plain: item].diskLimit = space.diskLeft
      return true
    }
    let size = segments[Int(items[item].segment)].table.value.size(at: Int(items[item].step.entry))
    guard let grant = space.requestPlain(size) else { return false }
    items[plain: item].diskLimit = grant.diskLimit
    items[plain: item].reservation = size ?? 0
    return true
  }

  /// Adds received bytes to the reservation of a body of unknown size.
  mutating func growPlain(_ item: Int, by bytes: Int64) {
    guard let reservation = items[plain: item].reservation, items[plain: item].diskLimit != nil
    else { return }
    items[plain: item].reservation = reservation + bytes
    space.reservations.changePlain(by: bytes)
  }

  // MARK: Answers

  mutating func transferJudged(_ id: TransferID, _ outcome: Outcome) {
    guard let job = wire.end(id) else { return }
    if case .item(let item) = job, isTaken(item, outcome) { return }
    transferEnded(id, job, outcome.result)
  }

  /// Returns a plain item's outcome for an answer that no worker judged; nil if none fits.
  func judged(_ item: Int, _ result: TransferResult) -> Outcome? {
    guard items.isPlain(item), !result.isToldByTier else { return nil }
    let (index, entry) = (Int(items[item].segment), Int(items[item].step.entry))
    let origin = segments[index].table.value.originNumber(at: entry)
    guard let terms = segments[index].orderTerms[origin] else { return nil }
    let stored = items[plain: item].stored
    return Order(terms: terms, entry: entry, stored: stored)
      .outcome(of: result.outcome, result.figures, confirming: stored?.confirmable, at: now.wall)
  }

  /// Takes an expected outcome into the batch; returns false if the answer needs full handling.
  mutating func isTaken(_ item: Int, _ outcome: Outcome) -> Bool {
    guard items.isPlain(item), storeFailure == nil, network == nil,
      let host = items[plain: item].host
    else { return false }
    if let arrival = outcome.arrival {
      take(item, arrival)
    } else {
      guard let row = row(of: items[item].step), !space.evicted.contains(row.digest)
      else { return false }
      confirm(item, row)
    }
    // Each answer draws a random number, so that equal seeds give equal runs.
    _ = jitter.next()
    wire.finished(item, on: host, outcome, now: now)
    answerCounts.note(
      outcome.status,
      wireBytes: outcome.wireBytes,
      of: Int(items[item].segment)
    )
    items[item].state = .committing
    return true
  }

  private mutating func confirm(_ item: Int, _ row: Inventory.Row) {
    // The answer repeats the stored headers, which state no lifetime.
    let freshness = Freshness.silent(until: .distantFuture)
    noteQuiet(item, until: freshUntil(freshness, in: Int(items[item].segment)))
    items[plain: item].stored = nil
    batch.confirm(
      item: item,
      Confirmation(item: row.item, validatedAt: now.wall, freshness: freshness),
      now: now.uptime
    )
  }

  private mutating func take(_ item: Int, _ arrival: Arrival) {
    let (index, entry) = (Int(items[item].segment), Int(items[item].step.entry))
    let isPinned = segments[index].table.value.plainDigest(at: entry) != nil
    let until =
      arrival.variance == nil ? freshUntil(arrival.freshness, in: index) : nil
    noteQuiet(item, until: isPinned ? .distantFuture : until)
    if segments.publishes {
      let (digest, others) = (arrival.body.digest, arrival.body.otherDigests)
      noteFresh(
        arrival.url,
        TreeBody(digest: digest, otherDigests: others, size: arrival.body.size)
      )
    }
    if segments.count > 1 {
      settled.note(arrival.variance, of: item)
      settled.note(arrival.headers, of: item)
    }
    if let reservation = items[plain: item].reservation {
      space.reservations.changePlain(by: arrival.body.size - reservation)
      items[plain: item].reservation = arrival.body.size
    }
    items[plain: item].arrival = arrival
    if request.policy.tier.isWritten { share(arrival, isPinned: isPinned) }
    batch.arrive(item: item, arrival, now: now.uptime)
  }

  func arrivedDigest(of item: Int) -> ContentDigest? {
    items.isPlain(item) ? items[plain: item].arrival?.body.digest : nil
  }

  private mutating func freshUntil(_ freshness: Freshness, in index: Int) -> Instant? {
    if let granted = segments[index].granted {
      return freshness.end(under: granted, answeredAt: now.wall)
    }
    segments[index].granted = Planner.lifetimes(
      nil,
      ofSegments: CollectionOfOne(segments[index].declaration.lifetime),
      bound: request.policy.freshnessLimit
    )
    return freshUntil(freshness, in: index)
  }

  private mutating func noteQuiet(_ item: Int, until: Instant?) {
    segments[Int(items[item].segment)].noteQuiet(until: until)
  }

  // MARK: Trouble

  mutating func movePlain(_ item: Int, to new: ActiveItem) {
    let known = items.endPlain(item)
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
    if let arrival = known.arrival { new.note(arrival) }
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
      exchange.tierQuestion = tierQuestion(new.digests, [])
      // Counts the request in flight, which equals the one made here.
      _ = exchange.nextRequest(TransferID(0), under: &connections, at: now.wall)
      new.exchange = ExchangeBox(exchange)
      new.result.attempts = 1
    }
  }

  // MARK: Ends

  mutating func settlePlain(_ written: [Int]) -> [Int] {
    var others: [Int] = []
    var ends = [PlainEnds](repeating: PlainEnds(), count: segments.count)
    for item in written {
      guard items.isPlain(item), items[item].state == .committing else {
        others.append(item)
        continue
      }
      let index = Int(items[item].segment)
      let arrival = items[plain: item].arrival
      if let arrival {
        ends[index].arrivals.append(arrival)
      } else {
        ends[index].confirmedCount += 1
        ends[index].confirmedBytes += row(of: items[item].step)?.size ?? 0
      }
      if let reservation = items[plain: item].reservation { space.endPlain(reservation) }
      if space.remembersEndings {
        let key = key(of: item)
        space.note(arrival == nil ? .revalidate : .fetch, of: key)
      }
      if segments.count > 1 {
        let isRequired = segments[index].declaration.isRequired
        let row = row(of: items[item].step)
        let end = SettledItem(
          plain: arrival?.body.size ?? row?.size,
          arrival?.body.digest ?? row?.digest,
          hasArrived: arrival != nil,
          isRequired
        )
        settled.note(end, of: item)
      }
      _ = items.endPlain(item)
      items[item].state = .settled
      unclaim(item)
    }
    for index in ends.indices { settle(ends[index], of: index) }
    return others
  }

  private struct PlainEnds {
    var confirmedCount = 0
    var confirmedBytes: Int64 = 0
    var arrivals: [Arrival] = []
  }

  private mutating func settle(_ ends: PlainEnds, of index: Int) {
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

  mutating func announceAnswers() {
    guard !answerCounts.counts.isEmpty else { return }
    for count in answerCounts.counts {
      let fact = RunFact.requestsAnswered(
        segment: segments[count.segment].declaration.name,
        count: count.answers,
        status: count.status,
        wireBytes: count.wireBytes
      )
      announce(fact)
    }
    answerCounts = AnswerCounts()
  }
}

extension ActiveItem {
  fileprivate func note(_ arrival: Arrival) {
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
