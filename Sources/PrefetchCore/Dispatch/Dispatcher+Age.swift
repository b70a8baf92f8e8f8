/// Bodies that an age gate holds back: judged by the list, by a HEAD, or by the body itself.
extension Dispatcher {
  private func ageGate(of item: Int) -> AgeGate? {
    AgeGate(segments[Int(items[item].segment)].declaration, request.policy, at: facts.now)
  }

  private func past(of item: Int) -> AgeGate.Past {
    guard let row = row(of: items[item].step) else { return AgeGate.Past() }
    return AgeGate.Past(row, facts.inventory.sights[row.item])
  }

  /// Settles an item that its list shows to be too young.
  mutating func settleYoung(_ item: Int) {
    guard case .tooYoung(let until) = items[item].step.reason else { return settleItem(item) }
    let past = past(of: item)
    let index = Int(items[item].segment)
    var sight: Sight?
    if let gate = ageGate(of: item),
      gate.age(
        Int(items[item].step.entry),
        of: segments[index].table.value,
        digests: items.active(item).digests,
        past
      )?.basis == .seen, let mark = BodyMark.declared(items.active(item).digests)
    {
      sight = gate.sight(of: mark, after: past)
    }
    settleYoung(item, YoungBody(until: until, sight: sight))
  }

  /// Body that is too young, and its first sight if that must be recorded.
  struct YoungBody {
    var until: Instant?
    var sight: Sight?
  }

  mutating func settleYoung(_ item: Int, _ body: YoungBody) {
    let url = items.active(item).entry.recordURL
    let known = past(of: item).sight
    let isStored = isStored(item) && !isPiece(item)
    let reason = body.until.map { PlanReason.tooYoung(until: $0).text }
    let rules = request.segments[Int(items[item].segment)].age
    let others = Set(request.segments.indices.filter { request.segments[$0].age != rules })
    leaveSharers(item) { others.contains($0) }
    if segments.count > 1 {
      // Another segment may bring the body in this run, durable or not yet.
      let key = URLKey(url)
      for index in items.active(item).segments { segments[index].otherVariants.insert(key) }
    }
    settleDeferred(item, Deferral(rule: .age, until: body.until), because: reason)
    guard let sight = body.sight, sight != known, isStored, !isClockDoubtful,
      request.mode.writes, storeFailure == nil, halt == nil
    else { return }
    batch.add(.sighted(url, sight), now: now.uptime)
  }

  /// Whether servers contradict this machine's clock, so that no age counts by it.
  private var isClockDoubtful: Bool {
    if facts.isClockAhead { return true }
    guard let newest = serverTime.received ?? serverTime.recorded else { return false }
    return Freshness.isFuture(newest, at: now.wall)
  }

  /// Judges the head of a body of unknown age: 304, the stored body, a young one, or one to fetch.
  mutating func ageHeadReceived(
    _ item: Int,
    _ response: TransferResponse,
    _ exchange: ExchangeBox
  ) {
    let work = items.active(item)
    let record = work.record?.value
    let size = Self.declaredSize(in: response)
    if record?.isImported(like: response.headers, size: size) == true {
      return headReceived(item, response, exchange)
    }
    if response.status == 304, exchange.value.isConditional, record != nil {
      var expected = Expectation(stored: record?.validators)
      expected.isContradicted = record.map { Planner.isContradicted(work.digests, by: $0) } ?? false
      guard case .confirmed = conclude(.item(item), response, expected) else { return }
      return keepConfirmedBody(item, response)
    }
    guard [200, 203].contains(response.status), let gate = ageGate(of: item),
      let mark = BodyMark.stated(Validators(response.headers), size: size)
    else {
      // Some servers refuse HEAD alone, and others state nothing by which a body is known.
      exchange.value.requestBody()
      return reask(.item(item))
    }
    let sight = gate.sight(of: mark, after: past(of: item))
    guard isStoredBody(mark, of: item) || gate.isOldEnough(sight) && !isClockDoubtful else {
      return settleYoung(item, YoungBody(until: gate.age(of: sight).until, sight: sight))
    }
    exchange.value.requestBody()
    reask(.item(item))
  }

  /// Returns the body that a dry run sees to be too young; nil for one that a run would take.
  func youngBody(_ item: Int, _ response: TransferResponse) -> YoungBody? {
    guard items[item].step.age == .open, let gate = ageGate(of: item) else { return nil }
    let size = Self.declaredSize(in: response)
    let stated = BodyMark.stated(Validators(response.headers), size: size)
    let past = past(of: item)
    // A body that is known only as a whole would count from now on, if it is the first.
    if stated == nil, past.sight != nil || items.active(item).record?.value.digest != nil {
      return nil
    }
    let mark = stated ?? BodyMark.received(.none)
    if isStoredBody(mark, of: item) { return nil }
    let sight = gate.sight(of: mark, after: past)
    return gate.isOldEnough(sight)
      ? nil : YoungBody(until: gate.age(of: sight).until, sight: nil)
  }

  /// Whether a mark is that of the body which the store has, or had before it was lost.
  private func isStoredBody(_ mark: String, of item: Int) -> Bool {
    guard let record = items.active(item).record?.value, record.digest != nil else { return false }
    return BodyMark.stated(record.validators, size: record.size) == mark
  }

  /// Returns a received body that is too young; nil for one that may be stored.
  func ageDeferral(
    _ item: Int,
    _ response: TransferResponse,
    _ body: StagedBody
  ) -> YoungBody? {
    let check = items[item].step.age
    guard check != .none, let gate = ageGate(of: item) else { return nil }
    if isClockDoubtful { return YoungBody(until: nil, sight: nil) }
    guard check == .open, body.digest != items.active(item).record?.value.digest else { return nil }
    let stated = BodyMark.stated(Validators(response.headers), size: body.size)
    if let stated, isStoredBody(stated, of: item) { return nil }
    let sight = gate.sight(ofReceived: body.digest, stated: stated, after: past(of: item))
    guard !gate.isOldEnough(sight) else { return nil }
    return YoungBody(until: gate.age(of: sight).until, sight: sight)
  }
}
