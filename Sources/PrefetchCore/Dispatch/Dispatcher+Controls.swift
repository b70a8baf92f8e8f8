/// User commands that pause or remove items during a run; such items end without failure.
extension Dispatcher {
  package var stoppable: [(item: Int, url: String)] {
    guard halt == nil else { return [] }
    var found: [(item: Int, url: String)] = []
    for item in items.indices where isStored(item) && !isPiece(item) {
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
    work.optionalIn = work.segments
    switch items[item].state {
    case .queued, .committing, .settled: break
    // The item ends when its record has been read.
    case .preparing: break
    case .waiting:
      // An item that waits for room ends when it is started again.
      if cancelRetryWait(of: item) { end(item, as: control) }
    case .inFlight: callBack(item, control)
    case .gathering:
      callBack(item, control)
      for piece in bundles.pieces(of: item) where items[piece].state == .waiting {
        if cancelRetryWait(of: piece) { end(piece, nil) }
      }
      if bundles[item]?.outcome == nil {
        bundles[item]?.outcome = .deferred(Deferral(rule: .paused))
      }
      continueBundle(item)
    }
  }

  private func isWoken(_ item: Int) -> Bool {
    guard request.policy.wakesPaused else { return false }
    if items.ifActive(item)?.record?.value.state == .paused { return true }
    return row(of: items[item].step)?.state == .paused
  }

  private mutating func cancelRetryWait(of item: Int) -> Bool {
    guard wire.isPaused(.item(item)) else { return false }
    wire.endPauses(of: [.item(item)])
    return true
  }

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

  mutating func endIfStopped(_ job: Job) -> Bool {
    guard case .item(let item) = job, let control = items.ifActive(item)?.control,
      items[item].state != .settled
    else { return false }
    end(item, as: control)
    return true
  }

  mutating func heedsPause(_ item: Int) -> Bool {
    guard !request.policy.wakesPaused, let work = items.ifActive(item),
      work.record?.value.state == .paused, items[item].step.decision != .keep
    else { return false }
    work.control = .paused
    work.result.isRequired = false
    work.optionalIn = work.segments
    leaveWire(.item(item))
    return endIfStopped(.item(item))
  }

  /// Whether the user stopped the answer's item; a paused file's whole body is still stored.
  mutating func settleIfStopped(_ job: Job, _ step: Exchange.Step) -> Bool {
    guard case .item(let item) = job, let control = items.ifActive(item)?.control else {
      return false
    }
    if case .responded(let response) = step {
      if control == .paused, !isBundle(item) { return false }
      discard(response)
    }
    return endIfStopped(job)
  }

  /// Ends an item that the user stopped, without harm to the state of its segments.
  private mutating func end(_ item: Int, as control: ItemControl) {
    let work = activate(item)
    for index in work.segments { segments[index].limitQuiet(until: nil) }
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
