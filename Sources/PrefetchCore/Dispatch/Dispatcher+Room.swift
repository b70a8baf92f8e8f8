/// How much room there is, and where everything stands that wants some.
extension Dispatcher {
  /// Whether the run is about to ask for an item, and does not know what there is room for.
  var needsRoomReading: Bool {
    hasRoomRules && hasInventory && request.mode != .plan && queue.count > 0 && halt == nil
      && (!hasMeasuredRoom || request.policy.room.limit != nil && room == nil)
  }

  /// Asks how much room there is; whatever waits for it goes on when that is known.
  mutating func measureRoom(inDetail: Bool) {
    guard !isMeasuringRoom else { return }
    isMeasuringRoom = true
    measuresInDetail = inDetail || request.policy.room.limit != nil
    effects.append(.measureRoom(inDetail: measuresInDetail))
  }

  mutating func roomMeasured(_ reading: RoomReading) {
    isMeasuringRoom = false
    if isCheckingRoom {
      isCheckingRoom = false
      isRoomChecked = true
      guard measuresInDetail else { return note(reading) }
    }
    hasMeasuredRoom = true
    if reading.stock != nil { room = nil }
    note(reading)
    if let stock = reading.stock, refusals <= Self.patience {
      let order = contentOrder()
      roomVersion = reading.version
      room = Room(limit: request.policy.room.limit, stock: stock) { order.rank(of: $0, in: stock) }
      if request.mode == .plan { self.stock = stock }
    } else if measuresInDetail {
      // What cannot be counted is found out by the commit; what that has refused has no room.
      room = Room(uncounted: refusals > 0 ? request.policy.room.limit : nil)
    }
    resumeForRoom()
  }

  /// How often the same is given to a store that refuses it; another run may be busy for ever.
  private static let patience = 3

  /// How the disk stands, and what of it must stay free.
  mutating func note(_ reading: RoomReading) {
    free = reading.disk?.free
    minimumFree = reading.disk.map { request.policy.room.minimumFree(of: $0.size) } ?? 0
    // Another run has written, or something left: what may go has to be looked at again.
    if let used = reading.used, let room, room.isCounted,
      used != room.used || reading.version != roomVersion
    {
      self.room = nil
    }
  }

  /// What is known by now of who declares what.
  private func contentOrder() -> ContentOrder {
    var order = ContentOrder(
      identity: request.identity,
      rules: request.policy.room,
      recorded: start.segments,
      now: isClockAhead ? Instant(milliseconds: .min) : facts.now
    )
    guard request.mode != .get else {
      order.isWhole = false
      return order
    }
    order.isShared = request.shard.map { $0.shard.count > 1 } ?? false
    for index in segments.indices {
      order.segments[segments[index].declaration.name] = standing(of: index)
    }
    for (name, other) in request.unselected {
      order.segments[name] = ContentOrder.Segment(
        priority: other.declaration.priority,
        place: 2 * other.place
      )
    }
    return order
  }

  func standing(of index: Int) -> ContentOrder.Segment {
    let segment = segments[index]
    return ContentOrder.Segment(
      priority: segment.priority ?? segment.recorded?.priority,
      // Between two that were selected others may stand.
      place: 2 * index + 1,
      entries: segment.isDeclared && segment.declaration.isStored ? segment.table : nil
    )
  }

  /// Where an item stands, by the most important of those that name it.
  func rank(of item: Int) -> ContentRank {
    guard request.mode != .get else { return .passing }
    let work = items[item]
    let key = key(of: item)
    var best: ContentRank?
    for index in work.slot >= 0 ? active[Int(work.slot)].segments : [Int(work.segment)] {
      let entry =
        index == Int(work.segment)
        ? Int(work.step.entry) : segments[index].table.value.position(of: key)
      guard let entry,
        let rank = ContentOrder.rank(of: entry, in: standing(of: index), at: facts.now)
      else { continue }
      best = min(best ?? rank, rank)
    }
    return best ?? .passing
  }

  func key(of item: Int) -> URLKey {
    segments[Int(items[item].segment)].table.value.key(at: Int(items[item].step.entry))
  }
}
