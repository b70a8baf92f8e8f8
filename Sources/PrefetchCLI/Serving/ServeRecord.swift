import PrefetchCore
import PrefetchServe
import PrefetchStore

/// Stores a server's figures in the state; skipped if that cannot be written.
final class ServeRecord {
  private let cache: ServedCache
  private let counts: ServeCounts
  private let locations: CacheLocations
  private let servedURLs: ServedURLCounts
  private var kept = ServeFigures()

  init(
    cache: ServedCache,
    counts: ServeCounts,
    servedURLs: ServedURLCounts,
    locations: CacheLocations
  ) {
    self.cache = cache
    self.counts = counts
    self.locations = locations
    self.servedURLs = servedURLs
  }

  /// Writes new figures; `isLast` also records answers since the last interval.
  func keep(at now: Instant, isLast: Bool = false) {
    let figures = counts.figures
    let used = cache.drainUsed()
    let events = servedURLs.drain(at: now, isLast: isLast)
    guard figures != kept || !used.isEmpty || !events.isEmpty,
      let state = try? StateStore.openForWriting(state: locations.state)
    else { return }
    if !used.isEmpty { try? state.markUsed(used, at: now) }
    try? state.add(figures - kept, on: String(Timestamp.format(now).prefix(10)))
    if !events.isEmpty { try? servedURLs.queue(events, in: state, at: now) }
    try? state.close()
    kept = figures
  }
}
