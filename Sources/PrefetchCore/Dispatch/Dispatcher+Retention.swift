/// Items that left a list and wait for their successors.
extension Dispatcher {
  /// Takes the items that the list itself dropped, or that have expired, out of those that leave: what
  /// a rule of the configuration left out does not wait.
  mutating func retainLeaving(_ index: Int) {
    let unselected = segments[index].unselected
    segments[index].unselected = nil
    guard !segments[index].leaving.isEmpty else { return }
    let entries = segments[index].table.value
    let isListed = segments[index].declaration.isListed
    var leaving: [UInt32] = []
    for position in segments[index].leaving {
      let row = facts.inventory.rows[Int(position)]
      if entries.position(of: row.key) != nil {
        segments[index].expired.append(position)
      } else if !isListed || !isUsable(row)
        || unselected.map({ $0.value.position(of: row.key) != nil }) ?? false
      {
        leaving.append(position)
      } else {
        segments[index].unlisted.append(position)
      }
    }
    segments[index].leaving = leaving
  }

  /// Decides about them once all items of the segment have ended.
  mutating func concludeRetention(_ index: Int) {
    let expired = segments[index].expired
    segments[index].expired = []
    if isClockAhead {
      segments[index].retained += expired
    } else {
      segments[index].leaving += expired
    }
    concludeUnlisted(index)
    guard !segments[index].retained.isEmpty else { return }
    let name = segments[index].declaration.name
    announce(.itemsRetained(segment: name, count: segments[index].retained.count))
  }

  private mutating func concludeUnlisted(_ index: Int) {
    guard !segments[index].unlisted.isEmpty else { return }
    let positions = segments[index].unlisted
    segments[index].unlisted = []
    let items = positions.map { facts.inventory.rows[Int($0)].item }
    let division = segments[index].retention.divide(
      items,
      recorded: segments[index].recorded?.retained ?? [],
      grace: isClockAhead ? nil : request.policy.removalGrace,
      at: now.wall
    )
    for (position, item) in zip(positions, items) {
      if division.over.contains(item) {
        segments[index].leaving.append(position)
      } else {
        segments[index].retained.append(position)
      }
    }
    segments[index].accepted?.retained = division.staying
  }

  /// The bodies whose files stay in the segment's tree.
  func retainedBodies(_ index: Int) -> Set<ContentDigest> {
    let positions = segments[index].retained
    guard !positions.isEmpty else { return [] }
    var bodies = Set(positions.map { facts.inventory.rows[Int($0)].digest })
    let rows = Set(positions.map { Int($0) })
    for part in facts.inventory.parts where rows.contains(part.row) { bodies.insert(part.digest) }
    return bodies
  }

  // MARK: Dry runs

  /// The retained rows, where a dry run lists what is kept.
  func listedRetained() -> [(row: Int, segment: Int)] {
    guard request.listsKept else { return [] }
    return segments.indices.flatMap { index in
      segments[index].retained.map { (Int($0), index) }
    }
  }

  mutating func announceRetained(_ record: ContentRecord, of index: Int) {
    let isListed = segments[index].table.value.position(of: URLKey(record.url)) != nil
    var result = ItemResult(
      url: record.url,
      id: record.id.isEmpty ? start.identify(record.url) : record.id,
      segments: segments[index].names,
      state: record.state,
      action: .keep,
      reason: isListed
        ? "past its `expires`, and kept since the clock is ahead"
        : "removed from the list, and kept until what the list names is stored"
    )
    result.outcome = .unchanged
    result.size = record.size
    result.digest = record.digest
    announce(.itemRetained(result))
  }
}
