/// Items that left a list and wait for their successors.
extension Dispatcher {
  /// Takes the items that the list itself dropped out of those that leave: what a rule of the
  /// configuration left out, or what has expired, does not wait.
  mutating func retainLeaving(_ index: Int) {
    let unselected = segments[index].unselected
    segments[index].unselected = nil
    guard !segments[index].leaving.isEmpty, segments[index].declaration.isListed else { return }
    let entries = segments[index].table.value
    var leaving: [UInt32] = []
    for position in segments[index].leaving {
      let row = facts.inventory.rows[Int(position)]
      let isListed =
        entries.position(of: row.key) != nil
        || unselected.map { $0.value.position(of: row.key) != nil } ?? false
      if isListed || !isUsable(row) {
        leaving.append(position)
      } else {
        segments[index].unlisted.append(position)
      }
    }
    segments[index].leaving = leaving
  }

  /// Decides about them once all items of the segment have ended.
  mutating func concludeRetention(_ index: Int) {
    guard !segments[index].unlisted.isEmpty else { return }
    let positions = segments[index].unlisted
    segments[index].unlisted = []
    let items = positions.map { facts.inventory.rows[Int($0)].item }
    let division = segments[index].retention.divide(
      items,
      recorded: segments[index].recorded?.retained ?? [],
      grace: request.policy.removalGrace,
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
    guard !segments[index].retained.isEmpty else { return }
    let name = segments[index].declaration.name
    announce(.itemsRetained(segment: name, count: segments[index].retained.count))
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
    var result = ItemResult(
      url: record.url,
      id: record.id.isEmpty ? start.identify(record.url) : record.id,
      segments: segments[index].names,
      state: record.state,
      action: .keep,
      reason: "removed from the list, and kept until what the list names is stored"
    )
    result.outcome = .unchanged
    result.size = record.size
    result.digest = record.digest
    announce(.itemRetained(result))
  }
}
