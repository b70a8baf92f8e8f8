import PrefetchCore
import PrefetchStore

/// Records what a run did with items and published trees, and which lists failed, many entries at a time.
final class HistoryRecorder: RunObserver {
  let needsEachFact = false
  private let state: StateStore
  private let runID: String
  private let limit: Int
  private var entries: [HistoryEntry] = []
  private var downloads: [String: PastDownload] = [:]
  private var failure: Failure?
  private var latest = Instant(milliseconds: 0)

  /// Batch size that makes the cost of a transaction negligible.
  private static let capacity = 4096

  init(_ state: StateStore, runID: String, limit: Int) {
    self.state = state
    self.runID = runID
    self.limit = limit
  }

  func observe(_ fact: RunFact, at now: Moment) {
    if case .itemsArrived(_, let arrivals) = fact { return recordArrivals(arrivals) }
    if case .manifestSettled(_, let list) = fact { return recordArrivals(list, at: now.wall) }
    if case .treePublished(let segment, let tree) = fact {
      entries += [HistoryEntry.tree(tree, of: segment, at: now.wall, run: runID)].compactMap(\.self)
      return
    }
    if case .itemSettled(let item) = fact, item.failure == nil, let download = item.download {
      downloads[PastDownload.key(provider: item.provider, id: item.id)] = download
      latest = now.wall
    }
    guard let item = Self.settledItem(fact), isNews(item), let outcome = item.outcome else {
      return
    }
    entries.append(
      HistoryEntry(
        url: item.url,
        at: now.wall,
        run: runID,
        action: item.action,
        outcome: outcome,
        reason: item.failure?.message ?? item.reason,
        isFirst: outcome == .added
      )
    )
    if entries.count >= Self.capacity { write() }
  }

  /// Records the failure of a list, and the first run after it that reads the list.
  private func recordArrivals(_ list: ManifestResult, at time: Instant) {
    guard let url = list.url, list.failure?.code != .cancelled else { return }
    var entry = HistoryEntry(url: url, at: time, run: runID, action: .fail, outcome: .failed)
    if let failure = list.failure {
      entry.reason = failure.message
    } else {
      let isRead = list.status == .fetched || list.status == .notModified
      guard isRead, let last = (try? state.history(url: url))?.first, last.outcome == .failed
      else { return }
      entry.action = .revalidate
      entry.outcome = list.status == .fetched ? .updated : .unchanged
      entry.reason = "the list can be used again"
    }
    entries.append(entry)
  }

  private func recordArrivals(_ arrivals: [Arrival]) {
    for arrival in arrivals {
      entries.append(
        HistoryEntry(
          url: arrival.url,
          at: arrival.at,
          run: runID,
          action: .fetch,
          outcome: .added,
          reason: PlanReason.notStored.text,
          isFirst: true
        )
      )
    }
    if entries.count >= Self.capacity { write() }
  }

  private static func settledItem(_ fact: RunFact) -> ItemResult? {
    switch fact {
    case .itemSettled(let item), .itemEvicted(let item, _): item
    default: nil
    }
  }

  func finish() throws(Failure) {
    write()
    if failure == nil, !downloads.isEmpty { try state.record(downloads, at: latest) }
    if let failure { throw failure }
  }

  private func isNews(_ item: ItemResult) -> Bool {
    item.outcome?.isNews == true && !item.url.isEmpty && !item.isInterrupted
  }

  private func write() {
    defer { entries.removeAll(keepingCapacity: true) }
    guard failure == nil, !entries.isEmpty else { return }
    do throws(Failure) {
      try state.recordHistory(entries, keeping: limit)
    } catch {
      failure = error
    }
  }
}
