extension Dispatcher {
  func contentOrder() -> ContentOrder {
    var order = ContentOrder(
      identity: request.identity,
      rules: request.policy.room,
      recorded: start.segments,
      now: isClockAhead ? Instant(milliseconds: .min) : facts.now
    )
    guard request.mode.isOfSegments else {
      order.removesOtherSegments = false
      return order
    }
    order.isShared = request.shard.map { $0.shard.count > 1 } ?? false
    for index in segments.indices {
      order.segments[segments[index].declaration.name] = evictionOrder(of: index)
    }
    for (name, other) in request.unselected {
      order.segments[name] = ContentOrder.Segment(
        priority: other.declaration.priority,
        position: 2 * other.precedingSelectedCount,
        isPublished: other.declaration.publishing != nil
      )
    }
    return order
  }

  func evictionOrder(of index: Int) -> ContentOrder.Segment {
    let segment = segments[index]
    return ContentOrder.Segment(
      priority: segment.priority ?? segment.recorded?.priority,
      // Unselected segments may lie between two selected ones.
      position: 2 * index + 1,
      entries: segment.isDeclared && segment.declaration.isStored ? segment.table : nil,
      isPublished: segment.declaration.publishing != nil
    )
  }

  func rank(of item: Int) -> ContentRank {
    guard request.mode.isOfSegments else { return .undeclared }
    let work = items[item]
    let key = key(of: item)
    var best: ContentRank?
    for index in items.ifActive(item)?.segments ?? [Int(work.segment)] {
      let entry =
        index == Int(work.segment)
        ? Int(work.step.entry) : segments[index].table.value.position(of: key)
      guard let entry,
        let rank = ContentOrder.rank(of: entry, in: evictionOrder(of: index), at: facts.now)
      else { continue }
      best = min(best ?? rank, rank)
    }
    return best ?? .undeclared
  }

  func key(of item: Int) -> URLKey {
    segments[Int(items[item].segment)].table.value.key(at: Int(items[item].step.entry))
  }

  func rank(of key: SegmentKey) -> ContentRank {
    guard let index = segments.index(of: key) else { return .undeclared }
    return .manifest(priority: segments[index].priority, segment: 2 * index + 1)
  }
}
