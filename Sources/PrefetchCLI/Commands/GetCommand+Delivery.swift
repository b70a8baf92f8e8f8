import PrefetchConfig
import PrefetchCore
import PrefetchStore

extension GetCommand {
  /// Delivers bodies; if a fetch failed, the old body is delivered only where staleness is allowed.
  func deliver(
    _ items: inout ItemGathering,
    _ delivery: Delivery,
    _ facts: Planner.Facts,
    _ session: ItemSession
  ) throws(CommandExit) {
    guard let store = try session.store() else { return }
    var facts = facts
    facts.key = try context.reading { () throws(Failure) in try store.varianceKey() }
    var kept = KeptItems(items.wanted, facts)
    try context.reading { () throws(Failure) in
      let output = delivery.output(of: store)
      do throws(Failure) {
        for item in items.statuses.indices where items.statuses[item] != .delivered {
          try deliver(item, of: &items, to: output, facts, &kept)
        }
      } catch {
        // Bodies that were delivered before the failure keep their names.
        try? output.finish()
        throw error
      }
      try output.finish()
    }
  }

  private func deliver(
    _ item: Int,
    of items: inout ItemGathering,
    to output: Delivery.Output,
    _ facts: Planner.Facts,
    _ kept: inout KeptItems
  ) throws(Failure) {
    let itemStatus = items.statuses[item]
    guard itemStatus != .missing || options.usesCacheOnly, ![.gone, .absent].contains(itemStatus)
    else { return }
    var stored = try output.store.record(url: items.wanted.recordURL(item))
    if options.usesCacheOnly, !(stored.map { kept.isSatisfied(item, by: $0) } ?? false) {
      stored = try twin(of: item, items.wanted, in: output.store) ?? stored
    }
    guard let record = stored, let digest = record.digest else {
      // Another process has removed the item, and perhaps its body before this one read it.
      if [.fetched, .kept, .damaged].contains(itemStatus) { items.statuses[item] = .missing }
      items.damaged[item] = nil
      return
    }
    // A second look would find the same damaged body.
    if itemStatus == .damaged, items.damaged[item] == digest { return }
    if itemStatus == .fetched, try isTransient(item, of: items.wanted, record, in: output.store) {
      items.transient.insert(record.url)
      if options.printsPaths { return }
    }
    let mayBeStale = itemStatus == .withheld
    let isDeclared =
      kept.isSatisfied(item, by: record)
      || options.usesCacheOnly && kept.suitsOneSegment(item, by: record)
    guard isDeclared || items.standsIn(record, for: item, facts),
      !mayBeStale || mayServeStale(record, as: item, items.wanted, facts)
    else { return }
    if !isDeclared {
      context.console.report(
        "get.older",
        "`\(Redaction.url(record.shownURL))` is an older copy, not the one that its list declares now",
        severity: .warning
      )
    }
    let entry = items.wanted.entries[item]
    if let path = try output.deliver(entry, record, digest) {
      items.statuses[item] = .delivered
      items.damaged[item] = nil
      if !options.printsPaths, !record.files.isEmpty, record.mime?.contains("mpegurl") == true {
        context.console.report(
          "get.playlist",
          "this is only the playlist of the stream `\(Redaction.url(record.shownURL))`",
          severity: .warning,
          hint: "`publish` and `serve` have all of it"
        )
      }
      items.delivered.append(
        DeliveredItem(
          number: item,
          size: record.size,
          path: path,
          isStale: mayBeStale,
          isFetched: itemStatus == .fetched
        )
      )
    } else if output.store.isCancelled() {
      throw Failure(.cancelled, "stopped while reading `\(Redaction.url(record.shownURL))`")
    } else if !mayBeStale {
      items.statuses[item] = .damaged
      items.damaged[item] = digest
    }
  }

  /// Returns a stored body of another URL with the declared digest, as a run would reuse it.
  private func twin(
    of item: Int,
    _ wanted: WantedItems,
    in store: DiskStore
  ) throws(Failure) -> ContentRecord? {
    guard let digest = wanted.digest(of: item), let size = try store.intactObject(digest) else {
      return nil
    }
    var record = ContentRecord(url: wanted.url(item), id: "")
    record.state = .cached
    record.digest = digest
    record.size = size
    return record
  }

  /// Whether the body was fetched only to be delivered, and may not stay stored.
  private func isTransient(
    _ item: Int,
    of wanted: WantedItems,
    _ record: ContentRecord,
    in store: DiskStore
  ) throws(Failure) -> Bool {
    guard wanted.isKept(item) else { return true }
    guard CacheControl(record.headers.combined(.cacheControl)).hasNoStore else { return false }
    return try store.segmentsHolding(url: record.url).isEmpty
  }
}
