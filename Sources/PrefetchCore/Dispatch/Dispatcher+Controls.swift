/// What people say of items while the run has them under way: these end, and nothing has failed.
extension Dispatcher {
  /// Items that a person may still stop: those under way, and those that go on by themselves.
  package var stoppable: [(item: Int, url: String)] {
    guard halt == nil else { return [] }
    var found: [(item: Int, url: String)] = []
    for item in items.indices where isStored(item) && !isPart(item) {
      switch items[item].state {
      case .preparing, .inFlight, .waiting, .gathering: found.append((item, url(of: item)))
      case .queued, .committing, .settled: break
      }
    }
    return found
  }

  mutating func controlled(_ item: Int, _ control: ItemControl) {
    guard halt == nil, items.indices.contains(item), !(control == .paused && isWoken(item)) else {
      return
    }
    switch items[item].state {
    case .queued, .committing, .settled: return
    case .preparing, .waiting, .inFlight, .gathering: break
    }
    let work = activate(item)
    work.control = control
    work.result.isRequired = false
    work.sparing = work.segments
    switch items[item].state {
    case .queued, .committing, .settled: break
    // It ends when it is read.
    case .preparing: break
    case .waiting:
      // What waits for room ends when its turn comes.
      if endsPause(of: item) { end(item, as: control) }
    case .inFlight: callBack(item, control)
    case .gathering:
      callBack(item, control)
      for piece in bundles.pieces(of: item) where items[piece].state == .waiting {
        if endsPause(of: piece) { end(piece, nil) }
      }
      if bundles[item]?.ending == nil {
        bundles[item]?.ending = .deferred(Deferral(rule: .paused))
      }
      goOn(withBundle: item)
    }
  }

  /// Whether it was paused before, and is asked for all the same.
  private func isWoken(_ item: Int) -> Bool {
    guard request.policy.wakesPaused else { return false }
    if items.ifActive(item)?.record?.value.state == .paused { return true }
    return row(of: items[item].step)?.state == .paused
  }

  /// Whether it waited for its next try, which is not made then.
  private mutating func endsPause(of item: Int) -> Bool {
    guard wire.isPaused(.item(item)) else { return false }
    wire.endPauses(of: [.item(item)])
    return true
  }

  /// Calls back what is asked for of an item, be it of one file or of several.
  private mutating func callBack(_ item: Int, _ control: ItemControl) {
    for (id, job) in wire.transfers {
      guard case .item(let other) = job,
        other == item || bundles.piece(other)?.bundle == item
      else { continue }
      switch control {
      case .paused: effects.append(.interruptTransfer(id))
      case .removed: effects.append(.cancelTransfer(id))
      }
    }
  }

  /// Ends an item that a person has stopped, if that is so; its place on the wire is given back.
  mutating func endsAsTold(_ job: Job) -> Bool {
    guard case .item(let item) = job, let control = items.ifActive(item)?.control,
      items[item].state != .settled
    else { return false }
    end(item, as: control)
    return true
  }

  /// What a person has just paused, and another run had under way until then, is left alone.
  mutating func heedsPause(_ item: Int) -> Bool {
    guard !request.policy.wakesPaused, let work = items.ifActive(item),
      work.record?.value.state == .paused, items[item].step.decision != .keep
    else { return false }
    work.control = .paused
    work.result.isRequired = false
    work.sparing = work.segments
    leaveWire(.item(item))
    return endsAsTold(.item(item))
  }

  /// Whether an answer is wanted no more; a whole body of what is only paused is stored all the same.
  mutating func isRefusedByPerson(_ job: Job, _ step: Exchange.Step) -> Bool {
    guard case .item(let item) = job, let control = items.ifActive(item)?.control else {
      return false
    }
    if case .answered(let response) = step {
      if control == .paused, !isBundle(item) { return false }
      discard(response)
    }
    return endsAsTold(job)
  }

  /// The one way in which an item ends that a person has stopped: its segments are as they should be.
  private mutating func end(_ item: Int, as control: ItemControl) {
    let work = activate(item)
    for index in work.segments { segments[index].noteQuiet(until: nil) }
    switch control {
    case .paused where work.result.isUsable:
      work.result.action = .keep
      work.result.outcome = .unchanged
      work.result.source = .cache
      work.result.reason = "paused"
      work.result.state = .paused
      keepUnasked(item)
      settleItem(item)
    case .paused:
      work.result.state = .paused
      settleDeferred(item, Deferral(rule: .paused))
    case .removed:
      effects.append(.forgetPartial(work.entry.url.string))
      work.result.isUsable = false
      work.result.state = .deleted
      work.result.action = .remove
      work.result.outcome = .removed
      work.result.reason = "removed by `rm`"
      work.result.digest = nil
      settleItem(item)
    }
  }
}
