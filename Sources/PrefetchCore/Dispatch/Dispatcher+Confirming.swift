/// A question that will most likely be answered with "unchanged".
///
/// Most runs ask thousands of them and learn nothing. Until an answer brings news, such an item has
/// no ``ActiveItem``, and nobody is told of it by itself.
struct Confirming: Sendable {
  /// Nil until it is read.
  var record: Shared<ContentRecord>?
  /// Where it takes a place on the wire.
  var host: HostID?
}

/// Answers that nobody has to hear of one by one, since somebody was last told.
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

/// The short way of items that are only confirmed; whatever is not as expected leaves it for the long
/// one, by ``Dispatcher/activate(_:)``, as if it had never been on it.
extension Dispatcher {
  /// Slots below this one stand for a ``Confirming``.
  static let noSlot: Int32 = -1

  func isConfirming(_ item: Int) -> Bool {
    items[item].slot < Self.noSlot
  }

  /// Whether nothing but the stored record has to be known to ask about it.
  private func mayConfirm(_ item: Int) -> Bool {
    let step = items[item].step
    guard start.isBrief, step.decision == .revalidate, step.isHeld, request.mode == .run,
      segments.count == 1, start.partials.isEmpty, segments[0].declaration.alternates.isEmpty,
      segments[0].mirrors.isEmpty,
      let row = row(of: step), row.state == .cached, isUsable(row)
    else { return false }
    return segments[0].table.isPlain(at: Int(step.entry), as: row.description)
  }

  /// Takes the short way with an item that nothing was done about yet; false where it may not.
  mutating func beginConfirming(_ item: Int, into preparations: inout [Preparation]) -> Bool {
    guard items[item].slot == Self.noSlot, mayConfirm(item), let row = row(of: items[item].step)
    else { return false }
    if let place = freeConfirming.popLast() {
      confirming[place] = Confirming()
      items[item].slot = Self.slot(of: place)
    } else {
      items[item].slot = Self.slot(of: confirming.count)
      confirming.append(Confirming())
    }
    preparing += 1
    preparations.append(Preparation(item: item, record: row.item, digest: nil))
    return true
  }

  /// Its turn has come: asks, or waits for its record.
  mutating func confirm(
    _ item: Int,
    from host: HostID,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let place = Self.place(of: items[item].slot)
    confirming[place].host = host
    guard let record = confirming[place].record else {
      items[item].state = .preparing
      return
    }
    askToConfirm(item, record, now: now, into: &effects)
  }

  /// What was read of it.
  mutating func confirmingRead(
    _ item: Int,
    _ answer: Prepared,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let url = segments[0].table.url(at: Int(items[item].step.entry))
    guard halt == nil, let record = answer.record, record.value.url == url,
      record.value.failure == nil, record.value.variance == nil, record.value.hops.isEmpty,
      deferral(of: .item(item), at: now) == nil
    else {
      let slot = activate(item)
      active[slot].isBeingRead = false
      active[slot].prepared = answer
      if items[item].state == .preparing { goOn(item, now: now, into: &effects) }
      return
    }
    confirming[Self.place(of: items[item].slot)].record = record
    if items[item].state == .preparing {
      askToConfirm(item, record, now: now, into: &effects)
    }
  }

  private mutating func askToConfirm(
    _ item: Int,
    _ record: Shared<ContentRecord>,
    now: Moment,
    into effects: inout [Effect]
  ) {
    var exchange = confirmingExchange(item, record)
    if connections.watchesPlainHTTP,
      let objection = connections.objection(to: exchange, at: now.wall)
    {
      _ = activate(item)
      leaveWire(item)
      return turnAway(.item(item), .failed(objection, status: nil), now: now, into: &effects)
    }
    let id = newTransfer(for: .item(item))
    let request = exchange.nextRequest(id, under: &connections, at: now.wall)
    items[item].state = .inFlight
    start(request, of: 0, into: &effects)
  }

  /// The same as the long way would make of it.
  private func confirmingExchange(_ item: Int, _ record: Shared<ContentRecord>) -> Exchange {
    let entry = Int(items[item].step.entry)
    let table = segments[0].table
    return exchange(
      for: table.value.plainURL(at: entry),
      size: table.value.size(at: entry),
      type: table.value.type(at: entry),
      record: record.value,
      isConditional: true,
      roomLimit: diskLeft,
      in: 0
    )
  }

  /// Whether the answer was the expected one, which is all there is to it then.
  mutating func confirmed(_ item: Int, _ result: TransferResult, now: Moment) -> Bool {
    let state = confirming[Self.place(of: items[item].slot)]
    guard halt == nil, storeFailure == nil, let record = state.record, let host = state.host,
      let row = row(of: items[item].step), case .success(let response) = result.outcome,
      response.status == 304, !evicted.contains(row.digest), !result.isTrouble,
      !result.figures.didFallBackFromHTTP3,
      result.figures.unexpectedKey == nil,
      Revalidation.confirms(response.headers, stored: record.value.validators),
      Revalidation.repeats(stored: record.value.headers, confirmed: response.headers)
    else { return false }
    // The long way draws one for every answer, and the same seed must be the same run on both.
    _ = jitter.next()
    queue.finished(item, on: host, result)
    noteOpen(host, now: now)
    answerCounts.note(304, wireBytes: result.figures.wireBytes, of: 0)
    // It repeats what is stored, and nothing of that states a lifetime.
    let freshness = Freshness.silent(until: .distantFuture)
    let granted = Planner.lifetimes(
      nil,
      ofSegments: CollectionOfOne(segments[0].declaration.lifetime),
      bound: request.policy.freshnessLimit
    )
    segments[0].noteQuiet(until: freshness.end(under: granted, answeredAt: now.wall))
    items[item].state = .committing
    confirming[Self.place(of: items[item].slot)].record = nil
    batch.confirm(
      item: item,
      Confirmation(item: row.item, validatedAt: now.wall, freshness: freshness),
      now: now.uptime
    )
    return true
  }

  /// Goes on the long way with an item whose request has been answered.
  mutating func leaveShortWay(
    _ item: Int,
    _ id: TransferID,
    now: Moment,
    into effects: inout [Effect]
  ) {
    let slot = activate(item)
    guard let record = active[slot].record else { return }
    var exchange = confirmingExchange(item, record)
    active[slot].diskLimit = exchange.sizeLimit
    _ = exchange.nextRequest(id, under: &connections, at: now.wall)
    active[slot].exchange = OpenExchange(exchange)
    active[slot].result.attempts = 1
  }

  /// Moves what is known of it to where the long way looks for it.
  mutating func moveConfirming(_ slot: Int32, to item: ActiveItem, in state: ItemWork.State) {
    let place = Self.place(of: slot)
    item.record = confirming[place].record
    item.isRead = item.record != nil
    item.isBeingRead = !item.isRead && (state == .queued || state == .preparing)
    if let id = item.record?.value.id, item.result.id.isEmpty { item.result.id = id }
    item.host = confirming[place].host
    confirming[place] = Confirming()
    freeConfirming.append(place)
  }

  /// Settles those of a commit that only were confirmed; the others are left.
  mutating func settleConfirmed(_ written: [Int], into effects: inout [Effect]) -> [Int] {
    var others: [Int] = []
    var count = 0
    var bytes: Int64 = 0
    for item in written {
      guard isConfirming(item), items[item].state == .committing else {
        others.append(item)
        continue
      }
      if request.policy.room.limit != nil || room != nil, let row = row(of: items[item].step) {
        endings[row.key] = .revalidate
      }
      freeConfirming.append(Self.place(of: items[item].slot))
      items[item].slot = Self.noSlot
      items[item].state = .settled
      count += 1
      bytes += row(of: items[item].step)?.size ?? 0
    }
    guard count > 0 else { return others }
    let name = segments[0].declaration.name
    effects.append(.announce(.itemsConfirmed(segment: name, count: count, bytes: bytes)))
    segments[0].openItems -= count
    segments[0].usableCount += count
    segments[0].usableBytes += bytes
    settleIfDone(0, into: &effects)
    return others
  }

  /// Tells how many answers came since the last time.
  mutating func announceAnswers(into effects: inout [Effect]) {
    guard !answerCounts.counts.isEmpty else { return }
    for count in answerCounts.counts {
      let fact = RunFact.requestsAnswered(
        segment: segments[count.segment].declaration.name,
        count: count.answers,
        status: count.status,
        wireBytes: count.wireBytes
      )
      effects.append(.announce(fact))
    }
    answerCounts = AnswerCounts()
  }

  private static func slot(of place: Int) -> Int32 {
    noSlot - 1 - Int32(place)
  }

  private static func place(of slot: Int32) -> Int {
    Int(noSlot - 1 - slot)
  }
}

/// Not inlined, since the compiler would copy the whole table into the caller.
extension Shared<EntryTable> {
  /// Whether an entry demands nothing by itself, and says of itself what the index has.
  @inline(never)
  fileprivate func isPlain(at entry: Int, as description: UInt64) -> Bool {
    !value.isSpecial(at: entry) && value.plainDigest(at: entry) == nil
      && value.descriptionHash(at: entry) == description
  }

  @inline(never)
  fileprivate func url(at entry: Int) -> String {
    value.url(at: entry)
  }
}
