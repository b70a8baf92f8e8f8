/// Bodies that go for want of room.
extension Dispatcher {
  /// What was here of an item when its turn came may have gone for others since.
  func loseEvicted(_ work: ActiveItem) {
    guard !space.evicted.isEmpty, let digest = work.result.digest,
      space.evicted.contains(digest)
    else { return }
    work.result.isUsable = false
    work.result.digest = nil
    work.result.size = work.toldSize ?? work.entry.size
  }

  /// Tells what went for want of room: of what this run declares, that it is not there.
  mutating func announceEvicted(_ removed: [RemovedContent]) {
    let open = openKeys(among: removed)
    var changed: Set<Int> = []
    for content in removed where content.hadBody {
      let key = URLKey(content.url)
      let holders = segments.indices.filter { misses(content, key, in: $0) }
      // The user wants it to wait, so that it is not missed.
      guard !holders.isEmpty, !isPaused(key) else {
        announceRemoved([content])
        continue
      }
      // Its own end will tell.
      guard !open.contains(key) else { continue }
      var result = ItemResult(
        url: content.url,
        id: content.id,
        segments: holders.map { segments[$0].declaration.name },
        state: .failed,
        action: .fail,
        reason: "evicted for more important items"
      )
      result.outcome = .failed
      result.departure = .space
      result.size = content.size
      result.isRequired = holders.contains {
        segments[$0].declaration.isRequired && requires(key, in: $0)
      }
      result.failure = evictionFailure
      // What a list that did not come would have named was not counted before.
      let wasTold = holders.contains { segments[$0].declaredCount > 0 }
      let was = space.endings[key] ?? .keep
      announce(wasTold ? .itemEvicted(result, was: was) : .itemSettled(result))
      for index in holders {
        segments.lose(content.size, in: index, isRequired: requires(key, in: index))
        if segments[index].phase == .settled { changed.insert(index) }
      }
    }
    for index in changed.sorted() { announceStanding(index) }
  }

  private func isPaused(_ key: URLKey) -> Bool {
    facts.inventory.position(of: key).map { facts.inventory.rows[$0].state == .paused } ?? false
  }

  /// Why an item that a segment declares is not there any more.
  var evictionFailure: Failure {
    Failure(.cacheFull, "evicted: more important items use \(shortOf)")
  }

  private var shortOf: String {
    request.policy.room.limit.map { "the \(SizeText.format(limit: $0)) of `cache.size`" }
      ?? "the disk, of which `cache.min_free` keeps \(SizeText.format(space.minimumFree)) free"
  }

  /// Whether a segment of the run declares what went; where that is unknown, whatever it held.
  private func misses(_ content: RemovedContent, _ key: URLKey, in index: Int) -> Bool {
    guard segments[index].declaration.isStored, request.mode.isOfSegments else { return false }
    guard segments[index].isDeclared else { return content.segments.contains(segments[index].key) }
    guard let entry = segments[index].table.value.position(of: key) else { return false }
    return ContentOrder.rank(of: entry, in: standing(of: index), at: facts.now) != nil
  }

  /// Whether a segment is not as declared without an item.
  private func requires(_ key: URLKey, in index: Int) -> Bool {
    let entries = segments[index].table.value
    guard let entry = entries.position(of: key), entries.isSpecial(at: entry) else { return true }
    return entries[entry].isRequired
  }

  /// Items that are still to come to an end; looked for once, however many went.
  private func openKeys(among removed: [RemovedContent]) -> Set<URLKey> {
    let keys = Set(removed.map { URLKey($0.url) })
    guard !keys.isEmpty else { return [] }
    var open: Set<URLKey> = []
    for work in items where work.state != .settled {
      let key = segments[Int(work.segment)].table.value.key(at: Int(work.step.entry))
      if keys.contains(key) { open.insert(key) }
    }
    return open
  }
}
