/// Room for bodies that are here, before they are committed.
extension Dispatcher {
  /// Decides which of the batch's bodies there is room for, the most important first; false where
  /// that is not known yet.
  mutating func admitBodies() -> Bool {
    guard request.policy.room.limit != nil, batch.bringsBodies else { return true }
    guard !isMeasuringRoom else { return false }
    // What was counted for this very commit is not looked at again: others may be busy for ever, and
    // the store has the last word.
    guard room != nil, isRoomChecked else {
      isMeasuringRoom = true
      isCheckingRoom = true
      measuresInDetail = room == nil
      effects.append(.measureRoom(inDetail: measuresInDetail))
      return false
    }
    isRoomChecked = false
    let wanted = batch.entries.indices.compactMap { place in
      newcomer(with: batch.entries[place].change, of: batch.entries[place].item).map {
        (place: place, $0)
      }
    }
    var refused: [Int] = []
    for (place, newcomer) in wanted.sorted(by: { $0.1.rank < $1.1.rank }) {
      if !admit(newcomer) { refused.append(place) }
    }
    let entries = batch.remove(at: refused)
    evict(room?.takeEvicted() ?? [])
    for entry in entries { refuse(entry) }
    return true
  }

  mutating func admit(_ newcomer: Newcomer) -> Bool {
    for (digest, size) in newcomer.bodies {
      let fits = room?.admit(digest, size: size, rank: newcomer.rank, of: newcomer.owner)
      guard fits == true else { return false }
    }
    return true
  }

  struct Newcomer {
    var rank: ContentRank
    var bodies: [(ContentDigest, Int64)]
    var owner: Room.Owner
  }

  func newcomer(with change: StoreChange, of item: Int? = nil) -> Newcomer? {
    switch change {
    case .store(let record, let body, _, _):
      guard let item, let digest = body?.digest ?? record.digest else { return nil }
      let key = key(of: item)
      // What only renews what is known of a body takes no room.
      guard body != nil || digest != room?.body(of: key) else { return nil }
      return Newcomer(
        rank: rank(of: item),
        bodies: [(digest, record.wholeSize)],
        owner: .item(key)
      )
    case .segment(let record, let manifest):
      guard let manifest else { return nil }
      let old = start.segments.first { $0.key == record.key }?.manifest
      return Newcomer(
        rank: rank(of: record.key),
        bodies: [(manifest.digest, manifest.size)],
        owner: .document(old)
      )
    case .documents(let key, _, let bodies):
      guard !bodies.isEmpty else { return nil }
      return Newcomer(
        rank: rank(of: key),
        bodies: bodies.map { ($0.digest, $0.size) },
        owner: .document(nil)
      )
    case .arrived, .confirm, .join, .joinNew, .leave, .evict, .forget, .dated:
      return nil
    }
  }

  private func rank(of key: SegmentKey) -> ContentRank {
    guard let index = segments.firstIndex(where: { $0.key == key }) else { return .passing }
    return .manifest(priority: segments[index].priority, segment: 2 * index + 1)
  }

  private mutating func refuse(_ entry: CommitBatch.Pending) {
    for body in entry.change.bodies { effects.append(.discard(body)) }
    let limit = request.policy.room.limit ?? 0
    switch entry.change {
    case .store(let record, let body, _, _):
      guard let item = entry.item else { return }
      // What was here already others have taken away since.
      if body == nil { lose(record.digest) }
      if let row = row(of: items[item].step), row.hasBody, room?.holds(row.digest) == false {
        lose(row.digest)
      }
      let available = room?.available(for: rank(of: item), of: .item(key(of: item))) ?? 0
      restoreResult(of: item)
      fail(item, Self.full(need: record.wholeSize, available, limit))
    case .segment, .documents, .arrived, .confirm, .join, .joinNew, .leave, .evict, .forget, .dated:
      refuseList(entry.change)
    }
  }

  private mutating func lose(_ digest: ContentDigest?) {
    guard let digest else { return }
    facts.missing.insert(digest)
    evicted.insert(digest)
  }

  /// Its items are served all the same; the next run asks for the list once more.
  @discardableResult
  mutating func refuseList(_ change: StoreChange) -> Int? {
    let key: SegmentKey
    switch change {
    case .segment(let record, _): key = record.key
    case .documents(let owner, _, _): key = owner
    case .store, .arrived, .confirm, .join, .joinNew, .leave, .evict, .forget, .dated: return nil
    }
    guard let index = segments.firstIndex(where: { $0.key == key }) else { return nil }
    let limit = request.policy.room.limit ?? 0
    segments[index].manifest.failure = Failure(
      .cacheFull,
      "the \(SizeText.format(limit: limit)) of `cache.size` have no room for the manifest"
    )
    let recorded = segments[index].recorded
    segments[index].accepted?.manifest = recorded?.manifest
    segments[index].accepted?.validators = recorded?.validators ?? Validators()
    segments[index].accepted?.manifestFinalURL = recorded?.manifestFinalURL
    return index
  }

  /// Takes back what was said of an item whose body does not come in after all.
  mutating func restoreResult(of item: Int) {
    let slot = activate(item)
    let row = row(of: items[item].step)
    let isStillUsable = if let row { isUsable(row) } else { false }
    active[slot].result.isUsable = isStillUsable
    active[slot].result.state = isStillUsable ? .cached : .failed
    active[slot].result.source = nil
    active[slot].result.size =
      row.flatMap { $0.hasBody ? $0.size : nil } ?? active[slot].entry.size
    active[slot].result.digest = row.flatMap { $0.hasBody ? $0.digest : nil }
    freshBodies[URLKey(active[slot].result.url)] = nil
  }
}
