import PrefetchCore
import PrefetchServe
import PrefetchStore

/// What a server did, kept in the state for those who ask later.
///
/// A convenience: where the state cannot be written it is not kept.
final class ServeRecord {
  private let cache: ServedCache
  private let counts: ServeCounts
  private let places: Places
  /// What is in the state already.
  private var kept = ServeCounts.Figures()

  init(cache: ServedCache, counts: ServeCounts, places: Places) {
    self.cache = cache
    self.counts = counts
    self.places = places
  }

  func keep(at now: Instant) {
    let figures = counts.figures
    let used = cache.takeUsed()
    guard figures != kept || !used.isEmpty,
      let state = try? StateStore.openForWriting(state: places.state)
    else { return }
    if !used.isEmpty { try? state.markUsed(used, at: now) }
    var news = StateStore.Served()
    news.hits = figures.hits - kept.hits
    news.misses = figures.misses - kept.misses
    news.failures = figures.failures - kept.failures
    news.bytes = figures.bytes - kept.bytes
    try? state.add(news, on: String(Timestamp.format(now).prefix(10)))
    try? state.close()
    kept = figures
  }
}
