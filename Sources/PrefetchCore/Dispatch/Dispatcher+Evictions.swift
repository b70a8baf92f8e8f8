extension Dispatcher {
  func loseEvicted(_ work: ActiveItem) {
    guard !space.evicted.isEmpty, let digest = work.result.digest,
      space.evicted.contains(digest)
    else { return }
    work.result.isUsable = false
    work.result.digest = nil
    work.result.size = work.reportedSize ?? work.entry.size
  }

  /// Announces evicted items: as failures if a segment declares them, otherwise as removals.
  mutating func announceEvicted(_ removed: [RemovedContent]) {
    let open = openKeys(among: removed)
    var changed: Set<Int> = []
    for content in removed where content.hadBody {
      let key = URLKey(content.url)
      let holders = segments.indices.filter { misses(content, key, in: $0) }
      // The user paused the item, so no segment misses it.
      guard !holders.isEmpty, !isPaused(key) else {
        announceRemoved([content])
        continue
      }
      // Items that are still open report the eviction at their own end.
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
      // Items of a list that was not read were not counted before.
      let wasCounted = holders.contains { segments[$0].declaredCount > 0 }
      let was = space.lastActions[key] ?? .keep
      announce(wasCounted ? .itemEvicted(result, was: was) : .itemSettled(result))
      for index in holders {
        segments.uncountEvicted(content.size, in: index, isRequired: requires(key, in: index))
        if segments[index].phase == .settled { changed.insert(index) }
      }
    }
    for index in changed.sorted() { announceResult(index) }
  }

  private func isPaused(_ key: URLKey) -> Bool {
    facts.inventory.position(of: key).map { facts.inventory.rows[$0].state == .paused } ?? false
  }

  var evictionFailure: Failure {
    Failure(.cacheFull, "evicted: more important items use \(shortOf)")
  }

  private var shortOf: String {
    request.policy.room.limit.map { "the \(SizeText.format(limit: $0)) of `cache.size`" }
      ?? "the disk, of which `cache.min_free` keeps \(SizeText.format(space.minimumFree)) free"
  }

  /// Whether a segment declares the evicted item, or held it if its list is unknown.
  private func misses(_ content: RemovedContent, _ key: URLKey, in index: Int) -> Bool {
    guard segments[index].declaration.isStored, request.mode.isOfSegments else { return false }
    guard segments[index].isDeclared else { return content.segments.contains(segments[index].key) }
    guard let entry = segments[index].table.value.position(of: key) else { return false }
    return ContentOrder.rank(of: entry, in: evictionOrder(of: index), at: facts.now) != nil
  }

  private func requires(_ key: URLKey, in index: Int) -> Bool {
    let entries = segments[index].table.value
    guard let entry = entries.position(of: key), entries.hasExtras(at: entry) else { return true }
    return entries[entry].isRequired
  }

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
